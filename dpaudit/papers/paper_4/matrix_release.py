"""What paper 4's algorithms share: they release an approximation of AᵀA."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpaudit._core.types import Array
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.algorithm import Algorithm
from dpaudit.papers.paper_4 import random_moments


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """AᵀA, (d, d), and n: all that an algorithm uses of its data."""

    gram: Array
    rows: int

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Eigenvalues ≥ 0, descending, and axes as rows."""
        values, vectors = np.linalg.eigh(self.gram)
        return np.maximum(values[::-1], 0.0), np.ascontiguousarray(vectors.T[::-1])


class MatrixRelease(Algorithm):
    """An algorithm with the inputs ε, δ and B that releases a matrix M in place of AᵀA.

    The coefficient β̃ is worked out from M: `solution`.
    """

    epsilon: float
    delta: float
    row_bound: float
    paper: ClassVar[int] = 4
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "replace"

    def of_moments(self, moments: Moments, size: int, rng: np.random.Generator) -> Array:
        """Draws as by `run` for data with these moments, whose rows are not kept or checked."""
        raise NotImplementedError

    def solution(self, draws: Array) -> Array:
        """β̃ of each draw, (size, p): the stationary point of βᵀMβ with β_d = −1.

        That is its minimum where M is positive definite.
        """
        return random_moments.regression(draws, order(draws))

    def pair(self) -> NeighbourPair:
        """One row (B, 0), replaced by (0, B): as different as two rows within the bound can be."""
        return replace_row(np.array([[self.row_bound, 0.0]]), 0, [0.0, self.row_bound])


def order(triangles: Array) -> int:
    """d, of upper triangles (size, d(d+1)/2)."""
    return math.isqrt(2 * triangles.shape[1])


def axis_rows(sizes: tuple[float, float], longest: float) -> Array:
    """Rows of norm ≤ `longest` with Gram matrix diag(sizes), equal ones on each axis; (n, 2)."""
    parts = []
    for axis, size in enumerate(sizes):
        count = math.ceil(size / longest**2)
        part = np.zeros((count, 2))
        part[:, axis] = math.sqrt(size / max(count, 1))
        parts.append(part)
    return np.vstack(parts)
