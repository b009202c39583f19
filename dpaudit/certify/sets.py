"""Which sets an audit certifies, and what share of 1 − level each set gets.

The choosing draws alone decide. Most of 1 − level goes to intervals of ε, each with the set that
promises most there. With the focus "pure" it goes to P(S)/Q(S), which bounds ε at δ = 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from dpaudit._core.types import Array
from dpaudit.certify.band import Region
from dpaudit.certify.betting import Hits
from dpaudit.certify.binomial import ratio_region, region
from dpaudit.certify.candidates import CandidateSets
from dpaudit.certify.cells import ScoreCells

FOCUS = ("spectrum", "pure")
# 1.3 · draws^0.2 intervals of ε: 4 at 200 certifying draws, 18 at 5e5. The certified δ hardly
# depends on their number (measured).
INTERVALS = (1.3, 0.2)
# shares of 1 − level, by focus, for P(S)/Q(S) in the better direction and in the other one
RATIO_SHARES = {"spectrum": (0.05, 0.015), "pure": (0.9, 0.02)}
# for each direction at the ε where the other direction has the interval's set: share of 1 − level
# for both together, and the number of sets of each
REST_SHARE, REST_SETS = (0.06, 4)
# shares for the ε of a claim: the set chosen by counts, and the set chosen by the odds, if any
CLAIM_SHARE, ODDS_SHARE = (0.2, 0.1)
# An excess at a claim's ε is clear when it is above this many standard errors of the choosing
# draws.
CLEAR = 4.0
AIM = 30.0  # nats; a region aimed at this ε serves all larger ones
CAP = 0.04  # relative standard errors are clipped at this value when shares are set


@dataclass(frozen=True)
class ChosenSet:
    """One set, {score > threshold} if forward, else {score ≤ threshold}, and its share of 1 −
    level.

    epsilon : one or two ε at which its confidence region is aimed, ascending; () for P(S)/Q(S).
    """

    forward: bool
    threshold: float
    epsilon: tuple[float, ...]
    share: float

    def region(self, x: int, n: int, y: int, m: int) -> Region:
        """The confidence region from x of n scores of P and y of m of Q above the threshold."""
        counts = (x, n, y, m) if self.forward else (m - y, m, n - x, n)
        if not self.epsilon:
            return ratio_region(*counts, self.share)
        return region(*counts, np.exp(np.unique(np.minimum(self.epsilon, AIM))), self.share)

    def hits(self, cells: ScoreCells) -> Hits | None:
        """The draws in it, as evidence; None where one side has fewer draws than the other."""
        n, m = cells.sizes
        if n != m:
            return None
        (p,), (q,) = cells.above(np.array([self.threshold]))
        ahead, behind = (p, q) if self.forward else (m - q, n - p)
        return Hits(self.forward, self.epsilon[0], int(ahead), int(behind), n)


def choose_sets(
    candidates: CandidateSets, claim_epsilon: tuple[float, ...] = (), focus: str = "spectrum"
) -> list[ChosenSet]:
    """The sets to certify; their shares sum to 1 − level.

    claim_epsilon : ε of a claim, which get shares of their own. focus : one of FOCUS, what most of
        1 − level is spent on: "spectrum", intervals of ε; "pure", P(S)/Q(S).
    """
    shares = RATIO_SHARES[focus]
    ratios = _ratio_sets(candidates, focus)
    total = candidates.total * (1.0 - sum(shares)) / (1.0 - sum(RATIO_SHARES["spectrum"]))
    of_claim = [
        one
        for each in claim_epsilon
        for one in _claim_sets(candidates, each, total / len(claim_epsilon))
    ]
    left = total * (1.0 - sum(RATIO_SHARES["spectrum"]) - REST_SHARE) - sum(
        one.share for one in of_claim
    )
    main = _interval_sets(candidates, left)
    return main + _other_direction_sets(candidates, main, total * REST_SHARE) + ratios + of_claim


def _ratio_sets(candidates: CandidateSets, focus: str) -> list[ChosenSet]:
    """The sets of largest P(S)/Q(S), the better direction first.

    With the focus "pure" the sets are small and many, and the largest estimate is biased upwards:
    its standard error on the choosing draws is taken off.
    """
    promise = candidates.ratio
    if focus == "pure":
        promise = promise - candidates.ratio_error
    best = np.argmax(promise, axis=1)
    better = int(np.argmax(promise[[0, 1], best]))
    return [
        ChosenSet(way == 0, float(candidates.threshold[best[way]]), (), candidates.total * share)
        for way, share in zip((better, 1 - better), RATIO_SHARES[focus], strict=True)
    ]


def _claim_sets(candidates: CandidateSets, epsilon: float, total: float) -> list[ChosenSet]:
    """The best set by counts at a claim's ε; unless its excess is clear, also the best by odds."""
    at = int(np.argmin(np.abs(candidates.epsilon - epsilon)))
    value, error = candidates.value[:, :, at], candidates.error[:, :, at]
    sets = [_argmax(value - 2.5 * error)]
    smaller = np.sqrt(candidates.draws / min(candidates.choose.sizes))
    if value[sets[0]] < CLEAR * error[sets[0]] * smaller:
        sets.append(_argmax(candidates.by_odds(float(candidates.epsilon[at])) - 2.5 * error))
    shares = CLAIM_SHARE * total, ODDS_SHARE * total
    return [
        ChosenSet(way == 0, float(candidates.threshold[where]), (epsilon,), share)
        for (way, where), share in zip(sets, shares, strict=False)
    ]


