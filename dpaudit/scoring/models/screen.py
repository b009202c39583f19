"""Which columns differ between the sides, each seen by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import chdtri, xlogy

from dpaudit._core.linalg import ascending_columns
from dpaudit._core.types import Array
from dpaudit.scoring import constants
from dpaudit.scoring.base import Sides

AT_ONCE = 64  # columns that are sorted together, so that they fit a CPU cache
Screen = Callable[[Sides], Array]  # draws → evidence (k,), as by `surplus`


def strongest(evidence: Array, most: int) -> np.ndarray:
    """The columns with the largest evidence (k,), at most `most` of them, ascending."""
    return np.sort(np.argsort(-evidence, kind="stable")[:most])


def limits_of_bins(x: Array, bins: int) -> Array:
    """The limits between bins of nearly equal probability of each column of x, (n, k); the result
    is (k, bins − 1), ascending.
    """
    return ascending_columns(x)[:, np.arange(1, bins) * (len(x) - 1) // bins]


def surplus(train: Sides, chance: float | None = None) -> Array:
    """By how many nats, (k,), the evidence of each column exceeds what chance gives one of k
    columns.

    chance : the probability that a column without a difference is above 0, 1/k by default.

    Draws (n, k) of each side are counted in bins whose limits are quantiles; a value that is a
    limit has a bin of its own, so that atoms are seen. Twice the evidence, the log-likelihood ratio
    of two laws against one, is χ² with one degree of freedom less than there are bins with draws
    (Wilks 1938). By default one of the columns without a difference is expected above 0.
    """
    first = train.head(constants.SCREEN_SAMPLE).stacked()[0]
    limits = limits_of_bins(first, constants.SCREEN_BINS)
    ends = np.sort(np.concatenate([limits, np.nextafter(limits, np.inf)], axis=1), axis=1)
    below = np.empty((2, *ends.shape), dtype=np.intp)
    for start in range(0, len(ends), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        for side, out in zip((train.P, train.Q), below, strict=True):
            # sorted columns are faster than a search for each value
            pairs = zip(ascending_columns(side[:, some]), ends[some], strict=True)
            out[some] = [np.searchsorted(*pair) for pair in pairs]
    p, q = np.diff(below, prepend=0, append=len(train.P), axis=2)
    both = np.maximum(p + q, 1)
    gain = (xlogy(p, 2.0 * p / both) + xlogy(q, 2.0 * q / both)).sum(axis=1)
    freedom = np.maximum((p + q > 0).sum(axis=1) - 1, 1)
    return np.asarray(gain - 0.5 * chdtri(freedom, chance or 1.0 / len(gain)))
