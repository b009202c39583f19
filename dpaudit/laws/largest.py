"""The largest of several noisy answers: the laws of its index and of its value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws import density
from dpaudit.laws.density import Density
from dpaudit.laws.discrete import Discrete
from dpaudit.laws.noise import laplace_log_cdf, laplace_log_density


@value_class(eq=True)
class Noise:
    """Noise of a location and scale family.

    log_density, log_cdf : logarithms of the density and the distribution function at scale 1.
    start : the lower end of the support.
    sample : (rng, scale, shape) → independent draws.
    """

    log_density: Callable[[Array], Array]
    log_cdf: Callable[[Array], Array]
    start: float
    sample: Callable[[np.random.Generator, float, tuple[int, ...]], Array]


def _exponential_log_density(x: Array) -> Array:
    return np.where(x >= 0.0, -x, -np.inf)


def _exponential_log_cdf(x: Array) -> Array:
    """log(1 − e^{−x}), −∞ for x ≤ 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(-np.maximum(x, 0.0))))


def _laplace(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Array:
    return rng.laplace(0.0, scale, shape)


def _exponential(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Array:
    return rng.exponential(scale, shape)


LAPLACE = Noise(laplace_log_density, laplace_log_cdf, -np.inf, _laplace)
EXPONENTIAL = Noise(_exponential_log_density, _exponential_log_cdf, 0.0, _exponential)


def largest_value(queries: Array, noise: Noise, scale: float) -> Density:
    """The law of max(queries + scale·noise), queries (n,)."""

    def log_p(x: Array) -> Array:
        return np.asarray(logsumexp(_log_largest(queries, noise, scale, x), axis=0))

    return Density(log_p, _edges(queries, noise, scale))


def largest_index(queries: Array, noise: Noise, scale: float) -> Discrete:
    """The law of argmax(queries + scale·noise), by quadrature over the largest value."""
    ends = _edges(queries, noise, scale)
    x, w = density.gauss_legendre(ends[:-1], ends[1:])
    terms = _log_largest(queries, noise, scale, x.ravel()) + np.log(w.ravel())
    return Discrete(np.arange(float(len(queries))), np.asarray(logsumexp(terms, axis=1)))


def _edges(queries: Array, noise: Noise, scale: float) -> Array:
    """Panels for the largest value, which is at least the largest query plus the least noise."""
    low = queries.max() + scale * noise.start
    return density.panel_edges(queries, scale, low=low, width=2.0)


def _log_largest(queries: Array, noise: Noise, scale: float, x: Array) -> Array:
    """log density at x (m,) of noisy query i, times P(all others are below x), shape (n, m)."""
    z = (x - queries[:, None]) / scale
    below = noise.log_cdf(z)
    with np.errstate(invalid="ignore"):
        # where P(query i is below x) is 0, its density at x is 0 too
        others = np.where(np.isneginf(below), -np.inf, below.sum(axis=0) - below)
    return np.asarray(noise.log_density(z) - np.log(scale) + others)
