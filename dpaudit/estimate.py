"""From held-out scores to δ(ε): a point estimate at every ε and a certified band, simultaneous over ε and directions.

Sets are {score > τ} for P against Q and {score ≤ τ} for Q against P. The choosing draws fix everything but the counts:
the stretches into which the ε are cut, the set of each, and its share of 1 − level. The certifying draws then give one
confidence region of (P(S), Q(S)) a set, aimed at the two ends of its stretch, and one region bounds δ at every ε.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from dpaudit._check import Array
from dpaudit.bounds import ratio_region, region
from dpaudit.certificate import Certificate, Region

STRETCHES = 1.3, 0.2  # 1.3 · draws^0.2 stretches: 4 at 200 certifying draws, 18 at 5e5; measured, and flat there
NODES = 64  # ε of a longer grid are planned for at this many of them
EVEN, FINE = 400, 120  # thresholds considered: at quantiles, and as many again towards each end
HIGHEST = 1e150  # stands for an infinite score
RATIO_SHARE, RATIO_REST = 0.05, 0.015  # of 1 − level, on P(S)/Q(S) in the better direction and in the other
REST_SHARE, REST_SETS = 0.06, 4  # on δ(ε) in the direction that is the smaller one there
KEEP_SHARE = 0.2  # on the ε of a claim
NEAR = 0.45  # relative size within which sets are averaged when one is chosen
AIM = 30.0  # nats; a region aimed at this ε serves all beyond
CAP = 0.04  # relative standard errors above this weigh no more


class Counter(Protocol):
    """Scores of the draws that certify, n of P and m of Q."""

    @property
    def sizes(self) -> tuple[int, int]: ...

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q strictly above each threshold."""
        ...


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


@dataclass(frozen=True, eq=False)
class Direction:
    """One direction on the grid: point estimate and certified lower bound, each (m,)."""

    delta: Array
    low: Array


@dataclass(frozen=True, eq=False)
class Estimate:
    """Both directions on the ε grid; `draws` a side certified. share : (m,), of the statement made for each ε.

    certified : the band itself, at any ε and in its other forms.
    """

    epsilon: Array
    forward: Direction
    backward: Direction
    draws: int
    share: Array
    certified: Certificate

    @property
    def delta(self) -> Array:
        return np.maximum(self.forward.delta, self.backward.delta)

    @property
    def low(self) -> Array:
        return np.maximum(self.forward.low, self.backward.low)


