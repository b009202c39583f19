"""What scores of draws that trained nothing say about δ(ε): an estimate at every ε, and a certified
band that holds at all ε and in both directions at once.

The choosing draws decide everything but the counts (`choose_sets`). The certifying draws then give
one confidence region of (P(S), Q(S)) for each set, and each region bounds δ at every ε. The
estimate (`plug_in`) also uses the certifying draws, as counts in cells; no bound depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.band import Certificate, Region, level_of
from dpaudit.certify.plug_in import CellCounts, estimated, mean_scores
from dpaudit.certify.scores import ScoreCells, ScoreCounts, SortedScores
from dpaudit.certify.sets import CandidateSets, ChosenSet, choose_sets, set_to_bet_on


@value_class
class Direction:
    """The estimate `delta` and the certified bound `low` of one direction at each ε, (m,) each."""

    delta: Array
    low: Array


@value_class(show_numbers=True)
class Estimate:
    """The estimates and certified bounds of both directions on the grid of ε, (m,), nats.

    draws : certifying draws a side. share : (m,), the share of 1 − level that the set meant for
    each ε got. certified : the band itself, at any ε and in its other forms. cells : the counts
    behind the band; None in a sequential audit.
    """

    epsilon: Array
    forward: Direction
    backward: Direction
    draws: int
    share: Array
    certified: Certificate
    cells: ScoreCells | None = None

    @property
    def delta(self) -> Array:
        """The estimated δ(ε) of the larger direction, (m,)."""
        return np.maximum(self.forward.delta, self.backward.delta)

    @property
    def low(self) -> Array:
        """The certified lower bound of the larger direction, (m,)."""
        return np.maximum(self.forward.low, self.backward.low)


@value_class
class Choices:
    """What the choosing draws decide before the first certifying draw is counted.

    epsilon : (m,) ascending, nats. alpha : 1 − the joint confidence. threshold : (c,), the limits
    of the cells in which scores are counted. score : (c + 1,), the mean score of the choosing draws
    in each cell. fresh : counts of further draws that the estimate uses; None where no estimate is
    needed. closed : whether the score is the log-ratio of two fitted normal laws. bet : the set
    whose hits are evidence against the claim, which several audits may pool; None without a claim.
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
        """Choose the sets and cells from the scores of the choosing draws.

        draws : certifying draws of the side that has fewer. claimed : ε (k,) at which evidence
        against the claim may be counted, and the claimed δ there (k,). The others are as in
        `certify`.
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
        """δ(ε) and its band from the counts of the certifying draws, whose `above` is called once.

        The share of level at each ε is the largest among the sets whose interval of ε is nearest.
        """
        epsilon, cells = self.epsilon, ScoreCells.of(certifying, self.threshold)
        aimed = [(one.epsilon[0], one.epsilon[-1], one.share) for one in self.sets if one.epsilon]
        first, last, share = np.array(aimed).T[..., None]
        away = np.maximum(first - epsilon, epsilon - last).clip(min=0.0)
        return estimate_of(
            certificate_of(self.sets, cells, self.alpha),
            epsilon,
            cells,
            np.max(np.where(away <= away.min(axis=0), share, 0.0), axis=0),
            None if self.fresh is None else (self.score, self.fresh, self.closed),
        )


def certify(
    choose: SortedScores,
    certifying: ScoreCounts,
    epsilon: Array,
    alpha: float,
    claim_epsilon: tuple[float, ...] = (),
    focus: str = "spectrum",
    fresh: SortedScores | None = None,
) -> Estimate:
    """δ(ε) and its band, from scores of the choosing draws and counts of the certifying draws.

    certifying : the counts; `above` is called once. epsilon : (m,) ascending, nats. alpha : 1 − the
    joint confidence over all ε and both directions, in (0, 1), however small. claim_epsilon : the ε
    of a claim, each of which gets a share of its own. focus : as in `choose_sets`. fresh : scores
    of further draws that the estimate uses (`scoring.pooled`); without them the certified bound
    stands for the estimate.
    """
    draws = min(certifying.sizes)
    choices = Choices.of(choose, draws, epsilon, alpha, claim_epsilon, focus, fresh)
    return choices.certified_by(certifying)


def certificate_of(
    chosen: Sequence[ChosenSet], cells: ScoreCells, alpha: float, *, both_ways: bool = False
) -> Certificate:
    """The band of the chosen sets, whose shares of alpha bound the errors of their regions.

    both_ways : whether each region also counts as a region of the set's complement, in the other
    direction.
    """
    n, m = cells.sizes
    above = cells.above(np.array([each.threshold for each in chosen]))
    regions, forward = [], []
    for each, x, y in zip(chosen, *above, strict=True):
        region = each.region(int(x), n, int(y), m)
        regions.append(region)
        forward.append(each.forward)
        if both_ways:
            regions.append(Region(1.0 - region.p[::-1], 1.0 - region.q[::-1]))
            forward.append(not each.forward)
    return Certificate.of(regions, forward, level_of(alpha))


def estimate_of(
    certified: Certificate,
    epsilon: Array,
    cells: ScoreCells,
    share: Array,
    fresh: tuple[Array, ScoreCells, bool] | None,
) -> Estimate:
    """Both directions of a band and of the point estimate, which is never below the band.

    share : as in `Estimate`. fresh : the mean score in each cell, the counts of draws beside those
    in `cells`, and whether the score is a closed form; None where the band stands for the estimate.
    """
    ways = certified.direction(True), certified.direction(False)
    low = np.clip([ways[0].delta_at(epsilon), ways[1].delta_at(epsilon)], 0.0, 1.0)
    delta = low
    if fresh is not None:
        score, counts, closed = fresh
        delta = np.maximum(estimated(CellCounts.of(score, counts, cells, closed), epsilon), low)
    forward, backward = Direction(delta[0], low[0]), Direction(delta[1], low[1])
    return Estimate(epsilon, forward, backward, min(cells.sizes), share, certified, cells)
