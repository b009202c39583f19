"""Which sets an audit certifies, and what share of 1 − level goes to each: a plan made of choosing
draws alone.

Sets are {score > τ} for P against Q and {score ≤ τ} for Q against P. Most of 1 − level goes to
stretches of ε, each with the set that promises most there; with the focus "pure" to P(S)/Q(S),
which is what bounds ε at δ = 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit, ndtri

from dpaudit._core.check import Array
from dpaudit.certify.band import Region
from dpaudit.certify.binomial import ratio_region, region

FOCUS = ("spectrum", "pure")
# 1.3 · draws^0.2 stretches: 4 at 200 certifying draws, 18 at 5e5; measured, and flat there
STRETCHES = (1.3, 0.2)
NODES = 64  # ε of a longer grid are planned for at this many of them
EVEN, FINE = 400, 120  # thresholds considered: at quantiles, and as many again towards each end
HIGHEST = 1e150  # stands for an infinite score
# of 1 − level, by focus, on P(S)/Q(S) in the better direction and in the other
RATIO_SHARES = {"spectrum": (0.05, 0.015), "pure": (0.9, 0.02)}
REST_SHARE, REST_SETS = 0.06, 4  # on δ(ε) in the direction that is the smaller one there
# on the ε of a claim: on the set by counts, on the one by odds if there is one
KEEP_SHARE, ODDS_SHARE = (0.2, 0.1)
# standard errors of the choosing draws, above which an excess at a claim's ε is no luck
CLEAR = 4.0
NEAR = 0.45  # relative size within which sets are averaged when one is chosen
AIM = 30.0  # nats; a region aimed at this ε serves all beyond
CAP = 0.04  # relative standard errors above this weigh no more


@dataclass(frozen=True, eq=False)
class Tails:
    """Scores of one part of the draws, sorted; infinite ones stand at ±HIGHEST."""

    p: Array
    q: Array

    @classmethod
    def of(cls, p: Array, q: Array) -> Tails:
        return cls(*(np.sort(np.clip(part, -HIGHEST, HIGHEST)) for part in (p, q)))

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.p), len(self.q)

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q strictly above each threshold."""
        return (
            len(self.p) - np.searchsorted(self.p, threshold, side="right"),
            len(self.q) - np.searchsorted(self.q, threshold, side="right"),
        )


@dataclass(frozen=True)
class Statement:
    """One set, {score > threshold} forward and the rest backward, and what its region is aimed at
    and may cost.

    epsilon : one or two ε, ascending; none for P(S)/Q(S).
    """

    forward: bool
    threshold: float
    epsilon: tuple[float, ...]
    share: float

    def region(self, x: int, n: int, y: int, m: int) -> Region:
        """From x of n and y of m scores above the threshold, of P and of Q."""
        counts = (x, n, y, m) if self.forward else (m - y, m, n - x, n)
        if not self.epsilon:
            return ratio_region(*counts, self.share)
        return region(*counts, np.exp(np.unique(np.minimum(self.epsilon, AIM))), self.share)


