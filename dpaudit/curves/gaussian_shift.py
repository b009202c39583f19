"""δ(ε) of a Gaussian against the same Gaussian shifted, in closed form."""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, log_ndtr

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike

# Gauss–Legendre, for the integral of the derivative of Φ/φ
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
ROOT_2, ROOT_2PI, HALF_ROOT_2PI = np.sqrt(2.0), np.sqrt(2.0 * np.pi), np.sqrt(0.5 * np.pi)


def gaussian_shift(mu: float, epsilon: ArrayLike) -> Array:
    """Exact δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) of N(0, 1) against N(μ, 1), either way round.

    Parameters
    ----------
    mu : float ≥ 0
        Distance of the means in standard deviations (c in paper 1, proposition 1).
    epsilon : float or array of shape (m,), nats
        ε ≥ 0; the result has its shape.

    Notes
    -----
    Since e^ε φ(b) = φ(a) for a = μ/2 − ε/μ, b = a − μ, δ = φ(a)(m(a) − m(b)) with m = Φ/φ, and the
    difference is ∫_b^a (1 + x m(x)) dx where it would cancel: relative accuracy holds in the tail
    and as μ → 0.

    Examples
    --------
    >>> import dpaudit as dp
    >>> print(dp.exact.gaussian_shift(1.0, [0.0, 1.0, 20.0]))
    [3.82924923e-01 1.26936738e-01 2.66470671e-86]
    """
    return shift_delta(check.real("mu", mu, 0.0), check.epsilon(epsilon))


def shift_delta(mu: float, epsilon: Array) -> Array:
    """`gaussian_shift` without its checks, for searches that call it many times.

    mu : ≥ 0. epsilon : ≥ 0, nats, a float64 array of any shape.
    """
    if mu == 0.0:
        return np.zeros_like(epsilon)
    with np.errstate(over="ignore", under="ignore"):
        upper = 0.5 * mu - epsilon / mu  # a
        if mu < 1.0:  # the integral of m′ over [b, a], by Gauss nodes
            x = np.maximum((upper - 0.5 * mu)[..., None] + 0.5 * mu * NODES, -1e8)
            # m′(x) = 1 + x·Φ(x)/φ(x) > 0; below −50 its series 1/x² − 3/x⁴ + …
            near = 1.0 + x * HALF_ROOT_2PI * erfcx(-np.maximum(x, -50.0) / ROOT_2)
            y = 1.0 / np.minimum(x, -50.0) ** 2
            slope = np.where(x > -50.0, near, y * (1.0 - y * (3.0 - y * (15.0 - 105.0 * y))))
            delta = np.exp(-0.5 * upper**2) / ROOT_2PI * (0.5 * mu * (slope @ WEIGHTS))
        else:  # Φ(a) − e^ε Φ(b), by logarithms: these terms hardly cancel
            first = log_ndtr(upper)
            rest = np.minimum(epsilon + log_ndtr(upper - mu) - first, 0.0)
            delta = np.exp(first) * -np.expm1(rest)
    delta = np.clip(np.where(np.isfinite(upper), delta, 0.0), 0.0, 1.0)
    return np.asarray(delta + 0.0)  # + 0.0 turns −0.0 into 0.0
