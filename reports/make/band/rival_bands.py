"""Simultaneous bands from the same draws: the package's own, and others to compare it with.

A `Band` takes the scores of the choosing and of the certifying draws, a `CrossFit` those of all
draws. Each gives the certified δ on SHOWN, at LEVEL, for all ε and both directions at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, ndtr, xlogy

from dpaudit._core.types import Array
from dpaudit.certify.band import Certificate, Region
from dpaudit.certify.binomial import lower, upper
from dpaudit.certify.estimate import certify
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.sets import CandidateSets, ChosenSet, choose_sets

SHOWN = np.array([0.0, 0.5, 1.0, 2.0])  # ε at which certified δ are compared
LEVEL = 0.95
Band = Callable[[SortedScores, SortedScores], Array]  # choosing, certifying → δ on SHOWN, (4,)
RANKS, TRIALS = 400, 4000  # thinned order statistics; simulations for their critical value
BETA, BERK_JONES = "beta", "Berk–Jones"
GRID = np.linspace(0.0, 4.0, 41)
EQUAL = 16  # sets in each direction where all have the same share of the level
STATEMENTS = 8  # four ε in two directions share the level
CrossFit = Callable[[Array, Array], Array]  # scores of P and of Q → certified δ on SHOWN


# Bands of error curves from thinned order statistics: beta bands and Berk–Jones. Both error curves
# are bounded at RANKS order statistics. The critical value of their largest deviation is that of a
# finite sample: their joint law is exact, its quantile simulated.


def best_thresholds(candidates: CandidateSets, epsilon: Array) -> Array:
    """The threshold of the best set for each direction and ε, (2, m). epsilon : (m,), nats."""
    best = np.argmax(candidates.gain(2.0), axis=1)
    node = np.clip(np.searchsorted(candidates.epsilon, epsilon), 0, len(candidates.epsilon) - 1)
    return candidates.threshold[best[:, node]]


def order_band(kind: str) -> Band:
    """The band of one kind, BETA or BERK_JONES."""

    def band(choose: SortedScores, certify: SortedScores) -> Array:
        p, q = certify.p, certify.q
        return np.maximum(_low(p, q, kind), _low(-q[::-1], -p[::-1], kind))

    return band


def _low(p: Array, q: Array, kind: str) -> Array:
    """Certified δ of the sets {score ≥ the i-th of the sorted p}, for all thinned i at once."""
    at = p[ranks(len(p)) - 1]
    have = 1.0 - limits(len(p), kind)[1]
    below = np.searchsorted(ranks(len(q)), np.searchsorted(q, at, side="left"), side="right")
    most = 1.0 - np.concatenate([[0.0], limits(len(q), kind)[0]])[below]
    return np.clip(np.max(have - np.exp(SHOWN)[:, None] * most, axis=1), 0.0, 1.0)


def ranks(n: int) -> np.ndarray:
    """The thinned ranks: all near both ends, then in geometric steps; also evenly spaced ones."""
    ends = np.unique(np.geomspace(1, n / 2, RANKS // 3).astype(int))
    return np.unique(
        np.concatenate([ends, n + 1 - ends, np.linspace(1, n, RANKS // 3).astype(int)])
    )


@lru_cache
def limits(n: int, kind: str) -> tuple[Array, Array]:
    """Lower and upper limit of the cdf at each thinned order statistic of n draws."""
    rank, critical = ranks(n), _critical(n, kind)
    if kind == BERK_JONES:
        return _far(rank / n, critical, 0.0), _far(rank / n, critical, 1.0)
    low, high = (betaincinv(rank, n + 1.0 - rank, at) for at in (-critical, 1.0 + critical))
    return low, high


def _far(centre: Array, critical: float, end: float) -> Array:
    """The q between `centre` and `end` at which the divergence of centre from q is critical."""
    inner, outer = centre.copy(), np.full_like(centre, end)
    for _ in range(60):
        middle = 0.5 * (inner + outer)
        with np.errstate(divide="ignore", invalid="ignore"):
            near = _divergence(centre, middle) <= critical
        inner, outer = np.where(near, middle, inner), np.where(near, outer, middle)
    return outer


@lru_cache
def _critical(n: int, kind: str) -> float:
    """The critical value at error (1 − LEVEL)/2 of the largest deviation of n uniforms.

    The joint law of the thinned order statistics is that of sums of exponentials; two standard
    errors of the simulated quantile are added to its rank.
    """
    rank, rng = ranks(n), np.random.default_rng(7)
    steps = np.diff(np.concatenate([[0], rank, [n + 1]]))
    sums = np.cumsum(rng.gamma(steps, size=(TRIALS, len(steps))), axis=1)
    uniform = sums[:, :-1] / sums[:, -1:]
    if kind == BERK_JONES:
        worst = np.max(_divergence(rank / n, uniform), axis=1)
    else:
        below = betainc(rank, n + 1.0 - rank, uniform)
        worst = -np.min(np.minimum(below, 1.0 - below), axis=1)
    error = 0.5 * (1.0 - LEVEL)
    keep = TRIALS * (1.0 - error) + 2.0 * np.sqrt(TRIALS * error)
    return float(np.sort(worst)[int(keep)])


def _divergence(p: Array, q: Array) -> Array:
    """Kullback–Leibler divergence of Bernoulli(p) from Bernoulli(q)."""
    return np.asarray(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p) - xlogy(p, q) - xlogy(1.0 - p, 1.0 - q))


# Bands of sets that the choosing draws choose


def weighted(choose: SortedScores, certifying: SortedScores) -> Array:
    """The package's band."""
    return certify(choose, certifying, GRID, 1.0 - LEVEL).certified.delta_at(SHOWN)