@dataclass(frozen=True, eq=False)
class Survey:
    """What the choosing draws say of c sets a direction at the ε planned for, (2, c, e): forward,
    then backward.

    value : estimate of p − e^ε q; error : its standard error on the certifying draws; both as means
    over sets of nearly the same size, for the best of many would else be a lucky one. ratio : (2,
    c), of ln(p/q) less three of its standard errors; luck : its standard error on the choosing
    draws. draws : a side that certify.
    choose : the choosing draws. total : 1 − level.
    """

    epsilon: Array
    threshold: Array
    value: Array
    error: Array
    ratio: Array
    luck: Array
    draws: int
    choose: Tails
    total: float

    @classmethod
    def of(cls, choose: Tails, epsilon: Array, test_size: int, total: float) -> Survey:
        """Half a hit is added to each count, so that none of a few draws is not taken for never."""
        nodes = epsilon[
            np.unique(
                np.linspace(0, len(epsilon) - 1, min(NODES, len(epsilon))).round().astype(int)
            )
        ]
        threshold = _thresholds(choose)
        p, q = (
            (part + 0.5) / (size + 1.0)
            for part, size in zip(choose.above(threshold), choose.sizes, strict=True)
        )
        p, q = np.stack([p, 1.0 - q]), np.stack([q, 1.0 - p])
        spread_p, spread_q = (np.sqrt(part * (1.0 - part) / test_size) for part in (p, q))
        near = _Near.of(0.5 * (p[0] + q[0]))
        gamma = np.exp(nodes)
        value = near.mean(p[..., None] - gamma * q[..., None])
        error = near.mean(np.hypot(spread_p[..., None], gamma * spread_q[..., None]))
        luck = np.sqrt(
            sum(
                (1.0 - part) / (part * size)
                for part, size in zip((p, q), choose.sizes, strict=True)
            )
        )
        ratio = np.log(p / q) - 3.0 * np.hypot(spread_p / p, spread_q / q)
        return cls(nodes, threshold, value, error, ratio, luck, test_size, choose, total)

    def gain(self, cost: float) -> Array:
        """Value less `cost` standard errors, (2, c, e)."""
        return self.value - cost * self.error

    def best_thresholds(self, epsilon: Array) -> Array:
        """For each direction and ε the threshold of the best set, (2, m)."""
        best = np.argmax(self.gain(2.0), axis=1)
        return self.threshold[
            best[:, np.clip(np.searchsorted(self.epsilon, epsilon), 0, len(self.epsilon) - 1)]
        ]

    def told(self, epsilon: float) -> Array:
        """p − e^ε q of each set by itself, (2, c), if a score s is the log odds of P.

        With σ = 1/(1 + e^{−s}), p(S) = E[2σ; S] and q(S) = E[2(1 − σ); S] over the draws of both
        sides. Not a draw's side counts but its odds: near s = ε, where 2σ − 2e^ε(1 − σ) is about 0,
        there is next to no noise.
        """
        above, whole = np.zeros((2, len(self.threshold))), np.zeros((2, 1))
        for side in (self.choose.p, self.choose.q):
            odds = np.stack([expit(side), expit(-side)]) / len(side)
            sums = np.concatenate([np.zeros((2, 1)), np.cumsum(odds[:, ::-1], axis=1)], axis=1)
            above += sums[:, len(side) - np.searchsorted(side, self.threshold, side="right")]
            whole += sums[:, -1:]
        (p, q), (rest_p, rest_q) = above, whole - above
        return np.stack([p - np.exp(epsilon) * q, rest_q - np.exp(epsilon) * rest_p])


@dataclass(frozen=True, eq=False)
class _Near:
    """For each of c sets the range of those of nearly its size: start and stop, (c,)."""

    start: np.ndarray
    stop: np.ndarray

    @classmethod
    def of(cls, size: Array) -> _Near:
        """size : (c,), the sets' mean probability under P and Q, falling; a set and its complement
        count alike.
        """
        tail = np.minimum(size, 1.0 - size)
        reach = NEAR * tail * (1.0 - 1.5 * tail) + 1e-12
        return cls(
            np.searchsorted(-size, -size - reach),
            np.searchsorted(-size, -size + reach, side="right"),
        )

    def mean(self, of: Array) -> Array:
        """Over each range, of an array (2, c, e); twice, which gives those in the middle more
        weight.
        """
        for _ in range(2):
            total = np.concatenate([np.zeros_like(of[:, :1]), np.cumsum(of, axis=1)], axis=1)
            of = (total[:, self.stop] - total[:, self.start]) / (self.stop - self.start)[:, None]
        return of


