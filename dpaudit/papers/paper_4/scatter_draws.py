"""Draws whose scale is AᵀA with padding: paper 4, algorithms 1, 2, 4 and 5.

Algorithms 1 and 2 draw a Johnson-Lindenstrauss sketch, and 4 and 5 an inverse-Wishart posterior. In
the adaptive algorithms 2 and 5, a private estimate of σ_min(AᵀA) sets the padding w and the number
of rows r. It takes part of the budget, and a large estimate allows less padding or more rows.
"""

from __future__ import annotations

import math
from functools import cache
from typing import ClassVar

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.linalg import factorise, padded
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import DegenerateData
from dpaudit.exact import FirstRelease, PrivacyLoss, adaptive_curve, curve_of_laws
from dpaudit.laws import GaussianRows
from dpaudit.mechanisms.parameters import Count, Positive
from dpaudit.mechanisms.scatter import InverseWishartDraw, RandomProjection
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers import printed
from dpaudit.papers.algorithm import (
    JointSpectrumAlgorithm,
    KnownAddedRow,
    KnownReplacedRows,
    Variant,
)
from dpaudit.papers.paper_4.matrix_release import (
    MatrixRelease,
    axes_of,
    axis_rows,
    scatter_draws,
)
from dpaudit.papers.printed import BelowInverseE

MOST_ROWS = 10_000  # largest number of rows on one axis in `AdaptiveRelease.pair`
MOST_SKETCHED = 10**12  # largest number of rows of a sketch


