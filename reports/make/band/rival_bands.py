"""Simultaneous bands from the same draws: the package's own, and others to compare it with.

Each takes the scores of the choosing and of the certifying draws and gives the certified δ on
SHOWN, at LEVEL, for all ε and both directions at once.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.band import Certificate, Region
from dpaudit.certify.binomial import lower, upper
from dpaudit.certify.estimate import certify
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.sets import CandidateSets, ChosenSet, choose_sets
from reports.make.band.order_statistics import BERK_JONES, BETA, LEVEL, SHOWN, Band, order_band

GRID = np.linspace(0.0, 4.0, 41)
EQUAL = 16  # sets in each direction where all have the same share of the level


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
    best, share = candidates.best_thresholds(at), (1.0 - LEVEL) / (2 * len(at))
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
