"""Readings of a privacy curve: ε at a given δ, the trade-off curve, the equivalent Gaussian μ.

The functions need only ε ↦ δ(ε), which is non-increasing, convex in e^ε and vectorised over a 1-D
array. `Chords` reads ε and the trade-off curve off a grid of points.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfinv

from dpaudit._core.check import fail, floats
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves.bracketing import Function, crossing, first_below, peak
from dpaudit.curves.gaussian_shift import shift_delta
from dpaudit.errors import InvalidInput

RUNGS = np.geomspace(1e-6, 1e3, 31)  # the ε at which a search for a crossing starts, nats
LOWER_RUNGS = 10.0 ** np.arange(-300.0, -5.0, 6.0)
UPPER_RUNGS = np.geomspace(1e3, 1e9, 21)
REASON = "an estimate says nothing beyond it"
ROUNDING = 1e-14  # relative: δ(0) may differ by so much between two calls, whose grids differ
FARTHEST = 1e9  # nats; a curve that is above δ there stays above it
LARGEST = 700.0  # nats; e^ε is finite up to here
# e^{−750} is 0 in floats
STEPS = np.concatenate([np.geomspace(1e-9, 1.0, 19), np.arange(2.0, 752.0, 6.0)])
SIGNED_STEPS = np.concatenate([-STEPS[::-1], [0.0], STEPS])


def unit(name: str, value: ArrayLike) -> Array:
    return _numbers(name, value, 0.0, 1.0, "a number in [0, 1], or a 1-D array of them")


def orders(order: ArrayLike) -> Array:
    least, most = np.nextafter(0.0, 1.0), np.finfo(np.float64).max
    return _numbers("order", order, least, most, "a finite number > 0, or a 1-D array of them")


def _numbers(name: str, value: ArrayLike, least: float, most: float, expected: str) -> Array:
    array = floats(name, value, expected)
    if array.ndim > 1 or array.size == 0 or not np.all((array >= least) & (array <= most)):
        fail(name, value, expected)
    return array


def epsilon_at(delta_of: Function, delta: ArrayLike, supremum: float | None = np.inf) -> Array:
    """The smallest ε ≥ 0 with δ(ε) ≤ delta, in the shape of `delta`; nats.

    delta_of : ε ↦ δ(ε). delta : scalar or (m,), in [0, 1]. supremum : the ε from which on δ is 0,
    which is the result at delta = 0; infinite if δ > 0 at every ε; None to find it from values of
    the function.

    The result is 0 where δ(0) ≤ delta, infinite where δ never falls to delta. Raises
    `InvalidInput`.
    """
    delta = unit("delta", delta)
    if supremum == 0.0:
        return np.zeros_like(delta)
    distinct, back = np.unique(delta, return_inverse=True)
    limit = np.inf if supremum is None else float(supremum)
    epsilon = np.full(distinct.shape, limit)
    searched = distinct >= (0.0 if supremum is None else np.nextafter(0.0, 1.0))
    if searched.any():
        epsilon[searched] = _crossings(delta_of, distinct[searched], limit)
    return epsilon[back.reshape(delta.shape)]


def _crossings(delta_of: Function, target: Array, supremum: float) -> Array:
    """The ε at which the curve falls to each target: bracketed on a grid of ε, then refined.

    The grid reaches as close to 0 and as far up as the targets need.
    """
    ladder = np.concatenate([[0.0], RUNGS])
    heights = delta_of(ladder)
    if np.any((target < heights[0]) & (target >= heights[1])):
        ladder = np.concatenate([[0.0], LOWER_RUNGS, RUNGS[1:]])
        heights = np.concatenate([heights[:1], delta_of(LOWER_RUNGS), heights[2:]])
    if np.any(target < heights[-1]):
        ladder = np.concatenate([ladder, UPPER_RUNGS[1:]])
        heights = np.concatenate([heights, delta_of(UPPER_RUNGS[1:])])
    if np.isfinite(supremum):
        inside = ladder < supremum
        ladder, heights = np.append(ladder[inside], supremum), np.append(heights[inside], 0.0)
    below = heights <= target[:, None]
    below[:, 0] |= target >= heights[0] * (1.0 - ROUNDING)
    first = np.argmax(below, axis=1)
    epsilon = np.where(below.any(axis=1), ladder[first], np.inf)
    bracketed = np.flatnonzero(below.any(axis=1) & (ladder[first - 1] > 0.0) & (first > 0))
    if len(bracketed):
        both = np.stack([first[bracketed] - 1, first[bracketed]], axis=1)
        epsilon[bracketed] = first_below(delta_of, target[bracketed], ladder[both], heights[both])
    return epsilon


def tradeoff(delta_of: Function, alpha: ArrayLike) -> Array:
    """β(α), the smallest type II error at type I error α that δ(ε) allows.

    alpha : scalar or (m,), in [0, 1]. Returns the shape of `alpha`. Raises `InvalidInput`.

    β(α) = sup over ε ≥ 0 of max(0, 1 − δ − e^ε α, e^{−ε}(1 − δ − α)) (Dong, Roth & Su 2022,
    propositions 3 and 6). With γ = e^ε in the first term and γ = e^{−ε} in the second, the two are
    one concave function of γ ∈ (0, ∞), so any grid of γ brackets the best one.
    """
    alpha = unit("alpha", alpha)
    level = np.atleast_1d(alpha)
    inside = (level > 0.0) & (level < 1.0)
    beta = np.where(level == 0.0, 1.0 - delta_of(np.array([FARTHEST]))[0], 0.0)
    if not inside.any():
        return beta.reshape(alpha.shape)
    inner = level[inside]
    miss = 1.0 - delta_of(np.concatenate([[0.0], STEPS]))
    gain = _gain(SIGNED_STEPS, np.concatenate([miss[:0:-1], miss]), inner[:, None])
    best = np.clip(np.argmax(gain, axis=1), 1, gain.shape[1] - 2)
    around = best[:, None] + np.array([-1, 0, 1])

    def at(signed: Array, problem: np.ndarray) -> Array:
        miss = 1.0 - delta_of(np.abs(signed).ravel()).reshape(signed.shape)
        return _gain(signed, miss, inner[problem, None])

    largest = peak(at, SIGNED_STEPS[around], np.take_along_axis(gain, around, axis=1))
    beta[inside] = np.clip(largest, 0.0, 1.0 - inner)
    return beta.reshape(alpha.shape)


def _gain(signed: Array, miss: Array, alpha: Array) -> Array:
    """1 − δ − e^ε α for ε ≥ 0, e^{−|ε|}(1 − δ − α) for ε < 0; miss = 1 − δ(|ε|)."""
    with np.errstate(over="ignore", under="ignore"):
        return np.where(
            signed >= 0.0,
            miss - np.exp(signed + np.log(alpha)),
            np.exp(np.minimum(signed, 0.0)) * (miss - alpha),
        )


def grid_tradeoff(epsilon: Array, delta: Array, alpha: Array) -> Array:
    """β(α) that the points of a δ(ε) curve imply, in the shape of `alpha`.

    epsilon, delta : (m,) each. Each point gives two supporting lines of the trade-off function,
    1 − δ − e^ε α and e^{−ε}(1 − δ − α) (Dong, Roth & Su 2022, proposition 6), so the largest of
    these lines is nowhere above that function.
    """
    gamma, miss, alpha = np.exp(np.minimum(epsilon, LARGEST)), 1.0 - delta, alpha[..., None]
    lines = np.maximum(miss - gamma * alpha, (miss - alpha) / gamma)
    return np.maximum(lines.max(axis=-1), 0.0)


def gdp_mu(epsilon: Array, delta: Array) -> Array:
    """The μ of the Gaussian shift, N(0, 1) against N(μ, 1), that has δ(ε) = delta.

    epsilon, delta : arrays of one shape, which is that of the result. 0 at delta = 0, infinite at
    delta = 1.
    """
    return np.asarray(np.vectorize(_mu, otypes=[float])(epsilon, delta))


def _mu(epsilon: float, delta: float) -> float:
    if delta <= 0.0 or delta >= 1.0:
        return 0.0 if delta <= 0.0 else np.inf
    low = 2.0 * np.sqrt(2.0) * float(erfinv(delta))  # δ_μ(0) = erf(μ/√8), and δ_μ falls with ε
    if epsilon == 0.0:
        return low

    at = np.asarray(epsilon)

    def excess(mu: float) -> float:
        return float(np.log(max(float(shift_delta(mu, at)), 5e-324) / delta))

    high = 2.0 * low
    while excess(high) < 0.0:
        low, high = high, 2.0 * high
    return crossing(excess, low, high, 1e-13)


@value_class
class Chords:
    """δ between the points of a grid by chords in e^ε, an upper bound of a curve through them.

    epsilon, delta : (m,), ε ascending and distinct. Outside the grid nothing is known, and methods
    raise `InvalidInput` there.
    """

    epsilon: Array
    delta: Array

    @classmethod
    def of(cls, epsilon: Array, delta: Array) -> Chords:
        """Chords through points in any order and shape; of equal ε the first point counts."""
        distinct, index = np.unique(np.ravel(epsilon), return_index=True)
        return cls(distinct, np.ravel(delta)[index])

    def __call__(self, epsilon: Array) -> Array:
        outside = (epsilon < self.epsilon[0]) | (epsilon > self.epsilon[-1])
        if np.any(outside):
            first = float(np.atleast_1d(epsilon)[np.atleast_1d(outside)][0])
            raise InvalidInput(
                f"epsilon must be within the grid, which {self._ends()}, got {first:g}: {REASON}"
            )
        if len(self.epsilon) == 1:
            return np.full_like(epsilon, self.delta[0])
        right = np.clip(np.searchsorted(self.epsilon, epsilon), 1, len(self.epsilon) - 1)
        low, high = self.epsilon[right - 1], self.epsilon[right]
        share = np.exp(epsilon - high) * np.expm1(low - epsilon) / np.expm1(low - high)
        return np.asarray(
            self.delta[right - 1] + share * (self.delta[right] - self.delta[right - 1])
        )

    def epsilon_at(self, delta: ArrayLike) -> Array:
        delta = unit("delta", delta)
        below = self.delta <= delta[..., None]
        if not np.all(below.any(axis=-1)):
            raise InvalidInput(
                f"delta must be at least {self.delta.min():g}, the smallest on the grid, "
                f"which {self._ends()}, got {float(delta.min()):g}: {REASON}"
            )
        first = np.argmax(below, axis=-1)
        before = np.maximum(first - 1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (self.delta[before] - delta) / (self.delta[before] - self.delta[first])
            inside = self.epsilon[before] + np.log1p(
                share * np.expm1(self.epsilon[first] - self.epsilon[before])
            )
        return np.where(first > 0, inside, self.epsilon[0])

    def tradeoff(self, alpha: ArrayLike) -> Array:
        """β(α) by the grid's points: chords are straight in e^ε, so a point attains it."""
        return grid_tradeoff(self.epsilon, self.delta, unit("alpha", alpha))

    def _ends(self) -> str:
        return f"goes from {self.epsilon[0]:g} to {self.epsilon[-1]:g}"
