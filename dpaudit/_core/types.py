"""What arguments may be: arrays, seeds, mechanisms, and parameters that can be calibrated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

from dpaudit._core.value import value_class

Array = NDArray[np.float64]
RngLike = (
    int
    | Sequence[int]
    | np.random.SeedSequence
    | np.random.BitGenerator
    | np.random.Generator
    | None
)
Count = int | float  # a number of draws: whole, also written as 1e5
# (size, rng) → draws of a mechanism on one database: an array where dpaudit knows the mechanism
Sampler = Callable[[int, np.random.Generator], Array]


class Mechanism(Protocol):
    """A mechanism: mech(data, size, *, rng) → `size` independent outputs.

    The outputs are a (size, k) float array, or a sequence of objects of any structure.
    """

    def __call__(self, data: Array, size: int, /, *, rng: Any) -> Any:
        """Draw `size` outputs on the database `data`."""


@runtime_checkable
class Described(Protocol):
    """A mechanism that states its name and parameters."""

    @property
    def name(self) -> str:
        """The name, for reports."""

    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""


def describe(mechanism: Any) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of any mechanism, including a plain function."""
    if isinstance(mechanism, Described):
        return mechanism.name, mechanism.parameters()
    return str(getattr(mechanism, "__qualname__", type(mechanism).__name__)), {}


CALLS = 256  # of a mechanism on each database in an audit: a call costs some 20 µs


def most_calls(mechanism: Any) -> int | None:
    """The most calls on each database: what a mechanism's attribute of this name says, `CALLS`
    without it; None if its draws may share no randomness, so that a call makes a whole block.
    """
    inner = mechanism.func if isinstance(mechanism, partial) else mechanism
    calls: int | None = getattr(inner, "most_calls", CALLS)
    return calls


@value_class
class Wrapped:
    """A mechanism that calls another mechanism, and takes its name and summary from it."""

    mechanism: Mechanism

    @property
    def name(self) -> str:
        return describe(self.mechanism)[0]

    @property
    def summary(self) -> str:
        return str(getattr(self.mechanism, "summary", "") or self.mechanism.__doc__ or "")

    def parameters(self) -> dict[str, Any]:
        return describe(self.mechanism)[1]

    @property
    def most_calls(self) -> int | None:
        return most_calls(self.mechanism)


@dataclass(frozen=True)
class Adjustable:
    """A parameter that can be calibrated: the exact worst case is monotone in it.

    private : +1 where a larger value is more private (noise), −1 where a smaller one is (sketch
    rows). whole : whether it is an integer. by_columns : whether its least value is the number of
    columns of the data instead of 1. zero : whether 0 is allowed.
    """

    name: str
    private: int = 1
    whole: bool = False
    by_columns: bool = False
    zero: bool = False

    def least(self, columns: int) -> float | None:
        """The smallest value for so many columns of data; None if any value above 0 is allowed."""
        if self.whole:
            return columns if self.by_columns else 1
        return 0.0 if self.zero else None
