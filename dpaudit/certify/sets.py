"""Which sets an audit certifies, and what share of 1 − level each set gets.

The sets are {score > τ} for P against Q (forward) and {score ≤ τ} for Q against P (backward). The
choosing draws alone decide among them. Most of 1 − level goes to intervals of ε; each interval gets
the set that promises most there. With the focus "pure" it goes to P(S)/Q(S), which bounds ε at δ =
0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit, ndtri

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.band import Region
from dpaudit.certify.betting import Hits
from dpaudit.certify.binomial import ratio_region, region
from dpaudit.certify.constants import (
    AIM,
    CANDIDATE_EPSILONS,
    CAP,
    CLAIM_SHARE,
    CLEAR,
    EVEN,
    FINE,
    INTERVALS,
    NEAR,
    ODDS_SHARE,
    RATIO_SHARES,
    REST_SETS,
    REST_SHARE,
    WITHIN,
)
from dpaudit.certify.scores import ScoreCells, SortedScores
from dpaudit.curves.readings import LARGEST

FOCUS = ("spectrum", "pure")


@dataclass(frozen=True)
class ChosenSet:
    """One set, {score > threshold} if forward, else {score ≤ threshold}, and its share of 1 −
    level.

    epsilon : one or two ε, ascending, nats, at which its confidence region is aimed; () if the
    region is aimed at P(S)/Q(S).
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
        # unique after exp: 0.3 and 0.1 + 0.2 are two ε and one γ
        return region(*counts, np.unique(np.exp(np.minimum(self.epsilon, AIM))), self.share)

    def hits(self, cells: ScoreCells) -> Hits | None:
        """The certifying draws in the set, as evidence; None where the sides differ in draws."""
        n, m = cells.sizes
        if n != m:
            return None
        (p,), (q,) = cells.above(np.array([self.threshold]))
        ahead, behind = (p, q) if self.forward else (m - q, n - p)
        return Hits(self.forward, self.epsilon[0], int(ahead), int(behind), n)


@value_class
class CandidateSets:
    """c sets in each direction, judged at e values of ε. Arrays are (2, c, e), forward first.

    epsilon : (e,), nats. threshold : (c,).
    value : estimates of p − e^ε q, where p is the set's probability under the likelier law and q
        under the other law. error : its standard error on the certifying draws. Both are means over
        sets of nearly equal size, which removes most of the selection bias that the largest of many
        noisy estimates has. The value is kept within `WITHIN` standard errors of its own estimate:
        where many scores are equal, the sets of nearly equal size may all be better, or all worse.
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
        """Judge the sets by the choosing draws. Half a hit is added to each count of hits and
        misses, so that no estimated probability is 0.
        """
        nodes = epsilon[evenly_spaced(len(epsilon), CANDIDATE_EPSILONS)]
        threshold, (n, m) = _thresholds(choose), choose.sizes
        x, y = choose.above(threshold)
        p, q = (x + 0.5) / (n + 1.0), (y + 0.5) / (m + 1.0)
        size = 0.5 * (p + q)
        p, q = np.stack([p, 1.0 - q]), np.stack([q, 1.0 - p])
        gamma = np.exp(np.minimum(nodes, LARGEST / 2.0))  # its square is finite
        error_p, error_q = np.sqrt(p * (1.0 - p) / draws), np.sqrt(q * (1.0 - q) / draws)
        own = np.stack([p, q, error_p, error_q], axis=-1)

        def judged(moments: Array) -> tuple[Array, Array]:
            """Value and error, from p, q and their standard errors, (2, c, 4)."""
            p, q, error_p, error_q = (moments[..., which, None] for which in range(4))
            return p - gamma * q, np.sqrt(error_p**2 + (gamma * error_q) ** 2)

        (value, error), (alone, spread) = judged(_smoothed(own, size)), judged(own)
        reach = WITHIN * np.sqrt(draws / min(n, m)) * spread
        return cls(
            nodes,
            threshold,
            value=np.clip(value, alone - reach, alone + reach),
            error=error,
            ratio=np.log(p / q) - 3.0 * np.hypot(error_p / p, error_q / q),
            ratio_error=np.sqrt((1.0 - p) / (p * n) + (1.0 - q) / (q * m)),
            draws=draws,
            choose=choose,
            total=total,
        )

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

    def is_clear(self, standard_errors: float) -> bool:
        """Whether an excess of so many standard errors of the certifying draws is one of `CLEAR` on
        the choosing draws.
        """
        return standard_errors >= CLEAR * np.sqrt(self.draws / min(self.choose.sizes))

    def best(self, gain: Array, epsilon: tuple[float, ...], share: float) -> ChosenSet:
        """The set with the largest gain, of those of each direction, (2, c)."""
        way, where = np.unravel_index(int(np.argmax(gain)), gain.shape)
        return ChosenSet(bool(way == 0), float(self.threshold[where]), epsilon, float(share))


def evenly_spaced(count: int, most: int) -> np.ndarray:
    """At most `most` of the positions 0, …, count − 1, evenly spaced and ascending."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(int))


