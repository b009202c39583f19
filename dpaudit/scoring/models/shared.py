"""One function of every column, added up: outputs whose columns are copies of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.scoring.base import Score, Sides
from dpaudit.scoring.models.spline import fit_spline

VALUES = 16_000_000  # of all columns together that are fitted to, a side
# standard deviations by which columns' means may differ, and relative difference of their spreads
ALIKE = 0.1
BLOCK = 1 << 16  # rows scored at a time
FEW = 1_000  # rows that show whether values repeat


@dataclass(frozen=True, eq=False)
class Shared:
    """Σ_j s(x_j)."""

    score: Score

    def __call__(self, x: Array) -> Array:
        out = np.empty(len(x))
        for start in range(0, len(x), BLOCK):
            part = x[start : start + BLOCK]
            out[start : start + BLOCK] = (
                self.score(part.reshape(-1, 1)).reshape(part.shape).sum(axis=1)
            )
        return out


def fit_shared(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Shared | None:
    """Log odds of columns that are independent and have one law on each side: a spline of all their
    values together.

    A signal that is faint in every column is learned from all of them. None where columns do not
    look alike, or have two values only (sums of these are what a closed form takes).
    """
    if not (_alike(train.P) and _alike(train.Q)) or len(np.unique(train.P[:FEW])) <= 2:
        return None
    rows = VALUES // train.P.shape[1]
    score = fit_spline(_flat(train.head(rows)), _flat(choose.head(rows)), seed)
    return None if score is None else Shared(score)


def _alike(side: Array) -> bool:
    means, spreads = side.mean(axis=0), side.std(axis=0)
    middle = float(np.median(spreads))
    return bool(
        middle > 0.0 and np.ptp(means) <= ALIKE * middle and np.ptp(spreads) <= ALIKE * middle
    )


def _flat(sides: Sides) -> Sides:
    return Sides(sides.P.reshape(-1, 1), sides.Q.reshape(-1, 1))
