"""Gaussian outputs: a shift (equal covariances) in closed form, any other pair by contour
inversion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erfcx

from dpaudit._core import check
from dpaudit._core.check import Array

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def gaussian_shift(mu: float, epsilon: Any) -> Array:
    """Exact δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) of N(0, 1) against N(μ, 1), either way round.

    Parameters
    ----------
    mu : distance of the means in standard deviations, ≥ 0 (c in paper 1, proposition 1).
    epsilon : scalar or (m,), nats.

    Returns
    -------
    Array of the shape of `epsilon`. Raises `InvalidInput`.

    Since e^ε φ(b) = φ(a) for a = μ/2 − ε/μ, b = a − μ, δ = φ(a)(m(a) − m(b)) with m = Φ/φ, and the
    difference is ∫_b^a (1 + x m(x)) dx where it would cancel: relative accuracy holds in the tail
    and as μ → 0.

    >>> import dpaudit as dp
    >>> print(dp.exact.gaussian_shift(1.0, [0.0, 1.0, 20.0]))
    [3.82924923e-01 1.26936738e-01 2.66470671e-86]
    """
    mu = check.real("mu", mu, 0.0)
    epsilon = check.epsilon(epsilon)
    if mu == 0.0:
        return np.zeros_like(epsilon)
    with np.errstate(over="ignore"):
        upper = 0.5 * mu - epsilon / mu
        delta = (
            _density(upper) * _mills_difference(upper, mu) if mu < 1.0 else _far(upper, mu, epsilon)
        )
    return np.clip(np.where(np.isfinite(upper), delta, 0.0), 0.0, 1.0)


def _density(x: Array) -> Array:
    return np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi)


def _mills_difference(upper: Array, mu: float) -> Array:
    x = (upper - 0.5 * mu)[..., None] + 0.5 * mu * NODES
    x = np.maximum(x, -1e8)
    return np.asarray(0.5 * mu * (_mills_slope(x) @ WEIGHTS))


def _mills_slope(x: Array) -> Array:
    """1 + x·Φ(x)/φ(x) = E[(x + Z)₊]-like and positive; for x ≪ 0 its asymptotic series 1/x² − 3/x⁴
    + …
    """
    near = 1.0 + x * np.sqrt(0.5 * np.pi) * erfcx(-np.maximum(x, -50.0) / np.sqrt(2.0))
    y = 1.0 / np.minimum(x, -50.0) ** 2
    return np.where(x > -50.0, near, y * (1.0 - y * (3.0 - y * (15.0 - 105.0 * y))))


def _far(upper: Array, mu: float, epsilon: Array) -> Array:
    from scipy.special import log_ndtr

    with np.errstate(under="ignore", over="ignore"):
        first = log_ndtr(upper)
        return np.asarray(
            np.exp(first) * -np.expm1(np.minimum(epsilon + log_ndtr(upper - mu) - first, 0.0))
        )
