"""Random second-moment matrices of paper 4's algorithms, and the regression on them.

Each draw may have its own scale. Matrices are given as upper triangles, row by row,
(size, d(d+1)/2).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.linalg import factorise
from dpaudit._core.triangular import symmetric_matrix, upper_triangle
from dpaudit._core.types import Array
from dpaudit.laws.base import draw_in_chunks
from dpaudit.papers.data import singular_axes

NORM_DRAWS = 2_000  # of a standard symmetric matrix: its mean norm has an error of 0.3 %


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

    Σ = axesᵀ·diag(eigenvalues)·axes. eigenvalues : (size, d) ≥ 0. axes : (d, d). dof : (size,)
    integers ≥ d.
    """
    done, d = [0], len(axes)

    def draw(count: int) -> Array:
        part = slice(done[0], done[0] + count)
        done[0] += count
        factor, root = bartlett_each(d, dof[part], rng), np.sqrt(eigenvalues[part])
        if inverse:
            turned = np.linalg.solve(factor, root[:, :, None] * axes)
            return upper_triangle(turned.transpose(0, 2, 1) @ turned)
        turned = (axes.T * root[:, None, :]) @ factor
        return upper_triangle(turned @ turned.transpose(0, 2, 1))

    return draw_in_chunks(len(dof), d * (d + 1) // 2, d**2, draw)


def bartlett_each(dim: int, dof: np.ndarray, rng: np.random.Generator) -> Array:
    """Lower triangular L, (m, dim, dim), with LLᵀ ~ Wishart_dim(I, dof[i]) (Bartlett 1933).

    dof : (m,) ≥ dim. `dpaudit.laws.bartlett` has one dof for all draws.
    """
    factor = np.zeros((len(dof), dim, dim))
    below, diagonal = np.tril_indices(dim, -1), np.arange(dim)
    factor[:, *below] = rng.standard_normal((len(dof), len(below[0])))
    factor[:, diagonal, diagonal] = np.sqrt(
        2.0 * rng.standard_gamma(0.5 * (dof[:, None] - diagonal))
    )
    return factor


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


def regression(triangles: Array, dim: int) -> Array:
    """M_XX⁻¹M_Xy, (size, d − 1): the stationary point of βᵀMβ with β_d = −1.

    It is the minimum if M is positive definite.
    """
    matrices = symmetric_matrix(triangles, dim)
    return np.asarray(np.linalg.solve(matrices[:, :-1, :-1], matrices[:, :-1, -1:])[:, :, 0])


def smallest(triangles: Array, dim: int) -> Array:
    """The smallest eigenvalue of each matrix, (size,)."""
    return np.asarray(np.linalg.eigvalsh(symmetric_matrix(triangles, dim))[:, 0])


def raised(triangles: Array, dim: int, amount: Array) -> Array:
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
