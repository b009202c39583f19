"""Random second-moment matrices: Wishart and inverse Wishart draws, and Wishart noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.linalg import Factor
from dpaudit._core.types import Adjustable, Array
from dpaudit.laws import (
    GaussianRows,
    InverseWishart,
    ReplacedWishartRows,
    ShiftedWishart,
    WishartRows,
)
from dpaudit.laws.matrices import check_dof
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import LawMechanism
from dpaudit.mechanisms.scatter import ScatterDraw


@dataclass(frozen=True)
class PaddedDraw(ScatterDraw):
    """A draw from a law of `dof` degrees of freedom whose scale or precision is DᵀD + w²I.

    dof : ≥ 1. padding : w ≥ 0. Raises `InvalidInput`.
    """

    dof: int
    padding: float = 0.0

    def __post_init__(self) -> None:
        check.integer("dof", self.dof, 1)
        check.real("padding", self.padding, 0.0)

    @property
    def gaussian_rows(self) -> int:
        """The degrees of freedom."""
        return self.dof

    @property
    def ridge(self) -> float:
        """The padding w."""
        return self.padding


@dataclass(frozen=True)
class WishartDraw(PaddedDraw):
    """One draw of Wishart_d(DᵀD + w²I, k), which is sufficient for a sketch of k rows.

    Output: (size, d(d+1)/2), upper triangles.

    Parameters
    ----------
    dof : int
        k ≥ 1, degrees of freedom; below d the draw is singular.
    padding : float ≥ 0
        The padding w.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    DegenerateData
        In a call, when the data leave the law undefined.

    References
    ----------
    Paper 4, section 5.
    """

    summary: ClassVar[str] = (
        "one draw of a Wishart law about the second-moment matrix (paper 4, section 5)"
    )
    adjustable: ClassVar[tuple[Adjustable, ...]] = (
        Adjustable("padding", zero=True),
        Adjustable("dof", -1, whole=True),
    )

    def law(self, data: Array) -> GaussianRows:
        """The law of the Gram matrix of k Gaussian rows."""
        return GaussianRows(self.factor(data).root, self.dof, "gram")


@dataclass(frozen=True)
class InverseWishartDraw(PaddedDraw):
    """One draw V of the inverse Wishart W⁻¹_d(DᵀD + w²I, ν), a Bayesian posterior.

    V⁻¹ is a Wishart draw of scale Σ⁻¹, so vᵀV⁻¹v ~ vᵀΣ⁻¹v·χ²_ν: the two directions are those of a
    sketch of ν rows, swapped. Output: (size, d(d+1)/2), upper triangles.

    Parameters
    ----------
    dof : int
        ν ≥ d, degrees of freedom.
    padding : float ≥ 0
        w; w² is the paper's ψ.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    DegenerateData
        In a call, when the data leave the law undefined.

    References
    ----------
    Paper 4, algorithm 4.
    """

    summary: ClassVar[str] = "one draw of an inverse-Wishart posterior (paper 4, algorithm 4)"
    adjustable: ClassVar[tuple[Adjustable, ...]] = (
        Adjustable("padding", zero=True),
        Adjustable("dof", -1, whole=True, by_columns=True),
    )
    inverted: ClassVar[bool] = True

    def factor(self, data: Array) -> Factor:
        """Thin QR of [D; w·I]. Raises `InvalidInput` for ν < d, besides `DegenerateData`."""
        check_dof(self.dof, data.shape[1])
        return super().factor(data)

    def law(self, data: Array) -> InverseWishart:
        """Inverse Wishart of scale DᵀD + w²I."""
        return InverseWishart(self.factor(data).root, self.dof)


@dataclass(frozen=True)
class AdditiveWishart(LawMechanism):
    """The second-moment matrix plus Wishart noise, DᵀD + W with W ~ Wishart_d(s²I, k).

    Output: (size, d(d+1)/2), upper triangles.

    Parameters
    ----------
    dof : int
        k ≥ d, the number of random rows N(0, s²I) that are appended to the data.
    scale : float > 0
        The scale s. The paper takes the bound on the rows' norms.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.

    References
    ----------
    Paper 4, algorithm 3.
    """

    dof: int
    scale: float
    summary: ClassVar[str] = "the second-moment matrix plus Wishart noise (paper 4, algorithm 3)"
    zero_rows_matter = False
    adjustable: ClassVar[tuple[Adjustable, ...]] = (
        Adjustable("scale"),
        Adjustable("dof", 1, whole=True, by_columns=True),
    )

    def __post_init__(self) -> None:
        check.integer("dof", self.dof, 1)
        check.real("scale", self.scale, 0.0, open_=True)

    def law(self, data: Array) -> ShiftedWishart:
        """A Wishart law shifted by DᵀD."""
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
