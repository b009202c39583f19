"""AᵀA and its inverse with noise added: paper 4, section 2, algorithm 3 and theorem B.5."""

from __future__ import annotations

import math

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.readings import gdp_mu
from dpaudit.mechanisms.parameters import BelowOne, Flag, Positive
from dpaudit.mechanisms.scatter import AdditiveWishart
from dpaudit.mechanisms.second_moment import AnalyzeGauss, GaussianInverse
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers import printed
from dpaudit.papers.algorithm import (
    KnownAddedRow,
    KnownReplacedRows,
    Variant,
    smallest_eigenvalue,
)
from dpaudit.papers.paper_4.matrix_release import (
    MatrixRelease,
    axis_rows,
    least_eigenvalues,
    mean_norm,
    order,
    plus_identity,
)
from dpaudit.papers.printed import BelowInverseE


@value_class(show_numbers=True, eq=True)
class AnalyzeGaussNoise(KnownReplacedRows, KnownAddedRow, MatrixRelease):
    """Analyze Gauss: release AᵀA plus symmetric Gaussian noise N (paper 4, section 2).

    The noise is N(0, 2Δ² ln(2/δ)/ε) on each entry on and above the diagonal, Δ² = B⁴, for δ in
    (0, 1). This is how our copy prints it, which may have lost the exponent of ε². With
    variant="corrected" the variance has ε² instead of ε and Δ² = 2B⁴, for a replaced row, and is at
    least what (ε, δ)-DP needs, which matters for ε above about 4 ln(2/δ). Section 6 post-processes
    it by `lifted`. Output: (size, d(d+1)/2), upper triangles.
    """

    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    variant: Variant = "printed"
    statement = "section 2, Analyze Gauss"
    summary = "the second moments plus symmetric Gaussian noise (paper 4, section 2)"
    correction = "ε² for ε and 2B⁴ for B⁴"

    @property
    def sigma(self) -> float:
        if self.variant == "corrected":
            return math.sqrt(2.0) * self.row_bound**2 * gaussian_deviation(self.epsilon, self.delta)
        return printed.section_2_sigma(self.row_bound, self.epsilon, self.delta)

    def known(self, data: Array) -> AnalyzeGauss:
        self.bounded(data)
        return AnalyzeGauss(self.sigma)

    def lifted(self, draws: Array) -> Array:
        """The draws M, with c·I, c = E‖N‖, added to those not positive definite (section 6)."""
        lift = self.sigma * mean_norm(order(draws))
        return plus_identity(draws, np.where(least_eigenvalues(draws) <= 0.0, lift, 0.0))


@value_class(show_numbers=True, eq=True)
class NoisyInverse(KnownReplacedRows, MatrixRelease):
    """Release (AᵀA)⁻¹ plus symmetric Gaussian noise (paper 4, theorem B.5).

    The noise is N(0, 8 ln(2/δ)/(ρ²ε²)) on each entry on and above the diagonal, for ε in (0, 1). It
    is assumed public that σ_min(AᵀA) ≥ (1 + ρ)B² with ρ = `rho` > 0. A call raises `InvalidInput`
    if σ_min(AᵀA) is less than ρB², which cannot happen after one row of a database that satisfies
    the assumption is replaced. With variant="corrected" the sensitivity is √2/(ρ(1 + ρ)B²), which
    scales as the inverse does. Output: (size, d(d+1)/2), upper triangles.
    """

    rho: Positive
    epsilon: BelowOne
    delta: BelowInverseE
    row_bound: Positive = 1.0
    variant: Variant = "printed"
    zero_rows_matter = False
    statement = "theorem B.5, noise on the inverse"
    summary = (
        "the inverse second-moment matrix plus symmetric Gaussian noise (paper 4, theorem B.5)"
    )
    correction = "the sensitivity scales as 1/B²"

    @property
    def sigma(self) -> float:
        """The corrected sensitivity: let M ≥ ρB²·I be the matrix without the row v, and z = M⁻¹v.
        The row adds −zzᵀ/(1 + vᵀM⁻¹v) to the inverse. The norm of this term is at most 1/(ρ(1 +
        ρ)B²), since ‖z‖² ≤ vᵀM⁻¹v/(ρB²) and vᵀM⁻¹v ≤ 1/ρ. The terms of two rows differ by at most
        √2 times that.
        """
        if self.variant == "printed":
            return printed.theorem_b_5_sigma(self.rho, self.epsilon, self.delta)
        change = math.sqrt(2.0) / (self.rho * (1.0 + self.rho) * self.row_bound**2)
        return change * gaussian_deviation(self.epsilon, self.delta)

    def known(self, data: Array) -> GaussianInverse:
        least = self.rho * self.row_bound**2
        eigenvalue = smallest_eigenvalue(self.bounded(data))
        if eigenvalue < least * (1.0 - 1e-9):
            needed = f"a database with σ_min(AᵀA) >= rho·row_bound² = {least:g}"
            fail("data", Words(f"σ_min(AᵀA) = {eigenvalue:g}"), needed)
        return GaussianInverse(self.sigma)

    def pair(self) -> NeighbourPair:
        """AᵀA = diag(2 + ρ, 1 + ρ)·B²; replacing (B, 0) by (0, B) exchanges its two entries."""
        size = (1.0 + self.rho) * self.row_bound**2 * (1.0 + 1e-9)
        rest = axis_rows((size, size), self.row_bound)
        return replace_row(np.vstack([[self.row_bound, 0.0], rest]), 0, [0.0, self.row_bound])