def set_to_bet_on(candidates: CandidateSets, epsilon: Array, allowed: Array) -> ChosenSet:
    """The set whose excess over a claim is clearest, at one of these ε; it takes no share.

    Excesses are counted. Where no count is clear, the odds of the score estimate them.

    epsilon : (k,), nats. allowed : δ(ε) of the claim, (k,).
    """
    at = [int(np.argmin(np.abs(candidates.epsilon - one))) for one in epsilon]
    error = candidates.error[:, :, at]
    clear = (candidates.value[:, :, at] - allowed) / error
    smaller = np.sqrt(candidates.draws / min(candidates.choose.sizes))
    if clear.max() < CLEAR * smaller:
        odds = [candidates.by_odds(float(candidates.epsilon[one])) for one in at]
        clear = (np.stack(odds, axis=-1) - allowed) / error
    way, where, one = np.unravel_index(int(np.argmax(clear)), clear.shape)
    threshold = float(candidates.threshold[where])
    return ChosenSet(bool(way == 0), threshold, (float(epsilon[one]),), 0.0)


def _argmax(table: Array) -> tuple[int, int]:
    way, where = np.unravel_index(int(np.argmax(table)), table.shape)
    return int(way), int(where)


def _interval_sets(candidates: CandidateSets, total: float) -> list[ChosenSet]:
    """For each interval of the ε at which something may be certified, the best set of either
    direction.

    The sum of relative margins is least when shares are proportional to relative standard errors.
    Errors above CAP count as CAP, since otherwise the ε at which almost nothing can be certified
    would take the level of the others.
    """
    promising = np.flatnonzero(np.max(candidates.gain(2.0), axis=(0, 1)) > 0.0)
    last = int(promising[-1]) if len(promising) else 0
    count = min(round(INTERVALS[0] * candidates.draws ** INTERVALS[1]), last + 1)
    edges = np.linspace(0, last + 1, count + 1).round().astype(int)
    scale = np.maximum(np.max(candidates.gain(1.0), axis=(0, 1)), 1e-9)
    gain = np.clip(candidates.gain(-float(ndtri(total / 16.0))), 0.0, None) / scale
    found, weight = [], []
    for start, stop in pairwise(edges):
        way, where = _argmax(gain[:, :, start:stop].sum(axis=2))
        error = candidates.error[way, where, start:stop] / scale[start:stop]
        weight.append(np.minimum(error, CAP).sum())
        found.append((way, where, _ends(candidates.epsilon, int(start), int(stop) - 1)))
    shares = total * np.array(weight) / sum(weight)
    return [
        ChosenSet(way == 0, float(candidates.threshold[where]), ends, float(share))
        for (way, where, ends), share in zip(found, shares, strict=True)
    ]


def _ends(epsilon: Array, first: int, last: int) -> tuple[float, ...]:
    """The ε at both ends of an interval; one where they are the same."""
    return tuple(float(epsilon[i]) for i in sorted({first, last}))


def _other_direction_sets(
    candidates: CandidateSets, main: Iterable[ChosenSet], total: float
) -> list[ChosenSet]:
    """For each direction a few sets at the ε where `main` has none of that direction, at equal
    shares of `total`.
    """
    groups = []
    for way in (0, 1):
        covered = np.zeros(len(candidates.epsilon), dtype=bool)
        for one in main:
            first, last = one.epsilon[0], one.epsilon[-1]
            inside = (candidates.epsilon >= first) & (candidates.epsilon <= last)
            covered |= inside & (one.forward == (way == 0))
        best = np.max(candidates.gain(3.0)[way], axis=0)
        left = np.flatnonzero(~covered & (best > 0.0))
        groups += [(way, part) for part in np.array_split(left, REST_SETS) if len(part)]
    if not groups:
        groups = [(1 if all(one.forward for one in main) else 0, np.zeros(1, dtype=int))]
    sets = []
    for way, part in groups:
        where = int(np.argmax(candidates.gain(3.0)[way, :, part[len(part) // 2]]))
        ends = _ends(candidates.epsilon, int(part[0]), int(part[-1]))
        threshold = float(candidates.threshold[where])
        sets.append(ChosenSet(way == 0, threshold, ends, total / len(groups)))
    return sets
