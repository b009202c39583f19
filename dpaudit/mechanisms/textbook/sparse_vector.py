"""Sound sparse vector techniques, numbered as by Lyu, Su & Li 2017: 1, 2 and the numerical one.

Data: answers of queries, one column, each of which may move by 1. ε is split into ε₁ for the
threshold and ε₂ for the answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core.types import Array
from dpaudit.laws import Branches, Laplace, NoisyComparison
from dpaudit.laws.base import Law
from dpaudit.laws.sparse_vector import halting_law, patterns
from dpaudit.mechanisms.example import (
    PureExample,
    column,
    half_up_half_down,
    pair_of,
    swapped_halves,
)
from dpaudit.mechanisms.parameters import Count, Finite, Positive
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class SparseVector(PureExample):
    """Answers 1 where a noisy query reaches a noisy threshold, else 0, until the `most`-th 1.

    Subclasses give the scales of the two noises. Output: (size, n + 1), the number of answers, then
    the answers, NaN after the last.

    Parameters
    ----------
    epsilon : float > 0, nats
        ε.
    most : int ≥ 1
        The number c of answers above the threshold.
    threshold : float
        The threshold T.

    Attributes
    ----------
    fresh : bool
        Whether each 1 brings new threshold noise.
    """

    epsilon: Positive = 0.1
    most: Count = 1
    threshold: Finite = 1.0
    fresh: ClassVar[bool] = False

    @property
    def scales(self) -> tuple[float, float]:
        """The scales of the Laplace noise on the threshold and on the queries."""
        raise NotImplementedError

    @property
    def threshold_noise(self) -> float:
        """The scale of the threshold's Laplace noise."""
        return self.scales[0]

    @property
    def query_noise(self) -> float:
        """The scale of the queries' Laplace noise."""
        return self.scales[1]

    def comparison(self, data: Array) -> NoisyComparison:
        """The queries and the threshold, with their noises."""
        return NoisyComparison(column(data), self.threshold, self.threshold_noise, self.query_noise)

    def law(self, data: Array) -> Law:
        """All patterns of answers with their probabilities."""
        return halting_law(self.comparison(data), self.most, fresh=self.fresh)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Query by query for all draws at once."""
        queries = column(data)
        out = np.full((size, len(queries) + 1), np.nan)
        count, rho = np.zeros(size), rng.laplace(0.0, self.threshold_noise, size)
        for i, query in enumerate(queries):
            running = count < self.most
            above = query + rng.laplace(0.0, self.query_noise, size) >= self.threshold + rho
            out[running, i + 1] = above[running]
            count += above & running
            if self.fresh:
                rho = np.where(above, rng.laplace(0.0, self.threshold_noise, size), rho)
        out[:, 0] = np.sum(~np.isnan(out[:, 1:]), axis=1)
        return out

    def pair(self) -> NeighbourPair:
        """Half of the answers move up and half down."""
        return half_up_half_down()


@dataclass(frozen=True)
class SparseVector1(SparseVector):
    """Threshold noise 1/ε₁, query noise 2c/ε₂, ε₁ = ε₂ = ε/2."""

    threshold: Finite = 0.5
    sound = True
    source = "Lyu, Su & Li 2017, algorithm 1"
    summary = "sparse vector technique 1"

    @property
    def scales(self) -> tuple[float, float]:
        """1/ε₁ and 2c/ε₂ with ε₁ = ε₂ = ε/2."""
        return 2.0 / self.epsilon, 4.0 * self.most / self.epsilon

    def published_pair(self) -> NeighbourPair:
        return swapped_halves()


@dataclass(frozen=True)
class SparseVector2(SparseVector1):
    """Threshold noise c/ε₁, drawn anew after each 1, and query noise 2c/ε₂, with ε₁ = ε₂ = ε/2.

    Dwork & Roth 2014.
    """

    threshold: Finite = 1.0
    fresh = True
    source = "Lyu, Su & Li 2017, algorithm 2"
    summary = "sparse vector technique 2"

    @property
    def scales(self) -> tuple[float, float]:
        """c/ε₁ and 2c/ε₂ with ε₁ = ε₂ = ε/2."""
        return 2.0 * self.most / self.epsilon, 4.0 * self.most / self.epsilon


@dataclass(frozen=True)
class NumericalSVT(SparseVector):
    """Releases the answer itself, with new noise, for each query above the threshold.

    The threshold, the comparisons and the released answers have ε/3 each.

    Output: (size, n + 1), the number of queries answered, then a number for each one above, NaN
    elsewhere.
    """

    most: Count = 2
    sound = True
    source = "Wang et al. 2019, numerical sparse vector technique"
    summary = "sparse vector technique with noisy answers"

    @property
    def scales(self) -> tuple[float, float]:
        """1/ε₁ and 2c/ε₂ with ε₁ = ε₂ = ε/3."""
        return 3.0 / self.epsilon, 6.0 * self.most / self.epsilon

    @property
    def answer_noise(self) -> float:
        """The scale of the noise of a released answer, c/ε₃ with ε₃ = ε/3."""
        return 3.0 * self.most / self.epsilon

    def law(self, data: Array) -> Branches:
        """A branch for each pattern of answers, in which the released answers are Laplace."""
        comparisons, queries = halting_law(self.comparison(data), self.most), column(data)
        halts = list(patterns(len(queries), self.most))
        templates = np.full((len(halts), len(queries) + 1), np.nan)
        templates[:, 0] = [pattern.answered for pattern in halts]
        parts = tuple(self._answers(queries, pattern.above) for pattern in halts)
        slots = tuple(tuple(1 + up for up in pattern.above) for pattern in halts)
        return Branches(templates, comparisons.log_probability, slots, parts)

    def _answers(self, queries: Array, above: tuple[int, ...]) -> Laplace | None:
        if not above:
            return None
        return Laplace(queries[list(above)], np.full(len(above), self.answer_noise))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The comparisons, then a noisy answer in place of each 1."""
        out = super().run(data, size, rng)
        answers = column(data) + rng.laplace(0.0, self.answer_noise, (size, len(data)))
        out[:, 1:] = np.where(out[:, 1:] == 1.0, answers, np.nan)
        return out

    def published_pair(self) -> NeighbourPair:
        return pair_of([2.0] * 10, [1.0] * 10)
