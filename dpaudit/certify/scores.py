"""Scores of one part of the draws: how many lie above a threshold, and how many in each cell."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.constants import LARGEST_GAMMA

HIGHEST = 1e150  # stands for an infinite score


class ScoreCounts(Protocol):
    """How many scores of n draws of P and of m draws of Q lie above thresholds."""

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers n and m of draws of P and of Q."""

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """The counts of P and of Q strictly above each threshold, (k,) each."""


@value_class
class SortedScores:
    """Sorted scores of P, (n,), and of Q, (m,); ±HIGHEST stands for infinite scores."""

    p: Array
    q: Array

    @classmethod
    def of(cls, p: Array, q: Array) -> SortedScores:
        return cls(np.sort(np.clip(p, -HIGHEST, HIGHEST)), np.sort(np.clip(q, -HIGHEST, HIGHEST)))

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.p), len(self.q)

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        return (
            len(self.p) - np.searchsorted(self.p, threshold, side="right"),
            len(self.q) - np.searchsorted(self.q, threshold, side="right"),
        )


@value_class
class ScoreCells:
    """Counts of scores in the c + 1 cells between c thresholds.

    threshold : (c,) ascending, fixed before the certifying draws are scored. Cell i holds the
        scores above threshold i − 1 and not above threshold i.
    p, q : (c + 1,) draws of P and of Q in each cell.
    """

    threshold: Array
    p: np.ndarray
    q: np.ndarray

    @classmethod
    def of(cls, scores: ScoreCounts, threshold: Array) -> ScoreCells:
        """Count the scores in the cells; their `above` is called once."""
        above, sizes = np.stack(scores.above(threshold)), np.array(scores.sizes)
        return cls(threshold, *-np.diff(above, axis=1, prepend=sizes[:, None], append=0))

    @property
    def sizes(self) -> tuple[int, int]:
        return int(self.p.sum()), int(self.q.sum())

    def above(self, threshold: Array) -> tuple[np.ndarray, np.ndarray]:
        """Counts of P and of Q above each threshold, (k,) each; the cells must have each one."""
        first = np.searchsorted(self.threshold, threshold) + 1
        from_here_on = np.cumsum(np.stack([self.p, self.q])[:, ::-1], axis=1)[:, ::-1]
        p, q = from_here_on[:, first]
        return p, q


def gammas(epsilon: Array) -> Array:
    """γ = e^ε at each ε, (m,), nats; an ε above `LARGEST_GAMMA` counts as `LARGEST_GAMMA`."""
    return np.asarray(np.exp(np.minimum(epsilon, LARGEST_GAMMA)))


def quotient(p: Array, q: Array) -> Array:
    """p/q; 0 where p is 0, infinite where q alone is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(p > 0.0, p / q, 0.0))
