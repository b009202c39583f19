"""The sets that may be certified, and what the choosing draws say of each.

Sets are {score > τ} for P against Q (forward) and {score ≤ τ} for Q against P (backward).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpaudit._core.types import Array
from dpaudit.certify.scores import SortedScores
from dpaudit.curves.readings import LARGEST

NODES = 64  # a longer grid of ε is represented by this many of them
EVEN, FINE = 400, 120  # thresholds: at quantiles, and as many again towards each end
NEAR = 0.45  # relative difference in size of the sets over which estimates are averaged


@dataclass(frozen=True, eq=False, repr=False)
class CandidateSets:
    """c sets in each direction, judged at e values of ε. Arrays are (2, c, e), forward first.

    epsilon : (e,), nats. threshold : (c,).
    value : estimate of p − e^ε q. error : its standard error on the certifying draws. Both are
        means over sets of nearly the same size, which removes most of the selection bias that
        the largest of many noisy estimates has.
    ratio : (2, c), ln(p/q) less three of its standard errors on the certifying draws.
    ratio_error : (2, c), standard error of ln(p/q) on the choosing draws.
    draws : certifying draws a side. choose : scores of the choosing draws. total : 1 − level.
    """

    epsilon: Array
    threshold: Array
    value: Array
    error: Array
    ratio: Array
    ratio_error: Array
    draws: int
    choose: SortedScores
    total: float

    @classmethod
    def of(cls, choose: SortedScores, epsilon: Array, draws: int, total: float) -> CandidateSets:
        """From the choosing draws. Half a hit is added to each count, so that no estimated
        probability is 0.
        """
        nodes = epsilon[evenly_spaced(len(epsilon), NODES)]
        threshold = _thresholds(choose)
        p, q = (
            (part + 0.5) / (size + 1.0)
            for part, size in zip(choose.above(threshold), choose.sizes, strict=True)
        )
        p, q = np.stack([p, 1.0 - q]), np.stack([q, 1.0 - p])
        error_p, error_q = (np.sqrt(part * (1.0 - part) / draws) for part in (p, q))
        near = _SizeRanges.of(0.5 * (p[0] + q[0]))
        gamma = np.exp(np.minimum(nodes, LARGEST))
        return cls(
            nodes,
            threshold,
            value=near.mean(p[..., None] - gamma * q[..., None]),
            error=near.mean(np.hypot(error_p[..., None], gamma * error_q[..., None])),
            ratio=np.log(p / q) - 3.0 * np.hypot(error_p / p, error_q / q),
            ratio_error=_log_ratio_error(p, q, choose.sizes),
            draws=draws,
            choose=choose,
            total=total,
        )

    def gain(self, cost: float) -> Array:
        """Value less `cost` standard errors, (2, c, e)."""
        return self.value - cost * self.error

    def best_thresholds(self, epsilon: Array) -> Array:
        """For each direction and ε the threshold of the best set, (2, m)."""
        best = np.argmax(self.gain(2.0), axis=1)
        node = np.clip(np.searchsorted(self.epsilon, epsilon), 0, len(self.epsilon) - 1)
        return self.threshold[best[:, node]]

    def by_odds(self, epsilon: float) -> Array:
        """p − e^ε q of each set, (2, c), estimated from the odds: the score s is taken as the log
        odds of P against Q.

        With σ = 1/(1 + e^{−s}), p(S) = E[2σ; S] and q(S) = E[2(1 − σ); S] over the draws of both
        sides. Each draw counts by its odds instead of its side. Near s = ε the sum
        2σ − 2e^ε(1 − σ) is about 0, so the draws there add almost no noise.
        """
        above, whole = np.zeros((2, len(self.threshold))), np.zeros((2, 1))
        for side in (self.choose.p, self.choose.q):
            odds = np.stack([expit(side), expit(-side)]) / len(side)
            sums = np.concatenate([np.zeros((2, 1)), np.cumsum(odds[:, ::-1], axis=1)], axis=1)
            above += sums[:, len(side) - np.searchsorted(side, self.threshold, side="right")]
            whole += sums[:, -1:]
        (p, q), (rest_p, rest_q) = above, whole - above
        gamma = np.exp(min(epsilon, LARGEST))
        return np.stack([p - gamma * q, rest_q - gamma * rest_p])


def evenly_spaced(count: int, most: int) -> np.ndarray:
    """At most `most` of the positions 0, …, count − 1, evenly spaced and ascending."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(int))


def _log_ratio_error(p: Array, q: Array, sizes: tuple[int, int]) -> Array:
    """Standard error of ln(p/q), with p and q estimated from `sizes` draws."""
    parts = zip((p, q), sizes, strict=True)
    return np.sqrt(sum((1.0 - part) / (part * size) for part, size in parts))


@dataclass(frozen=True, eq=False, repr=False)
class _SizeRanges:
    """For each of c sets the range of the sets of nearly its size: start and stop, (c,)."""

    start: np.ndarray
    stop: np.ndarray

    @classmethod
    def of(cls, size: Array) -> _SizeRanges:
        """size : (c,), the sets' mean probability under P and Q, descending. A set and its
        complement have the same range.
        """
        tail = np.minimum(size, 1.0 - size)
        reach = NEAR * tail * (1.0 - 1.5 * tail) + 1e-12
        return cls(
            np.searchsorted(-size, -size - reach),
            np.searchsorted(-size, -size + reach, side="right"),
        )

    def mean(self, values: Array) -> Array:
        """Means over the ranges, of an array (2, c, e). Taken twice, which gives the sets in the
        middle of a range more weight.
        """
        for _ in range(2):
            total = np.cumsum(values, axis=1)
            total = np.concatenate([np.zeros_like(values[:, :1]), total], axis=1)
            count = (self.stop - self.start)[:, None]
            values = (total[:, self.stop] - total[:, self.start]) / count
        return values


def _thresholds(choose: SortedScores) -> Array:
    """Thresholds midway between neighbouring scores, on both sides of the scores at quantiles of
    all scores, denser towards the ends.
    """
    scores = np.sort(np.concatenate([choose.p, choose.q]))
    size = len(scores)
    ends = np.geomspace(1.0, size / 2, FINE).astype(int) - 1
    rank = np.unique(np.concatenate([np.linspace(0, (size - 1) // 2, EVEN // 2).astype(int), ends]))
    picked = scores[np.concatenate([rank, size - 1 - rank])]
    below = np.searchsorted(scores, picked, side="left")
    after = np.searchsorted(scores, picked, side="right")
    # each position in `upper` begins a run of equal scores
    upper = np.unique(np.concatenate([below[below > 0], after[after < size]]))
    if len(upper) == 0:
        return scores[:1]
    return scores[upper - 1] + 0.5 * (scores[upper] - scores[upper - 1])
