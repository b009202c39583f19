"""Platt scaling: log-odds a + b·score, by logistic regression of the side on a fitted score.

Platt, Probabilistic outputs for support vector machines, 1999. Both functions penalise the distance
of the line from the score itself (a = 0, b = 1), which keeps a perfectly separating score finite.
They differ in the unit of that penalty: the score's own, for a score in nats, and its standard
deviation, for a score of any scale.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.models.logistic import (
    LogisticProblem,
    Stop,
    elimination,
    fit_ridge,
    loss_by_likelihood,
    newton,
)

GAIN = 1e-8  # nats, at which Newton's method stops
PENALTY = 1.0  # of the slope by standard deviations
LARGEST = 50.0  # nats; scores of any scale are clipped there


def calibrated(x: Array, y: Array) -> tuple[float, float]:
    """(a, b) such that a + b·score is the log-odds of a draw with that score.

    x, y : scores (n,), in nats, of draws of M(D) and of M(D') that trained nothing. (a, b) is the
    posterior mode under a standard normal prior about (0, 1).
    """
    score, label = np.concatenate([x, y]), np.repeat([1.0, 0.0], [len(x), len(y)])
    table = np.column_stack([np.ones_like(score), score])
    problem = LogisticProblem(
        table,
        label,
        1.0 - label,
        np.ones(2),
        offset=score,
        loss=loss_by_likelihood,
        solver=elimination,
    )
    mode = newton(problem, np.zeros(2), Stop(GAIN, halvings=5)).before
    return float(mode[0]), 1.0 + float(mode[1])


def recalibrated(x: Array, y: Array) -> tuple[Array, Array]:
    """(log-odds of all draws, 1 for those of P and −1 for those of Q), each (2n,), P's first.

    x, y : scores (n,), of any scale, of draws of M(D) and of M(D') that trained nothing.
    """
    score = np.clip(np.concatenate([x, y]), -LARGEST, LARGEST)
    standard = ((score - score.mean()) / (float(score.std()) or 1.0))[:, None]
    label = np.repeat([1, 0], [len(x), len(y)])
    weights = fit_ridge(standard, label, score, PENALTY, np.zeros(2))
    return score + weights[0] + weights[1] * standard[:, 0], 2.0 * label - 1.0
