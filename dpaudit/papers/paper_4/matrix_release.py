"""The base class and functions for paper 4's algorithms, which release a random M instead of AᵀA.

Matrices are represented by their upper triangles, row by row, (size, d(d+1)/2).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpaudit._core.linalg import symmetric_matrix, upper_triangle
from dpaudit._core.types import Array
from dpaudit.laws import bartlett
from dpaudit.laws.base import draw_in_chunks
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.algorithm import Algorithm, singular_axes

NORM_DRAWS = 2_000  # draws with which `mean_norm` has an error of 0.3 %


class MatrixRelease(Algorithm):
    """An algorithm that releases a random matrix M instead of AᵀA, as its upper triangle.

    Unless a subclass says otherwise, `epsilon` is the claim's ε > 0, `delta` its δ in (0, 1/e), and
    `row_bound` is B, a public bound on the norm of a row with its label.
    """

    paper = 4
    relation = "replace"

    def pair(self) -> NeighbourPair:
        """One row (B, 0), replaced by (0, B): no two rows within the bound differ by more."""
        return replace_row(np.array([[self.row_bound, 0.0]]), 0, [0.0, self.row_bound])


def order(triangles: Array) -> int:
    return math.isqrt(2 * triangles.shape[1])


def axis_rows(sizes: tuple[float, float], longest: float) -> Array:
    """Rows (n, 2) of norm ≤ `longest` with Gram matrix diag(sizes); on each axis all are equal."""
    parts = []
    for axis, size in enumerate(sizes):
        count = math.ceil(size / longest**2)
        part = np.zeros((count, 2))
        part[:, axis] = math.sqrt(size / max(count, 1))
        parts.append(part)
    return np.vstack(parts)


def axes_of(data: Array) -> tuple[Array, Array]:
    scale, axes = singular_axes(data)
    return scale**2, axes


def scatter_draws(
    eigenvalues: Array,
    axes: Array,
    dof: np.ndarray,
    rng: np.random.Generator,
    *,
    inverse: bool = False,
) -> Array:
    """Draw one matrix each from Wishart_d(Σ, dof), or from the inverse Wishart W⁻¹_d(Σ, dof).

    Returns upper triangles. Σ = axesᵀ·diag(eigenvalues)·axes. eigenvalues : (size, d) ≥ 0.
    axes : (d, d). dof : integers ≥ d, (size,), one for each draw.
    """
    done, d = 0, len(axes)

    def draw(count: int) -> Array:
        nonlocal done
        part = slice(done, done + count)
        done += count
        factor, root = bartlett(count, d, dof[part], rng), np.sqrt(eigenvalues[part])
        if inverse:
            turned = np.linalg.solve(factor, root[:, :, None] * axes)
            return upper_triangle(turned.transpose(0, 2, 1) @ turned)
        turned = (axes.T * root[:, None, :]) @ factor
        return upper_triangle(turned @ turned.transpose(0, 2, 1))

    return draw_in_chunks(len(dof), d * (d + 1) // 2, d**2, draw)


def least_eigenvalues(triangles: Array) -> Array:
    return np.asarray(np.linalg.eigvalsh(symmetric_matrix(triangles, order(triangles)))[:, 0])


def plus_identity(triangles: Array, amount: Array) -> Array:
    row, column = np.triu_indices(order(triangles))
    return np.asarray(triangles + amount[:, None] * (row == column))


@lru_cache(maxsize=64)
def mean_norm(dim: int) -> float:
    """E‖N‖ of a symmetric matrix N with N(0, 1) on and above the diagonal, by draws."""
    count = dim * (dim + 1) // 2
    noise = np.random.default_rng(dim).standard_normal((NORM_DRAWS, count))
    return float(np.abs(np.linalg.eigvalsh(symmetric_matrix(noise, dim))).max(axis=1).mean())
