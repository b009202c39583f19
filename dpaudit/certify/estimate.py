"""From scores of draws that trained nothing to δ(ε): a plug-in estimate at every ε, and a certified
band that holds at all ε and in both directions at once.

The choosing draws decide everything but the counts (`choose_sets`). The certifying draws then give
one confidence region of (P(S), Q(S)) for each set, and each region bounds δ at every ε.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.shown.short_repr import html_repr, short_repr
from dpaudit._core.types import Array
from dpaudit.certify.band import Certificate, level_of
from dpaudit.certify.candidates import CandidateSets
from dpaudit.certify.cells import ScoreCells
from dpaudit.certify.scores import ScoreCounts, SortedScores
from dpaudit.certify.sets import ChosenSet, choose_sets


@dataclass(frozen=True, eq=False, repr=False)
class Direction:
    """One direction on the grid of ε: plug-in estimate and certified lower bound, (m,) each."""

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
        """The plug-in estimate of the larger direction, (m,)."""
        return np.maximum(self.forward.delta, self.backward.delta)

    @property
    def low(self) -> Array:
        """The certified lower bound of the larger direction, (m,)."""
        return np.maximum(self.forward.low, self.backward.low)


def certify(
    choose: SortedScores,
    certifying: ScoreCounts,
    epsilon: Array,
    alpha: float,
    claim_epsilon: tuple[float, ...] = (),
    focus: str = "spectrum",
) -> Estimate:
    """δ(ε) and its band, from scores of the choosing draws and counts of the certifying ones.

    certifying : its `above` is called once. epsilon : (m,) ascending, nats.
    alpha : 1 − the joint confidence over all ε and both directions, in (0, 1), however small.
    claim_epsilon : ε of a claim, which get shares of their own. focus : as in `choose_sets`.
    """
    candidates = CandidateSets.of(choose, epsilon, min(certifying.sizes), alpha)
    chosen = choose_sets(candidates, claim_epsilon, focus)
    cells = ScoreCells.of(certifying, candidates.threshold)
    certified = _certificate(chosen, cells, alpha)
    best = candidates.best_thresholds(epsilon).ravel()
    plug_in = _plug_in(*cells.above(best), cells.sizes, epsilon)
    forward, backward = (
        _direction(delta, certified.direction(way).delta_at(epsilon))
        for delta, way in zip(plug_in, (True, False), strict=True)
    )
    shares = _shares(chosen, epsilon)
    return Estimate(epsilon, forward, backward, min(cells.sizes), shares, certified, cells)


def _certificate(chosen: list[ChosenSet], cells: ScoreCells, alpha: float) -> Certificate:
    """One region a set, from the scores of P and of Q above its threshold."""
    n, m = cells.sizes
    above = cells.above(np.array([one.threshold for one in chosen]))
    counts = zip(chosen, *above, strict=True)
    regions = [one.region(int(a), n, int(b), m) for one, a, b in counts]
    return Certificate.of(regions, [one.forward for one in chosen], level_of(alpha))


def _plug_in(
    x: np.ndarray, y: np.ndarray, sizes: tuple[int, int], epsilon: Array
) -> tuple[Array, Array]:
    """p − e^ε q of the best set at each ε, forward and backward."""
    p, q = ((count / size).reshape(2, -1) for count, size in zip((x, y), sizes, strict=True))
    gamma = np.exp(epsilon)
    return p[0] - gamma * q[0], (1.0 - q[1]) - gamma * (1.0 - p[1])


def _direction(plug_in: Array, low: Array) -> Direction:
    """Estimate and bound in [0, 1]; a bound by another set that is larger is also the estimate."""
    low = np.clip(low, 0.0, 1.0)
    return Direction(np.clip(np.maximum(plug_in, low), 0.0, 1.0), low)


def _shares(chosen: list[ChosenSet], epsilon: Array) -> Array:
    """The largest share among the sets whose interval of ε is nearest to each ε."""
    aimed = [one for one in chosen if one.epsilon]
    away = np.array(
        [np.maximum(one.epsilon[0] - epsilon, epsilon - one.epsilon[-1]) for one in aimed]
    ).clip(min=0.0)
    near = away <= away.min(axis=0)
    return np.asarray(np.max(np.where(near, [[one.share] for one in aimed], 0.0), axis=0))
