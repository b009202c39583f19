"""The scores of the certifying draws, counted in cells that the choosing draws laid out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.scores import ScoreCounts

LARGEST = 300.0  # nats; e^ε is squared without overflow, and no ratio of counts is near it


def gammas(epsilon: Array) -> Array:
    """e^ε at each ε, (m,); larger ones than `LARGEST` count as this."""
    return np.asarray(np.exp(np.minimum(epsilon, LARGEST)))


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCells:
    """Counts of scores in the c + 1 cells between c thresholds.

    threshold : (c,) ascending, fixed before the certifying draws are scored. Cell i holds the
        scores above threshold i − 1 and not above threshold i. p, q : (c + 1,) draws of P and of Q
        in each cell.
    """

    threshold: Array
    p: np.ndarray
    q: np.ndarray

    @classmethod
    def of(cls, scores: ScoreCounts, threshold: Array) -> ScoreCells:
        """Count the scores, whose `above` is called once."""
        above = scores.above(threshold)
        p, q = (
            -np.diff(np.concatenate([[size], count, [0]]))
            for count, size in zip(above, scores.sizes, strict=True)
        )
        return cls(threshold, p, q)

    @property
    def sizes(self) -> tuple[int, int]:
        """Draws of P and of Q."""
        return int(self.p.sum()), int(self.q.sum())

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q above each threshold, (k,) each, all among the cells' own."""
        first = np.searchsorted(self.threshold, threshold) + 1
        p, q = (np.cumsum(one[::-1])[::-1] for one in (self.p, self.q))
        return p[first], q[first]
