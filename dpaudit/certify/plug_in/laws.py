"""Counts of scores in cells, and the pair of laws on the cells that fits them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.cells import ScoreCells
from dpaudit.certify.scores import SortedScores

TINY = 1e-300


@dataclass(frozen=True, eq=False, repr=False)
class Counted:
    """The cells that hold draws.

    p, q : (c,) draws of P and of Q. score : (c,) their mean score, ascending. offset : log-odds of
        P among all draws, by how many were made of each side. closed : whether the score is the
        log-ratio of two fitted normal laws.
    """

    p: Array
    q: Array
    score: Array
    offset: float
    closed: bool = False

    @classmethod
    def of(cls, choose: SortedScores, fresh: SortedScores, cells: ScoreCells) -> Counted:
        """choose : laid out the cells, and gives their mean scores.

        fresh : scores of the draws that are counted beside those in `cells`; some of `choose`.
        """
        counts = ScoreCells.of(fresh, cells.threshold)
        return cls.together(mean_scores(choose, cells.threshold), counts, cells)

    @classmethod
    def together(
        cls, score: Array, fresh: ScoreCells, cells: ScoreCells, closed: bool = False
    ) -> Counted:
        """From the mean score in each cell, (c + 1,), and the counts of the fresh draws."""
        p, q = (fresh.p + cells.p).astype(float), (fresh.q + cells.q).astype(float)
        used = p + q > 0
        return cls(p[used], q[used], score[used], float(np.log(p.sum() / q.sum())), closed)

    @property
    def size(self) -> Array:
        """Draws of both sides in each cell, (c,)."""
        return self.p + self.q

    def halves(self) -> tuple[Counted, Counted]:
        """The same cells with a random half of the draws, and with the other half.

        The seed is fixed: equal counts have equal halves.
        """
        rng = generator(np.random.SeedSequence(0))
        p, q = (rng.binomial(one.astype(int), 0.5).astype(float) for one in (self.p, self.q))
        first = replace(self, p=p, q=q)
        return first, replace(self, p=self.p - p, q=self.q - q)


def mean_scores(choose: SortedScores, threshold: Array) -> Array:
    """The mean score of the choosing draws in each cell, (c + 1,). None is empty: a threshold lies
    between two of their scores.
    """
    scores = np.concatenate([choose.p, choose.q])
    cell = np.searchsorted(threshold, scores, side="left")
    count = np.bincount(cell, minlength=len(threshold) + 1)
    total = np.bincount(cell, weights=scores, minlength=len(threshold) + 1)
    return np.asarray(total / np.maximum(count, 1))


@dataclass(frozen=True, eq=False, repr=False)
class CellLaws:
    """Probabilities of cells under P and under Q, (c,) each, both of sum 1."""

    p: Array
    q: Array

    @classmethod
    def of(cls, size: Array, odds: Array) -> CellLaws:
        """The laws under which cells hold `size` draws of both sides, with these log-odds of P
        among them, (c,) each.
        """
        p, q = size * expit(odds), size * expit(-odds)
        return cls(p / p.sum(), q / q.sum())

    def swapped(self) -> CellLaws:
        """Q in place of P."""
        return CellLaws(self.q, self.p)

    def delta_at(self, gamma: Array) -> Array:
        """Σ (p − γ q)₊ at each γ = e^ε, (m,).

        As the exact δ of a pair of laws it is in [0, 1], non-increasing and convex in γ.
        """
        loss = np.log(np.maximum(self.p, TINY)) - np.log(np.maximum(self.q, TINY))
        p, q = above(loss, np.log(gamma), self.p, self.q)
        return np.maximum(p - gamma * q, 0.0)


def above(loss: Array, level: Array, *parts: Array) -> Array:
    """Sums of each part, (c,), over the cells of a loss above each level, (parts, m)."""
    order = np.argsort(loss)
    sums = np.cumsum(np.stack(parts)[:, order[::-1]], axis=1)[:, ::-1]
    sums = np.concatenate([sums, np.zeros((len(parts), 1))], axis=1)
    return np.asarray(sums[:, np.searchsorted(loss[order], level, side="right")])
