"""Gaussian sketches of a database, Wishart and inverse Wishart draws of it, and Wishart noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.linalg import Factor, factorise, padded
from dpaudit._core.types import Adjustable, Array
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
    """r Gaussian rows of covariance Σ = DᵀD + w²I, or a statistic that is sufficient for Σ.

    inverted : Σ is the precision of the rows instead.

    Such releases differ in form, not in their privacy loss. With q = vᵀΣ⁻¹v a zeroed row v is one
    χ² problem (dpaudit.exact.gaussian_sketch), and a replaced row changes the scale on two axes.
    """

    inverted: ClassVar[bool] = False
    zero_rows_matter = False

    @property
    def gaussian_rows(self) -> int:
        """r, the number of Gaussian rows."""
        raise NotImplementedError

    @property
    def ridge(self) -> float:
        """w ≥ 0."""
        return 0.0

    def factor(self, data: Array) -> Factor:
        """Thin QR of [D; w·I]. Raises `DegenerateData` for dependent columns, if w = 0."""
        return factorise(padded(data, self.ridge))

    def zeroed_rows(self, data: Array) -> SketchRows:
        """q of each row is its leverage in [D; w·I]."""
        factor, n = self.factor(data), len(data)
        return SketchRows(factor.leverage[:n], factor.room[:n], self.gaussian_rows, self.inverted)

    def replaced_rows(self, data: Array, candidates: Array) -> ScaleRows:
        candidates = replacement.check_candidates(data, candidates)
        factor = self.factor(data)
        old, new = factor.basis[: len(data)], replacement.whitened(factor, candidates)
        up, down = replacement.over_pairs(
            data, candidates, lambda rows: replacement.eigenvalue_changes(old[rows], new)
        )
        return ScaleRows(up, down, self.gaussian_rows, self.inverted)

    def added_row(self, data: Array, row_bound: float) -> SketchRows:
        """A row of norm C along the axis of Σ of least variance.

        There u = vᵀΣ⁻¹v has its largest value C²/λ_min(Σ). Once v is part of Σ this is
        q = u/(1 + u).
        """
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        ratio = (bound / np.linalg.svd(self.factor(data).root, compute_uv=False)[-1]) ** 2
        leverage, room = np.array([ratio / (1.0 + ratio)]), np.array([1.0 / (1.0 + ratio)])
        return SketchRows(leverage, room, self.gaussian_rows, self.inverted)


class SketchRelease(ScatterDraw):
    """The release of a Gaussian sketch, or of its Gram matrix."""

    rows: int
    release: str

    @property
    def gaussian_rows(self) -> int:
        return self.rows

    def law(self, data: Array) -> GaussianRows:
        return GaussianRows(self.factor(data).root, self.rows, self.release)


@dataclass(frozen=True)
class RandomProjection(SketchRelease):
    """Random projection: the r rows of Π[D; w·I], Π standard normal.

    Output: (size, r·d) or (size, d(d+1)/2). Source: paper 1, lemma 5 (w = 0); paper 4, algorithm 1.

    Parameters
    ----------
    rows : int
        r ≥ 1.
    release : {"sketch", "gram"}, default "sketch"
        "sketch", the (r, d) matrix itself, flattened; or "gram", the upper triangle of (ΠD)ᵀΠD,
        which is sufficient for the law (so the spectrum is the same) and much smaller when r is
        large.
    padding : float ≥ 0, default 0
        The padding w. Paper 4 prints the Gram matrix divided by r, which has the same privacy.
    """

    rows: Count
    release: Release = "sketch"
    padding: NonNegative = 0.0
    summary = (
        "random projection, the Gaussian sketch itself (paper 1, lemma 5; paper 4, algorithm 1)"
    )
    adjustable = (Adjustable("padding", zero=True), Adjustable("rows", -1, whole=True))

    @property
    def ridge(self) -> float:
        return self.padding


@dataclass(frozen=True)
class GaussMix(SketchRelease):
    """Gaussian mixing, SD + σξ with S (k × n) and ξ (k × d) standard normal.

    A row is N(0, DᵀD + σ²I), as of a random projection with padding σ. Output: (size, k·d) or
    (size, d(d+1)/2). Source: paper 3, the equation of GaussMix.

    Parameters
    ----------
    rows : int
        k ≥ 1, number of mixtures.
    sigma : float > 0
        σ.
    release : {"sketch", "gram"}, default "sketch"
        The sketch itself or its Gram matrix, as for `RandomProjection`.
    """

    rows: Count
    sigma: Positive
    release: Release = "sketch"
    summary = "Gaussian mixing, a sketch with Gaussian noise (paper 3)"
    adjustable = (Adjustable("sigma"), Adjustable("rows", -1, whole=True))

    @property
    def ridge(self) -> float:
        return self.sigma


@dataclass(frozen=True)
class RandomLinearCombination(ScatterDraw):
    """Random linear combination of the rows, Dᵀg with g standard normal (paper 1, lemma 4).

    Output: (size, d).
    """

    summary = "one random linear combination of the rows (paper 1, lemma 4)"

    @property
    def gaussian_rows(self) -> int:
        return 1

    def law(self, data: Array) -> GaussianRows:
        return GaussianRows(self.factor(data).root, 1)


@dataclass(frozen=True)
class WishartDraw(ScatterDraw):
    """One draw of Wishart_d(DᵀD + w²I, k), which is sufficient for a sketch of k rows.

    Output: (size, d(d+1)/2), upper triangles. Source: paper 4, section 5.

    Parameters
    ----------
    dof : int
        k ≥ 1, degrees of freedom; below d the draw is singular.
    padding : float ≥ 0
        The padding w.
    """

    dof: Count
    padding: NonNegative = 0.0
    summary = "one draw of a Wishart law about the second-moment matrix (paper 4, section 5)"
    adjustable = (Adjustable("padding", zero=True), Adjustable("dof", -1, whole=True))

    @property
    def gaussian_rows(self) -> int:
        return self.dof

    @property
    def ridge(self) -> float:
        return self.padding

    def law(self, data: Array) -> Law:
        return GaussianRows(self.factor(data).root, self.dof, "gram")


@dataclass(frozen=True)
class InverseWishartDraw(WishartDraw):
    """One draw V of the inverse Wishart W⁻¹_d(DᵀD + w²I, ν), a Bayesian posterior.

    V⁻¹ is a Wishart draw of scale Σ⁻¹, so vᵀV⁻¹v ~ vᵀΣ⁻¹v·χ²_ν: the two directions are those of a
    sketch of ν rows, swapped. Output: (size, d(d+1)/2), upper triangles. Source: paper 4,
    algorithm 4.

    Parameters
    ----------
    dof : int
        ν ≥ d, degrees of freedom.
    padding : float ≥ 0
        w; w² is the paper's ψ.
    """

    inverted = True
    summary = "one draw of an inverse-Wishart posterior (paper 4, algorithm 4)"
    adjustable = (
        Adjustable("padding", zero=True),
        Adjustable("dof", -1, whole=True, by_columns=True),
    )

    def factor(self, data: Array) -> Factor:
        """Thin QR of [D; w·I]. Raises `InvalidInput` for ν < d, besides `DegenerateData`."""
        check_dof(self.dof, data.shape[1])
        return super().factor(data)

    def law(self, data: Array) -> InverseWishart:
        return InverseWishart(self.factor(data).root, self.dof)


@dataclass(frozen=True)
class AdditiveWishart(LawMechanism):
    """The second-moment matrix plus Wishart noise, DᵀD + W with W ~ Wishart_d(s²I, k).

    Output: (size, d(d+1)/2), upper triangles. Source: paper 4, algorithm 3.

    Parameters
    ----------
    dof : int
        k ≥ d, the number of random rows N(0, s²I) that are appended to the data.
    scale : float > 0
        The scale s. The paper takes the bound on the rows' norms.
    """

    dof: Count
    scale: Positive
    summary = "the second-moment matrix plus Wishart noise (paper 4, algorithm 3)"
    zero_rows_matter = False
    adjustable = (Adjustable("scale"), Adjustable("dof", 1, whole=True, by_columns=True))

    def law(self, data: Array) -> ShiftedWishart:
        return ShiftedWishart(data.T @ data, self.scale * np.eye(data.shape[1]), self.dof)

    def zeroed_rows(self, data: Array) -> WishartRows:
        """The square norm of each row, in units of s²."""
        return self._rows(np.einsum("ij,ij->i", data, data), data.shape[1])

    def replaced_rows(self, data: Array, candidates: Array) -> ReplacedWishartRows:
        """Two eigenvalues of (vvᵀ − uuᵀ)/s² for each pair of a row v and a candidate u."""
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
        """Any row of the largest norm: the noise is the same in all directions."""
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        return self._rows(np.array([bound**2]), data.shape[1])

    def _rows(self, square_norms: Array, dim: int) -> WishartRows:
        check_dof(self.dof, dim)
        return WishartRows(square_norms / self.scale**2, self.dof, dim)
