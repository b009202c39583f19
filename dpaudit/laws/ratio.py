"""A mean with a noisy count: densities of (S + noise)/m, where m = n + noise is noisy too.

They are integrals over m in closed form. Mechanisms replace a noisy count below `LEAST` by
`LEAST`. The draws in which that happens are one outlying component of the mixture, of scale
proportional to 1/LEAST.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammainc, ndtr

from dpaudit._core.types import Array
from dpaudit.laws import density
from dpaudit.laws.density import Density
from dpaudit.laws.noise import laplace_log_cdf, laplace_log_density

LEAST = 1e-12  # the smallest count divided by, as in the published mechanisms
# widths of the panels nearest to a kink and farthest from it, in units of the answer
FINEST, FARTHEST = (1e-4, 1e19)

LogDensity = Callable[[Array], Array]


def laplace_ratio(total: float, count: float, scale: float) -> Density:
    """(S + Lap(b))/m with m = max(n + Lap(b), LEAST); it is also the law of S/m + Lap(b/m).

    total : S. count : n. scale : b.
    """
    outlier = _laplace_outlier(total / LEAST, count, scale)
    return _mixture(
        lambda x: _laplace_integral(x, total, count, scale), outlier, total / count, total / LEAST
    )


def laplace_mixture(mean: float, count: float, scale: float) -> Density:
    """mean + Lap(b/m) with m = max(n + Lap(b), LEAST): only the noise is divided by m."""
    outlier = _laplace_outlier(mean, count, scale)
    return _mixture(lambda x: _laplace_integral(x - mean, 0.0, count, scale), outlier, mean)


def gaussian_ratio(total: float, count: float, sigma: float) -> Density:
    """(S + N(0, σ²))/max(n + N(0, σ²), LEAST), with S = `total` and n = `count`."""
    outlier = _gaussian_outlier(total / LEAST, count, sigma)
    return _mixture(
        lambda x: _gaussian_integral(x, total, count, sigma), outlier, total / count, total / LEAST
    )


def gaussian_mixture(mean: float, count: float, sigma: float) -> Density:
    """mean + N(0, (σ/m)²) with m = max(n + N(0, σ²), LEAST)."""
    outlier = _gaussian_outlier(mean, count, sigma)
    return _mixture(lambda x: _gaussian_integral(x - mean, 0.0, count, sigma), outlier, mean)


def _mixture(integral: Callable[[Array], Array], log_outlier: LogDensity, *kinks: float) -> Density:
    """The density `integral` of draws with m > LEAST, plus the component of the other draws.

    The panels double in width: tails fall as a power, and the outlier lies some 1e12 away.
    """

    def log_p(x: Array) -> Array:
        return np.logaddexp(np.log(integral(x)), log_outlier(x))

    return Density(log_p, density.doubling_edges(np.array([0.0, *kinks]), FINEST, FARTHEST))


def _laplace_outlier(at: float, count: float, scale: float) -> LogDensity:
    """The component of draws with n + Lap(b) < LEAST: Laplace about `at` of scale b/LEAST."""
    log_weight = float(laplace_log_cdf(np.array((LEAST - count) / scale)))
    wide = scale / LEAST
    return lambda x: log_weight + laplace_log_density((x - at) / wide) - np.log(wide)


def _gaussian_outlier(at: float, count: float, sigma: float) -> LogDensity:
    """The component of draws with n + N(0, σ²) < LEAST: N(at, (σ/LEAST)²)."""
    log_weight = float(np.log(ndtr((LEAST - count) / sigma)))
    wide = sigma / LEAST
    return lambda x: log_weight - 0.5 * ((x - at) / wide) ** 2 - np.log(np.sqrt(2.0 * np.pi) * wide)


def _laplace_integral(x: Array, total: float, count: float, scale: float) -> Array:
    """∫₀^∞ m·e^{−(|xm − S| + |m − n|)/b} dm/(2b)².

    The exponent is linear in m between 0, n and S/x (where that is positive). Beyond the last of
    these it falls at the rate (|x| + 1)/b.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = np.where(total * x > 0.0, total / x, 0.0)
    breaks = [np.zeros_like(x), np.full_like(x, count), np.where(np.isfinite(meet), meet, 0.0)]
    cuts = np.sort(np.stack(breaks), axis=0)

    def exponent(m: Array) -> Array:
        return np.asarray((np.abs(x * m - total) + np.abs(m - count)) / scale)

    inner = sum(
        _linear_piece(cuts[i], cuts[i + 1], exponent(cuts[i]), exponent(cuts[i + 1]))
        for i in range(2)
    )
    rate = (np.abs(x) + 1.0) / scale
    outer = np.exp(-exponent(cuts[2])) * (cuts[2] / rate + 1.0 / rate**2)
    return np.asarray((inner + outer) / (2.0 * scale) ** 2)


def _linear_piece(start: Array, end: Array, first: Array, last: Array) -> Array:
    """∫ m·e^{−E} dm from start to end, where E is linear from `first` to `last`.

    With u the distance from the end where E is least, as a share of the length, and z the change
    of E, this is e^{−min E}·length·∫₀¹ (m at that end ± length·u)·e^{−zu} du.
    """
    length, change = end - start, np.abs(last - first)
    z = np.maximum(change, 1e-300)
    constant = -np.expm1(-z) / z  # ∫₀¹ e^{−zu} du
    # ∫₀¹ u·e^{−zu} du
    linear = np.where(z > 1e-5, gammainc(2.0, z) / np.maximum(z, 1e-5) ** 2, 0.5 - z / 3.0)
    near = np.where(first <= last, start, end)
    sign = np.where(first <= last, 1.0, -1.0)
    return np.asarray(
        np.exp(-np.minimum(first, last)) * length * (near * constant + sign * length * linear)
    )


def _gaussian_integral(x: Array, total: float, count: float, sigma: float) -> Array:
    """∫₀^∞ m·e^{−((xm − S)² + (m − n)²)/2σ²} dm/(2πσ²).

    Completing the square, the exponent is −½·precision·(m − centre)² − least.
    """
    with np.errstate(over="ignore"):
        precision = (1.0 + x**2) / sigma**2
        centre = (x * total + count) / (1.0 + x**2)
        least = (total - count * x) ** 2 / (2.0 * sigma**2 * (1.0 + x**2))
    z = centre * np.sqrt(precision)
    part = (np.exp(-0.5 * z**2) + np.sqrt(2.0 * np.pi) * z * ndtr(z)) / precision
    return np.asarray(np.exp(-least) * part / (2.0 * np.pi * sigma**2))
