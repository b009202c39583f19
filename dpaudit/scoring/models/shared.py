"""The same function of every column, added up: for outputs whose columns have one law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import CHUNK, Score, Sides
from dpaudit.scoring.models.spline import fit_spline

VALUES = 16_000_000  # of all columns together, a side, that are fitted to
# standard deviations by which the columns' means may differ, and relative difference of their
# standard deviations
ALIKE = 0.1
FEW = 1_000  # draws that show whether there are more than two values


@dataclass(frozen=True, eq=False, repr=False)
class Shared:
    """Σ_j s(x_j)."""

    score: Score

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k), a chunk at a time: x has k times as many values as rows."""
        out = np.empty(len(x))
        for start in range(0, len(x), CHUNK):
            part = x[start : start + CHUNK]
            values = self.score(part.reshape(-1, 1)).reshape(part.shape)
            out[start : start + CHUNK] = values.sum(axis=1)
        return out


def fit_shared(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Shared | None:
    """Log-odds of independent columns with one law on each side: a spline of all their values.

    A signal that is weak in every column is learned from all of them together. None where the
    columns do not look alike, or have two values only (closed forms know the sums of these).
    """
    if not (_alike(train.P) and _alike(train.Q)) or len(np.unique(train.P[:FEW])) <= 2:
        return None
    rows = VALUES // train.P.shape[1]
    score = fit_spline(_flat(train.head(rows)), _flat(choose.head(rows)), seed)
    return None if score is None else Shared(score)


def _alike(side: Array) -> bool:
    """Whether the columns of one side have about the same mean and standard deviation."""
    means, spreads = side.mean(axis=0), side.std(axis=0)
    middle = float(np.median(spreads))
    return bool(
        middle > 0.0 and np.ptp(means) <= ALIKE * middle and np.ptp(spreads) <= ALIKE * middle
    )


def _flat(sides: Sides) -> Sides:
    return Sides(sides.P.reshape(-1, 1), sides.Q.reshape(-1, 1))
