"""The sparse vector technique, numbered as by Lyu, Su & Li 2017: 1 and 2, and the numerical one,
which are sound.

Data: answers of queries, one column, each of which may move by 1. ε is split into ε₁ for the
threshold, ε₂ for answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core.check import Array
from dpaudit.laws import Branches, Laplace, Thresholds
from dpaudit.laws.base import Law
from dpaudit.laws.sparse import halting, patterns
from dpaudit.mechanisms.specimen import PureClaim, column, crossed, half_up_half_down, pair_of
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class SparseVector(PureClaim):
    """Answers 1 where a noisy query reaches a noisy threshold, else 0, and halts at the `most`-th
    1.

    Parameters
    ----------
    epsilon : ε > 0. most : c ≥ 1. threshold : T.

    Output: (size, n + 1), the number of answers, then the answers, NaN after the last.
    """

    epsilon: float = 0.1
    most: int = 1
    threshold: float = 1.0
    fresh: ClassVar[bool] = False  # whether a 1 brings a new threshold

    @property
    def threshold_noise(self) -> float:
        raise NotImplementedError

    @property
    def query_noise(self) -> float:
        raise NotImplementedError

    def thresholds(self, data: Array) -> Thresholds:
        return Thresholds(column(data), self.threshold, self.threshold_noise, self.query_noise)

    def law(self, data: Array) -> Law:
        return halting(self.thresholds(data), self.most, fresh=self.fresh)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
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
        return half_up_half_down()


@dataclass(frozen=True)
class SparseVector1(SparseVector):
    """Threshold noise 1/ε₁, query noise 2c/ε₂, ε₁ = ε₂ = ε/2."""

    threshold: float = 0.5
    sound: ClassVar[bool] = True
    source: ClassVar[str] = "Lyu, Su & Li 2017, algorithm 1"
    summary: ClassVar[str] = "sparse vector technique 1"

    @property
    def threshold_noise(self) -> float:
        return 2.0 / self.epsilon

    @property
    def query_noise(self) -> float:
        return 4.0 * self.most / self.epsilon

    def published_pair(self) -> NeighbourPair:
        return crossed()


@dataclass(frozen=True)
class SparseVector2(SparseVector):
    """Threshold noise c/ε₁, drawn anew after each 1, query noise 2c/ε₂, ε₁ = ε₂ = ε/2 (Dwork & Roth
    2014).
    """

    fresh: ClassVar[bool] = True
    sound: ClassVar[bool] = True
    source: ClassVar[str] = "Lyu, Su & Li 2017, algorithm 2"
    summary: ClassVar[str] = "sparse vector technique 2"

    @property
    def threshold_noise(self) -> float:
        return 2.0 * self.most / self.epsilon

    @property
    def query_noise(self) -> float:
        return 4.0 * self.most / self.epsilon

    def published_pair(self) -> NeighbourPair:
        return crossed()


@dataclass(frozen=True)
class NumericalSVT(SparseVector):
    """Where a query is above, the answer itself with noise of its own; a third of ε each for
    threshold, test, answer.

    Output: (size, n + 1), the number of queries dealt with, then a number for each one above, NaN
    elsewhere.
    """

    most: int = 2
    sound: ClassVar[bool] = True
    source: ClassVar[str] = "Wang et al. 2019, numerical sparse vector technique"
    summary: ClassVar[str] = "sparse vector technique with noisy answers"

    @property
    def threshold_noise(self) -> float:
        return 3.0 / self.epsilon

    @property
    def query_noise(self) -> float:
        return 6.0 * self.most / self.epsilon

    @property
    def answer_noise(self) -> float:
        return 3.0 * self.most / self.epsilon

    def law(self, data: Array) -> Branches:
        tests, queries = halting(self.thresholds(data), self.most), column(data)
        forms = list(patterns(len(queries), self.most))
        templates = np.full((len(forms), len(queries) + 1), np.nan)
        templates[:, 0] = [answered for answered, _ in forms]
        parts = tuple(
            Laplace(queries[list(ups)], np.full(len(ups), self.answer_noise)) if ups else None
            for _, ups in forms
        )
        slots = tuple(tuple(1 + up for up in ups) for _, ups in forms)
        return Branches(templates, tests.log_probability, slots, parts)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        out = super().run(data, size, rng)
        answers = column(data) + rng.laplace(0.0, self.answer_noise, (size, len(data)))
        out[:, 1:] = np.where(out[:, 1:] == 1.0, answers, np.nan)
        return out

    def published_pair(self) -> NeighbourPair:
        return pair_of([2.0] * 10, [1.0] * 10)
