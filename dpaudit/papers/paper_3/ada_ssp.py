"""Sufficient statistics with noise, and a ridge by a private λ_min: AdaSSP, paper 3's algorithm 3
(Wang 2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit.curves.claims import Claim
from dpaudit.curves.readings import gdp_mu
from dpaudit.curves.spectrum import Spectrum
from dpaudit.laws import GaussianNoise, ShiftRows
from dpaudit.laws.triangular import symmetric_matrix
from dpaudit.mechanisms.second_moment import SufficientStatistics
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers.joint_spectrum import JointSpectrumAlgorithm, zeroed_index
from dpaudit.papers.paper_3.linear_mixing import bounded
from dpaudit.papers.paper_3.gauss_mix import check_budget
from dpaudit.papers.paper_3.noisy_sketch import smallest_eigenvalue

BLOCK = 1 << 22  # numbers of zeroed Gram matrices held at a time


@dataclass(frozen=True)
class AdaSSP(JointSpectrumAlgorithm):
    """λ_min(XᵀX), XᵀX and Xᵀy, each with noise of s = √ln(6/δ)/(ε/3) sensitivities, and what is
    solved of them.

    Parameters
    ----------
    epsilon, delta : the budget, ε > 0 in nats.
    row_bound, label_bound : C_X and C_Y, public bounds on ‖x_i‖ and |y_i|.
    failure : ρ in (0, 1), the chance that the ridge of line 4 is too small.
    release : "statistics", the three noisy ones (lines 3, 5 and 6; λ_min before it is clipped), or
        "solution" (line 7).
    variant : "printed", or "corrected": the noise that three releases together need at (ε, δ) where
        that is more, as it is at large ε.

    Output: (size, 1 + p(p+1)/2 + p), XᵀX as its upper triangle; or (size, p). Raises
    `InvalidInput`.
    """

    epsilon: float
    delta: float
    row_bound: float = 1.0
    label_bound: float = 1.0
    failure: float = 0.05
    release: str = "statistics"
    variant: str = "printed"
    paper: ClassVar[int] = 3
    statement: ClassVar[str] = "algorithm 3, AdaSSP"
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "zero-out"
    summary: ClassVar[str] = (
        "noisy sufficient statistics, a ridge by λ_min (paper 3, algorithm 3; Wang 2018)"
    )
    unknown: ClassVar[str] = (
        "the solution is a ratio of its noisy statistics, of which `joint_spectrum` is exact"
    )
    correction: ClassVar[str] = (
        "the noise of one Gaussian release of √3 sensitivities at (ε, δ), if more than printed"
    )

    def __post_init__(self) -> None:
        self.check_variant()
        check_budget(1, self.epsilon, self.delta)
        check.real("row_bound", self.row_bound, 0.0, open_=True)
        check.real("label_bound", self.label_bound, 0.0, open_=True)
        check.real("failure", self.failure, 0.0, 1.0, open_=True)
        check.choice("release", self.release, ("statistics", "solution"))

    @property
    def deviation(self) -> float:
        """s, in sensitivities."""
        from dpaudit.papers.printed import ada_ssp_deviation

        printed = ada_ssp_deviation(self.epsilon, self.delta)
        if self.variant == "printed":
            return printed
        return max(
            printed, math.sqrt(3.0) / float(gdp_mu(np.array(self.epsilon), np.array(self.delta)))
        )

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon, self.delta)

    def law(self, data: Array) -> GaussianNoise:
        """Of the statistics. Raises `NoExactSpectrum` for the solution."""
        self._check_release()
        return self.statistics(bounded(data, self.row_bound, self.label_bound))

    def zeroed_rows(self, data: Array) -> ShiftRows:
        self._check_release()
        return self._rows(bounded(data, self.row_bound, self.label_bound))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        found = self.statistics(bounded(data, self.row_bound, self.label_bound)).sample(size, rng)
        return found if self.release == "statistics" else self.solve(found, data.shape[1] - 1)

    def solve(self, statistics: Array, features: int) -> Array:
        """Lines 3, 4 and 7: (size, p) from (size, 1 + p(p+1)/2 + p)."""
        square = self.row_bound**2
        shift = math.log(6.0 / self.delta) / (self.epsilon / 3.0) * square
        lower = np.maximum(statistics[:, 0] - shift, 0.0)
        aim = (
            math.sqrt(features * math.log(2.0 * features**2 / self.failure))
            * self.deviation
            * square
        )
        ridge = np.maximum(aim - lower, 0.0)
        gram = symmetric_matrix(statistics[:, 1:-features], features)
        gram[:, range(features), range(features)] += ridge[:, None]
        return np.asarray(np.linalg.solve(gram, statistics[:, -features:, None])[:, :, 0])

    def joint_spectrum(self, pair: NeighbourPair, epsilon: Any) -> Spectrum:
        """Exact δ(ε) of the three statistics, for a zeroed row: a bound of the solution's."""
        from dpaudit.exact import gaussian_shift

        for side in (pair.left, pair.right):
            bounded(side, self.row_bound, self.label_bound)
        mu = float(self._rows(pair.left, [zeroed_index(pair)]).mu[zeroed_index(pair)])
        delta = gaussian_shift(mu, epsilon)
        return Spectrum.of_directions(check.epsilon(epsilon), delta, delta, "Gaussian shift")

    def pair(self) -> NeighbourPair:
        """One feature, two rows of C_X: with the one of label C_Y all three statistics move by
        their sensitivity.
        """
        return zero_row(np.array([[self.row_bound, self.label_bound], [self.row_bound, 0.0]]), 0)

    def _check_release(self) -> None:
        if self.release == "solution":
            super().zeroed_rows(np.zeros((1, 1)))

    @property
    def _noise(self) -> tuple[float, float]:
        """Deviations for λ_min and XᵀX, and for Xᵀy."""
        return (
            self.deviation * self.row_bound**2,
            self.deviation * self.row_bound * self.label_bound,
        )

    def statistics(self, data: Array) -> GaussianNoise:
        """The three noisy statistics of any matrix with the data's Gram matrix."""
        rest = SufficientStatistics(*self._noise).law(data)
        smallest = smallest_eigenvalue(data[:, :-1])
        return GaussianNoise(
            np.concatenate([[smallest], rest.mean]),
            np.concatenate([[self._noise[0]], rest.deviation]),
        )

    def _rows(self, data: Array, asked: Any = None) -> ShiftRows:
        """μ of every row, of which λ_min's part is left out for rows that are not asked for."""
        rest = SufficientStatistics(*self._noise).zeroed_rows(data).mu
        asked = np.arange(len(data)) if asked is None else np.asarray(asked)
        change = np.zeros(len(data))
        change[asked] = eigenvalue_changes(data[:, :-1], asked) / self._noise[0]
        return ShiftRows(np.hypot(rest, change))


def eigenvalue_changes(features: Array, rows: Array) -> Array:
    """λ_min(XᵀX) − λ_min(XᵀX − xxᵀ) for the rows asked for, (m,), in [0, ‖x‖²]."""
    gram, p = features.T @ features, features.shape[1]
    whole, out = np.linalg.eigvalsh(gram)[0], np.empty(len(rows))
    step = max(1, BLOCK // p**2)
    for start in range(0, len(rows), step):
        part = features[rows[start : start + step]]
        out[start : start + step] = (
            whole - np.linalg.eigvalsh(gram - part[:, :, None] * part[:, None, :])[:, 0]
        )
    return np.clip(out, 0.0, np.sum(features[rows] ** 2, axis=1))
