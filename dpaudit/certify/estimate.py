"""From scores of draws that trained nothing to δ(ε): an estimate at every ε, and a certified band
that holds at all ε and in both directions at once.

The choosing draws decide everything but the counts (`choose_sets`). The certifying draws then give
one confidence region of (P(S), Q(S)) for each set, and each region bounds δ at every ε. The
estimate (`plug_in`) sees the certifying draws as counts in cells, too; no bound depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.shown.short_repr import html_repr, short_repr
from dpaudit._core.types import Array
from dpaudit.certify.band import Certificate, level_of
from dpaudit.certify.candidates import CandidateSets
from dpaudit.certify.cells import ScoreCells
from dpaudit.certify.plug_in import Counted, estimated, mean_scores
from dpaudit.certify.scores import ScoreCounts, SortedScores
from dpaudit.certify.sets import ChosenSet, choose_sets, set_to_bet_on


@dataclass(frozen=True, eq=False, repr=False)
class Direction:
    """One direction on the grid of ε: estimate and certified lower bound, (m,) each."""

    delta: Array
    low: Array


@dataclass(frozen=True, eq=False)
class Estimate:
    """Both directions on the grid of ε.

    draws : certifying draws a side. share : (m,), of 1 − level, of the set meant for each ε.
    certified : the band itself, at any ε and in its other forms. cells : what it was counted from.
    """

    epsilon: Array
    forward: Direction
    backward: Direction
    draws: int
    share: Array
    certified: Certificate
    cells: ScoreCells | None = None

    __repr__ = short_repr
    _repr_html_ = html_repr

    @property
    def delta(self) -> Array:
        """The estimate of the larger direction, (m,)."""
        return np.maximum(self.forward.delta, self.backward.delta)

    @property
    def low(self) -> Array:
        """The certified lower bound of the larger direction, (m,)."""
        return np.maximum(self.forward.low, self.backward.low)


@dataclass(frozen=True, eq=False, repr=False)
class Choices:
    """What the choosing draws decide before the first certifying draw is counted.

    epsilon : (m,) ascending, nats. alpha : 1 − the joint confidence. sets : to be certified.
    threshold : (c,) between the cells in which scores are counted. score : (c + 1,) mean score of
        the choosing draws in each cell. bet : the set whose hits are evidence against the claim,
        which several audits may pool; None without a claim. fresh : counts of draws that the
        estimate counts beside the certifying ones; None where no estimate is wanted. closed : as
        in `of`.
    """

    epsilon: Array
    alpha: float
    sets: list[ChosenSet]
    threshold: Array
    score: Array
    fresh: ScoreCells | None
    closed: bool = False
    bet: ChosenSet | None = None

    @classmethod
    def of(
        cls,
        choose: SortedScores,
        draws: int,
        epsilon: Array,
        alpha: float,
        claim_epsilon: tuple[float, ...] = (),
        focus: str = "spectrum",
        fresh: SortedScores | None = None,
        closed: bool = False,
        claimed: tuple[Array, Array] | None = None,
    ) -> Choices:
        """draws : certifying draws, of the side that has fewer. closed : whether the score is the
        log-ratio of two fitted normal laws. claimed : ε (k,) at which evidence against the claim
        may be counted, and the claimed δ there (k,). The others are as in `certify`.
        """
        candidates = CandidateSets.of(choose, epsilon, draws, alpha)
        threshold = candidates.threshold
        return cls(
            epsilon,
            alpha,
            choose_sets(candidates, claim_epsilon, focus),
            threshold,
            mean_scores(choose, threshold),
            None if fresh is None else ScoreCells.of(fresh, threshold),
            closed,
            None if claimed is None else set_to_bet_on(candidates, *claimed),
        )

    def certified_by(self, certifying: ScoreCounts) -> Estimate:
        """δ(ε) and its band from the certifying draws, whose `above` is called once."""
        epsilon, cells = self.epsilon, ScoreCells.of(certifying, self.threshold)
        certified = _certificate(self.sets, cells, self.alpha)
        ways = (certified.direction(forward) for forward in (True, False))
        lows = [np.clip(one.delta_at(epsilon), 0.0, 1.0) for one in ways]
        fresh, deltas = self.fresh, lows
        if fresh is not None:
            counted = Counted.together(self.score, fresh, cells, self.closed)
            deltas = [*estimated(counted, epsilon)]
        forward, backward = (
            Direction(np.maximum(delta, low), low) for delta, low in zip(deltas, lows, strict=True)
        )
        shares = _shares(self.sets, epsilon)
        return Estimate(epsilon, forward, backward, min(cells.sizes), shares, certified, cells)


def certify(
    choose: SortedScores,
    certifying: ScoreCounts,
    epsilon: Array,
    alpha: float,
    claim_epsilon: tuple[float, ...] = (),
    focus: str = "spectrum",
    fresh: SortedScores | None = None,
) -> Estimate:
    """δ(ε) and its band, from scores of the choosing draws and counts of the certifying ones.

    certifying : its `above` is called once. epsilon : (m,) ascending, nats.
    alpha : 1 − the joint confidence over all ε and both directions, in (0, 1), however small.
    claim_epsilon : ε of a claim, which get shares of their own. focus : as in `choose_sets`.
    fresh : scores of draws that the estimate counts beside the certifying ones: choosing draws, and
        training draws of which the score knows no more than of others (`scoring.pooled`). Without
        them no estimate is made: it is what is certified.
    """
    draws = min(certifying.sizes)
    choices = Choices.of(choose, draws, epsilon, alpha, claim_epsilon, focus, fresh)
    return choices.certified_by(certifying)


def _certificate(chosen: list[ChosenSet], cells: ScoreCells, alpha: float) -> Certificate:
    """One region a set, from the scores of P and of Q above its threshold."""
    n, m = cells.sizes
    above = cells.above(np.array([one.threshold for one in chosen]))
    counts = zip(chosen, *above, strict=True)
    regions = [one.region(int(a), n, int(b), m) for one, a, b in counts]
    return Certificate.of(regions, [one.forward for one in chosen], level_of(alpha))


def _shares(chosen: list[ChosenSet], epsilon: Array) -> Array:
    """The largest share among the sets whose interval of ε is nearest to each ε."""
    aimed = [one for one in chosen if one.epsilon]
    away = np.array(
        [np.maximum(one.epsilon[0] - epsilon, epsilon - one.epsilon[-1]) for one in aimed]
    ).clip(min=0.0)
    near = away <= away.min(axis=0)
    return np.asarray(np.max(np.where(near, [[one.share] for one in aimed], 0.0), axis=0))