def choose_sets(
    candidates: CandidateSets, claim_epsilon: tuple[float, ...] = (), focus: str = "spectrum"
) -> list[ChosenSet]:
    """The sets to certify; their shares sum to 1 − level.

    claim_epsilon : the ε of a claim, each of which gets a share of its own. focus : what most of 1
    − level is spent on: "spectrum" for intervals of ε, "pure" for P(S)/Q(S).
    """
    usual = 1.0 - sum(RATIO_SHARES["spectrum"])
    total = candidates.total * (1.0 - sum(RATIO_SHARES[focus])) / usual
    claimed: list[ChosenSet] = []
    left = total * (usual - REST_SHARE)
    for epsilon in claim_epsilon:
        own = _claim_sets(candidates, epsilon, total / len(claim_epsilon))
        left -= sum(chosen.share for chosen in own)
        claimed += own
    main = _interval_sets(candidates, left)
    rest = _other_direction_sets(candidates, main, total * REST_SHARE)
    return main + rest + _ratio_sets(candidates, focus) + claimed


def set_to_bet_on(candidates: CandidateSets, epsilon: Array, allowed: Array) -> ChosenSet:
    """The set whose excess over a claim, in standard errors, is largest at one of the ε (k,), nats,
    where the claim allows δ (k,); it takes no share. The excess is counted; where no counted excess
    is clear, the odds of the score estimate it.
    """
    at = np.argmin(np.abs(candidates.epsilon - epsilon[:, None]), axis=1)
    error = candidates.error[:, :, at]
    clear = (candidates.value[:, :, at] - allowed) / error
    if not candidates.is_clear(clear.max()):
        odds = np.stack([candidates.by_odds(point) for point in candidates.epsilon[at]], axis=-1)
        clear = (odds - allowed) / error
    point = int(np.argmax(clear)) % len(epsilon)
    return candidates.best(clear[:, :, point], (float(epsilon[point]),), 0.0)


def _ratio_sets(candidates: CandidateSets, focus: str) -> list[ChosenSet]:
    """The sets with the largest P(S)/Q(S) in each direction, the better direction first.

    With the focus "pure" the sets are small and many, and the largest estimate is biased upwards:
    so its standard error on the choosing draws is subtracted first.
    """
    promise = candidates.ratio
    if focus == "pure":
        promise = promise - candidates.ratio_error
    better, other = candidates.total * np.array(RATIO_SHARES[focus])
    first = candidates.best(promise, (), better)
    same = np.array([[first.forward], [not first.forward]])
    return [first, candidates.best(np.where(same, -np.inf, promise), (), other)]


def _claim_sets(candidates: CandidateSets, epsilon: float, total: float) -> list[ChosenSet]:
    """The best set by counts at a claim's ε and, unless its excess is clear, the best by odds."""
    at = int(np.argmin(np.abs(candidates.epsilon - epsilon)))
    value, error = candidates.value[:, :, at], candidates.error[:, :, at]
    gain, own = value - 2.5 * error, (epsilon,)
    sets = [candidates.best(gain, own, CLAIM_SHARE * total)]
    place = np.unravel_index(int(np.argmax(gain)), gain.shape)
    if not candidates.is_clear(value[place] / error[place]):
        gain = candidates.by_odds(candidates.epsilon[at]) - 2.5 * error
        sets.append(candidates.best(gain, own, ODDS_SHARE * total))
    return sets


