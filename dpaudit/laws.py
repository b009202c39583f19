"""Output laws. A mechanism maps a database to a law; sampling and exact spectra need nothing else of it.

`ZeroedRows` families describe, for ALL rows of a database at once, the pair of laws that zeroing one row gives; the
same families describe all replacements of rows by candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._check import Array, fail

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
        """Log density at the rows of x, shape (m,), up to a constant that is the same for laws of one shape."""
        ...


@dataclass(frozen=True, eq=False)
class Gaussian:
    """N(mean, (rootᵀroot)⁻¹); `root` (k, k) upper triangular."""

    mean: Array
    root: Array

    @property
    def dim(self) -> int:
        return len(self.mean)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return _affine(self, size, rng, lambda z: z)

    def log_density(self, x: Array) -> Array:
        return -0.5 * _square_norm(x, self.mean, self.root) + _log_det(self.root)


@dataclass(frozen=True, eq=False)
class StudentT:
    """Multivariate t with density ∝ (1 + ‖root(x − mean)‖²)^{−(dof + k)/2}; `root` (k, k) upper triangular."""

    mean: Array
    root: Array
    dof: int

    @property
    def dim(self) -> int:
        return len(self.mean)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        def spread(z: Array) -> Array:
            radius = rng.standard_gamma(0.5 * self.dof, len(z))
            radius += radius  # χ²_dof
            z *= np.reciprocal(np.sqrt(radius, out=radius), out=radius)[:, None]
            return z

        return _affine(self, size, rng, spread)

    def log_density(self, x: Array) -> Array:
        power = 0.5 * (self.dof + self.dim)
        return _log_det(self.root) - power * np.log1p(_square_norm(x, self.mean, self.root))


@dataclass(frozen=True, eq=False)
class GaussianRows:
    """`rows` i.i.d. rows N(0, rootᵀroot), flattened to (rows·d,), or their Gram matrix's upper triangle.

    The Gram matrix is a Wishart draw and sufficient for the covariance: either release has the same spectrum.
    """

    root: Array
    rows: int
    release: str = "sketch"

    @property
    def dim(self) -> int:
        d = len(self.root)
        return self.rows * d if self.release == "sketch" else d * (d + 1) // 2

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        draw = self._sketch if self.release == "sketch" else self._gram
        out = np.empty((size, self.dim))
        step = max(1, CHUNK * 16 // (self.rows * len(self.root) if self.release == "sketch" else len(self.root) ** 2))
        for start in range(0, size, step):
            part = out[start : start + step]
            part[...] = draw(len(part), rng)
        return out

    def _sketch(self, size: int, rng: np.random.Generator) -> Array:
        return (rng.standard_normal((size * self.rows, len(self.root))) @ self.root).reshape(size, -1)

    def _gram(self, size: int, rng: np.random.Generator) -> Array:
        d = len(self.root)
        factor = self.root.T @ bartlett(size, d, self.rows, rng)
        return (factor @ factor.transpose(0, 2, 1))[:, *np.triu_indices(d)]

    def log_density(self, x: Array) -> Array:
        d = len(self.root)
        if self.release == "sketch":
            white = solve_triangular(self.root, x.reshape(-1, d).T, trans="T")
            square = np.einsum("ij,ij->j", white, white).reshape(len(x), self.rows).sum(axis=1)
        else:
            inverse = solve_triangular(self.root, np.eye(d))
            row, column = np.triu_indices(d)
            square = x @ ((inverse @ inverse.T)[row, column] * np.where(row == column, 1.0, 2.0))
        return np.asarray(-0.5 * square - self.rows * _log_det(self.root))


def bartlett(size: int, dim: int, dof: int, rng: np.random.Generator) -> Array:
    """(size, dim, min(dim, dof)) lower trapezoidal L with LLᵀ ~ Wishart_dim(I, dof) (Bartlett 1933)."""
    width = min(dim, dof)
    factor = np.zeros((size, dim, width))
    below = np.tril_indices(dim, -1, width)
    factor[:, *below] = rng.standard_normal((size, len(below[0])))
    diagonal = np.arange(width)
    factor[:, diagonal, diagonal] = np.sqrt(2.0 * rng.standard_gamma(0.5 * (dof - diagonal), (size, width)))
    return factor


def _affine(law: Gaussian | StudentT, size: int, rng: np.random.Generator, spread) -> Array:  # type: ignore[no-untyped-def]
    """mean + root⁻¹ spread(z), chunk by chunk into one array."""
    turn = np.ascontiguousarray(solve_triangular(law.root, np.eye(law.dim)).T)
    out = np.empty((size, law.dim))
    buffer = np.empty((min(CHUNK, size), law.dim))
    for start in range(0, size, CHUNK):
        part = out[start : start + CHUNK]
        z = rng.standard_normal(out=buffer[: len(part)])
        np.matmul(spread(z), turn, out=part)
        part += law.mean
    return out


def _square_norm(x: Array, mean: Array, root: Array) -> Array:
    white = (x - mean) @ root.T
    return np.asarray(np.einsum("ij,ij->i", white, white))


def _log_det(root: Array) -> float:
    return float(np.sum(np.log(np.abs(np.diag(root)))))


def log_ratio(left: Law, right: Law, x: Array) -> Array:
    """The privacy loss log p(x)/q(x) at the rows of x, for two laws of one shape."""
    if type(left) is not type(right) or left.dim != right.dim:
        fail("right", type(right).__name__, f"a {type(left).__name__} of {left.dim} numbers")
    return left.log_density(x) - right.log_density(x)


# --- all rows of a database at once ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ShiftRows:
    """Zeroing row i moves a Gaussian by `mu[i]` standard deviations."""

    mu: Array


@dataclass(frozen=True, eq=False)
class SketchRows:
    """Zeroing row i takes vvᵀ from the covariance of `rows` Gaussian rows, with q = `leverage[i]`.

    inverted : it takes vvᵀ from their PRECISION (inverse Wishart), which swaps the two directions.
    """

    leverage: Array
    rows: int
    inverted: bool = False


@dataclass(frozen=True, eq=False)
class ScaleRows:
    """Pair i changes the variance of `rows` Gaussian rows on two axes, by factors 1 + `up[i]` and 1 − `down[i]`.

    inverted : the precision instead.
    """

    up: Array
    down: Array
    rows: int
    inverted: bool = False


@dataclass(frozen=True, eq=False)
class WishartRows:
    """Zeroing row i takes vvᵀ from AᵀA + W, W ~ Wishart_dim(V, dof), with `quadratic[i]` = vᵀV⁻¹v."""

    quadratic: Array
    dof: int
    dim: int


@dataclass(frozen=True, eq=False)
class StudentRows:
    """Zeroing row i of an ALS problem: leverage and residual share of each row, p features, r sketch rows."""

    leverage: Array
    residual_share: Array
    features: int
    rows: int


ZeroedRows = ShiftRows | SketchRows | ScaleRows | StudentRows | WishartRows
__all__ = [
    "Gaussian",
    "GaussianRows",
    "Law",
    "ScaleRows",
    "ShiftRows",
    "SketchRows",
    "StudentRows",
    "StudentT",
    "WishartRows",
    "ZeroedRows",
    "bartlett",
    "log_ratio",
]
