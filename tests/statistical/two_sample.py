"""Kolmogorov–Smirnov distances with error bounds that hold at any sample size."""

import numpy as np


def distance(x, y):
    """sup |F_x − F_y| of two samples."""
    pooled = np.sort(np.concatenate([x, y]))
    above = np.searchsorted(np.sort(x), pooled, side="right") / len(x)
    return np.abs(above - np.searchsorted(np.sort(y), pooled, side="right") / len(y)).max()


def threshold(size, statistics, error):
    """Distance passed with probability at most `error` by one of so many statistics. They are
    statistics of equal laws. For n = m ≥ 458, P(distance > d) ≤ 2 exp(−n d²) (Wei & Dudley 2012,
    theorem 1), shared out by Bonferroni.
    """
    assert size >= 458
    return np.sqrt(np.log(2.0 * statistics / error) / size)


def largest_distance(x, y):
    """Over the columns of two samples of statistics."""
    return max(distance(a, b) for a, b in zip(x.T, y.T, strict=True))
