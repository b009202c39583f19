"""AdaSSP (Wang 2018; paper 3, algorithm 3): ridge regression on noisy sufficient statistics.

A private estimate of λ_min(XᵀX) sets the ridge penalty.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from dpaudit._core.linalg import symmetric_matrix
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.readings import gdp_mu
from dpaudit.curves.spectrum import Curve
from dpaudit.exact import PrivacyLoss
from dpaudit.laws import GaussianNoise, ShiftRows
from dpaudit.mechanisms.parameters import BelowOne, Positive, one_of
from dpaudit.mechanisms.second_moment import SufficientStatistics
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers.algorithm import (
    JointSpectrumAlgorithm,
    Variant,
    smallest_eigenvalue,
    zeroed_index,
)
from dpaudit.papers.printed import ada_ssp_deviation

BLOCK = 1 << 22  # entries held at a time, of Gram matrices without one row


@value_class(show_numbers=True, eq=True)
class AdaSSP(JointSpectrumAlgorithm):
    """Release λ_min(XᵀX), XᵀX and Xᵀy with Gaussian noise, or the ridge regression from them.

    The noise has the deviation s = √ln(6/δ)/(ε/3), in units of each statistic's sensitivity for the
    bounds C_X = `row_bound` and C_Y = `label_bound`. With variant="corrected" it is at least the
    noise that three releases together need for (ε, δ)-DP, which at large ε is more than printed.
    `failure` is ρ in (0, 1), the probability that the ridge of line 4 is too small.

    Output: (size, 1 + p(p+1)/2 + p) for release="statistics" (lines 3, 5 and 6: λ_min before it is
    clipped, XᵀX as its upper triangle, Xᵀy), or (size, p) for "solution" (line 7).
    """

    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    label_bound: Positive = 1.0
    failure: BelowOne = 0.05
    release: Annotated[str, one_of("statistics", "solution")] = "statistics"
    variant: Variant = "printed"
    regression = True
    zero_rows_matter = False
    paper = 3
    statement = "algorithm 3, AdaSSP"
    summary = "noisy sufficient statistics, a ridge by λ_min (paper 3, algorithm 3; Wang 2018)"
    unknown = "the solution is a ratio of its noisy statistics, of which `joint_spectrum` is exact"
    correction = (
        "the noise of one Gaussian release of √3 sensitivities at (ε, δ), if more than printed"
    )

    @property
    def deviation(self) -> float:
        """s, in units of a statistic's sensitivity."""
        printed = ada_ssp_deviation(self.epsilon, self.delta)
        if self.variant == "printed":
            return printed
        mu = float(gdp_mu(np.array(self.epsilon), np.array(self.delta)))
        return max(printed, math.sqrt(3.0) / mu)

    def law(self, data: Array) -> GaussianNoise:
        if self.release == "solution":
            raise self.no_exact_spectrum()
        return self.statistics(self.bounded(data))

    def zeroed_rows(self, data: Array) -> ShiftRows:
        if self.release == "solution":
            raise self.no_exact_spectrum()
        data = self.bounded(data)
        return self._shifts(data, np.arange(len(data)))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        draws = self.statistics(self.bounded(data)).sample(size, rng)
        return draws if self.release == "statistics" else self.solve(draws, data.shape[1] - 1)

    def solve(self, statistics: Array, features: int) -> Array:
        """Lines 3, 4 and 7: solutions (size, p) from noisy statistics."""
        square = self.row_bound**2
        shift = math.log(6.0 / self.delta) / (self.epsilon / 3.0) * square
        lower = np.maximum(statistics[:, 0] - shift, 0.0)
        room = math.sqrt(features * math.log(2.0 * features**2 / self.failure))
        ridge = np.maximum(room * self.deviation * square - lower, 0.0)
        gram = symmetric_matrix(statistics[:, 1:-features], features)
        gram[:, range(features), range(features)] += ridge[:, None]
        return np.asarray(np.linalg.solve(gram, statistics[:, -features:, None])[:, :, 0])

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        for side in (pair.left, pair.right):
            self.bounded(side)
        index = zeroed_index(pair)
        mu = float(self._shifts(pair.left, np.array([index])).mu[index])
        return PrivacyLoss.gaussian_shift(mu), "Gaussian shift"

    def pair(self) -> NeighbourPair:
        """Two rows C_X; zeroing the one with label C_Y moves all statistics by their maximum."""
        return zero_row(np.array([[self.row_bound, self.label_bound], [self.row_bound, 0.0]]), 0)

    @property
    def _noise(self) -> tuple[float, float]:
        deviation = self.deviation
        return deviation * self.row_bound**2, deviation * self.row_bound * self.label_bound

    def statistics(self, data: Array) -> GaussianNoise:
        """The law of the three noisy statistics of `data`, or any matrix with its Gram matrix."""
        moments = SufficientStatistics(*self._noise).law(data)
        smallest = smallest_eigenvalue(data[:, :-1])
        return GaussianNoise(
            np.concatenate([[smallest], moments.mean]),
            np.concatenate([[self._noise[0]], moments.deviation]),
        )

    def _shifts(self, data: Array, rows: np.ndarray) -> ShiftRows:
        """The shift μ of every row; the change of λ_min is computed for `rows` only, else 0."""
        moments = SufficientStatistics(*self._noise).zeroed_rows(data).mu
        features, change = data[:, :-1], np.zeros(len(data))
        gram = features.T @ features
        smallest = np.linalg.eigvalsh(gram)[0]
        step = max(1, BLOCK // gram.size)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            x = features[part]
            without = gram - x[:, :, None] * x[:, None, :]
            fall = smallest - np.linalg.eigvalsh(without)[:, 0]
            change[part] = np.clip(fall, 0.0, np.sum(x**2, axis=1))  # at most ‖x‖², up to rounding
        return ShiftRows(np.hypot(moments, change / self._noise[0]))
