"""A mean with a noisy count: densities of (S + noise)/m where the count m is itself n + noise, by
integrals over m.

m is kept above `LEAST`; the draws of it that fall below become one outlying component of the
mixture.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammainc, ndtr

from dpaudit._core.check import Array
from dpaudit.laws import density
from dpaudit.laws.density import Density
from dpaudit.laws.noise import log_below, log_laplace

LEAST = 1e-12  # the smallest count divided by, as in the published mechanisms
# widths of the first and the last panel beside a kink, in units of the answer
FINEST, FARTHEST = (1e-4, 1e19)


def laplace_ratio(total: float, count: float, scale: float) -> Density:
    """(S + Lap(b))/max(n + Lap(b), LEAST), S = `total`, n = `count`, b = `scale`: also S/m +
    Lap(b/m).
    """

    def log_p(x: Array) -> Array:
        return np.logaddexp(np.log(_linear(x, total, count, scale)), outlier(x))

    outlier = _outlier(total / LEAST, float(log_below(np.array((LEAST - count) / scale))), scale)
    return Density(log_p, _edges(total / count, total / LEAST))


def laplace_mixture(mean: float, count: float, scale: float) -> Density:
    """mean + Lap(b/m) with m = max(n + Lap(b), LEAST): the noise is divided by the noisy count, the
    mean is not.
    """

    def log_p(x: Array) -> Array:
        return np.logaddexp(np.log(_linear(x - mean, 0.0, count, scale)), outlier(x))

    outlier = _outlier(mean, float(log_below(np.array((LEAST - count) / scale))), scale)
    return Density(log_p, _edges(mean))


def gaussian_ratio(total: float, count: float, sigma: float) -> Density:
    """(S + N(0, σ²))/max(n + N(0, σ²), LEAST)."""

    def log_p(x: Array) -> Array:
        return np.logaddexp(np.log(_square(x, total, count, sigma)), outlier(x))

    outlier = _gaussian_outlier(total / LEAST, float(np.log(ndtr((LEAST - count) / sigma))), sigma)
    return Density(log_p, _edges(total / count, total / LEAST))


def gaussian_mixture(mean: float, count: float, sigma: float) -> Density:
    """mean + N(0, (σ/m)²) with m = max(n + N(0, σ²), LEAST)."""

    def log_p(x: Array) -> Array:
        return np.logaddexp(np.log(_square(x - mean, 0.0, count, sigma)), outlier(x))

    outlier = _gaussian_outlier(mean, float(np.log(ndtr((LEAST - count) / sigma))), sigma)
    return Density(log_p, _edges(mean))


def _edges(*kinks: float) -> Array:
    """Tails fall as a power of the answer, and the outlying component begins some 1e12 out: panels
    that double.
    """
    return density.geometric(np.array([0.0, *kinks]), FINEST, FARTHEST)


def _outlier(at: float, log_weight: float, scale: float) -> Callable[[Array], Array]:
    wide = scale / LEAST
    return lambda x: log_weight + log_laplace((x - at) / wide) - np.log(wide)


def _gaussian_outlier(at: float, log_weight: float, sigma: float) -> Callable[[Array], Array]:
    wide = sigma / LEAST
    return lambda x: log_weight - 0.5 * ((x - at) / wide) ** 2 - np.log(np.sqrt(2.0 * np.pi) * wide)


def _linear(x: Array, total: float, count: float, scale: float) -> Array:
    """∫₀^∞ m·e^{−(|xm − S| + |m − n|)/b} dm/(2b)²: exponents are linear between 0, n and S/x."""
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = np.where(total * x > 0.0, total / x, 0.0)
    cuts = np.sort(
        np.stack(
            [np.zeros_like(x), np.full_like(x, count), np.where(np.isfinite(meet), meet, 0.0)]
        ),
        axis=0,
    )

    def exponent(m: Array) -> Array:
        return np.asarray((np.abs(x * m - total) + np.abs(m - count)) / scale)

    inner = sum(
        _piece(cuts[i], cuts[i + 1], exponent(cuts[i]), exponent(cuts[i + 1])) for i in range(2)
    )
    rate = (np.abs(x) + 1.0) / scale
    outer = np.exp(-exponent(cuts[2])) * (cuts[2] / rate + 1.0 / rate**2)
    return np.asarray((inner + outer) / (2.0 * scale) ** 2)


def _piece(start: Array, end: Array, first: Array, last: Array) -> Array:
    """∫ m·e^{−E} dm from start to end, E linear from `first` to `last`: reckoned from the end where
    E is least.
    """
    length, fall = end - start, np.abs(last - first)
    z = np.maximum(fall, 1e-300)
    flat = -np.expm1(-z) / z  # ∫₀¹ e^{−zu} du
    # ∫₀¹ u e^{−zu} du
    slope = np.where(z > 1e-5, gammainc(2.0, z) / np.maximum(z, 1e-5) ** 2, 0.5 - z / 3.0)
    near = np.where(first <= last, start, end)
    turn = np.where(first <= last, 1.0, -1.0)
    return np.asarray(
        np.exp(-np.minimum(first, last)) * length * (near * flat + turn * length * slope)
    )


def _square(x: Array, total: float, count: float, sigma: float) -> Array:
    """∫₀^∞ m·e^{−((xm − S)² + (m − n)²)/2σ²} dm/(2πσ²): a quadratic in m about its least value."""
    with np.errstate(over="ignore"):
        precision = (1.0 + x**2) / sigma**2
        middle = (x * total + count) / (1.0 + x**2)
        rest = (total - count * x) ** 2 / (2.0 * sigma**2 * (1.0 + x**2))
    z = middle * np.sqrt(precision)
    part = (np.exp(-0.5 * z**2) + np.sqrt(2.0 * np.pi) * z * ndtr(z)) / precision
    return np.asarray(np.exp(-rest) * part / (2.0 * np.pi * sigma**2))
