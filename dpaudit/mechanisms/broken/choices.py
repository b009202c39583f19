"""Report noisy max that releases the maximum itself instead of its index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core.types import Array
from dpaudit.laws import Law
from dpaudit.laws.largest import EXPONENTIAL, Noise, largest_value
from dpaudit.mechanisms.example import column, pair_of
from dpaudit.mechanisms.textbook.choices import ReportNoisyMax1
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class ReportNoisyMax3(ReportNoisyMax1):
    """The value, not the index, of the largest answer after Laplace noise of scale 2/ε.

    The privacy loss reaches n·ε/2 in the lower tail of the output. Data: answers, (n, 1). Output:
    (size, 1).
    """

    sound = False
    source = "Ding et al. 2018, algorithm 7"
    summary = "noisy max released as a number, Laplace noise"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The largest noisy answer."""
        return np.asarray(self.noisy(data, size, rng).max(axis=1)[:, None])

    def law(self, data: Array) -> Law:
        """The density of the largest noisy answer."""
        return largest_value(column(data), self.noise, 2.0 / self.epsilon)

    def pair(self) -> NeighbourPair:
        """Answers that are all 0, and all 1."""
        return pair_of([0.0] * 5, [1.0] * 5)


@dataclass(frozen=True)
class ReportNoisyMax4(ReportNoisyMax3):
    """The value, not the index, of the largest answer after exponential noise of scale 2/ε.

    No output lies below the largest true answer, so the privacy loss can be infinite.
    """

    noise: ClassVar[Noise] = EXPONENTIAL
    source = "Ding et al. 2018, algorithm 8"
    summary = "noisy max released as a number, exponential noise"

    def pair(self) -> NeighbourPair:
        """Answers that are all 1, and all 2."""
        return pair_of([1.0] * 5, [2.0] * 5)
