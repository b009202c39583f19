"""Laws of a vector: Gaussian with any covariance, Gaussian noise of independent coordinates,
Student t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.check import Array
from dpaudit.laws import base
from dpaudit.laws._root import log_det


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
        return -0.5 * _square_norm(x, self.mean, self.root) + log_det(self.root)


@dataclass(frozen=True, eq=False)
class GaussianNoise:
    """Independent coordinates N(mean_i, deviation_i²); `mean` and `deviation` > 0 are (k,), and k
    may be thousands.
    """

    mean: Array
    deviation: Array

    @property
    def dim(self) -> int:
        return len(self.mean)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        def draw(count: int) -> Array:
            z = rng.standard_normal((count, self.dim))
            z *= self.deviation
            z += self.mean
            return z

        return base.in_chunks(size, self.dim, self.dim, draw)

    def log_density(self, x: Array) -> Array:
        white = (x - self.mean) / self.deviation
        return np.asarray(
            -0.5 * np.einsum("ij,ij->i", white, white) - np.sum(np.log(self.deviation))
        )


@dataclass(frozen=True, eq=False)
class StudentT:
    """Multivariate t with density ∝ (1 + ‖root(x − mean)‖²)^{−(dof + k)/2}; `root` (k, k) upper
    triangular.
    """

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
        return log_det(self.root) - power * np.log1p(_square_norm(x, self.mean, self.root))


@dataclass(frozen=True, eq=False)
class Product:
    """Independent releases side by side: the numbers of the first part, then those of the second, …"""

    parts: tuple[base.Law, ...]

    @property
    def dim(self) -> int:
        return sum(part.dim for part in self.parts)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return np.hstack([part.sample(size, rng) for part in self.parts])

    def log_density(self, x: Array) -> Array:
        ends = np.cumsum([part.dim for part in self.parts])[:-1]
        pieces = np.split(x, ends, axis=1)
        return np.sum(
            [part.log_density(piece) for part, piece in zip(self.parts, pieces, strict=True)],
            axis=0,
        )


def _affine(law: Gaussian | StudentT, size: int, rng: np.random.Generator, spread) -> Array:  # type: ignore[no-untyped-def]
    """mean + root⁻¹ spread(z), chunk by chunk into one array."""
    turn = np.ascontiguousarray(solve_triangular(law.root, np.eye(law.dim)).T)
    out = np.empty((size, law.dim))
    buffer = np.empty((min(base.CHUNK, size), law.dim))
    for start in range(0, size, base.CHUNK):
        part = out[start : start + base.CHUNK]
        z = rng.standard_normal(out=buffer[: len(part)])
        np.matmul(spread(z), turn, out=part)
        part += law.mean
    return out


def _square_norm(x: Array, mean: Array, root: Array) -> Array:
    white = (x - mean) @ root.T
    return np.asarray(np.einsum("ij,ij->i", white, white))
