"""Laplace noise: independent coordinates, or one draw added to every coordinate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.laws import base


@dataclass(frozen=True, eq=False)
class Laplace:
    """Independent coordinates with density e^{−|x − loc|/scale}/(2·scale); `loc` and `scale` > 0
    are (k,).
    """

    loc: Array
    scale: Array

    @property
    def dim(self) -> int:
        return len(self.loc)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return base.in_chunks(
            size, self.dim, self.dim, lambda m: rng.laplace(self.loc, self.scale, (m, self.dim))
        )

    def log_density(self, x: Array) -> Array:
        return np.asarray(
            -(np.abs(x - self.loc) / self.scale).sum(axis=1) - np.sum(np.log(2.0 * self.scale))
        )


@dataclass(frozen=True, eq=False)
class SharedLaplace:
    """loc + Z·(1, …, 1) with ONE draw Z of density e^{−|z|/scale}/(2·scale); `loc` (k,), scale > 0."""

    loc: Array
    scale: float

    @property
    def dim(self) -> int:
        return len(self.loc)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(self.loc + rng.laplace(0.0, self.scale, (size, 1)))

    def log_density(self, x: Array) -> Array:
        """Along the line; −∞ off it by more than rounding."""
        along = x - self.loc
        middle = along.mean(axis=1)
        spread = np.abs(along - middle[:, None]).max(axis=1)
        room = 8.0 * np.finfo(np.float64).eps * (np.abs(x).max(axis=1) + np.abs(self.loc).max())
        return np.where(
            spread <= room, -np.abs(middle) / self.scale - np.log(2.0 * self.scale), -np.inf
        )


def log_below(x: Array) -> Array:
    """log P(Z < x) of standard Laplace noise Z, to relative accuracy in the lower tail."""
    return np.where(
        x < 0.0, np.minimum(x, 0.0) - np.log(2.0), np.log1p(-0.5 * np.exp(-np.maximum(x, 0.0)))
    )


def log_laplace(x: Array) -> Array:
    """Log density of standard Laplace noise."""
    return np.asarray(-np.abs(x) - np.log(2.0))