def weighted_four(choose: SortedScores, certifying: SortedScores) -> Array:
    """The package's band where only the four ε shown are asked for."""
    return certify(choose, certifying, SHOWN, 1.0 - LEVEL).low


def equal(choose: SortedScores, certifying: SortedScores) -> Array:
    """The same regions, EQUAL single sets in each direction at equal shares of the level."""
    candidates = CandidateSets.of(choose, GRID, min(certifying.sizes), 1.0 - LEVEL)
    promising = np.flatnonzero(candidates.gain(1.0).max(axis=(0, 1)) > 0.0)
    last = promising[-1] if len(promising) else 0
    at = GRID[np.unique(np.linspace(0, last, EQUAL).round().astype(int))]
    best, share = best_thresholds(candidates, at), (1.0 - LEVEL) / (2 * len(at))
    sets = [
        ChosenSet(way == 0, float(threshold), (float(epsilon),), share)
        for way in (0, 1)
        for threshold, epsilon in zip(best[way], at, strict=True)
    ]
    (n, m), (x, y) = certifying.sizes, certifying.above(_thresholds(sets))
    hits = zip(sets, x, y, strict=True)
    return _certified(sets, [one.region(int(a), n, int(b), m) for one, a, b in hits])


def boxes(choose: SortedScores, certifying: SortedScores) -> Array:
    """Clopper–Pearson for P(S) and Q(S) apart, over the sets and with the shares of `weighted`."""
    sets = choose_sets(CandidateSets.of(choose, GRID, min(certifying.sizes), 1.0 - LEVEL))
    regions = []
    for one, (x, n, y, m) in zip(sets, _hits(sets, certifying), strict=True):
        ends = lower(y, m, 1e-9), upper(y, m, 0.5 * one.share)
        regions.append(Region(np.array(ends), np.full(2, lower(x, n, 0.5 * one.share))))
    return _certified(sets, regions)


def _thresholds(sets: list[ChosenSet]) -> Array:
    return np.array([one.threshold for one in sets])


def _certified(sets: list[ChosenSet], regions: list[Region]) -> Array:
    return Certificate.of(regions, [one.forward for one in sets], LEVEL).delta_at(SHOWN)


def _hits(sets: list[ChosenSet], certifying: SortedScores) -> list[tuple[int, int, int, int]]:
    """(x, n, y, m) of each set: draws in it of the law that has it more often, and of the other."""
    (n, m), (x, y) = certifying.sizes, certifying.above(_thresholds(sets))
    hits = zip(sets, x.tolist(), y.tolist(), strict=True)
    return [(a, n, b, m) if one.forward else (m - b, m, n - a, n) for one, a, b in hits]


def dkw(choose: SortedScores, certifying: SortedScores) -> Array:
    """Dvoretzky–Kiefer–Wolfowitz with Massart's constant on both error curves."""
    (n, m), both = certifying.sizes, np.concatenate([certifying.p, certifying.q])
    at = np.quantile(both, np.linspace(0.0, 1.0, 2000), method="lower")
    p, q = (count / size for count, size in zip(certifying.above(at), (n, m), strict=True))
    wide_p, wide_q = (np.sqrt(np.log(4.0 / (1.0 - LEVEL)) / (2.0 * size)) for size in (n, m))
    gamma = np.exp(SHOWN)[:, None]
    forward = np.max(p - wide_p - gamma * (q + wide_q), axis=1)
    backward = np.max(1.0 - q - wide_q - gamma * (1.0 - p + wide_p), axis=1)
    return np.clip(np.maximum(forward, backward), 0.0, 1.0)


