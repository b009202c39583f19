"""The Gaussian mechanism with wrongly calibrated noise.

Each is claimed to be (ε, δ)-DP, as the mechanism with the right noise is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.errors import DegenerateData
from dpaudit.laws import GaussianNoise
from dpaudit.mechanisms.example import column, pair_of
from dpaudit.mechanisms.textbook.additive import Gaussian
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class HalvedSensitivity(Gaussian):
    """Noise for a sensitivity of Δ/2 where it is Δ.

    Rows lie in [−Δ/2, Δ/2]. Adding one changes the sum by up to Δ/2, replacing one by up to Δ.
    Output: (size, 1).
    """

    sound = False
    source = "a common slip: the wrong neighbouring relation, σ off by 2"
    summary = "a sum plus Gaussian noise for half its sensitivity"

    def noise(self, data: Array) -> float:
        """σ for half the sensitivity."""
        return self.calibrated_noise(0.5 * self.sensitivity)

    def pair(self) -> NeighbourPair:
        """One row replaced, from −Δ/2 to Δ/2."""
        rest, half = [0.0] * 9, 0.5 * self.sensitivity
        return pair_of([*rest, -half], [*rest, half])


@dataclass(frozen=True)
class RootTwoSensitivity(Gaussian):
    """A histogram with noise for a sensitivity of 1 where it is √2.

    A row that moves from one cell to another changes both counts by 1. Data: (n, k), an indicator
    of the cell in each row. Output: (size, k).
    """

    sound = False
    source = "a common slip: the sensitivity of one cell for that of the vector, σ off by √2"
    summary = "a histogram plus Gaussian noise for one of two cells"

    def noise(self, data: Array) -> float:
        """σ for the sensitivity of one cell."""
        return self.calibrated_noise(self.sensitivity)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.law(data).sample(size, rng)

    def law(self, data: Array) -> GaussianNoise:
        """Gaussian about the counts."""
        counts = data.sum(axis=0)
        return GaussianNoise(counts, np.full(len(counts), self.noise(data)))

    def pair(self) -> NeighbourPair:
        """One row moves from the first cell to the second."""
        rest, size = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], self.sensitivity
        return pair_of([[size, 0.0, 0.0], *rest], [[0.0, size, 0.0], *rest])


@dataclass(frozen=True)
class MeanSensitivity(Gaussian):
    """The sum is released with the noise of the mean, σ off by n. Output: (size, 1)."""

    sound = False
    source = "a common slip: the sensitivity of the mean for that of the sum, σ off by n"
    summary = "a sum plus the Gaussian noise of a mean"

    def noise(self, data: Array) -> float:
        """σ for the sensitivity of the mean."""
        return self.calibrated_noise(self.sensitivity / len(data))


@dataclass(frozen=True)
class VarianceForDeviation(Gaussian):
    """The sampler takes a variance and is given σ, so the standard deviation is √σ.

    Output: (size, 1).
    """

    sound = False
    source = "a common slip: variance and standard deviation"
    summary = "a sum plus Gaussian noise of variance σ"

    def noise(self, data: Array) -> float:
        """√σ."""
        return float(np.sqrt(self.calibrated_noise(self.sensitivity)))


@dataclass(frozen=True)
class LocalSensitivity(Gaussian):
    """The noise is scaled by the range of the private rows instead of a public bound on it.

    Output: (size, 1). Raises `DegenerateData` when all rows are equal.
    """

    sound = False
    source = "Nissim, Raskhodnikova & Smith 2007, why local sensitivity will not do"
    summary = "a sum plus Gaussian noise scaled by the range of the private rows"

    def noise(self, data: Array) -> float:
        """σ for the range of the private rows."""
        spread = float(np.ptp(column(data)))
        if spread == 0.0:
            raise DegenerateData(
                "data must have rows that differ: the noise is scaled by their range, which is 0"
            )
        return self.calibrated_noise(spread)

    def pair(self) -> NeighbourPair:
        """Rows of range 0.3, and one row replaced so that the range is Δ."""
        return pair_of([0.0, 0.1, 0.2, 0.3, 0.2], [0.0, 0.1, 0.2, 0.3, self.sensitivity])
