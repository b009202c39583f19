"""Mechanisms made of a function that gives one output a call."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.seeds import as_generator
from dpaudit._core.shown.raised import Raised, shown
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import ArrayLike, RngLike, describe
from dpaudit.adapters.quiet import QUIET
from dpaudit.adapters.waiting import seconds, within
from dpaudit.errors import MechanismError


@dataclass(frozen=True, eq=False)
class OneDraw:
    """A mechanism made of a function f(data, rng=...) → one output; see `one_draw`.

    Parameters
    ----------
    function : callable
        The function.
    timeout : float or None, seconds
        Time that a call may take.
    """

    function: Callable[..., Any]
    timeout: float | None = None

    most_calls: ClassVar[None] = None  # each draw is made by itself
    __repr__ = short_repr

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> list[Any]:
        """`size` outputs, each from a generator of its own spawned from `rng`.

        Raises `MechanismError`.
        """
        __tracebackhide__ = True
        seeds = as_generator(rng).bit_generator.seed_seq.spawn(size)  # type: ignore[attr-defined]
        with QUIET:
            return [self._draw(data, number, seed) for number, seed in enumerate(seeds)]

    def _draw(self, data: ArrayLike, number: int, seed: np.random.SeedSequence) -> Any:
        __tracebackhide__ = True
        own = np.random.default_rng(seed)
        try:
            return _kept(within(self.timeout, lambda: self.function(data, rng=own)))
        except Exception as error:
            raised = Raised.of(error, data)
        generator = f"numpy.random.default_rng(numpy.random.{_written(seed)})"
        where = f"draw {number} of the block, rng = {generator}"
        raise shown(MechanismError(f"{raised.line} ({where})", raised=raised))

    @property
    def name(self) -> str:
        """The name of the function."""
        return describe(self.function)[0]

    @property
    def summary(self) -> str:
        """The function's docstring, for reports."""
        return str(getattr(self.function, "summary", "") or inspect.getdoc(self.function) or "")

    def parameters(self) -> dict[str, Any]:
        """The function's parameters, if it says them."""
        return describe(self.function)[1]


def one_draw(function: Callable[..., Any], *, timeout: float | None = None) -> OneDraw:
    """A mechanism from a function that gives one output a call.

    Parameters
    ----------
    function : callable
        f(data, rng=...) → one output, of any type (`dpaudit.outcomes`); data is (n, d) with the
        label last, rng a numpy Generator. Draw i of a block has the generator at the block's key
        followed by i, so the outputs do not depend on `n_jobs`. Threads draw in parallel only where
        the function releases the interpreter lock; processes always do
        (`joblib.parallel_config(backend="loky")`).
    timeout : float, seconds, optional
        Time that a call may take; None for no limit.

    Returns
    -------
    OneDraw

    Raises
    ------
    InvalidInput
        When an argument is not as described.

    Notes
    -----
    What the function raises becomes a `MechanismError` with the generator that repeats it. Its
    warnings are not raised: each is logged once (logger "dpaudit.adapters"), without values of the
    data.

    Examples
    --------
    >>> import numpy as np
    >>> mechanism = one_draw(lambda data, *, rng: float(data.sum() + rng.laplace()))
    >>> len(mechanism(np.ones((3, 2)), 5, rng=1))
    5
    """
    check.function("function", function, "a callable f(data, rng=...)")
    return OneDraw(function, None if timeout is None else seconds("timeout", timeout))


def _kept(output: Any) -> Any:
    """The output, or a copy of one that a later call may change: a function may reuse its arrays.

    What cannot be copied is no outcome, which is said elsewhere.
    """
    if isinstance(output, (np.ndarray, list, tuple, dict, set)):
        with suppress(Exception):
            return copy.deepcopy(output)
    return output


def _written(seed: np.random.SeedSequence) -> str:
    return f"SeedSequence({seed.entropy}, spawn_key={seed.spawn_key})"
