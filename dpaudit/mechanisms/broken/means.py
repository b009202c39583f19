"""Private means that use the true row count: in mean and noise (1), or in the mean alone (2).

Data: one column of rows in [0, 1]; a neighbour has one row more. As audited by DP-Auditorium and by
sequential tests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.laws import GaussianNoise, Laplace
from dpaudit.laws.base import Law
from dpaudit.laws.ratio import LEAST, gaussian_mixture, laplace_mixture
from dpaudit.mechanisms.example import PureExample
from dpaudit.mechanisms.parameters import Positive, UpToOne
from dpaudit.mechanisms.textbook.means import AUDITORIUM, clipped_column, one_row_more
from dpaudit.neighbours import NeighbourPair


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
        """The mean plus noise."""
        rows = clipped_column(data)
        return rows.mean() + rng.laplace(0.0, self.scale / len(rows), (size, 1))

    def law(self, data: Array) -> Law:
        """Laplace about the mean."""
        rows = clipped_column(data)
        return Laplace(np.array([rows.mean()]), np.array([self.scale / len(rows)]))

    def pair(self) -> NeighbourPair:
        """The pair of the sequential audits."""
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
        """The noisy count, then the mean plus noise divided by it."""
        rows = clipped_column(data)
        count = np.maximum(len(rows) + rng.laplace(0.0, self.scale, (size, 1)), LEAST)
        return np.asarray(rows.mean() + rng.laplace(0.0, self.scale / count))

    def law(self, data: Array) -> Law:
        """The density, by integration over the noisy count."""
        rows = clipped_column(data)
        return laplace_mixture(float(rows.mean()), float(len(rows)), self.scale)


@dataclass(frozen=True)
class NonDPGaussian1(NonDPLaplace1):
    """S/n + N(0, (2/(nε))²), claimed to be (ε, δ)-DP. Output: (size, 1)."""

    delta: UpToOne = 1e-5
    summary = "a mean whose noise is scaled by the true number of rows, Gaussian noise"

    @property
    def claim(self) -> Claim:
        """(ε, δ)-DP."""
        return Claim(self.epsilon, self.delta)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The mean plus noise."""
        rows = clipped_column(data)
        return rows.mean() + self.scale / len(rows) * rng.standard_normal((size, 1))

    def law(self, data: Array) -> Law:
        """Gaussian about the mean."""
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
        """The noisy count, then the mean plus noise divided by it."""
        rows = clipped_column(data)
        count = np.maximum(len(rows) + self.scale * rng.standard_normal((size, 1)), LEAST)
        return np.asarray(rows.mean() + self.scale / count * rng.standard_normal((size, 1)))

    def law(self, data: Array) -> Law:
        """The density, by integration over the noisy count."""
        rows = clipped_column(data)
        return gaussian_mixture(float(rows.mean()), float(len(rows)), self.scale)
