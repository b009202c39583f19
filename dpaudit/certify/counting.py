"""The certifying draws, scored and counted as they come: few of them are in memory at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.scores import HIGHEST
from dpaudit.outcomes import Columns
from dpaudit.sampling import Draws
from dpaudit.scoring import Fitted, evaluate
from dpaudit.scoring.base import CHUNK, refuse_nan


@dataclass(frozen=True, eq=False)
class StreamedCounts:
    """`ScoreCounts` of the draws that are left in both sources, P's and Q's: `size` a side.

    columns : makes rows of numbers of them. `above` can be called once, since draws are not kept.
    """

    fitted: Fitted
    columns: Columns
    sources: Sequence[Draws]
    size: int

    @property
    def sizes(self) -> tuple[int, int]:
        """Draws of P and of Q."""
        return self.size, self.size

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q strictly above each threshold, (m,) each."""
        p, q = (self._above(source, threshold) for source in self.sources)
        return p, q

    def _above(self, source: Draws, threshold: Array) -> np.ndarray:
        """A score in gap i lies above the i smallest of the sorted thresholds e₀ < e₁ < … and above
        no other; so the count above e_j is that of the gaps after j.
        """
        edges, place = np.unique(threshold, return_inverse=True)
        gaps = np.zeros(len(edges) + 1, dtype=np.int64)
        for drawn in source.rest(CHUNK):
            score = evaluate(self.fitted.score, self.columns(drawn))
            refuse_nan(score, self.fitted.name)
            gap = np.searchsorted(edges, np.clip(score, -HIGHEST, HIGHEST), side="left")
            gaps += np.bincount(gap, minlength=len(gaps))
        return np.asarray(np.cumsum(gaps[::-1])[::-1][1:][place])
