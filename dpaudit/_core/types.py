"""What arguments may be: arrays, seeds, mechanisms, and parameters that can be calibrated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

__all__ = [
    "Adjustable",
    "Array",
    "ArrayLike",
    "Count",
    "Described",
    "Mechanism",
    "RngLike",
    "Sampler",
    "Wrapped",
    "describe",
]


class Mechanism(Protocol):
    """A mechanism: mech(data, size, *, rng) → `size` independent outputs.

    They are a (size, k) float array, or a sequence of objects of any structure.
    """

    def __call__(self, data: Array, size: int, /, *, rng: Any) -> Any:
        """Draw `size` outputs on the database `data`."""
        ...


@runtime_checkable
class Described(Protocol):
    """A mechanism that gives its name and parameters."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    def parameters(self) -> dict[str, Any]:
        """Parameters by name."""
        ...


def describe(mechanism: Any) -> tuple[str, dict[str, Any]]:
    """Name and parameters of any mechanism, a plain function included."""
    if isinstance(mechanism, Described):
        return mechanism.name, mechanism.parameters()
    return str(getattr(mechanism, "__qualname__", type(mechanism).__name__)), {}


@dataclass(frozen=True, eq=False, repr=False)
class Wrapped:
    """A mechanism that calls another one, whose name and summary it has."""

    mechanism: Mechanism

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return describe(self.mechanism)[0]

    @property
    def summary(self) -> str:
        """The mechanism's summary or docstring, for reports."""
        return str(getattr(self.mechanism, "summary", "") or self.mechanism.__doc__ or "")

    def parameters(self) -> dict[str, Any]:
        """The mechanism's parameters, if it says them."""
        return describe(self.mechanism)[1]


@dataclass(frozen=True)
class Adjustable:
    """A parameter that can be calibrated: the exact worst case is monotone in it.

    private : +1 where more of it is more private (noise), −1 where less is (sketch rows).
    whole : an integer. by_columns : its least value is the number of columns of the data, else 1.
    zero : 0 is allowed.
    """

    name: str
    private: int = 1
    whole: bool = False
    by_columns: bool = False
    zero: bool = False

    def least(self, columns: int) -> float | None:
        """The smallest value on data of so many columns; None if any value above 0 is allowed."""
        if self.whole:
            return columns if self.by_columns else 1
        return 0.0 if self.zero else None
