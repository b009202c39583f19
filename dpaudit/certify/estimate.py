"""From held-out scores to δ(ε): a point estimate at every ε and a certified band, simultaneous over
ε and directions.

The choosing draws fix everything but the counts (`planning`): the stretches into which the ε are
cut, the set of each, and its share of 1 − level. The certifying draws then give one confidence
region of (P(S), Q(S)) a set, aimed at the two ends of its stretch, and one region bounds δ at every
ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpaudit._core.check import Array
from dpaudit.certify.band import Certificate
from dpaudit.certify.sets import Statement, Survey, Tails, plan


class Counter(Protocol):
    """Scores of the draws that certify, n of P and m of Q."""

    @property
    def sizes(self) -> tuple[int, int]: ...

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q strictly above each threshold."""
        ...


@dataclass(frozen=True, eq=False)
class Direction:
    """One direction on the grid: point estimate and certified lower bound, each (m,)."""

    delta: Array
    low: Array


@dataclass(frozen=True, eq=False)
class Estimate:
    """Both directions on the ε grid; `draws` a side certified. share : (m,), of the statement made
    for each ε.

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


def certify(
    choose: Tails,
    test: Counter,
    epsilon: Array,
    level: float,
    keep: tuple[float, ...] = (),
    focus: str = "spectrum",
) -> Estimate:
    """δ(ε) and its band from sorted choosing scores and whatever counts the certifying ones, which
    is asked once.

    epsilon : (m,) ascending, nats. level : joint confidence over all ε and both directions.
    keep : ε to which a larger share goes (a claim's own ε). focus : "pure" spends most on ε at δ =
        0 instead.
    """
    survey = Survey.of(choose, epsilon, min(test.sizes), 1.0 - level)
    statements = plan(survey, keep, focus)
    used = np.concatenate(
        [survey.best_thresholds(epsilon).ravel(), [one.threshold for one in statements]]
    )
    x, y = test.above(used)
    n, m = test.sizes
    points, gamma = 2 * len(epsilon), np.exp(epsilon)
    p, q = (x[:points] / n).reshape(2, -1), (y[:points] / m).reshape(2, -1)
    delta = p[0] - gamma * q[0], (1.0 - q[1]) - gamma * (1.0 - p[1])
    counts = zip(statements, x[points:], y[points:], strict=True)
    regions = [one.region(int(a), n, int(b), m) for one, a, b in counts]
    certified = Certificate.of(regions, [one.forward for one in statements], level)
    forward, backward = (
        _direction(point, certified.direction(way).delta_at(epsilon))
        for point, way in zip(delta, (True, False), strict=True)
    )
    return Estimate(epsilon, forward, backward, min(n, m), _shares(statements, epsilon), certified)


def _direction(point: Array, low: Array) -> Direction:
    """The estimate at the set chosen for an ε is no less than what another set certifies there."""
    low = np.clip(low, 0.0, 1.0)
    return Direction(np.clip(np.maximum(point, low), 0.0, 1.0), low)


def _shares(statements: list[Statement], epsilon: Array) -> Array:
    """The largest share of a statement whose stretch is nearest to each ε."""
    aimed = [one for one in statements if one.epsilon]
    away = np.array(
        [np.maximum(one.epsilon[0] - epsilon, epsilon - one.epsilon[-1]) for one in aimed]
    ).clip(min=0.0)
    near = away <= away.min(axis=0)
    return np.asarray(np.max(np.where(near, [[one.share] for one in aimed], 0.0), axis=0))
