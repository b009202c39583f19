"""The certifying draws, scored and counted as they come: few of them are in memory at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.scores import HIGHEST
from dpaudit.outcomes import Columns
from dpaudit.sampling import Draws
from dpaudit.scoring import Fitted, Sides, scores
from dpaudit.scoring.base import CHUNK, refuse_nan

KEPT = 1 << 18


class FirstScores:
    """The first `KEPT` scores of each side, or a few more, in the order of the draws."""

    def __init__(self) -> None:
        self.parts: list[tuple[Array, Array]] = []
        self.size = 0

    def add(self, sides: tuple[Array, Array]) -> None:
        """Keep the next scores of both sides, if there is room."""
        if self.size < KEPT:
            self.parts.append(sides)
            self.size += len(sides[0])

    def sides(self) -> Sides:
        """What was kept, (n, 1) of each side."""
        P, Q = (np.concatenate([part[side] for part in self.parts]) for side in (0, 1))
        return Sides(P[:, None], Q[:, None])


@dataclass(frozen=True, eq=False, repr=False)
class StreamedCounts:
    """`ScoreCounts` of the draws of both sides that are left in `source`: `size` a side.

    columns : makes rows of numbers of them. first : keeps the first scores. `above` can be called
    once, since draws are not kept.
    """

    fitted: Fitted
    columns: Columns
    source: Draws
    size: int
    first: FirstScores = field(default_factory=FirstScores)

    @property
    def sizes(self) -> tuple[int, int]:
        """Draws of P and of Q."""
        return self.size, self.size

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q strictly above each threshold, (m,) each."""
        edges, place = np.unique(threshold, return_inverse=True)
        gaps = np.zeros((2, len(edges) + 1), dtype=np.int64)
        for P, Q in self.source.rest(CHUNK // 2):
            sides = scores(self.fitted.score, Sides(self.columns(P), self.columns(Q)))
            self.first.add(sides)
            for side, score in enumerate(sides):
                refuse_nan(score, self.fitted.name)
                gaps[side] += _in_gaps(score, edges)
        p, q = np.cumsum(gaps[:, ::-1], axis=1)[:, ::-1][:, 1:][:, place]
        return p, q


def _in_gaps(score: Array, edges: Array) -> np.ndarray:
    """Counts of scores in the gaps between sorted edges e₀ < e₁ < …, (m + 1,).

    A score in gap i lies above e₀, …, e_{i−1} and above no other edge; so the count above e_j is
    that of the gaps after j.
    """
    gap = np.searchsorted(edges, np.clip(score, -HIGHEST, HIGHEST), side="left")
    return np.bincount(gap, minlength=len(edges) + 1)