def _interval_sets(candidates: CandidateSets, total: float) -> list[ChosenSet]:
    """The best set of either direction for each interval of the ε at which a bound may be positive.

    The sum of relative margins is least when shares are proportional to relative standard errors.
    Errors above CAP count as CAP, since otherwise the ε at which almost nothing can be certified
    would take the level of the others.
    """
    value, error = candidates.value, candidates.error
    promising = np.flatnonzero(np.max(value - 2.0 * error, axis=(0, 1)) > 0.0)
    last = int(promising[-1]) if len(promising) else 0
    count = min(round(INTERVALS[0] * candidates.draws ** INTERVALS[1]), last + 1)
    edges = np.linspace(0, last + 1, count + 1).round().astype(int)
    scale = np.maximum(np.max(value - error, axis=(0, 1)), 1e-9)
    gain = np.clip(value + float(ndtri(total / 16.0)) * error, 0.0, None) / scale
    best, weight = [], np.empty(count)
    for at, (start, stop) in enumerate(pairwise(edges)):
        part = gain[:, :, start:stop].sum(axis=2)
        best.append((part, _ends(candidates.epsilon[start:stop])))
        way, where = np.unravel_index(int(np.argmax(part)), part.shape)
        spread = error[way, where, start:stop] / scale[start:stop]
        weight[at] = np.minimum(spread, CAP).sum()
    shares = total * weight / sum(weight)
    return [candidates.best(*each, share) for each, share in zip(best, shares, strict=True)]


def _ends(epsilon: Array) -> tuple[float, ...]:
    """The first and the last of some ascending ε; a single value if they are equal."""
    return tuple(np.unique(epsilon[[0, -1]]).tolist())


def _other_direction_sets(
    candidates: CandidateSets, main: Iterable[ChosenSet], total: float
) -> list[ChosenSet]:
    """A few sets of each direction where `main` has none of it, at equal shares of `total`."""
    epsilon, gain = candidates.epsilon, candidates.value - 3.0 * candidates.error
    left = np.max(gain, axis=1) > 0.0
    for chosen in main:
        first, last = chosen.epsilon[0], chosen.epsilon[-1]
        left[0 if chosen.forward else 1] &= (epsilon < first) | (epsilon > last)
    groups = []
    for way in (0, 1):
        parts = np.array_split(np.flatnonzero(left[way]), REST_SETS)
        groups += [(way, part) for part in parts if len(part)]
    if not groups:
        groups = [(1 if all(chosen.forward for chosen in main) else 0, np.zeros(1, dtype=int))]
    sets = []
    for way, part in groups:
        threshold = candidates.threshold[np.argmax(gain[way, :, part[len(part) // 2]])]
        ends = _ends(epsilon[part])
        sets.append(ChosenSet(way == 0, float(threshold), ends, total / len(groups)))
    return sets


def _smoothed(values: Array, size: Array) -> Array:
    """Means of an array (2, c, e) over sets of nearly equal size.

    size : (c,), the sets' mean probability under P and Q, descending. A set and its complement have
    the same range. The mean is applied twice, which gives the sets in the middle of a range more
    weight.
    """
    tail = np.minimum(size, 1.0 - size)
    reach = NEAR * tail * (1.0 - 1.5 * tail) + 1e-12
    start = np.searchsorted(-size, -size - reach)
    stop = np.searchsorted(-size, -size + reach, side="right")
    total = np.empty((len(values), len(size) + 1, values.shape[2]))
    total[:, 0] = 0.0
    for _ in range(2):
        np.cumsum(values, axis=1, out=total[:, 1:])
        values = (total[:, stop] - total[:, start]) / (stop - start)[:, None]
    return values


def _thresholds(choose: SortedScores) -> Array:
    """Thresholds midway between neighbouring scores, around the quantiles of all scores; they are
    denser towards the ends.
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
