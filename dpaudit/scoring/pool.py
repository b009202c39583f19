"""Scores of both sides, and those from which sets are chosen."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides, evaluate, logistic_loss

ENOUGH = 20_000  # choosing draws a side, from which the training draws are not used
FAIR = 1.0  # standard errors by which the loss may be less on the draws that trained the score

Scores = tuple[Array, Array]


def scores(score: Score, sides: Sides) -> Scores:
    """Scores of P's and of Q's draws.

    The score sees the draws of both sides mixed, in a random order that depends on their numbers
    alone. So neither the other rows of a batch nor a row's place tell the side.

    Parameters
    ----------
    score : callable
        Rows (m, k) → (m,).
    sides : Sides
        The draws.

    Returns
    -------
    Scores
        Two arrays of shape (n,).
    """
    rows, labels = sides.stacked()
    order = np.random.default_rng(len(rows)).permutation(len(rows))
    found = np.empty(len(rows))
    found[order] = evaluate(score, rows[order])
    return found[labels == 1], found[labels == 0]


def pooled(score: Score, train: Sides, chosen: Scores) -> Scores:
    """Scores of the choosing draws, with those of the training draws unless the score overfits.

    Parameters
    ----------
    score : callable
        Rows (m, k) → (m,).
    train : Sides
        The training draws.
    chosen : Scores
        Scores of the choosing draws.

    Returns
    -------
    Scores

    Notes
    -----
    A threshold is where p − e^ε q is largest, which few draws estimate badly, so the training draws
    help; but of a score that overfits they would put the threshold too high. A score is taken to
    overfit where its loss is less on the training draws by more than `FAIR` standard errors.
    Neither set of draws certifies.
    """
    if len(chosen[0]) >= ENOUGH or len(train.P) == 0:
        return chosen
    trained = scores(score, train)
    if any(np.isnan(part).any() for part in (*chosen, *trained)):
        return chosen
    gap, error = _gap(logistic_loss(*chosen), logistic_loss(*trained))
    if not gap <= FAIR * error:
        return chosen
    p, q = (np.concatenate(pair) for pair in zip(chosen, trained, strict=True))
    return p, q


def _gap(chosen: Array, trained: Array) -> tuple[float, float]:
    """Difference of the mean losses and its standard error."""
    error = np.sqrt(chosen.var() / len(chosen) + trained.var() / len(trained))
    return float(chosen.mean() - trained.mean()), float(error)
