"""Gaussian sketches of a database D, (inverse) Wishart draws about DᵀD, and DᵀD + Wishart noise."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.linalg import Factor, factorise, padded
from dpaudit._core.types import Adjustable, Array
from dpaudit._core.value import value_class
from dpaudit.laws import (
    GaussianRows,
    InverseWishart,
    Law,
    ReplacedWishartRows,
    ScaleRows,
    ShiftedWishart,
    SketchRows,
    WishartRows,
)
from dpaudit.laws.matrices import check_dof
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import LawMechanism
from dpaudit.mechanisms.parameters import Count, NonNegative, Positive, Release


class ScatterDraw(LawMechanism):
    """Release r Gaussian rows of covariance Σ = DᵀD + w²I, or a statistic sufficient for Σ.

    inverted : whether Σ is the rows' precision (inverse covariance) instead.

    All such releases have the same privacy loss, whatever their form. Zeroing a row v of D gives a
    loss in terms of one χ² variable and the leverage q = vᵀΣ⁻¹v (`dpaudit.exact.gaussian_sketch`).
    Replacing a row changes the scale of the rows on two axes.
    """

    inverted: ClassVar[bool] = False
    zero_rows_matter = False
    release: str = "gram"

    @property
    def sizes(self) -> tuple[int, float]:
        """The number r ≥ 1 of Gaussian rows, and the padding w ≥ 0."""
        raise NotImplementedError

    def law(self, data: Array) -> Law:
        return GaussianRows(self.factor(data).root, self.sizes[0], self.release)

    def factor(self, data: Array) -> Factor:
        return factorise(padded(data, self.sizes[1]))

    def zeroed_rows(self, data: Array) -> SketchRows:
        factor, n = self.factor(data), len(data)
        return SketchRows(factor.leverage[:n], factor.room[:n], self.sizes[0], self.inverted)

    def replaced_rows(self, data: Array, candidates: Array) -> ScaleRows:
        candidates = replacement.check_candidates(data, candidates)
        factor = self.factor(data)
        old, new = factor.basis[: len(data)], replacement.whitened(factor, candidates)
        up, down = replacement.over_pairs(
            data, candidates, lambda rows: replacement.eigenvalue_changes(old[rows], new)
        )
        return ScaleRows(up, down, self.sizes[0], self.inverted)

    def added_row(self, data: Array, row_bound: float) -> SketchRows:
        """The pair for a row v of norm C = `row_bound` along Σ's axis of least variance.

        This row is the worst, since u = vᵀΣ⁻¹v has its largest value C²/λ_min(Σ) there. Once v is
        added to the database, its leverage is q = u/(1 + u).
        """
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        ratio = (bound / np.linalg.svd(self.factor(data).root, compute_uv=False)[-1]) ** 2
        leverage, room = np.array([ratio / (1.0 + ratio)]), np.array([1.0 / (1.0 + ratio)])
        return SketchRows(leverage, room, self.sizes[0], self.inverted)


@value_class(show_numbers=True, eq=True)
class RandomProjection(ScatterDraw):
    """Random projection: release the r rows of Π[D; w·I], where Π is standard normal.

    Source: paper 1, lemma 5 (w = 0); paper 4, algorithm 1, which divides the Gram matrix by r.

    rows : r ≥ 1, the number of sketch rows. release : "sketch", the (r, d) matrix itself, as one
    row, or "gram", the upper triangle of its Gram matrix, which is sufficient for the law (so the
    spectrum is the same) and much smaller when r is large. padding : w ≥ 0.
    """

    rows: Count
    release: Release = "sketch"
    padding: NonNegative = 0.0
    summary = (
        "random projection, the Gaussian sketch itself (paper 1, lemma 5; paper 4, algorithm 1)"
    )
    adjustable = (Adjustable("padding", zero=True), Adjustable("rows", -1, whole=True))

    @property
    def sizes(self) -> tuple[int, float]:
        return self.rows, self.padding


@value_class(show_numbers=True, eq=True)
class GaussMix(ScatterDraw):
    """Gaussian mixing: release SD + σξ, where S (k × n) and ξ (k × d) are standard normal.

    Each row of the sketch is N(0, DᵀD + σ²I), as for a random projection with padding σ. Source:
    paper 3, the equation of GaussMix.

    rows : k ≥ 1, the number of mixtures, which are the rows of the sketch. sigma : σ > 0. release :
    as for `RandomProjection`.
    """

    rows: Count
    sigma: Positive
    release: Release = "sketch"
    summary = "Gaussian mixing, a sketch with Gaussian noise (paper 3)"
    adjustable = (Adjustable("sigma"), Adjustable("rows", -1, whole=True))

    @property
    def sizes(self) -> tuple[int, float]:
        return self.rows, self.sigma


@value_class(show_numbers=True, eq=True)
class RandomLinearCombination(ScatterDraw):
    """Release one random linear combination of the rows, Dᵀg with g standard normal.

    Output: (size, d). Source: paper 1, lemma 4.
    """

    summary = "one random linear combination of the rows (paper 1, lemma 4)"

    release = "sketch"

    @property
    def sizes(self) -> tuple[int, float]:
        return 1, 0.0


@value_class(show_numbers=True, eq=True)
class WishartDraw(ScatterDraw):
    """Release one draw of Wishart_d(DᵀD + w²I, k), a sufficient statistic of a sketch of k rows.

    Output: (size, d(d+1)/2), upper triangles. Source: paper 4, section 5.

    dof : k ≥ 1, the degrees of freedom; for k < d the draw is singular. padding : w ≥ 0.
    """

    dof: Count
    padding: NonNegative = 0.0
    summary = "one draw of a Wishart law about the second-moment matrix (paper 4, section 5)"
    adjustable = (Adjustable("padding", zero=True), Adjustable("dof", -1, whole=True))

    @property
    def sizes(self) -> tuple[int, float]:
        return self.dof, self.padding


@value_class(show_numbers=True, eq=True)
class InverseWishartDraw(WishartDraw):
    """Release one draw V of the inverse Wishart law W⁻¹_d(DᵀD + w²I, ν), a Bayesian posterior.

    With Σ = DᵀD + w²I, V⁻¹ is a Wishart draw of scale Σ⁻¹, so that vᵀV⁻¹v ~ vᵀΣ⁻¹v·χ²_ν for a row
    v. Its privacy loss is that of a sketch of ν rows with the two databases exchanged. Output:
    (size, d(d+1)/2), upper triangles. Source: paper 4, algorithm 4.

    dof : ν ≥ d, the degrees of freedom. padding : w ≥ 0; the paper's ψ is w².
    """

    inverted = True
    summary = "one draw of an inverse-Wishart posterior (paper 4, algorithm 4)"
    adjustable = (
        Adjustable("padding", zero=True),
        Adjustable("dof", -1, whole=True, by_columns=True),
    )

    def factor(self, data: Array) -> Factor:
        check_dof(self.dof, data.shape[1])
        return super().factor(data)

    def law(self, data: Array) -> InverseWishart:
        return InverseWishart(self.factor(data).root, self.dof)


@value_class(show_numbers=True, eq=True)
class AdditiveWishart(LawMechanism):
    """Release the second-moment matrix with Wishart noise, DᵀD + W with W ~ Wishart_d(s²I, k).

    Output: (size, d(d+1)/2), upper triangles. Source: paper 4, algorithm 3.

    dof : k ≥ d, the degrees of freedom: the noise is that of appending k random rows N(0, s²I).
    scale : s > 0; in the paper it is the bound on the rows' norms.
    """

    dof: Count
    scale: Positive
    summary = "the second-moment matrix plus Wishart noise (paper 4, algorithm 3)"
    zero_rows_matter = False
    adjustable = (Adjustable("scale"), Adjustable("dof", 1, whole=True, by_columns=True))

    def law(self, data: Array) -> ShiftedWishart:
        return ShiftedWishart(data.T @ data, self.scale * np.eye(data.shape[1]), self.dof)

    def zeroed_rows(self, data: Array) -> WishartRows:
        check_dof(self.dof, data.shape[1])
        square_norms = np.einsum("ij,ij->i", data, data)
        return WishartRows(square_norms / self.scale**2, self.dof, data.shape[1])

    def replaced_rows(self, data: Array, candidates: Array) -> ReplacedWishartRows:
        candidates = replacement.check_candidates(data, candidates)
        check_dof(self.dof, data.shape[1])
        old, new = data / self.scale, candidates / self.scale
        up, down = replacement.over_pairs(
            data,
            candidates,
            lambda rows: np.stack(replacement.difference_eigenvalues(old[rows], new)),
        )
        return ReplacedWishartRows(down, up, self.dof, data.shape[1])

    def added_row(self, data: Array, row_bound: float) -> WishartRows:
        """The pair for a row of norm `row_bound` in any direction: the noise is isotropic."""
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        check_dof(self.dof, data.shape[1])
        return WishartRows(np.array([bound**2]) / self.scale**2, self.dof, data.shape[1])
