"""The protocol of an output law, and drawing in chunks that fit the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.types import Array

CHUNK = 1 << 10  # draws made at a time: they fit the cache, and BLAS starts no threads


@runtime_checkable
class Law(Protocol):
    """The law of one output of a mechanism, a row of `dim` numbers."""

    @property
    def dim(self) -> int:
        """How many numbers one draw has."""
        ...

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """Independent draws, shape (size, dim)."""
        ...

    def log_density(self, x: Array) -> Array:
        """Log density at each row of x (m, dim), shape (m,).

        It may lack a constant that is the same for all laws of this type and dimension: such a
        constant cancels in a privacy loss.
        """
        ...


class VectorLaw(Law):
    """A law of as many numbers as its first field, such as its mean, has."""

    @property
    def dim(self) -> int:
        return len(next(iter(vars(self).values())))


def draw_in_chunks(size: int, dim: int, numbers: int, draw: Callable[[int], Array]) -> Array:
    """Draws (size, dim), made chunk by chunk by draw(count), which returns (count, dim).

    numbers : how many numbers `draw` holds in memory for one draw; it decides the size of a chunk.
    """
    out = np.empty((size, dim))
    step = max(1, CHUNK * 16 // numbers)
    for start in range(0, size, step):
        chunk = out[start : start + step]
        chunk[...] = draw(len(chunk))
    return out


def log_ratio(left: Law, right: Law, x: Array) -> Array:
    """The privacy loss log p(x)/q(x), nats, (m,), at the rows of x (m, k); left has the density p.

    It is infinite where one density is 0, and 0 where both are, which rounding can bring about for
    a draw on the edge of the support. Raises `InvalidInput` when types or dimensions differ.
    """
    if type(left) is not type(right) or left.dim != right.dim:
        fail("right", type(right).__name__, f"a {type(left).__name__} of {left.dim} numbers")
    above, below = left.log_density(x), right.log_density(x)
    return np.subtract(
        above, below, out=np.zeros_like(above), where=~(np.isneginf(above) & np.isneginf(below))
    )
