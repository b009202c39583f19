"""A limit to the time that one call of a mechanism may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from typing import Any, TypeVar

from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, Mechanism, RngLike, Wrapped

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Limited(Wrapped):
    """A mechanism whose every call must end within a time.

    Parameters
    ----------
    mechanism : callable
        The mechanism.
    timeout : float, seconds
        Time that a call may take.
    """

    timeout: float

    __repr__ = short_repr

    def __call__(self, data: Array, size: int, *, rng: RngLike = None) -> Any:
        """What the mechanism returns. Raises TimeoutError, and whatever the mechanism raises."""
        return within(self.timeout, lambda: self.mechanism(data, size, rng=rng))


def limited(mechanism: Mechanism, timeout: float) -> Limited:
    """`mechanism` with a limit to the time of each call.

    Parameters
    ----------
    mechanism : callable
        Any `mech(data, size, *, rng)`.
    timeout : float, seconds
        Time a call. An audit of n draws a side makes 256 calls, each of n/256 draws or of one.

    Returns
    -------
    Limited

    Raises
    ------
    InvalidInput
        When an argument is not as described.

    Notes
    -----
    A call that takes longer raises TimeoutError, which in an audit becomes a `MechanismError` with
    the block and the key of its seed. The thread that hangs stays until the process ends, because
    Python cannot stop it.
    """
    check.function("mechanism", mechanism, "a callable mechanism(data, size, *, rng)")
    return Limited(mechanism, seconds("timeout", timeout))


def seconds(name: str, value: object) -> float:
    """A number of seconds above 0. Raises `InvalidInput`."""
    return check.real(name, value, 0.0, open_=True)


def within(timeout: float | None, work: Callable[[], Found]) -> Found:
    """work(), or TimeoutError when it has not ended after so many seconds (None: no limit)."""
    if timeout is None:
        return work()
    waited = _Work(work)
    waited.start()
    waited.join(timeout)
    if waited.is_alive():
        raise TimeoutError(f"no output within {timeout:g} s")
    return waited.result()


class _Work(Thread):
    """A daemon thread that keeps what its work returned or raised."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(daemon=True, name="dpaudit-mechanism")
        self.work = work
        self.found: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Do the work."""
        try:
            self.found = self.work()
        except BaseException as error:
            self.error = error

    def result(self) -> Any:
        """What the work returned; raises what it raised."""
        if self.error is not None:
            raise self.error
        return self.found