def gaussian_deviation(epsilon: float, delta: float) -> float:
    """σ/sensitivity of Gaussian noise: √(2 ln(2/δ))/ε, or the exact need of (ε, δ)-DP if larger."""
    exact = 1.0 / float(gdp_mu(np.array(epsilon), np.array(delta)))
    return max(math.sqrt(2.0 * math.log(2.0 / delta)) / epsilon, exact)


@value_class(show_numbers=True, eq=True)
class AdditiveWishartNoise(KnownAddedRow, MatrixRelease):
    """Release M = AᵀA + Σvᵢvᵢᵀ with k random rows vᵢ ~ N(0, B²I) (paper 4, algorithm 3).

    k = ⌊d + (14/ε²)·2 ln(4/δ)⌋. Theorem 4.1 requires ε < 1, but the algorithm accepts any ε; with
    variant="corrected", k for a larger ε is that for ε = 1. shift=True releases `shifted` matrices,
    as section 4 does for its experiments, which is post-processing of M. Output: (size, d(d+1)/2),
    upper triangles.
    """

    epsilon: Positive
    delta: BelowInverseE
    row_bound: Positive = 1.0
    shift: Flag = False
    variant: Variant = "printed"
    statement = "algorithm 3, additive Wishart noise"
    summary = "the second moments plus those of some random rows (paper 4, algorithm 3)"
    unknown = "how far M is shifted depends on M; M's own spectrum (shift=False) is an upper bound"
    correction = "k as for ε = 1 where ε is more"

    def dof(self, dim: int) -> int:
        epsilon = min(self.epsilon, 1.0) if self.variant == "corrected" else self.epsilon
        return printed.algorithm_3_dof(dim, epsilon, self.delta)

    def known(self, data: Array) -> AdditiveWishart:
        if self.shift:
            raise self.no_exact_spectrum()
        return self._noise(data)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        draws = self._noise(data).law(data).sample(size, rng)
        return self.shifted(draws) if self.shift else draws

    def shifted(self, draws: Array) -> Array:
        """Shift draws M as in section 4: M − kB²·I if this is positive definite.

        Otherwise the result is M − B²(√k − √d − √(2 ln(4/δ)))²·I.
        """
        dim = order(draws)
        k, square = self.dof(dim), self.row_bound**2
        margin = math.sqrt(dim) + math.sqrt(2.0 * math.log(4.0 / self.delta))
        least = square * (math.sqrt(k) - margin) ** 2
        amount = np.where(least_eigenvalues(draws) > k * square, k * square, least)
        return plus_identity(draws, -amount)

    def _noise(self, data: Array) -> AdditiveWishart:
        self.bounded(data)
        return AdditiveWishart(self.dof(data.shape[1]), self.row_bound)
