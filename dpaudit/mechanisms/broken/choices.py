"""Report noisy max that releases the maximum itself instead of its index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core.types import Array
from dpaudit.laws import Density
from dpaudit.laws.largest import EXPONENTIAL, LAPLACE, largest_value
from dpaudit.mechanisms.example import PureExample, column, pair_of
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class ReportNoisyMax3(PureExample):
    """The largest answer after Laplace noise of scale 2/ε, itself.

    The privacy loss reaches n·ε/2 in its lower tail. Data: answers, (n, 1). Output: (size, 1).
    """

    epsilon: float = 0.1
    sound: ClassVar[bool] = False
    source: ClassVar[str] = "Ding et al. 2018, algorithm 7"
    summary: ClassVar[str] = "noisy max released as a number, Laplace noise"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Noise added to each answer, then the largest."""
        answers = column(data)
        noisy = answers + rng.laplace(0.0, 2.0 / self.epsilon, (size, len(answers)))
        return np.asarray(noisy.max(axis=1)[:, None])

    def law(self, data: Array) -> Density:
        """The density of the largest noisy answer."""
        return largest_value(column(data), LAPLACE, 2.0 / self.epsilon)

    def pair(self) -> NeighbourPair:
        """Answers that are all 0, and all 1."""
        return pair_of([0.0] * 5, [1.0] * 5)


@dataclass(frozen=True)
class ReportNoisyMax4(ReportNoisyMax3):
    """The largest answer after exponential noise of scale 2/ε, itself.

    No output lies below the largest true answer, so the privacy loss can be infinite.
    """

    source: ClassVar[str] = "Ding et al. 2018, algorithm 8"
    summary: ClassVar[str] = "noisy max released as a number, exponential noise"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Noise added to each answer, then the largest."""
        answers = column(data)
        noisy = answers + rng.exponential(2.0 / self.epsilon, (size, len(answers)))
        return np.asarray(noisy.max(axis=1)[:, None])

    def law(self, data: Array) -> Density:
        """The density of the largest noisy answer."""
        return largest_value(column(data), EXPONENTIAL, 2.0 / self.epsilon)

    def pair(self) -> NeighbourPair:
        """Answers that are all 1, and all 2."""
        return pair_of([1.0] * 5, [2.0] * 5)
