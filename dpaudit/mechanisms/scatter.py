"""What all draws from Gaussian rows share: they know the data through the scatter matrix DᵀD + w²I
alone.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit._core.linalg import Factor, factorise, padded
from dpaudit.laws import ScaleRows, SketchRows
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import LawMechanism


class ScatterDraw(LawMechanism):
    """`draws` Gaussian rows of covariance Σ = DᵀD + w²I (or precision Σ, if `inverted`), or what is
    sufficient for it.

    Such releases differ in form, not in their privacy loss: with q = vᵀΣ⁻¹v a zeroed row v is one
    χ² problem (dpaudit.exact.gaussian_sketch), and a replaced one changes the scale on two axes.
    """

    inverted: ClassVar[bool] = False

    @property
    def draws(self) -> int:
        """Number r of Gaussian rows."""
        raise NotImplementedError

    @property
    def ridge(self) -> float:
        """w ≥ 0."""
        return 0.0

    def factor(self, data: Array) -> Factor:
        """Thin QR of [D; w·I]. Raises `DegenerateData` for dependent columns, which w > 0 rules
        out.
        """
        return factorise(padded(data, self.ridge))

    def zeroed_rows(self, data: Array) -> SketchRows:
        return SketchRows(self.factor(data).leverage[: len(data)], self.draws, self.inverted)

    def replaced_rows(self, data: Array, candidates: Array) -> ScaleRows:
        candidates = replacement.checked(data, candidates)
        factor = self.factor(data)
        old, new = factor.basis[: len(data)], replacement.white(factor, candidates)
        up, down = replacement.over_pairs(
            data, candidates, lambda rows: replacement.scales(old[rows], new)
        )
        return ScaleRows(up, down, self.draws, self.inverted)

    def added_row(self, data: Array, row_bound: float) -> SketchRows:
        """A row along the weakest axis of Σ: u = C²/λ_min(Σ) is the largest vᵀΣ⁻¹v, q = u/(1 + u)
        once v is in Σ.
        """
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        ratio = (bound / np.linalg.svd(self.factor(data).root, compute_uv=False)[-1]) ** 2
        return SketchRows(np.array([ratio / (1.0 + ratio)]), self.draws, self.inverted)
