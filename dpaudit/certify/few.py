"""The sets of few draws: two to four, chosen by smoothed tails, so that most draws certify.

`certify.estimate` shares 1 − level among a dozen sets and chooses them by counts. Twenty to five
hundred draws a side are too few for both. Here the draws that train the score choose sets, too.
Normal kernels smooth the tails of their scores, half a hit is added to every count, and for each
aim the set of largest approximate lower limit is taken: of P(S) − e^ε Q(S) at a few ε, of
P(S)/Q(S), which bounds ε at small δ, and at the ε of a claim the set that would refute it best.

Why the band holds: given the draws that train and choose, score, sets and shares are fixed. The
certifying draws are independent of them, so the hits of a set S are binomial, and with probability
at least 1 − share its region contains (P(S), Q(S)) or certifies nothing (`certify.binomial`). The
shares sum to 1 − level, so all regions are so together with probability at least the level
(Bonferroni). On that ONE event everything that is read off them is true: at every ε, and in both
directions, since the region of a set is one of its complement, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.binomial import ratio_limit, score_variance, standard_errors
from dpaudit.certify.constants import (
    AIM,
    BANDWIDTH,
    BESIDE_CLAIM,
    FARTHER,
    FEW_CLAIM_SHARE,
    FEW_COLUMNS,
    FEW_KNOWN,
    FEW_LEARNED,
    FEW_ONE_COLUMN,
    FEWEST,
    FIRST_SHARE,
    MIDDLE,
    MIDDLE_SHARE,
    PSEUDO,
    PURE_SHARE,
    RATIO_SHARE,
)
from dpaudit.certify.estimate import Estimate, certificate_of, estimate_of
from dpaudit.certify.plug_in import mean_scores
from dpaudit.certify.scores import ScoreCells, ScoreCounts, SortedScores
from dpaudit.certify.sets import ChosenSet
from dpaudit.certify.split import Split
from dpaudit.errors import InvalidInput

QUARTILES = 1.349  # distance of a normal law's quartiles, in standard deviations


def few_split(draws: int, columns: int | None, *, trained: bool) -> Split:
    """Split `draws` draws a side, for outputs of `columns` numbers (None for many); the draws
    that train also choose. trained : False where the score is known beforehand.
    """
    if draws < FEWEST:
        raise InvalidInput(f"draws must be at least {FEWEST} a side, got {draws}", argument="draws")
    share = FEW_KNOWN if not trained else FEW_ONE_COLUMN if columns == 1 else FEW_COLUMNS
    first = max(FEW_LEARNED, int(share * draws))
    return Split(first, 0, draws - first) if trained else Split(0, first, draws - first)


@dataclass(frozen=True)
class Aim:
    """The quantity that a set is chosen to bound, and the set's share of 1 − level.

    epsilon : nats, for the quantity P(S) − e^ε Q(S); None for P(S)/Q(S). allowed : the δ claimed at
    that ε.
    """

    epsilon: float | None
    share: float
    allowed: float | None = None


def certify_few(
    choose: SortedScores,
    certifying: ScoreCounts,
    epsilon: Array,
    alpha: float,
    claim: tuple[float, float] | None = None,
    focus: str = "spectrum",
    fresh: SortedScores | None = None,
) -> Estimate:
    """δ(ε) and its band from few draws, whose sides may differ in number.

    choose : scores of the draws that train and choose. certifying : counts; `above` is called once.
        epsilon : (m,) ascending, nats. alpha : 1 − the joint confidence over all ε and both
        directions. claim : its (ε, δ); its ε gets half of 1 − level. focus : "pure" gives P(S)/Q(S)
        nine tenths of 1 − level. fresh : as in `certify`.
    """
    tails = SmoothTails.of(choose, certifying.sizes)
    aims = _aims(tails, float(epsilon[0]), alpha, claim, focus)
    cells = ScoreCells.of(certifying, tails.threshold)
    chosen = [tails.chosen(aim, alpha) for aim in aims]
    at, share = np.array([(aim.epsilon, aim.share) for aim in aims if aim.epsilon is not None]).T
    nearest = np.argmin(np.abs(epsilon[:, None] - at), axis=1)
    counted = None
    if fresh is not None:
        score = mean_scores(choose, tails.threshold)
        counted = score, ScoreCells.of(fresh, tails.threshold), False
    band = certificate_of(chosen, cells, alpha, both_ways=True)
    return estimate_of(band, epsilon, cells, alpha * share[nearest], counted)


def few_bet(choose: SortedScores, draws: int, epsilon: Array, allowed: Array) -> ChosenSet:
    """The set whose excess over a claim is clearest, as from `sets.set_to_bet_on`.

    draws : certifying draws a side. epsilon, allowed : ε (k,), nats, and the claimed δ there (k,).
    """
    tails = SmoothTails.of(choose, (draws, draws))
    clearest = []
    for point, delta in zip(epsilon, allowed, strict=True):
        value, error = tails.excess(float(point), 1.0)
        clear = (value - float(delta)) / error
        place = np.unravel_index(int(np.argmax(clear)), clear.shape)
        clearest.append((float(clear[place]), int(place[0]), int(place[1]), float(point)))
    _, way, where, at = max(clearest)
    return ChosenSet(way == 0, float(tails.threshold[where]), (at,), 0.0)


def _aims(
    tails: SmoothTails,
    first: float,
    alpha: float,
    claim: tuple[float, float] | None,
    focus: str,
) -> list[Aim]:
    """The aims, whose shares sum to 1. Aims at the same ε are merged."""
    if focus == "pure":
        return [Aim(first, 1.0 - PURE_SHARE), Aim(None, PURE_SHARE)]
    if claim is not None:
        own = Aim(claim[0], FEW_CLAIM_SHARE, claim[1])
        return [own, Aim(first, BESIDE_CLAIM), Aim(None, BESIDE_CLAIM)]
    promised = tails.promised(RATIO_SHARE * alpha)
    shares = {first: FIRST_SHARE}
    for at in (MIDDLE, max(FARTHER, 0.5 * promised)):
        at = max(at, first)
        shares[at] = shares.get(at, 0.0) + MIDDLE_SHARE
    return [*(Aim(epsilon, share) for epsilon, share in shares.items()), Aim(None, RATIO_SHARE)]


@value_class
class SmoothTails:
    """Smoothed probabilities of the sets {score > τ} and of their complements {score ≤ τ}.

    threshold : (c,), the values of τ, ascending. p, q : (2, c); p[0] = P(score > τ) and q[0] =
    Q(score > τ), p[1] = Q(score ≤ τ) and q[1] = P(score ≤ τ). n, m : (2, 1), how many certifying
    draws the law of p and the law of q have.
    """

    threshold: Array
    p: Array
    q: Array
    n: Array
    m: Array

    @classmethod
    def of(cls, choose: SortedScores, sizes: tuple[int, int]) -> SmoothTails:
        """Smooth with a normal kernel of one width for both sides. Thresholds are midway between
        neighbouring scores. The width comes from quartiles, so infinite scores do not change it.
        """
        score = np.unique(np.concatenate([choose.p, choose.q]))
        threshold = score[:-1] + 0.5 * np.diff(score) if len(score) > 1 else score
        spreads = [np.diff(np.quantile(side, [0.25, 0.75]))[0] for side in (choose.p, choose.q)]
        width = BANDWIDTH * 0.5 * float(spreads[0] / QUARTILES + spreads[1] / QUARTILES)
        p, q = (_smooth(side, threshold, width) for side in (choose.p, choose.q))
        n = np.array(sizes, dtype=np.float64)[:, None]
        return cls(threshold, np.stack([p, 1.0 - q]), np.stack([q, 1.0 - p]), n, n[::-1])

    def promised(self, alpha: float) -> float:
        """The largest approximate lower limit of ln(P(S)/Q(S)) over all sets, nats, at least 0."""
        return float(np.log(max(self._ratio(standard_errors(alpha)).max(), 1.0)))

    def chosen(self, aim: Aim, alpha: float) -> ChosenSet:
        """The set that serves an aim best: the set with the largest lower limit or, if the aim has
        a claimed δ, with the largest number of standard errors above it. alpha : 1 − the joint
        confidence.
        """
        z = standard_errors(aim.share * alpha)
        if aim.epsilon is None:
            gain = self._ratio(z)
        else:
            value, error = self.excess(aim.epsilon, z)
            gain = value - z * error if aim.allowed is None else (value - aim.allowed) / error
        way, where = np.unravel_index(int(np.argmax(gain)), gain.shape)
        ends = () if aim.epsilon is None else (aim.epsilon,)
        threshold = float(self.threshold[where])
        return ChosenSet(bool(way == 0), threshold, ends, aim.share * alpha)

    def excess(self, epsilon: float, z: float) -> tuple[Array, Array]:
        """p − e^ε q and its standard error on the certifying draws, (2, c) each.

        z : each variance has z²/4 added to hits and misses (`score_variance`). An ε above `AIM`
        counts as `AIM`.
        """
        gamma, (x, y) = float(np.exp(min(epsilon, AIM))), self._hits
        variance = score_variance(x, self.n, z) + gamma**2 * score_variance(y, self.m, z)
        return self.p - gamma * self.q, np.sqrt(variance)

    def _ratio(self, z: float) -> Array:
        x, y = self._hits
        return ratio_limit(x, self.n, y, self.m, z)

    @cached_property
    def _hits(self) -> tuple[Array, Array]:
        return self.p * self.n, self.q * self.m


def _smooth(score: Array, threshold: Array, width: float) -> Array:
    """The smoothed P(score > τ) for each threshold τ, (c,), strictly between 0 and 1."""
    with np.errstate(over="ignore"):
        distance = (score - threshold[:, None]) / max(width, np.finfo(float).tiny)
    hits = ndtr(distance).sum(axis=1)
    return np.asarray((hits + PSEUDO) / (len(score) + 2.0 * PSEUDO))