class AdaptiveRelease(JointSpectrumAlgorithm, MatrixRelease):
    """Release a Wishart draw about AᵀA + w²I over its r rows, or an inverse-Wishart draw if
    `inverted`, where w and r depend on λ = max(0, σ_min(AᵀA) + Laplace noise − `slack`).
    """

    inverted: ClassVar[bool] = False
    unknown = (
        "its scale depends on a private σ_min that is not released (`joint_spectrum` bounds it)"
    )

    least_name: ClassVar[str]  # the parameter `least`

    @property
    def least(self) -> int:
        return int(getattr(self, self.least_name))

    @property
    def noise(self) -> float:
        return 2.0 * self.row_bound**2 / self.epsilon

    @property
    def slack(self) -> float:
        """(2B²/ε)·ln(1/δ), which the noise exceeds with probability δ/2."""
        return self.noise * math.log(1.0 / self.delta)

    @property
    def most_padding(self) -> float:
        epsilon, delta = 0.5 * self.epsilon, 0.5 * self.delta
        return printed.theorem_3_1_padding(self.row_bound, self.least, epsilon, delta) ** 2

    def settings(self, estimate: ArrayLike) -> tuple[Array, np.ndarray]:
        """(w², r), each (m,), for noisy estimates of σ_min(AᵀA), (m,).

        If λ ≤ w₀², r = r₀ and w² = w₀² − λ. Otherwise w = 0, and r is the largest number with
        √(2rL) ≤ λε/(8B²) − L, where L = ln(8/δ).
        """
        bound = np.maximum(np.asarray(estimate, dtype=np.float64) - self.slack, 0.0)
        log = math.log(8.0 / self.delta)
        room = np.maximum(0.125 * bound * self.epsilon / self.row_bound**2 - log, 0.0)
        rows = np.minimum(room**2 / (2.0 * log) * (1.0 + 1e-12), MOST_SKETCHED).astype(np.int64)
        return np.maximum(self.most_padding - bound, 0.0), np.maximum(rows, self.least)

    def chosen(
        self, eigenvalue: float, size: int, rng: np.random.Generator
    ) -> tuple[Array, np.ndarray]:
        """Choose (w², r), each (size,), for draws on data with σ_min(AᵀA) = `eigenvalue`."""
        return self.settings(eigenvalue + rng.laplace(0.0, self.noise, size))

    def by_axes(self, values: Array, axes: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw, given AᵀA's eigenvalues, descending, and eigenvectors as rows."""
        padding, rows = self.chosen(float(values[-1]), size, rng)
        draws = scatter_draws(values + padding[:, None], axes, rows, rng, inverse=self.inverted)
        return draws if self.inverted else np.asarray(draws / rows[:, None])

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.by_axes(*axes_of(self._within(data)), size, rng)

    def _within(self, data: Array) -> Array:
        if self.least <= data.shape[1]:
            fail(self.least_name, self.least, f"more than {data.shape[1]}, the columns")
        return self.bounded(data)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        """The curve of λ and the released matrix together, on any pair, and the name of its law.

        r is an integer, so the integrand over λ has steps: where r is large, the quadrature has a
        relative error of about 1/r₀² in δ.
        """
        sides = [self._within(side) for side in (pair.left, pair.right)]
        left, right = (float(axes_of(side)[0][-1]) for side in sides)

        @cache
        def at_settings(padding: float, rows: int) -> Curve:
            noise = math.sqrt(padding)
            try:
                laws = [
                    GaussianRows(factorise(padded(side, noise)).root, rows, "gram")
                    for side in sides
                ]
            except DegenerateData:
                return PrivacyLoss.disjoint("Gaussian rows pair")
            curve = curve_of_laws(*laws)[0]
            return curve.reversed() if self.inverted and isinstance(curve, PrivacyLoss) else curve

        def curve(estimate: float) -> Curve:
            padding, rows = self.settings(estimate)
            return at_settings(float(padding), int(rows))

        first = FirstRelease.laplace(left, right, self.noise)
        joint = adaptive_curve(first, curve, breaks=(self.slack, self.slack + self.most_padding))
        return joint, "a Laplace shift, and Gaussian rows given it"

    def pair(self) -> NeighbourPair:
        """AᵀA = (s + B²)·I, and diag(s, s + 2B²) after the row (B, 0) is replaced by (0, B).

        So σ_min changes by B². s is such that λ reduces w₀² by half, or by less if a reduction by
        half would need too many rows.
        """
        square = self.row_bound**2
        size = min(self.slack + 0.5 * self.most_padding, MOST_ROWS * square)
        others = axis_rows((size, size + square), self.row_bound)
        return replace_row(np.vstack([[self.row_bound, 0.0], others]), 0, [0.0, self.row_bound])


@value_class(show_numbers=True, eq=True)
class JLRidge(KnownReplacedRows, KnownAddedRow, MatrixRelease):
    """Release M = (RA′)ᵀ(RA′)/r, where A′ is the data with w·I appended (paper 4, algorithm 1).

    R is standard normal, r × (n + d) with r = `rows` > d. w² = 4B²(√(2r ln(4/δ)) + ln(4/δ))/ε, by
    theorem 3.1. With variant="corrected" w is by theorem B.1, which is also true for ε beyond 150,
    where theorem 3.1 is false. Output: (size, d(d+1)/2), upper triangles of M.
    """

    rows: Count
    epsilon: Positive
    delta: BelowInverseE
    row_bound: Positive = 1.0
    variant: Variant = "printed"
    statement = "algorithm 1, ridge regression"
    summary = "the second moments of a sketch of padded data (paper 4, algorithm 1)"
    correction = "w by theorem B.1"

    @property
    def padding(self) -> float:
        setting = self.row_bound, self.rows, self.epsilon, self.delta
        if self.variant == "corrected":
            return printed.theorem_b_1_padding(*setting)
        return printed.theorem_3_1_padding(*setting)

    def known(self, data: Array) -> RandomProjection:
        if self.rows <= data.shape[1]:
            fail("rows", self.rows, f"more than the number of columns, {data.shape[1]}")
        self.bounded(data)
        return RandomProjection(self.rows, "gram", self.padding)

    def law(self, data: Array) -> GaussianRows:
        root = self.known(data).factor(data).root
        return GaussianRows(root / np.sqrt(self.rows), self.rows, "gram")


@value_class(show_numbers=True, eq=True)
class AdaptiveJLRidge(AdaptiveRelease):
    """Algorithm 1 with w and r set by a private σ_min(AᵀA) (paper 4, algorithm 2).

    Our copy of the paper lacks the steps. Its text describes them: "use part of the privacy budget
    to look at the least singular-value of AᵀA … decrease w by the appropriate factor … in case it
    is really large, set the regularization to be any non-negative number and determine r based on
    Thm 3.1". The details are chosen here, with r₀ = `min_rows` > d, the least number of sketch
    rows:

    1. half of ε for the estimate, half of ε and of δ for the sketch, the other half of δ for a bad
       estimate;
    2. λ = max(0, σ_min(AᵀA) + Z − (2B²/ε)ln(1/δ)), Z ~ Lap(2B²/ε): the sensitivity is B², and
       P(Z > (2B²/ε)ln(1/δ)) is δ/2;
    3. w₀² by theorem 3.1 at (ε/2, δ/2) and r₀ rows; where λ ≤ w₀², r = r₀ and w² = w₀² − λ;
    4. where λ > w₀², w = 0 and r is the largest for which theorem 3.1 asks for no more than λ.

    Output: (size, d(d+1)/2), upper triangles of M = (RA′)ᵀ(RA′)/r; neither λ nor r is part of it.
    """

    min_rows: Count
    epsilon: Positive
    delta: BelowInverseE
    row_bound: Positive = 1.0
    statement = "algorithm 2, ridge or plain regression"
    summary = "a sketch with padding and rows by a private least eigenvalue (paper 4, algorithm 2)"
    least_name = "min_rows"


@value_class(show_numbers=True, eq=True)
class InverseWishartPosterior(KnownReplacedRows, MatrixRelease):
    """Release M ~ W⁻¹_d(AᵀA + ψI, n + d), an inverse-Wishart posterior (paper 4, algorithm 4).

    ψ = (2B²/ε)(2√(2(n + d)ln(4/δ)) + 2 ln(4/δ)), and n is public. With variant="corrected" ψ is by
    theorem B.1 with r = n + d: a sketch has the same privacy loss, and the theorem is also true for
    ε beyond 150, where theorem 5.1 is false. Theorem B.4 gives no ψ for ε ≥ 2 ln(4/δ). Output:
    (size, d(d+1)/2), upper triangles.
    """

    epsilon: Positive
    delta: BelowInverseE
    row_bound: Positive = 1.0
    variant: Variant = "printed"
    statement = "algorithm 4, inverse-Wishart posterior"
    summary = "one draw of an inverse-Wishart posterior (paper 4, algorithm 4)"
    correction = "ψ by theorem B.1"

    def prior(self, rows: int) -> float:
        setting = self.row_bound, rows, self.epsilon, self.delta
        if self.variant == "corrected":
            return printed.theorem_b_1_padding(*setting) ** 2
        return printed.theorem_5_1_padding(*setting) ** 2

    def known(self, data: Array) -> InverseWishartDraw:
        self.bounded(data)
        rows = sum(data.shape)
        return InverseWishartDraw(rows, math.sqrt(self.prior(rows)))


@value_class(show_numbers=True, eq=True)
class AdaptiveInverseWishart(AdaptiveRelease):
    """Algorithm 4 with ψ and ν set by a private σ_min(AᵀA) (paper 4, algorithm 5).

    Our copy of the paper lacks the steps. Its text describes them: "use part of the privacy budget
    to estimate σ_min(AᵀA) and then set the parameter ψ accordingly", with a least number ν₀ =
    `min_dof` > d of degrees of freedom. The details are those chosen for algorithm 2
    (`AdaptiveJLRidge`), with ψ for w², ν for r and theorem 5.1 for theorem 3.1. Output: (size,
    d(d+1)/2), upper triangles of M ~ W⁻¹_d(AᵀA + ψI, ν); neither λ nor ν is part of it.
    """

    min_dof: Count
    epsilon: Positive
    delta: BelowInverseE
    row_bound: Positive = 1.0
    statement = "algorithm 5, inverse-Wishart posterior by the data"
    summary = (
        "an inverse-Wishart draw with its prior by a private least eigenvalue "
        "(paper 4, algorithm 5)"
    )
    inverted = True
    least_name = "min_dof"