BANDS: dict[str, Band] = {
    "(b) weighted joint inversion, 41 ε (the default)": weighted,
    "(b) the same, 4 ε": weighted_four,
    "(a) joint inversion at equal shares, 41 ε": equal,
    "(c) Clopper–Pearson boxes, the sets of (b)": boxes,
    "(d) beta bands of equal local level": order_band(BETA),
    "(d) Berk–Jones": order_band(BERK_JONES),
    "(e) DKW": dkw,
}


# Cross-fitting: each fold of the draws certifies with sets that the other folds chose. Counts that
# are pooled over folds would not be binomial, since each fold's draws shape the sets in which the
# others are counted. Bonferroni over the folds and twice the mean of their p-values are valid.


def one_split(p: Array, q: Array) -> Array:
    """No crossing: a quarter of the draws chooses and three quarters certify."""
    cut = len(p) // 4
    choose, certifying = SortedScores.of(p[:cut], q[:cut]), SortedScores.of(p[cut:], q[cut:])
    return certify(choose, certifying, SHOWN, 1.0 - LEVEL).low


def bonferroni(folds: int) -> CrossFit:
    """The largest of the folds' bounds, each at its share of the level."""
    alpha = (1.0 - LEVEL) / folds

    def band(p: Array, q: Array) -> Array:
        lows = [certify(*one, SHOWN, alpha).low for one in _folds(p, q, folds)]
        return np.asarray(np.max(lows, axis=0))

    return band


def mean_p_value(folds: int) -> CrossFit:
    """The bound at which twice the mean of the folds' p-values is the share of one statement.

    The p-values are those of normal estimates, for the comparison only.
    """
    return lambda p, q: _twice_the_mean(np.array([_normal(*one) for one in _folds(p, q, folds)]))


def _folds(p: Array, q: Array, folds: int) -> Iterator[tuple[SortedScores, SortedScores]]:
    """For each fold the scores of the others, which choose, and its own, which certify."""
    parts = [np.array_split(side, folds) for side in (p, q)]
    for k in range(folds):
        others = [np.concatenate([*side[:k], *side[k + 1 :]]) for side in parts]
        yield SortedScores.of(*others), SortedScores.of(*(side[k] for side in parts))


def _normal(choose: SortedScores, certifying: SortedScores) -> Array:
    """Estimates and standard errors, (2 numbers, 2 directions, 4 ε)."""
    candidates = CandidateSets.of(choose, SHOWN, min(certifying.sizes), 1.0 - LEVEL)
    counts = certifying.above(best_thresholds(candidates, SHOWN))
    p, q = (count / size for count, size in zip(counts, certifying.sizes, strict=True))
    p, q = np.stack([p[0], 1.0 - q[1]]), np.stack([q[0], 1.0 - p[1]])
    gamma, n = np.exp(SHOWN), min(certifying.sizes)
    return np.array([p - gamma * q, np.sqrt((p * (1 - p) + gamma**2 * q * (1 - q)) / n + 1e-18)])


def _twice_the_mean(folds: Array) -> Array:
    """folds : (folds, 2 numbers, 2 directions, 4 ε), as `_normal` has them."""
    low = np.zeros((2, len(SHOWN)))
    for place in np.ndindex(low.shape):
        value, error = (folds[:, number, *place] for number in (0, 1))

        def excess(delta: float, value: Array = value, error: Array = error) -> float:
            p_values = ndtr((delta - value) / error)
            return float(2.0 * np.mean(p_values) - (1.0 - LEVEL) / STATEMENTS)

        low[place] = brentq(excess, float(np.min(value - 9.0 * error)), 1.0)
    return np.clip(low.max(axis=0), 0.0, 1.0)


CROSS_FITTED: dict[str, CrossFit] = {
    "(b) weighted joint inversion on 3/4 of N, 4 ε": one_split,
    "(f) cross-fitting, 2 folds, Bonferroni, 4 ε": bonferroni(2),
    "(f) cross-fitting, 5 folds, Bonferroni, 4 ε": bonferroni(5),
    "(f) cross-fitting, 2 folds, 2 × mean p, 4 ε": mean_p_value(2),
    "(f) cross-fitting, 5 folds, 2 × mean p, 4 ε": mean_p_value(5),
}
