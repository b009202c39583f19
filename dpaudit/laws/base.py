"""What an output law is, and how its draws are made: chunk by chunk into one array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from dpaudit._core.check import Array, fail

CHUNK = 1 << 10  # draws made at a time: stays in cache, below the size at which BLAS starts threads


@runtime_checkable
class Law(Protocol):
    """An output law: `dim` numbers a draw."""

    @property
    def dim(self) -> int: ...

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """(size, dim) independent draws."""
        ...

    def log_density(self, x: Array) -> Array:
        """Log density at the rows of x, shape (m,), up to a constant that is the same for laws of
        one shape.
        """
        ...


def in_chunks(size: int, dim: int, numbers: int, draw: Callable[[int], Array]) -> Array:
    """(size, dim) draws by draw(count), of which each takes so many `numbers` to make."""
    out = np.empty((size, dim))
    step = max(1, CHUNK * 16 // numbers)
    for start in range(0, size, step):
        part = out[start : start + step]
        part[...] = draw(len(part))
    return out


def log_ratio(left: Law, right: Law, x: Array) -> Array:
    """The privacy loss log p(x)/q(x) at the rows of x, for two laws of one shape; infinite where
    one density is 0.

    Where both are 0, as rounding may have it for a draw on the edge of the support, the loss is 0:
    it tells nothing.
    """
    if type(left) is not type(right) or left.dim != right.dim:
        fail("right", type(right).__name__, f"a {type(left).__name__} of {left.dim} numbers")
    above, below = left.log_density(x), right.log_density(x)
    return np.subtract(
        above, below, out=np.zeros_like(above), where=~(np.isneginf(above) & np.isneginf(below))
    )
