"""A zeroed row of a noisy sketch: how much it weighs at any noise, and the pair in which it weighs
most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpaudit._core.check import Array
from dpaudit.neighbours import NeighbourPair, zero_row

if TYPE_CHECKING:
    from dpaudit.exact import PrivacyLoss


@dataclass(frozen=True, eq=False)
class Projected:
    """A zeroed row on the singular axes of the full database: q = vᵀ(DᵀD + w²I)⁻¹v for any w."""

    scale: Array
    row: Array
    rows: int

    @classmethod
    def of(cls, data: Array, index: int, rows: int) -> Projected:
        basis, scale, _ = np.linalg.svd(data, full_matrices=False)
        return cls(scale, basis[index], rows)

    def leverage(self, noise: float) -> float:
        weight = self.scale**2 + noise**2
        share = np.divide(self.scale**2, weight, out=np.ones_like(weight), where=weight > 0.0)
        return min(float(np.sum(self.row**2 * share)), 1.0)

    def loss(self, noise: float) -> PrivacyLoss:
        """The loss of a sketch with noise w."""
        from dpaudit.exact import PrivacyLoss

        leverage = self.leverage(noise)
        if leverage > 1.0 - 1e-12:
            return PrivacyLoss.certain("χ² of the rows")
        return PrivacyLoss.gaussian_sketch(leverage, self.rows)


def axis_pair(row_bound: float, eigenvalue: float) -> NeighbourPair:
    """Two columns with DᵀD = λC²·I (a little more on the second axis), λ ≥ 1; a row (C, 0) is
    zeroed.
    """
    return zero_row(row_bound * _rows(eigenvalue, 1.0), 0)


def labelled_pair(row_bound: float, label_bound: float, eigenvalue: float) -> NeighbourPair:
    """The same turned, one feature and a label: the zeroed row is (C_X, C_Y), and all are within
    both bounds.
    """
    size = math.hypot(row_bound, label_bound)
    x, y = row_bound / size, label_bound / size
    rows = size * _rows(eigenvalue, 0.999 * min(x / y, y / x)) @ np.array([[x, y], [-y, x]])
    rows[0] = row_bound, label_bound
    return zero_row(rows, 0)


def _rows(eigenvalue: float, longest: float) -> Array:
    """Rows for C = 1, those on the second axis no longer than `longest`."""
    first, second = max(1, math.ceil(eigenvalue)), math.ceil(1.0001 * eigenvalue / longest**2)
    rest = math.sqrt(max(eigenvalue - 1.0, 0.0) / first)
    parts = [
        [[1.0, 0.0]],
        [[rest, 0.0]] * first,
        [[0.0, math.sqrt(1.0001 * eigenvalue / second)]] * second,
    ]
    rows = np.array([row for part in parts for row in part])
    return np.asarray(rows[np.any(rows != 0.0, axis=1)])
