"""Report noisy max that reports the maximum itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core.check import Array
from dpaudit.laws import Density
from dpaudit.laws.largest import EXPONENTIAL, LAPLACE, largest_value
from dpaudit.mechanisms.specimen import PureClaim, column, pair_of
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class ReportNoisyMax3(PureClaim):
    """The largest answer after Laplace noise of scale 2/ε, itself: n·ε/2 in its lower tail. Output:
    (size, 1).
    """

    epsilon: float = 0.1
    sound: ClassVar[bool] = False
    source: ClassVar[str] = "Ding et al. 2018, algorithm 7"
    summary: ClassVar[str] = "noisy max released as a number, Laplace noise"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        answers = column(data)
        return np.asarray(
            (answers + rng.laplace(0.0, 2.0 / self.epsilon, (size, len(answers)))).max(axis=1)[
                :, None
            ]
        )

    def law(self, data: Array) -> Density:
        return largest_value(column(data), LAPLACE, 2.0 / self.epsilon)

    def pair(self) -> NeighbourPair:
        return pair_of([0.0] * 5, [1.0] * 5)


@dataclass(frozen=True)
class ReportNoisyMax4(ReportNoisyMax3):
    """The same with exponential noise: below the largest answer there is nothing, an infinite loss."""

    source: ClassVar[str] = "Ding et al. 2018, algorithm 8"
    summary: ClassVar[str] = "noisy max released as a number, exponential noise"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        answers = column(data)
        return np.asarray(
            (answers + rng.exponential(2.0 / self.epsilon, (size, len(answers)))).max(axis=1)[
                :, None
            ]
        )

    def law(self, data: Array) -> Density:
        return largest_value(column(data), EXPONENTIAL, 2.0 / self.epsilon)

    def pair(self) -> NeighbourPair:
        return pair_of([1.0] * 5, [2.0] * 5)
