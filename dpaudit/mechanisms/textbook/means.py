"""A private mean of rows in [0, 1] when their number is private too: sum and count get noise.

Data: one column; a neighbour has one row more. As audited by DP-Auditorium and by sequential tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.laws import Density
from dpaudit.laws.base import Law
from dpaudit.laws.density import LEAST, gaussian_ratio, laplace_ratio
from dpaudit.mechanisms.example import ExampleMechanism, PureExample, column, pair_of
from dpaudit.mechanisms.parameters import Positive, UpToOne
from dpaudit.neighbours import NeighbourPair

AUDITORIUM = "Kong et al. 2024 (DP-Auditorium) and González et al. 2025, additive noise for a mean"


def one_row_more() -> NeighbourPair:
    """(0) against (0, 1), the pair for which the sequential audits report results."""
    return pair_of([0.0], [0.0, 1.0])


def clipped_column(data: Array) -> Array:
    """The rows clipped to [0, 1], (n,)."""
    return np.clip(column(data), 0.0, 1.0)


@dataclass(frozen=True)
class DPLaplace(PureExample):
    """S/ñ + Lap(2/(ñε)) with ñ = max(n + Lap(2/ε), 1e-12): ε/2 for the sum, ε/2 for the count.

    Output: (size, 1).
    """

    epsilon: Positive = 0.01
    sound = True
    source = AUDITORIUM
    summary = "a mean with noisy sum and noisy count, Laplace noise"

    @property
    def scale(self) -> float:
        """2/ε, the scale of the noise on the count and on the sum."""
        return 2.0 / self.epsilon

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The noisy count first, then the mean and its noise, both divided by it."""
        rows = clipped_column(data)
        count = np.maximum(len(rows) + rng.laplace(0.0, self.scale, (size, 1)), LEAST)
        return np.asarray(rows.sum() / count + rng.laplace(0.0, self.scale / count))

    def law(self, data: Array) -> Law:
        rows = clipped_column(data)
        return laplace_ratio(float(rows.sum()), float(len(rows)), self.scale)

    def pair(self) -> NeighbourPair:
        return one_row_more()


@dataclass(frozen=True)
class DPGaussian(ExampleMechanism):
    """(S + N(0, σ²))/max(n + N(0, σ²), 1e-12) with σ = 2√(2 ln(2.5/δ))/ε.

    Sum and count have ε/2 and δ/2 each. Output: (size, 1).

    Parameters
    ----------
    epsilon : float in (0, 1], nats
        ε, for which the classical σ is proved.
    delta : float in (0, 1)
        δ.
    """

    epsilon: Positive = 0.01
    delta: UpToOne = 1e-5
    sound = True
    source = AUDITORIUM
    summary = "a mean with noisy sum and noisy count, Gaussian noise"

    @property
    def sigma(self) -> float:
        """σ of the noise on the sum and on the count."""
        return 2.0 * math.sqrt(2.0 * math.log(2.5 / self.delta)) / self.epsilon

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = clipped_column(data)
        noisy = self.sigma * rng.standard_normal((2, size, 1))
        return np.asarray((rows.sum() + noisy[0]) / np.maximum(len(rows) + noisy[1], LEAST))

    def law(self, data: Array) -> Density:
        rows = clipped_column(data)
        return gaussian_ratio(float(rows.sum()), float(len(rows)), self.sigma)

    def pair(self) -> NeighbourPair:
        return one_row_more()
