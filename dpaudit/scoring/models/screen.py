"""Which columns differ between the sides, each seen by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import chdtrc, chdtri, expit, xlogy

from dpaudit._core.linalg import ascending_columns
from dpaudit._core.types import Array
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, evaluate

Screen = Callable[[Sides], Array]  # draws → evidence (k,), as by `surplus`
FEWEST = 1e-3  # draws; the variance of a count that the score expects to be 0


def strongest(evidence: Array, most: int) -> np.ndarray:
    """The columns with the largest evidence (k,), at most `most` of them, ascending."""
    return np.sort(np.argsort(-evidence, kind="stable")[:most])


def surplus(train: Sides, chance: float | None = None) -> Array:
    """By how many nats, (k,), the evidence of each column exceeds what chance gives one of k
    columns.

    chance : the probability that a column without a difference is above 0, 1/k by default.

    Draws (n, k) of each side are counted in bins whose limits are quantiles; a value that is a
    limit has a bin of its own, so that atoms are seen. Twice the evidence, the log-likelihood ratio
    of two laws against one, is χ² with one degree of freedom less than there are bins with draws
    (Wilks 1938). By default one of the columns without a difference is expected above 0.
    """
    first = ascending_columns(train.head(constants.SCREEN_SAMPLE).stacked()[0])
    bins = constants.SCREEN_BINS
    limits = first[:, np.arange(1, bins) * (first.shape[1] - 1) // bins]
    ends = np.sort(np.concatenate([limits, np.nextafter(limits, np.inf)], axis=1), axis=1)
    p, q = (_counts(ascending_columns(side), ends) for side in (train.P, train.Q))
    both = np.maximum(p + q, 1)
    gain = (xlogy(p, 2.0 * p / both) + xlogy(q, 2.0 * q / both)).sum(axis=1)
    freedom = np.maximum((p + q > 0).sum(axis=1) - 1, 1)
    return np.asarray(gain - 0.5 * chdtri(freedom, chance or 1.0 / len(gain)))


def calibrated(score: Score, train: Sides) -> bool:
    """Whether the log-odds of a score agree with the counts of rows (n, 1) of each side in all
    bins.

    Bins are of equal size, up to ties, few and large ones first. The squared residuals of their
    counts, each over its variance, have a χ² law if the log-odds are true.
    """
    rows, label = train.stacked()
    order = np.argsort(rows[:, 0])
    ordered, odds = rows[order, 0], expit(evaluate(score, rows))[order]
    sums = np.cumsum([label[order] - odds, odds * (1.0 - odds)], axis=1)
    for bins in constants.CALIBRATION_BINS:
        limits = ordered[np.arange(1, bins + 1) * (len(ordered) - 1) // bins]
        last = np.searchsorted(ordered, np.unique(limits), side="right") - 1
        excess, variance = np.diff(sums[:, last], prepend=0.0)
        variance = np.maximum(variance, FEWEST)
        if chdtrc(len(excess), np.sum(excess**2 / variance)) < constants.MISCALIBRATED:
            return False
    return True


def _counts(columns: Array, ends: Array) -> np.ndarray:
    """Draws in each column's bins, (k, 2·limits + 1): below, at and above each limit.

    columns : (k, n), each sorted, which is faster than a search for each value.
    """
    below = [np.searchsorted(*pair) for pair in zip(columns, ends, strict=True)]
    return np.diff(np.array(below), prepend=0, append=columns.shape[1], axis=1)
