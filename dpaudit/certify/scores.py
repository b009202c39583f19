"""Scores of one part of the draws, and how many lie above a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpaudit._core.types import Array

HIGHEST = 1e150  # stands for an infinite score


class ScoreCounts(Protocol):
    """Counts of scores of n draws of P and m of Q."""

    @property
    def sizes(self) -> tuple[int, int]:
        """n and m."""
        ...

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q strictly above each threshold, (k,) each."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class SortedScores:
    """Scores of P, (n,), and of Q, (m,), sorted; infinite ones stand at ±HIGHEST."""

    p: Array
    q: Array

    @classmethod
    def of(cls, p: Array, q: Array) -> SortedScores:
        """From scores in any order."""
        return cls(*(np.sort(np.clip(part, -HIGHEST, HIGHEST)) for part in (p, q)))

    @property
    def sizes(self) -> tuple[int, int]:
        """n and m."""
        return len(self.p), len(self.q)

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q strictly above each threshold, (k,) each."""
        return (
            len(self.p) - np.searchsorted(self.p, threshold, side="right"),
            len(self.q) - np.searchsorted(self.q, threshold, side="right"),
        )
