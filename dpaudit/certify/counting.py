"""The draws that certify, scored and counted as they come: no more of them in memory than are
scored at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.certify.sets import HIGHEST
from dpaudit.errors import InvalidInput
from dpaudit.outcomes import Columns
from dpaudit.sampling import Draws
from dpaudit.scoring import Fitted, evaluate
from dpaudit.scoring.base import CHUNK


@dataclass(frozen=True, eq=False)
class Counted:
    """A `Counter` of `test` draws a side that are all that is left of both sources, P's and Q's.

    columns : makes them rows. drawing : times what is done inside it.
    """

    fitted: Fitted
    columns: Columns
    sources: Sequence[Draws]
    test: int
    drawing: Callable[[], AbstractContextManager[None]]

    @property
    def sizes(self) -> tuple[int, int]:
        return self.test, self.test

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q strictly above each threshold, (m,) each; it can be asked for once."""
        p, q = (self._above(source, threshold) for source in self.sources)
        return p, q

    def _above(self, source: Draws, threshold: Array) -> np.ndarray:
        """Scores fall between edges e₀ < e₁ < …: those in gap i, above i of them, are above e_j for
        all j < i.
        """
        edges, place = np.unique(threshold, return_inverse=True)
        gaps = np.zeros(len(edges) + 1, dtype=np.int64)
        left = source.rest(CHUNK)
        while (drawn := self._next(left)) is not None:
            score = evaluate(self.fitted.score, self.columns(drawn))
            refuse_nan(score, self.fitted.name)
            gap = np.searchsorted(edges, np.clip(score, -HIGHEST, HIGHEST), side="left")
            gaps += np.bincount(gap, minlength=len(gaps))
        return np.asarray(np.cumsum(gaps[::-1])[::-1][1:][place])

    def _next(self, left: object) -> np.ndarray | None:
        with self.drawing():
            return next(left, None)  # type: ignore[call-overload]


def refuse_nan(score: Array, name: str) -> None:
    """Raises `InvalidInput` where a score is NaN."""
    if np.isnan(score).any():
        raise InvalidInput(f"classifier must give numbers, got NaN scores from {name}")
