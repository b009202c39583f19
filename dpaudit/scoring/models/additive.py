"""A weighted sum of scores of single columns: for bits, counts and reals side by side."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, log_loss, zero
from dpaudit.scoring.models.logistic import fit_ridge
from dpaudit.scoring.models.screen import Screen, strongest, surplus
from dpaudit.scoring.models.spline import fit_spline


def fit_additive(train: Sides, choose: Sides, screen: Screen = surplus) -> Score | None:
    """Fit log-odds that are a sum over columns: a spline score of each, weighted by regression.

    The sum is exact up to the splines where the columns are independent (the weights are then 1).
    The weights keep columns that repeat each other from counting twice. A column with two values
    enters as it is. If there are many columns, those that differ by themselves are summed; the
    result is None where no column does, or more than half do. train, choose : finite rows (m, k).
    screen : judges the columns.
    """
    train, size = train.head(constants.ADDITIVE_DRAWS), train.P.shape[1]
    columns = np.arange(size)
    if size > constants.SUMMANDS:
        evidence = screen(train)
        if not 0 < (evidence > 0.0).sum() <= size // 2:
            return None
        columns = strongest(evidence, constants.MOST_SUMMANDS)
        columns = columns[evidence[columns] > 0.0]
    P, Q = train.P[:, columns], train.Q[:, columns]
    low = np.minimum(P.min(axis=0), Q.min(axis=0))
    high = np.maximum(P.max(axis=0), Q.max(axis=0))
    ends = np.logical_and(*(((side == low) | (side == high)).all(axis=0) for side in (P, Q)))
    two = ends & (low < high)
    binary, middle = columns[two], (low + 0.5 * (high - low))[two]
    reals: list[tuple[float, int, Score]] = []
    for j in columns[~ends].tolist():
        own, check = (Sides(part.P[:, [j]], part.Q[:, [j]]) for part in (train, choose))
        score = fit_spline(own, check)
        loss = log_loss(score, check)
        if loss <= np.log(2.0) - constants.COLUMN_GAIN / (2.0 * len(choose.P)):
            reals.append((loss, j, score))
    if len(binary) + len(reals) == 0:
        return zero
    features = [
        np.column_stack([side[:, binary] - middle, *(score(side[:, [j]]) for _, j, score in reals)])
        for side in (train.P, train.Q)
    ]
    x, label = Sides(*features).stacked()
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread == 0.0] = 1.0
    table = np.column_stack([np.ones(len(x)), (x - centre) / spread])
    start, no_offset = np.zeros(table.shape[1]), np.zeros(len(x))
    fitted = fit_ridge(table, label, 1 - label, no_offset, constants.ADDITIVE_PENALTY, start)
    weights = fitted[1:] / spread
    slopes, of_scores = weights[: len(binary)], weights[len(binary) :].tolist()
    constant = float(fitted[0] - weights @ centre - slopes @ middle)

    def total(x: Array) -> Array:
        out = constant + x[:, binary] @ slopes
        for (_, j, score), weight in zip(reals, of_scores, strict=True):
            out = out + weight * score(x[:, [j]])
        return np.asarray(out)

    if reals:
        # one column may show all of the difference; further columns would only break its ties
        least, column, alone = min(reals, key=lambda real: real[0])
        if log_loss(total, choose) >= least:
            return lambda x: alone(x[:, [column]])
    return total
