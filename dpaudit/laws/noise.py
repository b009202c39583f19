"""Laplace noise: independent for each coordinate, or one draw added to every coordinate."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import draw_in_chunks


@value_class
class Laplace:
    """Independent coordinates with density ``e^{−|x − loc|/scale}/(2·scale)``.

    Parameters
    ----------
    loc : array of shape (k,)
        The centres.
    scale : array of shape (k,)
        > 0.
    """

    loc: Array
    scale: Array

    @property
    def dim(self) -> int:
        """Dimension of an output, k."""
        return len(self.loc)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """(size, k) independent draws."""
        return draw_in_chunks(
            size, self.dim, self.dim, lambda m: rng.laplace(self.loc, self.scale, (m, self.dim))
        )

    def log_density(self, x: Array) -> Array:
        """Log density at the rows of x (m, k)."""
        return np.asarray(
            -(np.abs(x - self.loc) / self.scale).sum(axis=1) - np.sum(np.log(2.0 * self.scale))
        )


@value_class
class SharedLaplace:
    """loc + Z·(1, …, 1) with ONE draw Z of density ``e^{−|z|/scale}/(2·scale)``.

    Parameters
    ----------
    loc : array of shape (k,)
        The centre.
    scale : float > 0
        Of Z.
    """

    loc: Array
    scale: float

    @property
    def dim(self) -> int:
        """Dimension of an output, k."""
        return len(self.loc)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """(size, k) independent draws."""
        return np.asarray(self.loc + rng.laplace(0.0, self.scale, (size, 1)))

    def log_density(self, x: Array) -> Array:
        """Log density by length along the line; −∞ for a row off the line by more than rounding."""
        along = x - self.loc
        middle = along.mean(axis=1)
        spread = np.abs(along - middle[:, None]).max(axis=1)
        size = np.abs(x).max(axis=1) + np.abs(self.loc).max()
        on_line = spread <= 8.0 * np.finfo(np.float64).eps * size
        density = -np.abs(middle) / self.scale - np.log(2.0 * self.scale)
        return np.where(on_line, density, -np.inf)


def laplace_log_cdf(x: Array) -> Array:
    """log P(Z < x) of standard Laplace noise Z, to relative accuracy in the lower tail."""
    return np.where(
        x < 0.0, np.minimum(x, 0.0) - np.log(2.0), np.log1p(-0.5 * np.exp(-np.maximum(x, 0.0)))
    )


def laplace_log_density(x: Array) -> Array:
    """Log density of standard Laplace noise."""
    return np.asarray(-np.abs(x) - np.log(2.0))
