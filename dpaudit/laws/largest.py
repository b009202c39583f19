"""The largest of several noisy answers: which it is, and how large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.check import Array
from dpaudit.laws import density
from dpaudit.laws.density import Density
from dpaudit.laws.discrete import Discrete
from dpaudit.laws.noise import log_below, log_laplace


@dataclass(frozen=True)
class Noise:
    """Standard noise by the logs of its density and distribution function, and where its support
    begins.
    """

    log_density: Callable[[Array], Array]
    log_below: Callable[[Array], Array]
    start: float


def _log_exponential(x: Array) -> Array:
    return np.where(x >= 0.0, -x, -np.inf)


def _log_below_exponential(x: Array) -> Array:
    """log(1 − e^{−x}), −∞ for x ≤ 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(-np.maximum(x, 0.0))))


LAPLACE = Noise(log_laplace, log_below, -np.inf)
EXPONENTIAL = Noise(_log_exponential, _log_below_exponential, 0.0)


def largest_value(queries: Array, noise: Noise, scale: float) -> Density:
    """The law of max(queries + noise), (n,) queries."""

    def log_p(x: Array) -> Array:
        return np.asarray(logsumexp(_log_terms(queries, noise, scale, x), axis=0))

    return Density(
        log_p, density.edges(queries, scale, low=queries.max() + scale * noise.start, width=2.0)
    )


def largest_index(queries: Array, noise: Noise, scale: float) -> Discrete:
    """The law of argmax(queries + noise), by quadrature over the largest value."""
    ends = density.edges(queries, scale, low=queries.max() + scale * noise.start, width=2.0)
    x, w = density.gauss(ends[:-1], ends[1:])
    terms = _log_terms(queries, noise, scale, x.ravel()) + np.log(w.ravel())
    return Discrete(np.arange(float(len(queries))), np.asarray(logsumexp(terms, axis=1)))


def _log_terms(queries: Array, noise: Noise, scale: float, x: Array) -> Array:
    """log of the density at x of query i being the largest, (n, m)."""
    z = (x - queries[:, None]) / scale
    below = noise.log_below(z)
    with np.errstate(invalid="ignore"):
        # nothing is below: no density either
        others = np.where(np.isneginf(below), -np.inf, below.sum(axis=0) - below)
    return np.asarray(noise.log_density(z) - np.log(scale) + others)