@dataclass(frozen=True)
class Statement:
    """One set, {score > threshold} forward and the rest backward, and what its region is aimed at and may cost.

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


def estimate(
    choose: tuple[Array, Array],
    test: tuple[Array, Array],
    epsilon: Array,
    level: float,
    keep: tuple[float, ...] = (),
) -> Estimate:
    """δ(ε) and its band from scores of the (P, Q) draws that choose and that certify.

    epsilon : (m,) ascending, nats. level : joint confidence over all ε and both directions.
    keep : ε to which a larger share goes (a claim's own ε).
    """
    return certify(Tails.of(*choose), Tails.of(*test), epsilon, level, keep)


def certify(choose: Tails, test: Counter, epsilon: Array, level: float, keep: tuple[float, ...] = ()) -> Estimate:
    """The same from sorted choosing scores and whatever counts the certifying ones; `test.above` is called once."""
    survey = Survey.of(choose, epsilon, min(test.sizes), 1.0 - level)
    statements = plan(survey, keep)
    used = np.concatenate([survey.best_thresholds(epsilon).ravel(), [one.threshold for one in statements]])
    x, y = test.above(used)
    n, m = test.sizes
    points, gamma = 2 * len(epsilon), np.exp(epsilon)
    p, q = (x[:points] / n).reshape(2, -1), (y[:points] / m).reshape(2, -1)
    delta = p[0] - gamma * q[0], (1.0 - q[1]) - gamma * (1.0 - p[1])
    counts = zip(statements, x[points:], y[points:], strict=True)
    regions = [one.region(int(a), n, int(b), m) for one, a, b in counts]
    certified = Certificate.of(regions, [one.forward for one in statements], level)
    forward, backward = (
        Direction(np.clip(point, 0.0, 1.0), np.clip(certified.direction(way).delta_at(epsilon), 0.0, 1.0))
        for point, way in zip(delta, (True, False), strict=True)
    )
    return Estimate(epsilon, forward, backward, min(n, m), _shares(statements, epsilon), certified)


def _shares(statements: list[Statement], epsilon: Array) -> Array:
    """The largest share of a statement whose stretch is nearest to each ε."""
    aimed = [one for one in statements if one.epsilon]
    away = np.array([np.maximum(one.epsilon[0] - epsilon, epsilon - one.epsilon[-1]) for one in aimed]).clip(min=0.0)
    near = away <= away.min(axis=0)
    return np.asarray(np.max(np.where(near, [[one.share] for one in aimed], 0.0), axis=0))


@dataclass(frozen=True, eq=False)
class Survey:
    """What the choosing draws say of c sets a direction at the ε planned for, (2, c, e): forward, then backward.

    value : estimate of p − e^ε q; error : its standard error on the certifying draws; both as means over sets of
    nearly the same size, for the best of many would else be a lucky one. ratio : (2, c), of ln(p/q) less
    three of its standard errors. draws : a side that certify. total : 1 − level.
    """

    epsilon: Array
    threshold: Array
    value: Array
    error: Array
    ratio: Array
    draws: int
    total: float

    @classmethod
    def of(cls, choose: Tails, epsilon: Array, test_size: int, total: float) -> Survey:
        """Half a hit is added to each count, so that none of a few draws is not taken for never."""
        nodes = epsilon[np.unique(np.linspace(0, len(epsilon) - 1, min(NODES, len(epsilon))).round().astype(int))]
        threshold = _thresholds(choose)
        p, q = ((part + 0.5) / (size + 1.0) for part, size in zip(choose.above(threshold), choose.sizes, strict=True))
        p, q = np.stack([p, 1.0 - q]), np.stack([q, 1.0 - p])
        spread_p, spread_q = (np.sqrt(part * (1.0 - part) / test_size) for part in (p, q))
        near = _Near.of(0.5 * (p[0] + q[0]))
        gamma = np.exp(nodes)
        value = near.mean(p[..., None] - gamma * q[..., None])
        error = near.mean(np.hypot(spread_p[..., None], gamma * spread_q[..., None]))
        ratio = np.log(p / q) - 3.0 * np.hypot(spread_p / p, spread_q / q)
        return cls(nodes, threshold, value, error, ratio, test_size, total)

    def gain(self, cost: float) -> Array:
        """Value less `cost` standard errors, (2, c, e)."""
        return self.value - cost * self.error

    def best_thresholds(self, epsilon: Array) -> Array:
        """For each direction and ε the threshold of the best set, (2, m)."""
        best = np.argmax(self.gain(2.0), axis=1)
        return self.threshold[best[:, np.clip(np.searchsorted(self.epsilon, epsilon), 0, len(self.epsilon) - 1)]]


@dataclass(frozen=True, eq=False)
class _Near:
    """For each of c sets the range of those of nearly its size: start and stop, (c,)."""

    start: np.ndarray
    stop: np.ndarray

    @classmethod
    def of(cls, size: Array) -> _Near:
        """size : (c,), the sets' mean probability under P and Q, falling; a set and its complement count alike."""
        tail = np.minimum(size, 1.0 - size)
        reach = NEAR * tail * (1.0 - 1.5 * tail) + 1e-12
        return cls(np.searchsorted(-size, -size - reach), np.searchsorted(-size, -size + reach, side="right"))

    def mean(self, of: Array) -> Array:
        """Over each range, of an array (2, c, e); twice, which gives those in the middle more weight."""
        for _ in range(2):
            total = np.concatenate([np.zeros_like(of[:, :1]), np.cumsum(of, axis=1)], axis=1)
            of = (total[:, self.stop] - total[:, self.start]) / (self.stop - self.start)[:, None]
        return of


def _thresholds(choose: Tails) -> Array:
    """Midway between neighbouring scores: on both sides of the scores at quantiles of all, denser towards the ends."""
    scores = np.sort(np.concatenate([choose.p, choose.q]))
    size = len(scores)
    ends = np.geomspace(1.0, size / 2, FINE).astype(int) - 1
    rank = np.unique(np.concatenate([np.linspace(0, (size - 1) // 2, EVEN // 2).astype(int), ends]))
    picked = scores[np.concatenate([rank, size - 1 - rank])]
    below, after = np.searchsorted(scores, picked, side="left"), np.searchsorted(scores, picked, side="right")
    upper = np.unique(np.concatenate([below[below > 0], after[after < size]]))  # each begins a run of equal scores
    return scores[upper - 1] + 0.5 * (scores[upper] - scores[upper - 1]) if len(upper) else scores[:1]


def plan(survey: Survey, keep: tuple[float, ...] = ()) -> list[Statement]:
    """Which sets are certified, and at what share each. The shares sum to 1 − level.

    Most goes to the direction that promises more at each ε, a little to the other; some to P(S)/Q(S) and to `keep`.
    """
    total = survey.total
    rest = total * (1.0 - RATIO_SHARE - RATIO_REST - REST_SHARE - (KEEP_SHARE if keep else 0.0))
    main = _main(survey, rest)
    statements = main + _other(survey, main, total * REST_SHARE)
    best = np.argmax(survey.ratio, axis=1)
    better = int(np.argmax(survey.ratio[[0, 1], best]))
    for way, share in ((better, RATIO_SHARE), (1 - better, RATIO_REST)):
        statements.append(Statement(way == 0, float(survey.threshold[best[way]]), (), total * share))
    for one in keep:
        near = int(np.argmin(np.abs(survey.epsilon - one)))
        way, where = _largest(survey.gain(2.5)[:, :, near])
        share = total * KEEP_SHARE / len(keep)
        statements.append(Statement(way == 0, float(survey.threshold[where]), (one,), share))
    return statements


def _largest(table: Array) -> tuple[int, int]:
    way, where = np.unravel_index(int(np.argmax(table)), table.shape)
    return int(way), int(where)


def _main(survey: Survey, total: float) -> list[Statement]:
    """Stretches over the ε where something may be certified, each with the set of either direction that is best.

    The sum of relative margins is least with shares as the relative standard errors; those above CAP count as CAP, or
    the ε at which next to nothing can be certified would take the level of the others.
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
        weight.append(np.minimum(survey.error[way, where, start:stop] / scale[start:stop], CAP).sum())
        found.append((way, where, tuple(float(survey.epsilon[i]) for i in sorted({int(start), int(stop) - 1}))))
    share = total * np.array(weight) / sum(weight)
    return [
        Statement(way == 0, float(survey.threshold[where]), ends, float(own))
        for (way, where, ends), own in zip(found, share, strict=True)
    ]


def _other(survey: Survey, main: Iterable[Statement], total: float) -> list[Statement]:
    """Each direction where the other has the main statement: a few sets, at equal shares of `total`."""
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
        statements.append(Statement(way == 0, float(survey.threshold[where]), ends, total / len(groups)))
    return statements
