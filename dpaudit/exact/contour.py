"""Hockey-stick divergence from the moment function of the privacy loss, by contour inversion at the saddle point.

With M(s) = E_P[e^{sL}],  δ(ε) = (1/2πi) ∫ M(s) e^{−sε} / (s(s+1)) ds  over Re s = c, 0 < c < s_max. The integrand is
evaluated on a hyperbola through the point of the real axis where it is smallest, so all of it is scaled by that
value and the RELATIVE accuracy survives in the tail. Beyond the branch points log M(s) ~ s·L* − O(log s): the
hyperbola bends to the right when ε > L* and to the left otherwise, which makes the integrand decay exponentially.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._check import Array

STEP = 0.08  # trapezoid step in the hyperbola's parameter: error e^{−2π·0.7/STEP} of the saddle value
BEND = 0.4  # tangent of the hyperbola's angle from the vertical; below 1, so that e^{s²} still decays
BISECTIONS = 60
LONGEST, NEGLIGIBLE = 40.0, 1e-17


@dataclass(frozen=True)
class LossTransform:
    """log M(s) and what the contour needs to know of it.

    log_m : complex s → log M(s), with a last axis of nodes.
    slope, curvature : real s → K′(s), K″(s) of K = log M.
    end : M is finite for 0 < s < end.
    bend_at : the L* above.
    maximum : sup L, infinite if the loss is unbounded; δ(ε) = 0 from there on.
    """

    log_m: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[Array], Array]
    curvature: Callable[[Array], Array]
    end: float
    bend_at: float
    maximum: float


def hockey_stick(transform: LossTransform, epsilon: Array) -> Array:
    """δ at each ε (shape (m,)), in [0, 1].

    Where nearly all of the loss lies above ε the line runs through (−1, 0) instead; crossing the pole at 0 makes
    its integral δ − 1.
    """
    delta = np.zeros_like(epsilon)
    origin = np.zeros(1)
    below = transform.slope(origin)[0] - 2.0 * np.sqrt(transform.curvature(origin)[0]) > epsilon
    above = ~below & (epsilon < transform.maximum)
    for chosen, start, stop, offset in ((below, -1.0, 0.0, 1.0), (above, 0.0, transform.end, 0.0)):
        if chosen.any():
            delta[chosen] = offset + _line(transform, epsilon[chosen], start, stop)
    return np.clip(delta, 0.0, 1.0)


def _line(transform: LossTransform, epsilon: Array, start: float, stop: float) -> Array:
    """The integral over a hyperbola through the saddle point in (start, stop)."""
    saddle = _saddle(transform, epsilon, start, stop)
    scale = 1.0 / np.sqrt(transform.curvature(saddle) + saddle**-2.0 + (saddle + 1.0) ** -2.0)
    bend = BEND * np.where(epsilon > transform.bend_at, 1.0, -1.0)[:, None]
    log_peak = transform.log_m(saddle[:, None] + 0j)[:, 0].real - saddle * epsilon

    def integrand(u: Array) -> np.ndarray:
        s = saddle[:, None] + scale[:, None] * (bend * (np.cosh(u) - 1.0) + 1j * np.sinh(u))
        speed = scale[:, None] * (bend * np.sinh(u) + 1j * np.cosh(u))
        exponent = transform.log_m(s) - s * epsilon[:, None] - log_peak[:, None]
        with np.errstate(under="ignore"):
            return np.exp(exponent) / (s * (s + 1.0)) * speed

    with np.errstate(under="ignore"):
        return np.asarray(trapezoid(integrand, STEP) * np.exp(log_peak) / np.pi)


def trapezoid(integrand: Callable[[Array], np.ndarray], step: float) -> Array:
    """∫₀^∞ Im integrand(u) du along the last axis, cut where every row has fallen by NEGLIGIBLE from its largest."""
    coarse = np.arange(0.0, LONGEST, 0.5)
    size = np.abs(integrand(coarse))
    alive = np.flatnonzero(np.any(size > NEGLIGIBLE * size.max(axis=1, keepdims=True), axis=0))
    u = np.arange(0.0, coarse[alive[-1]] + 0.5 + step, step)
    weight = np.full(len(u), step)
    weight[0] *= 0.5
    return np.asarray(np.sum(weight * integrand(u).imag, axis=1))


def _saddle(transform: LossTransform, epsilon: Array, start: float, stop: float) -> Array:
    """Minimum over (start, stop) of log M(s) − sε − log|s(s+1)|, a convex function, by bisection of its slope."""
    low, high = np.zeros_like(epsilon), np.full_like(epsilon, 1.0 - 1e-15)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        s = _unfold(middle, start, stop)
        rising = transform.slope(s) - epsilon - 1.0 / s - 1.0 / (s + 1.0) > 0.0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return _unfold(0.5 * (low + high), start, stop)


def _unfold(u: Array, start: float, stop: float) -> Array:
    """(0, 1) → (start, stop), also for an infinite stop; fine near 0, where a wide law has its saddle."""
    if start < 0.0:
        return np.asarray(-1.0 / (1.0 + u / (1.0 - u)))
    s = u / (1.0 - u)
    return np.asarray(s * stop / (s + stop)) if np.isfinite(stop) else s
