"""What paper 4's algorithms share: they release a random matrix M in place of AᵀA.

Each draw may have its own scale. Matrices are given as upper triangles, row by row,
(size, d(d+1)/2), and β̃ is the regression computed from one of them.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.linalg import factorise, symmetric_matrix, upper_triangle
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import draw_in_chunks
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.algorithm import Algorithm, singular_axes

NORM_DRAWS = 2_000  # of a standard symmetric matrix: its mean norm has an error of 0.3 %


@value_class
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
    """An algorithm that releases a matrix M in place of AᵀA.

    M is released as its upper triangle, (size, d(d+1)/2), and the coefficient β̃ is computed from
    M: `solution`. `epsilon` and `delta` are ε > 0 and δ in (0, 1/e) of the claim unless a subclass
    says otherwise, and `row_bound` is B, a public bound on the norm of a row with its label.
    """

    paper = 4
    relation = "replace"

    def of_moments(self, moments: Moments, size: int, rng: np.random.Generator) -> Array:
        """Draws as by `run`, for data with these moments, where no row is checked."""
        raise NotImplementedError

    def solution(self, draws: Array) -> Array:
        """β̃ of each draw, (size, p)."""
        return regression(draws)

    def pair(self) -> NeighbourPair:
        """One row (B, 0), replaced by (0, B): as different as two rows within the bound can be."""
        return replace_row(np.array([[self.row_bound, 0.0]]), 0, [0.0, self.row_bound])


def order(triangles: Array) -> int:
    """The order d of matrices given as upper triangles, (size, d(d+1)/2)."""
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


def axes_of(data: Array) -> tuple[Array, Array]:
    """Eigenvalues of DᵀD, (d,), descending, and its axes as rows, (d, d)."""
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
    """Triangles of one draw each of Wishart_d(Σ, dof), or of the inverse Wishart W⁻¹_d(Σ, dof).

    Σ = axesᵀ·diag(eigenvalues)·axes, by Bartlett's factors (1933). eigenvalues : (size, d) ≥ 0.
    axes : (d, d). dof : (size,) integers ≥ d; `dpaudit.laws.bartlett` has one for all draws.
    """
    done, d = 0, len(axes)
    below, diagonal = np.tril_indices(d, -1), np.arange(d)

    def draw(count: int) -> Array:
        nonlocal done
        part = slice(done, done + count)
        done += count
        factor = np.zeros((count, d, d))  # lower triangular L, LLᵀ ~ Wishart_d(I, dof)
        factor[:, *below] = rng.standard_normal((count, len(below[0])))
        chi_square = 2.0 * rng.standard_gamma(0.5 * (dof[part, None] - diagonal))
        factor[:, diagonal, diagonal] = np.sqrt(chi_square)
        root = np.sqrt(eigenvalues[part])
        if inverse:
            turned = np.linalg.solve(factor, root[:, :, None] * axes)
            return upper_triangle(turned.transpose(0, 2, 1) @ turned)
        turned = (axes.T * root[:, None, :]) @ factor
        return upper_triangle(turned @ turned.transpose(0, 2, 1))

    return draw_in_chunks(len(dof), d * (d + 1) // 2, d**2, draw)


def literal_gram(matrix: Array, rows: int, rng: np.random.Generator) -> Array:
    """(RM)ᵀ(RM), (d, d), with R (rows, n) standard normal, in blocks of R's rows."""
    total = np.zeros((matrix.shape[1], matrix.shape[1]))
    step = max(1, (1 << 20) // len(matrix))
    for start in range(0, rows, step):
        sketch = rng.standard_normal((min(step, rows - start), len(matrix))) @ matrix
        total += sketch.T @ sketch
    return total


def literal_inverse(matrix: Array, dof: int, rng: np.random.Generator) -> Array:
    """A draw of W⁻¹_d(MᵀM, dof), (d, d).

    It is the inverse of the Gram matrix of `dof` Gaussian rows of covariance (MᵀM)⁻¹.
    """
    root = factorise(matrix).root
    turned = np.asarray(solve_triangular(root, np.eye(len(root))).T, dtype=np.float64)
    return np.asarray(np.linalg.inv(literal_gram(turned, dof, rng)))


def regression(triangles: Array) -> Array:
    """M_XX⁻¹M_Xy, (size, d − 1): the stationary point of βᵀMβ with β_d = −1.

    It is the minimum where M is positive definite.
    """
    matrices = symmetric_matrix(triangles, order(triangles))
    return np.asarray(np.linalg.solve(matrices[:, :-1, :-1], matrices[:, :-1, -1:])[:, :, 0])


def least_eigenvalues(triangles: Array, dim: int) -> Array:
    """The smallest eigenvalue of each matrix, (size,)."""
    return np.asarray(np.linalg.eigvalsh(symmetric_matrix(triangles, dim))[:, 0])


def plus_identity(triangles: Array, dim: int, amount: Array) -> Array:
    """M + amount·I; amount (size,)."""
    row, column = np.triu_indices(dim)
    return np.asarray(triangles + np.asarray(amount)[:, None] * (row == column))


@lru_cache(maxsize=64)
def mean_norm(dim: int) -> float:
    """E‖N‖ (spectral) of a symmetric matrix N with N(0, 1) on and above the diagonal.

    Estimated by draws of a fixed seed.
    """
    count = dim * (dim + 1) // 2
    noise = np.random.default_rng(dim).standard_normal((NORM_DRAWS, count))
    return float(np.abs(np.linalg.eigvalsh(symmetric_matrix(noise, dim))).max(axis=1).mean())
