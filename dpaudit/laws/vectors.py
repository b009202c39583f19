"""Laws of a vector: Gaussian, Student t, Laplace, and products of laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.linalg import log_det
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import CHUNK, Law, VectorLaw, draw_in_chunks


@value_class
class Gaussian(VectorLaw):
    """N(mean, (rootᵀroot)⁻¹); root (k, k) is an upper triangular factor of the precision."""

    mean: Array
    root: Array

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return _elliptical(self, size, rng, lambda z: z)

    def log_density(self, x: Array) -> Array:
        return -0.5 * _square_norm(x, self.mean, self.root) + log_det(self.root)


@value_class
class GaussianNoise(VectorLaw):
    """Independent coordinates N(meanᵢ, deviationᵢ²); nothing of size k² is built."""

    mean: Array
    deviation: Array

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        def draw(count: int) -> Array:
            z = rng.standard_normal((count, self.dim))
            z *= self.deviation
            z += self.mean
            return z

        return draw_in_chunks(size, self.dim, self.dim, draw)

    def log_density(self, x: Array) -> Array:
        white = (x - self.mean) / self.deviation
        return np.asarray(
            -0.5 * np.einsum("ij,ij->i", white, white) - np.sum(np.log(self.deviation))
        )


@value_class
class StudentT(VectorLaw):
    """Multivariate t with density ∝ (1 + ‖root(x − mean)‖²)^{−(dof + k)/2}; root is upper
    triangular.
    """

    mean: Array
    root: Array
    dof: int

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        def spread(z: Array) -> Array:
            radius = rng.standard_gamma(0.5 * self.dof, len(z))
            radius += radius  # χ²_dof
            z *= np.reciprocal(np.sqrt(radius, out=radius), out=radius)[:, None]
            return z

        return _elliptical(self, size, rng, spread)

    def log_density(self, x: Array) -> Array:
        power = 0.5 * (self.dof + self.dim)
        return log_det(self.root) - power * np.log1p(_square_norm(x, self.mean, self.root))


@value_class
class Laplace(VectorLaw):
    """Independent coordinates with density ``e^{−|x − loc|/scale}/(2·scale)``; loc, scale (k,)."""

    loc: Array
    scale: Array

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return draw_in_chunks(
            size, self.dim, self.dim, lambda m: rng.laplace(self.loc, self.scale, (m, self.dim))
        )

    def log_density(self, x: Array) -> Array:
        return np.asarray(
            -(np.abs(x - self.loc) / self.scale).sum(axis=1) - np.sum(np.log(2.0 * self.scale))
        )


@value_class
class SharedLaplace(VectorLaw):
    """loc + Z·(1, …, 1) with ONE draw Z of density ``e^{−|z|/scale}/(2·scale)``."""

    loc: Array
    scale: float

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(self.loc + rng.laplace(0.0, self.scale, (size, 1)))

    def log_density(self, x: Array) -> Array:
        """The log density per unit length on the line loc + z·(1, …, 1); −∞ off that line."""
        along = x - self.loc
        middle = along.mean(axis=1)
        spread = np.abs(along - middle[:, None]).max(axis=1)
        size = np.abs(x).max(axis=1) + np.abs(self.loc).max()
        on_line = spread <= 8.0 * np.finfo(np.float64).eps * size
        density = -np.abs(middle) / self.scale - np.log(2.0 * self.scale)
        return np.where(on_line, density, -np.inf)


@value_class
class Product(Law):
    """Independent draws of several laws side by side."""

    parts: tuple[Law, ...]

    @property
    def dim(self) -> int:
        return sum(part.dim for part in self.parts)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return np.hstack([part.sample(size, rng) for part in self.parts])

    def log_density(self, x: Array) -> Array:
        pieces = np.split(x, np.cumsum([part.dim for part in self.parts])[:-1], axis=1)
        pairs = zip(self.parts, pieces, strict=True)
        return np.sum([part.log_density(piece) for part, piece in pairs], axis=0)


def laplace_log_cdf(x: Array) -> Array:
    """log P(Z < x) of standard Laplace noise Z, to relative accuracy in the lower tail."""
    return np.where(
        x < 0.0, np.minimum(x, 0.0) - np.log(2.0), np.log1p(-0.5 * np.exp(-np.maximum(x, 0.0)))
    )


def laplace_log_density(x: Array) -> Array:
    return np.asarray(-np.abs(x) - np.log(2.0))


def _elliptical(
    law: Gaussian | StudentT, size: int, rng: np.random.Generator, spread: Callable[[Array], Array]
) -> Array:
    """Draws of mean + root⁻¹·spread(z) with z standard normal, chunk by chunk into one array.

    spread : maps (count, k) standard normal rows to rows of the same shape; it may work in place.
    """
    to_scale = np.ascontiguousarray(solve_triangular(law.root, np.eye(law.dim)).T)
    out = np.empty((size, law.dim))
    buffer = np.empty((min(CHUNK, size), law.dim))
    for start in range(0, size, CHUNK):
        chunk = out[start : start + CHUNK]
        z = rng.standard_normal(out=buffer[: len(chunk)])
        np.matmul(spread(z), to_scale, out=chunk)
        chunk += law.mean
    return out


def _square_norm(x: Array, mean: Array, root: Array) -> Array:
    white = (x - mean) @ root.T
    return np.asarray(np.einsum("ij,ij->i", white, white))
