"""The base of mechanisms that draw Gaussian rows whose covariance or precision is DᵀD + w²I."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.linalg import Factor, factorise, padded
from dpaudit._core.types import Array
from dpaudit.laws import ScaleRows, SketchRows
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import LawMechanism


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
        """Two eigenvalues of Σ⁻¹Σ' for each pair of a row and a candidate."""
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
