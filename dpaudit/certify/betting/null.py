"""The null hypothesis: all pairs of laws whose δ(ε) is below an upper curve in both directions.

They are the post-processings of one dominating pair (Blackwell; Kairouz, Oh & Viswanath 2015; Dong,
Roth & Su, theorem 2), so that expectations over the whole null are sums over that pair's atoms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array

FARTHEST = 6.0  # the tilt θ is searched in [−FARTHEST, FARTHEST]
STEPS = 36  # of golden section; at its minimum the ceiling is flat to second order
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
ROUNDING = 1e-13  # added to the ceiling, which must not be too low


@dataclass(frozen=True, eq=False, repr=False)
class Null:
    """The dominating pair. p, q : (m,) probabilities of its atoms under either law."""

    p: Array
    q: Array

    @classmethod
    def of(cls, epsilon: Array, delta: Array) -> Null:
        """The null of δ(ε_j) ≤ δ_j for both directions.

        epsilon : (m,) nats, in any order. delta : (m,) in [0, 1].

        Events of Q-probability b have P-probability at most the least of δ + e^ε b and 1 − e^{−ε}(1
        − b − δ). That envelope of lines is concave and piecewise linear; its pieces are the atoms.
        """
        epsilon, delta = (np.asarray(one, dtype=np.float64) for one in (epsilon, delta))
        slope = np.concatenate([np.exp(epsilon), np.exp(-epsilon), [0.0]])
        height = np.concatenate([delta, 1.0 - np.exp(-epsilon) * (1.0 - delta), [1.0]])
        b, a = _envelope(slope, np.clip(height, 0.0, 1.0))
        return cls(np.diff(a, prepend=0.0), np.diff(b, prepend=0.0))

    def ceiling(self, up: Array, down: Array) -> Array:
        """The smallest log C with E_P' U · E_Q' V ≤ C for all (P', Q') of the null, (…).

        up, down : (…, k), k points whose hull contains the payoffs (U, V).

        A post-processing sends each atom to a point of the hull, so for t in (0, 1)
            t E U + (1 − t) E V ≤ h(t) = Σ_j max_k [t p_j U_k + (1 − t) q_j V_k],
        and by the inequality of the means E U · E V ≤ h(t)² / (4 t (1 − t)). Every t gives a bound.
        With t = 1/(1 + e^{−θ}) its logarithm is convex in θ, as a supremum of log-sums of
        exponentials. The least bound is attained, because log E U + log E V is concave on a convex
        set.
        """
        low, high = np.full(up.shape[:-1], -FARTHEST), np.full(up.shape[:-1], FARTHEST)
        for _ in range(STEPS):
            inner = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            left = self._bound(inner[0], up, down) <= self._bound(inner[1], up, down)
            low, high = np.where(left, low, inner[0]), np.where(left, inner[1], high)
        return self._bound(0.5 * (low + high), up, down) + ROUNDING

    def _bound(self, tilt: Array, up: Array, down: Array) -> Array:
        """log of h(t)²/(4t(1 − t)) = log of (Σ_j max_k [e^{θ/2} p_j U_k + e^{−θ/2} q_j V_k])²/4."""
        half = np.exp(0.5 * tilt)[..., None]
        best = _gain(self, half * up[..., 0, None], down[..., 0, None] / half)
        for k in range(1, up.shape[-1]):
            best = np.maximum(best, _gain(self, half * up[..., k, None], down[..., k, None] / half))
        return np.asarray(2.0 * np.log(0.5 * best.sum(axis=-1)))


def _gain(null: Null, up: Array, down: Array) -> Array:
    return up * null.p + down * null.q


def _envelope(slope: Array, height: Array) -> tuple[Array, Array]:
    """Vertices (b, a) of the minimum of the lines height + slope·b on [0, 1], b ascending."""
    order = np.lexsort((height, -slope))
    kept: list[tuple[float, float, float]] = []  # slope, height, b from which the line is least
    for line in zip(slope[order], height[order], strict=True):
        start = 0.0
        while kept:
            last = kept[-1]
            start = (line[1] - last[1]) / (last[0] - line[0]) if last[0] > line[0] else np.inf
            if start > last[2]:
                break
            kept.pop()
            start = 0.0
        if start < 1.0:
            kept.append((float(line[0]), float(line[1]), float(start)))
    b = np.array([start for _, _, start in kept] + [1.0])
    a = np.array(
        [height + slope * start for slope, height, start in kept] + [kept[-1][1] + kept[-1][0]]
    )
    return b, np.minimum(a, 1.0)
