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
GROWTH = 1e2  # of the integrand along the line beyond which digits are lost
OVERFLOW = 700.0  # e^{±this} is as far as floats go


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


def _line(transform: LossTransform, epsilon: Array, start: float, stop: float, bend: float = BEND) -> Array:
    """The integral over a hyperbola through the saddle point in (start, stop).

    Near a branch point the asymptotic side can be the wrong one at first; where the integrand grows, a straighter
    line is taken, and a vertical one, on which it never grows, at the last.
    """
    saddle = _saddle(transform, epsilon, start, stop)
    log_peak = transform.log_m(saddle[:, None] + 0j)[:, 0].real - saddle * epsilon
    scale = 1.0 / np.sqrt(transform.curvature(saddle) + saddle**-2.0 + (saddle + 1.0) ** -2.0)
    slant = bend * np.where(epsilon > transform.bend_at, 1.0, -1.0)

    def integrand(u: Array, rows: np.ndarray) -> np.ndarray:
        along = slant[rows, None] * (np.cosh(u) - 1.0) + 1j * np.sinh(u)
        s = saddle[rows, None] + scale[rows, None] * along
        speed = scale[rows, None] * (slant[rows, None] * np.sinh(u) + 1j * np.cosh(u))
        exponent = transform.log_m(s) - s * epsilon[rows, None] - log_peak[rows, None]
        exponent.real = np.minimum(exponent.real, OVERFLOW)
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(exponent) / (s * (s + 1.0)) * speed)

    total, grows = trapezoid(integrand, log_peak > -OVERFLOW, STEP)
    if bend > 0.0 and grows.any():
        straighter = 0.25 * bend if bend > 0.02 else 0.0
        total[grows] = _line(transform, epsilon[grows], start, stop, straighter)
        log_peak = np.where(grows, 0.0, log_peak)
    with np.errstate(under="ignore"):
        return np.asarray(total * np.exp(log_peak))


def trapezoid(
    integrand: Callable[[Array, np.ndarray], np.ndarray], rows: np.ndarray, step: float
) -> tuple[Array, np.ndarray]:
    """(1/π)∫₀^∞ Im integrand(u) du for each of `rows` (mask), 0 for the others; and where the integrand grows.

    Cut where all have fallen to NEGLIGIBLE of their largest value.
    """
    total, grows = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
    coarse = np.arange(0.0, LONGEST, 0.5)
    size = np.abs(integrand(coarse, rows))
    if not size.size:
        return total, grows
    grows[rows] = size.max(axis=1) > GROWTH * size[:, 0]
    sound = rows & ~grows
    kept = size[sound[rows]]
    if not kept.size:
        return total, grows
    alive = np.flatnonzero(np.any(kept > NEGLIGIBLE * kept.max(axis=1, keepdims=True), axis=0))
    u = np.arange(0.0, coarse[alive[-1]] + 0.5 + step, step)
    weight = np.full(len(u), step / np.pi)
    weight[0] *= 0.5
    total[sound] = np.sum(weight * integrand(u, sound).imag, axis=1)
    return total, grows


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
