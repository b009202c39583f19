"""Laws of a matrix: Gaussian rows and their Gram matrix (Wishart), inverse Wishart, Wishart noise
about a matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.check import Array, fail
from dpaudit._core.linalg import cholesky_stack
from dpaudit.laws import base
from dpaudit.laws._root import log_det, symmetric, trace_weights, triangle


@dataclass(frozen=True, eq=False)
class GaussianRows:
    """`rows` i.i.d. rows N(0, rootᵀroot), flattened to (rows·d,), or their Gram matrix's upper
    triangle.

    The Gram matrix is a Wishart draw and sufficient for the covariance: either release has the same
    spectrum.
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
        if self.release == "sketch":
            return base.in_chunks(
                size, self.dim, self.rows * d, lambda count: self._sketch(count, rng)
            )
        return base.in_chunks(
            size, self.dim, d**2, lambda count: wishart(count, self.root, self.rows, rng)
        )

    def _sketch(self, size: int, rng: np.random.Generator) -> Array:
        return (rng.standard_normal((size * self.rows, len(self.root))) @ self.root).reshape(
            size, -1
        )

    def log_density(self, x: Array) -> Array:
        d = len(self.root)
        if self.release == "sketch":
            white = solve_triangular(self.root, x.reshape(-1, d).T, trans="T")
            square = np.einsum("ij,ij->j", white, white).reshape(len(x), self.rows).sum(axis=1)
        else:
            square = x @ trace_weights(self.root)
        return np.asarray(-0.5 * square - self.rows * log_det(self.root))


@dataclass(frozen=True, eq=False)
class InverseWishart:
    """X ~ W⁻¹_d(rootᵀroot, dof) as its upper triangle; `root` (d, d) upper triangular, dof ≥ d.

    Density ∝ |Ψ|^{dof/2}|X|^{−(dof+d+1)/2}exp(−½tr(ΨX⁻¹)) with Ψ = rootᵀroot; X⁻¹ is a Wishart draw
    of scale Ψ⁻¹.
    """

    root: Array
    dof: int

    def __post_init__(self) -> None:
        check_dof(self.dof, len(self.root))

    @property
    def dim(self) -> int:
        return len(self.root) * (len(self.root) + 1) // 2

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """X = (L⁻¹root)ᵀ(L⁻¹root) with LLᵀ ~ Wishart_d(I, dof)."""
        d = len(self.root)

        def draw(count: int) -> Array:
            factor = np.linalg.solve(bartlett(count, d, self.dof, rng), self.root)
            return triangle(factor.transpose(0, 2, 1) @ factor)

        return base.in_chunks(size, self.dim, d**2, draw)

    def log_density(self, x: Array) -> Array:
        return _by_parts(self._log_density, x, len(self.root))

    def _log_density(self, x: Array) -> Array:
        d = len(self.root)
        factor, definite = cholesky_stack(symmetric(x, d))
        white = np.linalg.solve(factor, self.root.T)  # tr(ΨX⁻¹) = ‖L⁻¹rootᵀ‖²
        half = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        density = (
            self.dof * log_det(self.root)
            - (self.dof + d + 1) * half
            - 0.5 * np.sum(white**2, axis=(1, 2))
        )
        return np.where(definite, density, -np.inf)


@dataclass(frozen=True, eq=False)
class ShiftedWishart:
    """shift + W as its upper triangle, W ~ Wishart_d(rootᵀroot, dof), dof ≥ d.

    shift : (d, d) symmetric. root : (d, d) upper triangular. The density is 0 where x − shift is
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
        middle = triangle(self.shift[None])
        numbers = len(self.root) ** 2
        return base.in_chunks(
            size, self.dim, numbers, lambda count: middle + wishart(count, self.root, self.dof, rng)
        )

    def log_density(self, x: Array) -> Array:
        return _by_parts(self._log_density, x - triangle(self.shift[None]), len(self.root))

    def _log_density(self, noise: Array) -> Array:
        d = len(self.root)
        factor, definite = cholesky_stack(symmetric(noise, d))
        half = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        density = (
            (self.dof - d - 1) * half
            - 0.5 * (noise @ trace_weights(self.root))
            - self.dof * log_det(self.root)
        )
        return np.where(definite, density, -np.inf)


def check_dof(dof: int, dim: int) -> None:
    """Raises `InvalidInput` unless a Wishart matrix of order `dim` is invertible with so many
    degrees of freedom.
    """
    if dof < dim:
        fail("dof", dof, f"at least {dim}, the number of columns")


def wishart(size: int, root: Array, dof: int, rng: np.random.Generator) -> Array:
    """Upper triangles (size, d(d+1)/2) of draws of Wishart_d(rootᵀroot, dof), dof ≥ 1."""
    factor = root.T @ bartlett(size, len(root), dof, rng)
    return triangle(factor @ factor.transpose(0, 2, 1))


def bartlett(size: int, dim: int, dof: int, rng: np.random.Generator) -> Array:
    """(size, dim, min(dim, dof)) lower trapezoidal L with LLᵀ ~ Wishart_dim(I, dof) (Bartlett
    1933).
    """
    width = min(dim, dof)
    factor = np.zeros((size, dim, width))
    below = np.tril_indices(dim, -1, width)
    factor[:, *below] = rng.standard_normal((size, len(below[0])))
    diagonal = np.arange(width)
    factor[:, diagonal, diagonal] = np.sqrt(
        2.0 * rng.standard_gamma(0.5 * (dof - diagonal), (size, width))
    )
    return factor


def _by_parts(log_density: Callable[[Array], Array], x: Array, dim: int) -> Array:
    """Log densities of the rows of x, of which only so many are unfolded into matrices at a time."""
    step = max(1, base.CHUNK * 64 // dim**2)
    return np.concatenate(
        [log_density(x[start : start + step]) for start in range(0, len(x), step)]
    )
