"""The certifying draws, scored and counted as they come: few of them are in memory at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import field

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.constants import STORED
from dpaudit.certify.scores import SortedScores
from dpaudit.outcomes import Columns
from dpaudit.sampling import Counts, Pair
from dpaudit.scoring import Fitted, Score, Sides, scores
from dpaudit.scoring.base import without_nan


@value_class
class CellCount:
    """How many scores of draws lie in the gaps between sorted edges e₀ < e₁ < …, (m,).

    A score in gap i lies above e₀, …, e_{i−1} and above no other edge. name : the score's name.
    columns : makes rows of numbers from draws. The first `STORED` scores of each side are stored,
    as float32. Every process gives the same draws the same counts, because the score sees them in
    the same batch.
    """

    name: str
    score: Score
    columns: Columns
    edges: Array

    @property
    def key(self) -> str:
        """16 hexadecimal digits that identify the score's name and the edges, which lie between
        scores of choosing draws, so that another score has others.
        """
        digest = hashlib.sha256(self.name.encode())
        digest.update(self.edges.tobytes())
        return digest.hexdigest()[:16]

    def __call__(self, P: np.ndarray, Q: np.ndarray, before: int) -> Counts:
        """Count draws P and Q that follow `before` draws a side. A NaN score counts as 0."""
        scored = np.stack(scores(self.score, Sides(self.columns(P), self.columns(Q))))
        sides = without_nan(scored)
        with np.errstate(over="ignore"):  # infinite scores are scores
            first = sides[:, : max(STORED - before, 0)].astype(np.float32)
        sorted_ = SortedScores.of(*sides)  # faster than a search for each score
        upto = sides.shape[1] - np.stack(sorted_.above(self.edges))
        cells = np.diff(upto, prepend=0, append=sides.shape[1])
        return Counts(cells, first, int(np.isnan(scored).sum()))


@value_class
class StreamedCounts:
    """`ScoreCounts` of the draws of both sides that are still to come: `size` draws a side.

    columns : makes rows of numbers from draws. rest : gives the draws in parts, or the counts of
    each part (`sampling.Draws`). first, undefined : filled with the first scores, (2, k), and the
    number of NaN scores of each part. `above` can be called once, since draws are not stored.
    """

    fitted: Fitted
    columns: Columns
    rest: Callable[[CellCount], Iterator[Pair | Counts]]
    size: int
    first: list[Array] = field(default_factory=list)
    undefined: list[int] = field(default_factory=list)

    @property
    def sizes(self) -> tuple[int, int]:
        return self.size, self.size

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        edges, place = np.unique(threshold, return_inverse=True)
        count = CellCount(self.fitted.name, self.fitted.score, self.columns, edges)
        gaps, before = np.zeros((2, len(edges) + 1), dtype=np.int64), 0
        for part in self.rest(count):
            counts = part if isinstance(part, Counts) else count(*part, before)
            self.first.append(counts.first)
            self.undefined.append(counts.undefined)
            gaps += counts.cells
            before += counts.draws
        p, q = np.cumsum(gaps[:, ::-1], axis=1)[:, ::-1][:, 1:][:, place]
        return p, q

    def first_scores(self) -> Sides:
        """The first scores of both sides in the order of the draws, (n, 1) each."""
        P, Q = np.concatenate(self.first, axis=1).astype(float)
        return Sides(P[:, None], Q[:, None])
