"""The sets of few draws: three to five, chosen by smoothed tails, so that most draws certify.

`certify.estimate` shares 1 − level among a dozen sets and chooses them by counts. Twenty to five
hundred draws a side are too few for both. Here the draws that train the score choose sets, too.
Normal kernels smooth the tails of their scores, half a hit is added to every count, and for each
aim the set of largest approximate lower limit is taken: of P(S) − e^ε Q(S) at a few ε, of
P(S)/Q(S), which bounds ε at small δ, and at the ε of a claim the set that would refute it best.

Why the band holds: given the draws that train and choose, score, sets and shares are fixed. The
certifying draws are independent of them, so the hits of a set S are binomial, and its region holds
(P(S), Q(S)) with probability at least 1 − share (`certify.binomial`). The shares sum to 1 − level,
so all regions hold together with probability at least the level (Bonferroni). On that ONE event
everything that is read off them is true: at every ε, and in both directions, since the region of a
set is one of its complement, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit._core.types import Array
from dpaudit.certify.band import Certificate, Region, level_of
from dpaudit.certify.binomial import ratio_limit, score_variance
from dpaudit.certify.cells import ScoreCells
from dpaudit.certify.estimate import Direction, Estimate
from dpaudit.certify.plug_in import Counted, estimated
from dpaudit.certify.scores import ScoreCounts, SortedScores
from dpaudit.certify.sets import AIM, ChosenSet
from dpaudit.certify.split import Split
from dpaudit.errors import InvalidInput

FEWEST, MOST = 20, 500  # draws of the shorter side
# shares of the draws that train and choose: of a known score, of outputs of one number, of others
KNOWN, ONE_COLUMN, COLUMNS = 0.2, 0.2, 0.35
LEARNED = 6  # draws a side that train and choose, at least
BANDWIDTH = 0.7  # of a kernel, in standard deviations of a side's scores
PSEUDO = 0.5  # hits added, and misses
QUARTILES = 1.349  # standard deviations between the quartiles of a normal law
# Shares of 1 − level: for the least ε, for MIDDLE, for half of the ε that is promised (at least
# FARTHER), and for P(S)/Q(S). A claim's own ε takes the place of the two in the middle.
FIRST_SHARE, MIDDLE_SHARE, RATIO_SHARE = 0.45, 0.1, 0.35
MIDDLE, FARTHER = 0.5, 1.0
CLAIM_SHARE, BESIDE_CLAIM = 0.5, 0.25  # `BESIDE_CLAIM` each for the least ε and for P(S)/Q(S)
PURE_SHARE = 0.9  # for P(S)/Q(S) with the focus "pure"


def few_split(samples: int, columns: int | None, *, trained: bool) -> Split:
    """Split `samples` draws a side, of outputs of so many numbers (None for many).

    What trains also chooses. trained : False of a known score. Raises `InvalidInput` for fewer than
    20 draws.
    """
    if samples < FEWEST:
        raise InvalidInput(
            f"draws must be at least {FEWEST} a side, got {samples}", argument="draws"
        )
    if not trained:
        chosen = max(LEARNED, int(KNOWN * samples))
        return Split(0, chosen, samples - chosen)
    learned = max(LEARNED, int((ONE_COLUMN if columns == 1 else COLUMNS) * samples))
    return Split(learned, 0, samples - learned)


@dataclass(frozen=True)
class Aim:
    """What a set is chosen for, and its share of 1 − level.

    epsilon : of P(S) − e^ε Q(S), nats; None for P(S)/Q(S). allowed : the δ claimed at that ε.
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

    choose : scores of the draws that train and choose. certifying : its `above` is called once.
    epsilon : (m,) ascending, nats. alpha : 1 − the joint confidence over all ε and both directions.
    claim : its (ε, δ), whose ε gets half of 1 − level. focus : "pure" gives P(S)/Q(S) nine tenths.
    fresh : as in `certify`.
    """
    tails = SmoothTails.of(choose, certifying.sizes)
    aims = _aims(tails, float(epsilon[0]), alpha, claim, focus)
    chosen = [tails.chosen(aim, alpha) for aim in aims]
    cells = ScoreCells.of(certifying, tails.threshold)
    certified = _certificate(chosen, cells, alpha)
    lows = [np.clip(certified.direction(way).delta_at(epsilon), 0.0, 1.0) for way in (True, False)]
    deltas = lows if fresh is None else estimated(Counted.of(choose, fresh, cells), epsilon)
    forward, backward = (
        Direction(np.maximum(delta, low), low) for delta, low in zip(deltas, lows, strict=True)
    )
    share = alpha * _shares(aims, epsilon)
    return Estimate(epsilon, forward, backward, min(cells.sizes), share, certified, cells)


def few_bet(choose: SortedScores, draws: int, epsilon: Array, allowed: Array) -> ChosenSet:
    """The set whose excess over a claim is clearest, as `sets.set_to_bet_on`.

    draws : certifying draws a side.
    """
    tails = SmoothTails.of(choose, (draws, draws))
    found = [
        (*tails.clearest(float(one), float(delta)), float(one))
        for one, delta in zip(epsilon, allowed, strict=True)
    ]
    _, way, where, at = max(found)
    return ChosenSet(way == 0, float(tails.threshold[where]), (at,), 0.0)


def _aims(
    tails: SmoothTails,
    first: float,
    alpha: float,
    claim: tuple[float, float] | None,
    focus: str,
) -> list[Aim]:
    """Aims whose shares sum to 1; those at the same ε are joined."""
    if focus == "pure":
        return [Aim(first, 1.0 - PURE_SHARE), Aim(None, PURE_SHARE)]
    if claim is not None:
        own = Aim(claim[0], CLAIM_SHARE, claim[1])
        return [own, Aim(first, BESIDE_CLAIM), Aim(None, BESIDE_CLAIM)]
    promised = tails.promised(RATIO_SHARE * alpha)
    shares = {first: FIRST_SHARE}
    for at in (MIDDLE, max(FARTHER, 0.5 * promised)):
        at = max(at, first)
        shares[at] = shares.get(at, 0.0) + MIDDLE_SHARE
    return [*(Aim(*one) for one in shares.items()), Aim(None, RATIO_SHARE)]


@dataclass(frozen=True, eq=False, repr=False)
class SmoothTails:
    """Smoothed probabilities of the sets {score > τ} and of their complements.

    threshold : (c,) ascending. p, q : (2, c); forward P(score > τ) and Q(score > τ), backward those
    of Q and of P below τ. n, m : (2, 1), certifying draws of what p and q are probabilities of.
    """

    threshold: Array
    p: Array
    q: Array
    n: Array
    m: Array

    @classmethod
    def of(cls, choose: SortedScores, sizes: tuple[int, int]) -> SmoothTails:
        """Thresholds are midway between neighbouring scores."""
        score = np.unique(np.concatenate([choose.p, choose.q]))
        threshold = score[:-1] + 0.5 * np.diff(score) if len(score) > 1 else score
        spread = BANDWIDTH * 0.5 * (_spread(choose.p) + _spread(choose.q))
        p, q = (_smooth(side, threshold, spread) for side in (choose.p, choose.q))
        n = np.array(sizes, dtype=np.float64)[:, None]
        return cls(threshold, np.stack([p, 1.0 - q]), np.stack([q, 1.0 - p]), n, n[::-1])

    def promised(self, alpha: float) -> float:
        """The largest approximate lower limit of ln(P(S)/Q(S)), nats, at least 0."""
        return float(np.log(max(self._ratio(_z(alpha)).max(), 1.0)))

    def chosen(self, aim: Aim, alpha: float) -> ChosenSet:
        """The best set for an aim. alpha : 1 − the joint confidence."""
        way, where = self.best(aim, _z(aim.share * alpha))
        ends = () if aim.epsilon is None else (aim.epsilon,)
        return ChosenSet(way == 0, float(self.threshold[where]), ends, aim.share * alpha)

    def best(self, aim: Aim, z: float) -> tuple[int, int]:
        """Direction and position of the largest limit z standard errors below, or of the largest
        number of standard errors above what is claimed.
        """
        if aim.epsilon is None:
            gain = self._ratio(z)
        else:
            value, error = self._excess(float(np.exp(min(aim.epsilon, AIM))), z)
            gain = value - z * error if aim.allowed is None else (value - aim.allowed) / error
        way, where = np.unravel_index(int(np.argmax(gain)), gain.shape)
        return int(way), int(where)

    def clearest(self, epsilon: float, allowed: float) -> tuple[float, int, int]:
        """The largest excess at ε over what is claimed, in standard errors, and its place."""
        value, error = self._excess(float(np.exp(min(epsilon, AIM))), 1.0)
        clear = (value - allowed) / error
        way, where = np.unravel_index(int(np.argmax(clear)), clear.shape)
        return float(clear[way, where]), int(way), int(where)

    def _excess(self, gamma: float, z: float) -> tuple[Array, Array]:
        """p − γq and its standard error on the certifying draws, (2, c) each."""
        p, q = self._hits
        variance = score_variance(p, self.n, z) + gamma**2 * score_variance(q, self.m, z)
        return self.p - gamma * self.q, np.sqrt(variance)

    def _ratio(self, z: float) -> Array:
        p, q = self._hits
        return ratio_limit(p, self.n, q, self.m, z)

    @cached_property
    def _hits(self) -> tuple[Array, Array]:
        return self.p * self.n, self.q * self.m


def _spread(score: Array) -> float:
    """Standard deviation by the quartiles, which infinite scores leave as it is."""
    low, high = np.quantile(score, [0.25, 0.75])
    return float((high - low) / QUARTILES)


def _smooth(score: Array, threshold: Array, spread: float) -> Array:
    """P(score > τ) for each τ, inside (0, 1)."""
    with np.errstate(over="ignore"):
        distance = (score - threshold[:, None]) / max(spread, np.finfo(float).tiny)
    hits = ndtr(distance).sum(axis=1)
    return np.asarray((hits + PSEUDO) / (len(score) + 2.0 * PSEUDO))


def _z(alpha: float) -> float:
    return max(-float(ndtri(alpha)), 0.1)


def _certificate(chosen: Sequence[ChosenSet], cells: ScoreCells, alpha: float) -> Certificate:
    """The region of each set, and the same of its complement in the other direction."""
    n, m = cells.sizes
    above = cells.above(np.array([one.threshold for one in chosen]))
    regions, forward = [], []
    for one, x, y in zip(chosen, *above, strict=True):
        region = one.region(int(x), n, int(y), m)
        regions += [region, Region(1.0 - region.p[::-1], 1.0 - region.q[::-1])]
        forward += [one.forward, not one.forward]
    return Certificate.of(regions, forward, level_of(alpha))


def _shares(aims: Sequence[Aim], epsilon: Array) -> Array:
    """The share of the aim that is nearest to each ε, (m,)."""
    aimed = [(aim.epsilon, aim.share) for aim in aims if aim.epsilon is not None]
    at, share = np.array(aimed).T
    return np.asarray(share[np.argmin(np.abs(epsilon[:, None] - at), axis=1)])
