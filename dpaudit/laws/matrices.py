"""Laws of a matrix: Gaussian rows and their Gram matrix, inverse Wishart, additive Wishart noise.

A symmetric matrix is drawn as its upper triangle.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.check import fail
from dpaudit._core.linalg import (
    cholesky_stack,
    log_det,
    symmetric_matrix,
    trace_weights,
    upper_triangle,
)
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import CHUNK, Law, draw_in_chunks


@value_class
class GaussianRows(Law):
    """`rows` i.i.d. rows N(0, rootᵀroot), or the upper triangle of their Gram matrix.

    The Gram matrix is a Wishart draw and sufficient for the covariance, so both releases have the
    same spectrum. root : (d, d), upper triangular. release : "sketch", the rows flattened, or
    "gram".
    """

    root: Array
    rows: int
    release: str = "sketch"

    @property
    def dim(self) -> int:
        d = len(self.root)
        return self.rows * d if self.release == "sketch" else d * (d + 1) // 2

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        d = len(self.root)

        def draw(count: int) -> Array:
            if self.release == "gram":
                return wishart(count, self.root, self.rows, rng)
            normal = rng.standard_normal((count * self.rows, d))
            return (normal @ self.root).reshape(count, -1)

        numbers = d**2 if self.release == "gram" else self.dim
        return draw_in_chunks(size, self.dim, numbers, draw)

    def log_density(self, x: Array) -> Array:
        """It lacks terms that do not depend on `root`, such as det(X) of a Wishart density."""
        d = len(self.root)
        if self.release == "sketch":
            white = solve_triangular(self.root, x.reshape(-1, d).T, trans="T")
            square = np.einsum("ij,ij->j", white, white).reshape(len(x), self.rows).sum(axis=1)
        else:
            square = x @ trace_weights(self.root)
        return np.asarray(-0.5 * square - self.rows * log_det(self.root))


@value_class
class InverseWishart(Law):
    """X ~ W⁻¹_d(Ψ, dof) with Ψ = rootᵀroot, as its upper triangle; dof ≥ d.

    root : (d, d), upper triangular. The density is ∝ ``|Ψ|^{dof/2} |X|^{−(dof+d+1)/2}
    exp(−½tr(ΨX⁻¹))``; X⁻¹ is a Wishart draw of scale Ψ⁻¹.
    """

    root: Array
    dof: int

    def __post_init__(self) -> None:
        check_dof(self.dof, len(self.root))

    @property
    def dim(self) -> int:
        return len(self.root) * (len(self.root) + 1) // 2

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """X = (L⁻¹root)ᵀ(L⁻¹root) with LLᵀ ~ Wishart_d(I, dof), (size, dim)."""
        d = len(self.root)

        def draw(count: int) -> Array:
            # [None]: beside a stack, NumPy before 2 takes a matrix for a stack of vectors.
            factor = np.linalg.solve(bartlett(count, d, self.dof, rng), self.root[None])
            return upper_triangle(factor.transpose(0, 2, 1) @ factor)

        return draw_in_chunks(size, self.dim, d**2, draw)

    def log_density(self, x: Array) -> Array:
        d = len(self.root)

        def of(x: Array) -> Array:
            factor, definite = cholesky_stack(symmetric_matrix(x, d))
            white = np.linalg.solve(factor, self.root.T[None])  # tr(ΨX⁻¹) = ‖L⁻¹rootᵀ‖²
            density = self.dof * log_det(self.root) - (self.dof + d + 1) * _half_log_det(factor)
            return np.where(definite, density - 0.5 * np.sum(white**2, axis=(1, 2)), -np.inf)

        return _block_by_block(of, x, d)


@value_class
class ShiftedWishart(Law):
    """shift + W with W ~ Wishart_d(rootᵀroot, dof), as its upper triangle; dof ≥ d.

    shift : (d, d), symmetric. root : (d, d), upper triangular. The density is 0 where x − shift is
    not positive definite.
    """

    shift: Array
    root: Array
    dof: int

    def __post_init__(self) -> None:
        check_dof(self.dof, len(self.root))

    @property
    def dim(self) -> int:
        return len(self.root) * (len(self.root) + 1) // 2

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        def draw(count: int) -> Array:
            return upper_triangle(self.shift) + wishart(count, self.root, self.dof, rng)

        return draw_in_chunks(size, self.dim, len(self.root) ** 2, draw)

    def log_density(self, x: Array) -> Array:
        d, weights = len(self.root), trace_weights(self.root)

        def of(noise: Array) -> Array:
            factor, definite = cholesky_stack(symmetric_matrix(noise, d))
            density = (self.dof - d - 1) * _half_log_det(factor) - 0.5 * (noise @ weights)
            return np.where(definite, density - self.dof * log_det(self.root), -np.inf)

        return _block_by_block(of, x - upper_triangle(self.shift), d)


def check_dof(dof: int, dim: int) -> None:
    """Raises `InvalidInput` when dof < dim: a Wishart matrix of order `dim` is then singular."""
    if dof < dim:
        fail("dof", dof, f"at least {dim}, the number of columns")


def wishart(size: int, root: Array, dof: int, rng: np.random.Generator) -> Array:
    """Upper triangles (size, d(d+1)/2) of draws of Wishart_d(rootᵀroot, dof), dof ≥ 1."""
    factor = root.T @ bartlett(size, len(root), dof, rng)
    return upper_triangle(factor @ factor.transpose(0, 2, 1))


def bartlett(size: int, dim: int, dof: int | np.ndarray, rng: np.random.Generator) -> Array:
    """Draws of lower trapezoidal L with LLᵀ ~ Wishart_dim(I, dof), (size, dim, min(dim, dof)).

    dof : an integer ≥ 1, or one for each draw, (size,), none of them below `dim` (Bartlett 1933).
    """
    width = min(dim, int(np.min(dof)))
    factor = np.zeros((size, dim, width))
    below = np.tril_indices(dim, -1, width)
    factor[:, *below] = rng.standard_normal((size, len(below[0])))
    diagonal = np.arange(width)
    freedom = np.asarray(dof)[..., None] - diagonal
    factor[:, diagonal, diagonal] = np.sqrt(2.0 * rng.standard_gamma(0.5 * freedom, (size, width)))
    return factor


def _half_log_det(factor: Array) -> Array:
    return np.asarray(np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1))


def _block_by_block(log_density: Callable[[Array], Array], x: Array, dim: int) -> Array:
    """log_density block by block, since each row unfolds into dim × dim."""
    step = max(1, CHUNK * 64 // dim**2)
    return np.concatenate(
        [log_density(x[start : start + step]) for start in range(0, len(x), step)]
    )
