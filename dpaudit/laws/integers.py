"""Laws of whole numbers: discrete Laplace and discrete Gaussian noise."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import Law


@value_class
class DiscreteLaplace(Law):
    """Independent whole numbers, z with probability ``tanh(1/(2s))·e^{−|z − centre|/s}``.

    centre : (k,), whole numbers. scale : (k,), s > 0. Ghosh, Roughgarden & Sundararajan 2009.
    """

    centre: Array
    scale: Array

    @property
    def dim(self) -> int:
        return len(self.centre)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return self.centre + discrete_laplace(self.scale, size, rng)

    def log_density(self, x: Array) -> Array:
        log_p = np.log(np.tanh(0.5 / self.scale)) - np.abs(x - self.centre) / self.scale
        return np.asarray(log_p.sum(axis=1))


@value_class
class DiscreteGaussian(Law):
    """Independent whole numbers, z with probability ∝ ``e^{−(z − centre)²/(2·sigma²)}``.

    centre : (k,), whole numbers. sigma : (k,), > 0. Canonne, Kamath & Steinke 2020; draws by their
    algorithm 3, with floats for fractions.
    """

    centre: Array
    sigma: Array

    @property
    def dim(self) -> int:
        return len(self.centre)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        out, left = np.empty((size, self.dim)), np.ones((size, self.dim), dtype=bool)
        sigma = np.broadcast_to(self.sigma, out.shape)
        while left.any():
            own = sigma[left]
            scale = np.floor(own) + 1.0
            drawn = discrete_laplace(scale, 1, rng)[0]
            accept = rng.random(len(own)) < np.exp(
                -0.5 * ((np.abs(drawn) - own**2 / scale) / own) ** 2
            )
            place = np.flatnonzero(left)[accept]
            out.flat[place], left.flat[place] = drawn[accept], False
        return self.centre + out

    def log_density(self, x: Array) -> Array:
        return np.asarray(-0.5 * np.sum(((x - self.centre) / self.sigma) ** 2, axis=1))


def discrete_laplace(scale: Array, size: int, rng: np.random.Generator) -> Array:
    """Draws of discrete Laplace noise with scales (k,), (size, k)."""
    tries = rng.geometric(-np.expm1(-1.0 / scale), (2, size, len(scale)))
    return np.asarray((tries[0] - tries[1]).astype(np.float64))
