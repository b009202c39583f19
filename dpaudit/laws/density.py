"""Laws of one number by its density: a general class, the largest noisy answer, noisy ratios.

A density is smooth between known edges. Integrals over it are by Gauss–Legendre quadrature with 16
nodes in each panel, a panel being the interval between neighbouring edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from itertools import pairwise

import numpy as np
from scipy.special import gammainc, logsumexp, ndtr

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import Law
from dpaudit.laws.discrete import Discrete
from dpaudit.laws.vectors import laplace_log_cdf, laplace_log_density

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
FAR = 740.0  # e^{−x} underflows to 0 beyond this x, in scales of exponential noise
LogDensity = Callable[[Array], Array]
LEAST = 1e-12  # the smallest denominator: published mechanisms raise a noisy count to it
# widths of the panels nearest to a kink and farthest from it, in units of the answer
FINEST, FARTHEST = (1e-4, 1e19)
FINE = 16  # parts of a panel in the table of the distribution function that `sample` inverts


@value_class
class Density(Law):
    """The law of one number with log density `log_p`, and perhaps with atoms.

    log_p : vectorised, (m,) → (m,), smooth between neighbouring `edges`. edges : ascending; the
    mass outside them is negligible, and on each panel a polynomial of degree 31 fits the density.
    atoms, log_mass : (a,), values of positive probability and the logarithms of it; the density
    integrates to the remaining probability.
    """

    log_p: Callable[[Array], Array]
    edges: Array
    atoms: Array = field(default_factory=lambda: np.empty(0))
    log_mass: Array = field(default_factory=lambda: np.empty(0))

    @property
    def dim(self) -> int:
        return 1

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """By inversion of the distribution function, linear between 16 points a panel."""
        starts = np.concatenate([_left_ends(a, b, FINE) for a, b in pairwise(self.edges)])
        points = np.append(starts, self.edges[-1])
        x, w = gauss_legendre(points[:-1], points[1:])
        mass = (w * np.exp(self.log_p(x.ravel()).reshape(x.shape))).sum(axis=1)
        below, atoms = np.concatenate([[0.0], np.cumsum(mass)]), np.exp(self.log_mass)
        u = rng.random(size) * (atoms.sum() + below[-1]) - atoms.sum()
        drawn = np.interp(u, below, points)
        if len(atoms):
            which = np.searchsorted(np.cumsum(atoms), u + atoms.sum(), side="right")
            drawn = np.where(u < 0.0, self.atoms[np.minimum(which, len(atoms) - 1)], drawn)
        return np.asarray(drawn[:, None])

    def log_density(self, x: Array) -> Array:
        """Log density with respect to length plus a count of the atoms."""
        value = np.asarray(self.log_p(x[:, 0]))
        for atom, mass in zip(self.atoms, self.log_mass, strict=True):
            value = np.where(x[:, 0] == atom, mass, value)
        return value


def gauss_legendre(start: Array, end: Array) -> tuple[Array, Array]:
    """Gauss–Legendre nodes and weights of each interval, shape (intervals, 16) each."""
    half = 0.5 * (end - start)[:, None]
    return 0.5 * (start + end)[:, None] + half * NODES, half * WEIGHTS


def _left_ends(start: float, end: float, parts: int) -> Array:
    return np.asarray(start + (end - start) * np.arange(parts) / parts)


def panel_edges(
    kinks: Array, scale: float, *, low: float = -np.inf, high: float = np.inf, width: float = 4.0
) -> Array:
    """The edges of panels at most `width` scales wide, with every kink an edge.

    The panels end at `low` and `high`, or where tails that fall as e^{−|x|/scale} underflow to 0.
    """
    kinks = np.unique(kinks)
    first, last = max(low, kinks[0] - FAR * scale), min(high, kinks[-1] + FAR * scale)
    marks = np.unique(np.concatenate([[first], kinks[(kinks > first) & (kinks < last)], [last]]))
    parts = [_left_ends(a, b, int(np.ceil((b - a) / (width * scale)))) for a, b in pairwise(marks)]
    return np.append(np.concatenate(parts), last)


def doubling_edges(kinks: Array, least: float, most: float) -> Array:
    """The edges of panels whose widths double away from each kink, from `least` to `most`: they
    suit densities whose tails fall as a power.
    """
    kinks = np.unique(kinks)
    steps = least * 2.0 ** np.arange(0.0, np.ceil(np.log2(most / least)) + 1.0)
    middle = [kinks]
    for a, b in pairwise(kinks):
        inside = steps[steps < 0.5 * (b - a)]
        middle += [a + inside, b - inside]
    return np.unique(np.concatenate([*middle, kinks[0] - steps, kinks[-1] + steps]))


# The largest of several noisy answers: the laws of its index and of its value.


@value_class(eq=True)
class Noise:
    """Noise of a location and scale family, by its functions at scale 1 and its sampler.

    start : the lower end of the support. sample : (rng, scale, shape) → independent draws.
    """

    log_density: Callable[[Array], Array]
    log_cdf: Callable[[Array], Array]
    start: float
    sample: Callable[[np.random.Generator, float, tuple[int, ...]], Array]


def _exponential_log_cdf(x: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(-np.maximum(x, 0.0))))


LAPLACE = Noise(
    laplace_log_density,
    laplace_log_cdf,
    -np.inf,
    lambda rng, scale, shape: rng.laplace(0.0, scale, shape),
)
EXPONENTIAL = Noise(
    lambda x: np.where(x >= 0.0, -x, -np.inf),
    _exponential_log_cdf,
    0.0,
    lambda rng, scale, shape: rng.exponential(scale, shape),
)


def largest_value(queries: Array, noise: Noise, scale: float) -> Density:
    """The law of max(queries + scale·noise), queries (n,)."""

    def log_p(x: Array) -> Array:
        return np.asarray(logsumexp(_log_largest(queries, noise, scale, x), axis=0))

    return Density(log_p, _edges(queries, noise, scale))


def largest_index(queries: Array, noise: Noise, scale: float) -> Discrete:
    """The law of argmax(queries + scale·noise), by quadrature over the largest value."""
    ends = _edges(queries, noise, scale)
    x, w = gauss_legendre(ends[:-1], ends[1:])
    terms = _log_largest(queries, noise, scale, x.ravel()) + np.log(w.ravel())
    return Discrete(np.arange(float(len(queries))), np.asarray(logsumexp(terms, axis=1)))


def _edges(queries: Array, noise: Noise, scale: float) -> Array:
    low = queries.max() + scale * noise.start
    return panel_edges(queries, scale, low=low, width=2.0)


def _log_largest(queries: Array, noise: Noise, scale: float, x: Array) -> Array:
    """log(density of noisy query i at x · P(all others are below x)), (n, m), for x (m,)."""
    z = (x - queries[:, None]) / scale
    below = noise.log_cdf(z)
    with np.errstate(invalid="ignore"):
        # where P(query i is below x) is 0, its density at x is 0 too
        others = np.where(np.isneginf(below), -np.inf, below.sum(axis=0) - below)
    return np.asarray(noise.log_density(z) - np.log(scale) + others)


# A mean with a noisy count: densities of offset + (S + noise)/m, where m = n + noise is noisy too.
# They are integrals over m in closed form. Mechanisms replace a noisy count below `LEAST` by
# `LEAST`. The draws in which that happens are an outlying component of the mixture, of scale
# proportional to 1/LEAST.


def laplace_ratio(total: float, count: float, scale: float, offset: float = 0.0) -> Density:
    """The law of offset + (S + Lap(b))/m with m = max(n + Lap(b), LEAST).

    total : S. count : n. scale : b.
    """
    at, wide = offset + total / LEAST, scale / LEAST
    log_weight = float(laplace_log_cdf(np.array((LEAST - count) / scale)))
    return _mixture(
        lambda x: _laplace_integral(x - offset, total, count, scale),
        lambda x: log_weight + laplace_log_density((x - at) / wide) - np.log(wide),
        offset + total / count,
        at,
    )


def gaussian_ratio(total: float, count: float, sigma: float, offset: float = 0.0) -> Density:
    """The law of offset + (S + N(0, σ²))/m with m = max(n + N(0, σ²), LEAST)."""
    at, wide = offset + total / LEAST, sigma / LEAST
    log_weight = float(np.log(ndtr((LEAST - count) / sigma)))
    log_scale = np.log(np.sqrt(2.0 * np.pi) * wide)
    return _mixture(
        lambda x: _gaussian_integral(x - offset, total, count, sigma),
        lambda x: log_weight - 0.5 * ((x - at) / wide) ** 2 - log_scale,
        offset + total / count,
        at,
    )


def _mixture(integral: Callable[[Array], Array], log_outlier: LogDensity, *kinks: float) -> Density:
    """The law with density `integral` (draws with m > LEAST) plus that of all other draws.

    The panels double in width: tails fall as a power, and the outlier lies some 1e12 away.
    """

    def log_p(x: Array) -> Array:
        return np.logaddexp(np.log(integral(x)), log_outlier(x))

    return Density(log_p, doubling_edges(np.array([0.0, *kinks]), FINEST, FARTHEST))


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
