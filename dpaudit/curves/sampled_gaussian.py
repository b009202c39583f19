"""Rényi divergence of a Gaussian release on a Poisson sample: one step of DP-SGD."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array

TAIL, STEP = 12.0, 0.125  # deviations beyond the outermost mean, and between nodes
ORDERS = 1.0 + np.geomspace(0.1, 511.0, 128)  # at which DP-SGD is accounted for


def sampled_gaussian(order: Array, rate: float, sigma: float) -> Array:
    """R(α) of (1 − q)·N(0, σ²) + q·N(1, σ²) against N(0, σ²), nats, (m,).

    order : (m,), > 1. rate : q in (0, 1]. sigma : > 0.

    Of the two directions this one is the larger (Mironov, Talwar & Zhang 2019, theorem 5). The
    integrand of (α − 1)R = log E[(1 − q + q e^{(2x − 1)/2σ²})^α] under N(0, σ²) is analytic in
    |Im x| < πσ², so the trapezoidal rule converges like e^{−2π²σ²/h} in its step h.
    """
    return np.array([_log_moment(float(one), rate, sigma) / (one - 1.0) for one in order])


def _log_moment(order: float, rate: float, sigma: float) -> float:
    """log E[(P/Q)^α] under Q; the mass lies between the means 0 and α, with tails of width σ."""
    h = STEP * min(sigma, sigma**2)
    x = np.arange(-TAIL * sigma, order + TAIL * sigma, h)
    with np.errstate(divide="ignore"):
        ratio = np.logaddexp(np.log1p(-rate), np.log(rate) + (x - 0.5) / sigma**2)
    log = order * ratio - 0.5 * (x / sigma) ** 2
    most = log.max()
    total = np.exp(log - most).sum() * h / (sigma * np.sqrt(2.0 * np.pi))
    return float(most + np.log(total))
