"""Scores from which sets are chosen: of the choosing draws and, where these are few, of those that
trained, too.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.check import Array
from dpaudit.scoring.base import Score, Sides, evaluate, miss

ENOUGH = 20_000  # choosing draws a side
FAIR = 1.0  # standard errors by which a score may do better on draws that trained it

Scores = tuple[Array, Array]


def scores(score: Score, sides: Sides) -> Scores:
    """Scores of P's and of Q's draws."""
    return evaluate(score, sides.P), evaluate(score, sides.Q)


def pooled(score: Score, train: Sides, choose: Sides) -> Scores:
    """Scores of the choosing draws, with those of the training draws if the score did no better on
    these.

    Neither certifies anything. A threshold is where p − e^ε q is largest, which few draws find
    badly; but draws that a flexible score has learned by heart would put it too high.
    """
    chosen = scores(score, choose)
    if len(choose.P) >= ENOUGH or len(train.P) == 0:
        return chosen
    trained = scores(score, train)
    if any(np.isnan(part).any() for part in (*chosen, *trained)):
        return chosen  # to be refused
    gap, error = _gap(miss(*chosen), miss(*trained))
    if not gap <= FAIR * error:
        return chosen
    p, q = (np.concatenate(pair) for pair in zip(chosen, trained, strict=True))
    return p, q


def _gap(chosen: Array, trained: Array) -> tuple[float, float]:
    """Difference of the mean losses and its standard error."""
    error = np.sqrt(chosen.var() / len(chosen) + trained.var() / len(trained))
    return float(chosen.mean() - trained.mean()), float(error)
