"""The score of independent columns of which few differ, in mean or in variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpaudit._core.types import Array
from dpaudit.scoring.base import Sides

# prior of a column's own difference, in standard deviations, and prior number of such columns
SLAB, EXPECTED = 0.7, 0.5


@dataclass(frozen=True, eq=False, repr=False)
class SparseNormal:
    """Σ over columns of gap·z + ½·excess·(z² − 1), z a column in units of its pooled spread.

    To first order the log-ratio of normal laws whose means differ by `gap` and whose variances
    differ by `excess`, (k,) each.
    """

    centre: Array
    spread: Array
    gap: Array
    excess: Array

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k), nats."""
        z = (x - self.centre) / self.spread
        return np.asarray(z @ self.gap + 0.5 * (z**2 - 1.0) @ self.excess)


def fit_sparse(train: Sides) -> SparseNormal:
    """Columns taken as independent, of which few differ: spike and slab by a column's evidence."""
    n = len(train.P)
    centre = 0.5 * (train.P.mean(axis=0) + train.Q.mean(axis=0))
    spread = np.sqrt(0.5 * (train.P.var(axis=0) + train.Q.var(axis=0)))
    spread = np.where(spread > 0.0, spread, 1.0)
    p, q = ((side - centre) / spread for side in (train.P, train.Q))
    gap = _posterior_mean(p.mean(axis=0) - q.mean(axis=0), 2.0 / n)
    excess = _posterior_mean(p.var(axis=0) - q.var(axis=0), 4.0 / n)
    return SparseNormal(centre, spread, gap, excess)


def _posterior_mean(seen: Array, variance: float) -> Array:
    """Of values seen with this variance: 0, or normal with the spread SLAB where they are not."""
    total = variance + SLAB**2
    evidence = 0.5 * seen**2 * (1.0 / variance - 1.0 / total) - 0.5 * np.log(total / variance)
    prior = np.log(EXPECTED / max(len(seen) - EXPECTED, 1.0))
    return np.asarray(expit(evidence + prior) * seen * SLAB**2 / total)
