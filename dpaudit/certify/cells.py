"""The scores of the certifying draws, counted in cells that the choosing draws laid out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.scores import ScoreCounts, SortedScores


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCells:
    """Counts of scores in the c + 1 cells between c thresholds.

    threshold : (c,) ascending, fixed before the certifying draws are scored. Cell i holds the
        scores above threshold i − 1 and not above threshold i. p, q : (c + 1,) draws of P and of Q
        in each cell. score : (c + 1,), mean score of the choosing draws of both sides in the cell,
        nats.
    """

    threshold: Array
    p: np.ndarray
    q: np.ndarray
    score: Array

    @classmethod
    def of(cls, choose: SortedScores, certifying: ScoreCounts, threshold: Array) -> ScoreCells:
        """Count the certifying draws, whose `above` is called once."""
        above = certifying.above(threshold)
        p, q = (
            -np.diff(np.concatenate([[size], count, [0]]))
            for count, size in zip(above, certifying.sizes, strict=True)
        )
        return cls(threshold, p, q, _means(choose, threshold))

    @property
    def sizes(self) -> tuple[int, int]:
        """Draws of P and of Q."""
        return int(self.p.sum()), int(self.q.sum())

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q above each threshold, (k,) each, all among the cells' own."""
        first = np.searchsorted(self.threshold, threshold) + 1
        p, q = (np.cumsum(one[::-1])[::-1] for one in (self.p, self.q))
        return p[first], q[first]


def _means(choose: SortedScores, threshold: Array) -> Array:
    """The mean score of the choosing draws in each cell. None is empty: a threshold lies between
    two of their scores.
    """
    scores = np.concatenate([choose.p, choose.q])
    cell = np.searchsorted(threshold, scores, side="left")
    count = np.bincount(cell, minlength=len(threshold) + 1)
    return np.asarray(
        np.bincount(cell, weights=scores, minlength=len(threshold) + 1) / np.maximum(count, 1)
    )
