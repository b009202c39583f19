"""Noise with a wrong scale: on a count, a bit, a sum or a mean.

Each is claimed to have the privacy of the mechanism with the right noise. The data of a mean are
one column of rows in [0, 1], and a neighbour has one row more. `NonDP…1` takes the true row count
for the mean and the noise, `NonDP…2` for the mean alone; DP-Auditorium and sequential tests audit
them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.errors import DegenerateData
from dpaudit.laws import GaussianNoise, Laplace, Product
from dpaudit.laws.base import Law
from dpaudit.laws.density import LEAST, gaussian_mixture, laplace_mixture
from dpaudit.mechanisms.example import PureExample, column, pair_of
from dpaudit.mechanisms.parameters import Positive, UpToOne
from dpaudit.mechanisms.textbook.additive import Gaussian, NoisyHistogram1, TruncatedGeometric
from dpaudit.mechanisms.textbook.means import AUDITORIUM, clipped_column, one_row_more
from dpaudit.mechanisms.textbook.responses import bits_law
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
        return self.calibrated_noise(0.5 * self.sensitivity)

    def pair(self) -> NeighbourPair:
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
        return self.calibrated_noise(self.sensitivity)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.law(data).sample(size, rng)

    def law(self, data: Array) -> GaussianNoise:
        counts = data.sum(axis=0)
        return GaussianNoise(counts, np.full(len(counts), self.noise(data)))

    def pair(self) -> NeighbourPair:
        rest, size = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], self.sensitivity
        return pair_of([[size, 0.0, 0.0], *rest], [[0.0, size, 0.0], *rest])


@dataclass(frozen=True)
class MeanSensitivity(Gaussian):
    """The sum is released with the noise of the mean, σ off by n. Output: (size, 1)."""

    sound = False
    source = "a common slip: the sensitivity of the mean for that of the sum, σ off by n"
    summary = "a sum plus the Gaussian noise of a mean"

    def noise(self, data: Array) -> float:
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
        spread = float(np.ptp(column(data)))
        if spread == 0.0:
            raise DegenerateData(
                "data must have rows that differ: the noise is scaled by their range, which is 0"
            )
        return self.calibrated_noise(spread)

    def pair(self) -> NeighbourPair:
        """Rows of range 0.3, and one row replaced so that the range is Δ."""
        return pair_of([0.0, 0.1, 0.2, 0.3, 0.2], [0.0, 0.1, 0.2, 0.3, self.sensitivity])


@dataclass(frozen=True)
class NoisyHistogram2(NoisyHistogram1):
    """Counts plus Laplace noise of scale ε where 1/ε is right: it is (1/ε)-DP.

    Data: the counts, (n, 1). Output: (size, n).
    """

    sound = False
    source = "Ding et al. 2018, algorithm 10"
    summary = "a histogram plus Laplace noise of the inverse scale"

    @property
    def scale(self) -> float:
        """The scale ε of the noise, where 1/ε is right."""
        return self.epsilon


@dataclass(frozen=True)
class NaturalLogGeometric(TruncatedGeometric):
    """GeoSample with k = ⌈ln(2/ε)⌉ where log₂ is meant.

    It is ln(1 + 2^{−k})-DP, which is 0.118 for ε = 0.1. Output: (size, 1).
    """

    sound = False
    source = "Balcer & Vadhan 2018, algorithm 4.8, as coded by Bichsel et al. 2021"
    summary = "truncated geometric noise with the wrong logarithm"

    @property
    def claim(self) -> Claim:
        """ε-DP, as is claimed."""
        return Claim(self.epsilon)

    @property
    def exponent(self) -> int:
        """k, with the natural logarithm."""
        return math.ceil(math.log(2.0 / self.epsilon))


@dataclass(frozen=True)
class UnequalCoin(PureExample):
    """Randomised response that keeps a 1 as it should, but flips a 0 with probability `flip`.

    A 1 is kept with probability e^ε/(1 + e^ε). Data: bits, (n, 1). Output: (size, n).
    """

    epsilon: Positive = 1.0
    flip: UpToOne = 0.1
    sound = False
    source = "Warner 1965 with two coins"
    summary = "randomised response with an unequal coin"

    def _one(self, bits: Array) -> Array:
        """P(1 is reported)."""
        return np.where(bits == 1.0, 1.0 / (1.0 + np.exp(-self.epsilon)), self.flip)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        bits = column(data)
        return (rng.random((size, len(bits))) < self._one(bits)).astype(np.float64)

    def law(self, data: Array) -> Product:
        return bits_law(self._one(column(data)))

    def pair(self) -> NeighbourPair:
        return pair_of([1.0, 0.0, 1.0], [0.0, 0.0, 1.0])


@dataclass(frozen=True)
class NonDPLaplace1(PureExample):
    """S/n + Lap(2/(nε)). Output: (size, 1)."""

    epsilon: Positive = 0.01
    sound = False
    source = AUDITORIUM
    summary = "a mean whose noise is scaled by the true number of rows, Laplace noise"

    @property
    def scale(self) -> float:
        """2/ε, the scale of noise on a sum; for Gaussian noise its standard deviation."""
        return 2.0 / self.epsilon

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = clipped_column(data)
        return rows.mean() + rng.laplace(0.0, self.scale / len(rows), (size, 1))

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return Laplace(np.array([rows.mean()]), np.array([self.scale / len(rows)]))

    def pair(self) -> NeighbourPair:
        return one_row_more()


@dataclass(frozen=True)
class NonDPLaplace2(NonDPLaplace1):
    """S/n + Lap(2/(ñε)) with ñ = max(n + Lap(2/ε), 1e-12): the mean itself has the true n.

    Output: (size, 1).
    """

    summary = (
        "a mean by the true number of rows whose noise is scaled by a noisy one, Laplace noise"
    )

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = clipped_column(data)
        count = np.maximum(len(rows) + rng.laplace(0.0, self.scale, (size, 1)), LEAST)
        return np.asarray(rows.mean() + rng.laplace(0.0, self.scale / count))

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return laplace_mixture(float(rows.mean()), float(len(rows)), self.scale)


@dataclass(frozen=True)
class NonDPGaussian1(NonDPLaplace1):
    """S/n + N(0, (2/(nε))²), claimed to be (ε, δ)-DP. Output: (size, 1)."""

    delta: UpToOne = 1e-5
    summary = "a mean whose noise is scaled by the true number of rows, Gaussian noise"

    @property
    def claim(self) -> Claim:
        """(ε, δ)-DP, as is claimed."""
        return Claim(self.epsilon, self.delta)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = clipped_column(data)
        return rows.mean() + self.scale / len(rows) * rng.standard_normal((size, 1))

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return GaussianNoise(np.array([rows.mean()]), np.array([self.scale / len(rows)]))


@dataclass(frozen=True)
class NonDPGaussian2(NonDPGaussian1):
    """S/n + N(0, (2/(ñε))²) with ñ = max(n + N(0, (2/ε)²), 1e-12), claimed to be (ε, δ)-DP.

    Output: (size, 1).
    """

    summary = (
        "a mean by the true number of rows whose noise is scaled by a noisy one, Gaussian noise"
    )

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = clipped_column(data)
        count = np.maximum(len(rows) + self.scale * rng.standard_normal((size, 1)), LEAST)
        return np.asarray(rows.mean() + self.scale / count * rng.standard_normal((size, 1)))

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return gaussian_mixture(float(rows.mean()), float(len(rows)), self.scale)