def _thresholds(choose: Tails) -> Array:
    """Midway between neighbouring scores: on both sides of the scores at quantiles of all, denser
    towards the ends.
    """
    scores = np.sort(np.concatenate([choose.p, choose.q]))
    size = len(scores)
    ends = np.geomspace(1.0, size / 2, FINE).astype(int) - 1
    rank = np.unique(np.concatenate([np.linspace(0, (size - 1) // 2, EVEN // 2).astype(int), ends]))
    picked = scores[np.concatenate([rank, size - 1 - rank])]
    below, after = (
        np.searchsorted(scores, picked, side="left"),
        np.searchsorted(scores, picked, side="right"),
    )
    # each begins a run of equal scores
    upper = np.unique(np.concatenate([below[below > 0], after[after < size]]))
    return (
        scores[upper - 1] + 0.5 * (scores[upper] - scores[upper - 1]) if len(upper) else scores[:1]
    )


def plan(survey: Survey, keep: tuple[float, ...] = (), focus: str = "spectrum") -> list[Statement]:
    """Which sets are certified, and at what share each. The shares sum to 1 − level.

    First comes P(S)/Q(S), by `focus`. Most of the rest goes to the direction that promises more at
    each ε, a little to the other, some to `keep`.
    """
    shares = RATIO_SHARES[focus]
    # of many small sets one is lucky
    promise = survey.ratio - survey.luck if focus == "pure" else survey.ratio
    best = np.argmax(promise, axis=1)
    better = int(np.argmax(promise[[0, 1], best]))
    ratios = [
        Statement(way == 0, float(survey.threshold[best[way]]), (), survey.total * share)
        for way, share in ((better, shares[0]), (1 - better, shares[1]))
    ]
    total = survey.total * (1.0 - sum(shares)) / (1.0 - sum(RATIO_SHARES["spectrum"]))
    kept = [statement for one in keep for statement in _kept(survey, one, total / len(keep))]
    left = total * (1.0 - sum(RATIO_SHARES["spectrum"]) - REST_SHARE) - sum(
        one.share for one in kept
    )
    main = _main(survey, left)
    return main + _other(survey, main, total * REST_SHARE) + ratios + kept


def _kept(survey: Survey, epsilon: float, total: float) -> list[Statement]:
    """The set that the counts name for a claim's ε; unless they are clear, also that of the odds."""
    at = int(np.argmin(np.abs(survey.epsilon - epsilon)))
    value, error = survey.value[:, :, at], survey.error[:, :, at]
    sets = [_largest(value - 2.5 * error)]
    if value[sets[0]] < CLEAR * error[sets[0]] * np.sqrt(survey.draws / min(survey.choose.sizes)):
        sets.append(_largest(survey.told(float(survey.epsilon[at])) - 2.5 * error))
    shares = KEEP_SHARE * total, ODDS_SHARE * total
    return [
        Statement(way == 0, float(survey.threshold[where]), (epsilon,), share)
        for (way, where), share in zip(sets, shares, strict=False)
    ]


def _largest(table: Array) -> tuple[int, int]:
    way, where = np.unravel_index(int(np.argmax(table)), table.shape)
    return int(way), int(where)


def _main(survey: Survey, total: float) -> list[Statement]:
    """Stretches over the ε where something may be certified, each with the set of either direction
    that is best.

    The sum of relative margins is least with shares as the relative standard errors; those above
    CAP count as CAP, or the ε at which next to nothing can be certified would take the level of the
    others.
    """
    promising = np.flatnonzero(np.max(survey.gain(2.0), axis=(0, 1)) > 0.0)
    last = int(promising[-1]) if len(promising) else 0
    count = min(round(STRETCHES[0] * survey.draws ** STRETCHES[1]), last + 1)
    edges = np.linspace(0, last + 1, count + 1).round().astype(int)
    scale = np.maximum(np.max(survey.gain(1.0), axis=(0, 1)), 1e-9)
    gain = np.clip(survey.gain(-float(ndtri(total / 16.0))) / scale, 0.0, None)
    found, weight = [], []
    for start, stop in pairwise(edges):
        way, where = _largest(gain[:, :, start:stop].sum(axis=2))
        weight.append(
            np.minimum(survey.error[way, where, start:stop] / scale[start:stop], CAP).sum()
        )
        found.append(
            (
                way,
                where,
                tuple(float(survey.epsilon[i]) for i in sorted({int(start), int(stop) - 1})),
            )
        )
    share = total * np.array(weight) / sum(weight)
    return [
        Statement(way == 0, float(survey.threshold[where]), ends, float(own))
        for (way, where, ends), own in zip(found, share, strict=True)
    ]


def _other(survey: Survey, main: Iterable[Statement], total: float) -> list[Statement]:
    """Each direction where the other has the main statement: a few sets, at equal shares of
    `total`.
    """
    groups = []
    for way in (0, 1):
        covered = np.zeros(len(survey.epsilon), dtype=bool)
        for one in main:
            inside = (survey.epsilon >= one.epsilon[0]) & (survey.epsilon <= one.epsilon[-1])
            covered |= inside & (one.forward == (way == 0))
        best = np.max(survey.gain(3.0)[way], axis=0)
        left = np.flatnonzero(~covered & (best > 0.0))
        groups += [(way, part) for part in np.array_split(left, REST_SETS) if len(part)]
    if not groups:
        groups = [(1 if all(one.forward for one in main) else 0, np.zeros(1, dtype=int))]
    statements = []
    for way, part in groups:
        where = int(np.argmax(survey.gain(3.0)[way, :, part[len(part) // 2]]))
        ends = tuple(float(survey.epsilon[i]) for i in sorted({int(part[0]), int(part[-1])}))
        statements.append(
            Statement(way == 0, float(survey.threshold[where]), ends, total / len(groups))
        )
    return statements
