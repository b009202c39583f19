"""The law of a fitted score in fine cells, so that audits by this score are simulated from counts.

The score is fitted as an audit fits it. Many further draws then count once how often it falls into
each cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dpaudit import outcomes, scoring
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.split import split
from dpaudit.scoring import Score, Sides, evaluate
from reports.make.tasks import Task

CELLS = 3_000  # of equal mass, and ENDS more towards each end
ENDS = 200
FIRST = 1 << 17  # draws a side that lay out the cells, and of which each chunk consists
KEY = 17


@dataclass(frozen=True, eq=False)
class FineLaw:
    """A score under P and under Q, on k values.

    score : (k,) ascending. p, q : (k,) probabilities. choose : draws a side that choose. certify :
    draws of P and of Q that certify.
    """

    score: Array
    p: Array
    q: Array
    choose: int
    certify: tuple[int, int]

    def chosen(self, rng: np.random.Generator) -> SortedScores:
        """The scores of an audit's choosing draws."""
        p, q = (
            np.repeat(self.score, rng.multinomial(self.choose, part)) for part in (self.p, self.q)
        )
        return SortedScores(p, q)

    def tail(self, threshold: Array, is_p: bool) -> Array:
        """The probability of P or of Q above each threshold, (c,)."""
        part = self.p if is_p else self.q
        first = np.searchsorted(self.score, threshold, side="right")
        return np.asarray(np.append(np.cumsum(part[::-1])[::-1], 0.0)[first])


def fine_laws(task: Task, size: int, seeds: Sequence[int], draws: int) -> list[FineLaw]:
    """The laws of the scores that audits of `size` draws a side with these seeds fit.

    draws : a side, from which each law is counted.
    """
    fits = [_Counted.fit(task, size, seed) for seed in seeds]
    rng = generator(np.random.SeedSequence(KEY), int(task.name[1:]), size)
    for _ in range(-(-draws // FIRST)):
        sides = task.draw(rng, FIRST)
        for one in fits:
            one.add(sides)
    return [one.law() for one in fits]


@dataclass(eq=False)
class _Counted:
    """A score and how many draws fell into the cells between `edges`, the first time laid out."""

    columns: outcomes.Columns
    score: Score
    choose: int
    certify: int
    edges: Array = field(default_factory=lambda: np.empty(0))
    counts: np.ndarray = field(default_factory=lambda: np.empty((2, 0), dtype=np.int64))

    @classmethod
    def fit(cls, task: Task, size: int, seed: int) -> _Counted:
        """As `auditing.fixed`: split, fit, and choose by training draws too where it does."""
        root = np.random.SeedSequence(seed)
        rng = generator(root, int(task.name[1:]), size)
        sizes = split(size, columns=task.draw(rng, 1).P.shape[1])
        drawn = task.draw(rng, sizes.train + sizes.choose)
        columns = outcomes.columns(drawn.P, drawn.Q)
        rows = Sides(columns(drawn.P), columns(drawn.Q))
        train, choose = (
            Sides(rows.P[part], rows.Q[part])
            for part in (slice(sizes.train), slice(sizes.train, None))
        )
        fitted = scoring.fit("auto", train, choose, root)
        chosen = scoring.pooled(fitted.score, train, scoring.scores(fitted.score, choose))
        return cls(columns, fitted.score, len(chosen[0]), sizes.certify)

    def add(self, sides: Sides) -> None:
        """Count more draws."""
        scores = SortedScores.of(
            *(evaluate(self.score, self.columns(side)) for side in (sides.P, sides.Q))
        )
        if not len(self.edges):
            self.edges = _edges(np.sort(np.concatenate([scores.p, scores.q])))
            self.counts = np.zeros((2, len(self.edges) + 1), dtype=np.int64)
        ends = [np.searchsorted(side, self.edges, side="right") for side in (scores.p, scores.q)]
        self.counts += [np.diff(np.concatenate([[0], end, [len(scores.p)]])) for end in ends]

    def law(self) -> FineLaw:
        """Frequencies; a cell's score is its upper edge."""
        p, q = self.counts / self.counts.sum(axis=1, keepdims=True)
        score = np.append(self.edges, self.edges[-1] + 1.0)
        return FineLaw(score, p, q, self.choose, (self.certify, self.certify))


def _edges(scores: Array) -> Array:
    """Values at quantiles of sorted scores, closer towards both ends; all where they are few."""
    values = np.unique(scores)
    if len(values) <= CELLS:
        return values
    last = len(scores) - 1
    ends = np.geomspace(10.0, last / 2, ENDS).astype(int)
    rank = np.concatenate([np.linspace(10, last - 10, CELLS).astype(int), ends, last - ends])
    return np.unique(scores[rank])
