"""Gaussian noise on second moments, on their inverse and on sufficient statistics of a regression.

Symmetric noise is drawn once for each entry on and above the diagonal, and the output is the upper
triangle. If the matrix changes by zzᵀ, the square norm of the change of this triangle is
Σ_{j≤k} z_j²z_k² = (‖z‖⁴ + Σz_j⁴)/2.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core import check
from dpaudit._core.linalg import factorise, padded, upper_triangle
from dpaudit._core.types import Adjustable, Array
from dpaudit._core.value import value_class
from dpaudit.laws import GaussianNoise, ShiftRows
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import LawMechanism
from dpaudit.mechanisms.parameters import NonNegative, Positive


@value_class(show_numbers=True, eq=True)
class AnalyzeGauss(LawMechanism):
    """Analyze Gauss: release DᵀD with noise N(0, σ²) on each entry on and above the diagonal.

    Output: (size, d(d+1)/2), upper triangles. Source: Dwork et al. 2014; paper 4.

    sigma : σ > 0.
    """

    sigma: Positive
    zero_rows_matter = False
    summary = "the second-moment matrix plus symmetric Gaussian noise (Dwork et al. 2014)"
    adjustable = (Adjustable("sigma"),)

    def law(self, data: Array) -> GaussianNoise:
        mean = upper_triangle(data.T @ data)
        return GaussianNoise(mean, np.full_like(mean, self.sigma))

    def zeroed_rows(self, data: Array) -> ShiftRows:
        return ShiftRows(np.sqrt(_square_norm(data)) / self.sigma)

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        new = replacement.check_candidates(data, candidates)
        square = replacement.over_pairs(
            data, new, lambda rows: replacement.moment_change(data[rows], new)
        )
        return ShiftRows(np.sqrt(square) / self.sigma)

    def added_row(self, data: Array, row_bound: float) -> ShiftRows:
        """The pair for a row v of norm C = `row_bound` along one axis: a shift by μ = C²/σ.

        It is the worst row: Σv_j⁴ ≤ (Σv_j²)² = ‖v‖⁴, with equality along an axis, so that
        (‖v‖⁴ + Σv_j⁴)/2 ≤ C⁴.
        """
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        return ShiftRows(np.array([bound**2 / self.sigma]))


@value_class(show_numbers=True, eq=True)
class GaussianInverse(LawMechanism):
    """Release (DᵀD + w²I)⁻¹ with noise N(0, σ²) on each entry on and above the diagonal.

    Output: (size, d(d+1)/2), upper triangles. Source: paper 4, theorem B.5, which has no padding.

    sigma, padding : σ > 0, and w ≥ 0.
    """

    sigma: Positive
    padding: NonNegative = 0.0
    zero_rows_matter = False
    summary = (
        "the inverse second-moment matrix plus symmetric Gaussian noise (paper 4, theorem B.5)"
    )
    adjustable = (Adjustable("sigma"),)

    def law(self, data: Array) -> GaussianNoise:
        root = factorise(padded(data, self.padding)).root
        inverse = solve_triangular(root, np.eye(len(root)))
        mean = upper_triangle(inverse @ inverse.T)
        return GaussianNoise(mean, np.full_like(mean, self.sigma))

    def zeroed_rows(self, data: Array) -> ShiftRows:
        """The pairs for zeroed rows v: with G = DᵀD + w²I, G⁻¹ moves by G⁻¹vvᵀG⁻¹/(1 − vᵀG⁻¹v)."""
        factor = factorise(padded(data, self.padding))
        size, room = np.sqrt(_square_norm(factor.pulls)), factor.room * self.sigma
        mu = np.divide(size, room, out=np.full_like(size, np.inf), where=room > 0.0)
        return ShiftRows(mu[: len(data)])

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        candidates = replacement.check_candidates(data, candidates)
        factor = factorise(padded(data, self.padding))
        return ShiftRows(replacement.inverse_changes(factor, data, candidates) / self.sigma)


@value_class(show_numbers=True, eq=True)
class SufficientStatistics(LawMechanism):
    """Release XᵀX with symmetric noise N(0, σ_g²) and Xᵀy with noise N(0, σ_c²I).

    The features X are all columns but the last, which is the label y. AdaSSP releases the same,
    and an estimate of λ_min(XᵀX). Output: (size, p(p+1)/2 + p), the upper triangle of XᵀX first.
    Source: Wang 2018; paper 3, H.1.

    sigma_gram, sigma_cross : σ_g > 0, on each entry of XᵀX on and above the diagonal, and σ_c > 0.
    """

    sigma_gram: Positive
    sigma_cross: Positive
    zero_rows_matter = False
    summary = "sufficient statistics of least squares plus Gaussian noise (Wang 2018)"
    adjustable = (Adjustable("sigma_gram"), Adjustable("sigma_cross"))

    def law(self, data: Array) -> GaussianNoise:
        features, label = _split(data)
        gram, cross = upper_triangle(features.T @ features), features.T @ label
        deviation = np.repeat([self.sigma_gram, self.sigma_cross], [len(gram), len(cross)])
        return GaussianNoise(np.concatenate([gram, cross]), deviation)

    def zeroed_rows(self, data: Array) -> ShiftRows:
        features, label = _split(data)
        cross = label**2 * np.einsum("ij,ij->i", features, features)
        return ShiftRows(
            np.sqrt(_square_norm(features) / self.sigma_gram**2 + cross / self.sigma_cross**2)
        )

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        candidates = replacement.check_candidates(data, candidates)
        (old, old_label), (new, new_label) = _split(data), _split(candidates)
        before, after = old * old_label[:, None], new * new_label[:, None]

        def square(rows: slice) -> Array:
            cross = sum((u - v[:, None]) ** 2 for v, u in zip(before[rows].T, after.T, strict=True))
            gram = replacement.moment_change(old[rows], new)
            return np.asarray(gram / self.sigma_gram**2 + cross / self.sigma_cross**2)

        return ShiftRows(np.sqrt(replacement.over_pairs(data, candidates, square)))

    def added_row(self, data: Array, row_bound: float) -> ShiftRows:
        """The pair for the worst row (x, y) with ‖x‖² + y² = C², where C = `row_bound`.

        x lies along one axis. For s = ‖x‖² and y² = C² − s, μ² = g·s² + c·s(C² − s) with g = 1/σ_g²
        and c = 1/σ_c². If c > 2g, it is largest at s = cC²/(2(c − g)) < C², with
        μ² = c²C⁴/(4(c − g)). Otherwise it is largest at s = C², with μ² = gC⁴.
        """
        _split(data)
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        gram, cross = self.sigma_gram**-2.0, self.sigma_cross**-2.0
        square = 0.25 * cross * (cross / (cross - gram)) if cross > 2.0 * gram else gram
        return ShiftRows(np.array([bound**2 * math.sqrt(square)]))


def _split(data: Array) -> tuple[Array, Array]:
    data = check.matrix("data", data, min_columns=2)
    return data[:, :-1], data[:, -1]


def _square_norm(rows: Array) -> Array:
    """Σ_{j≤k} z_j²z_k² of the upper triangle of zzᵀ, for each row z."""
    square = rows**2
    return np.asarray(0.5 * (square.sum(axis=1) ** 2 + np.sum(square**2, axis=1)))
