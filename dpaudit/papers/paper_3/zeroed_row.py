"""A zeroed row of a noisy sketch SD + wξ: its leverage and its privacy loss for any noise w."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.spectrum import Curve
from dpaudit.exact import PrivacyLoss
from dpaudit.exact.zeroed_rows.als import StudentCurve


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedRow:
    """A zeroed row where the sketch is released: q = vᵀ(DᵀD + w²I)⁻¹v, on D's singular axes.

    scale : singular values of the full database, (d,). row : the row on the left singular vectors.
    rows : k, of the sketch.
    """

    scale: Array
    row: Array
    rows: int

    @classmethod
    def of(cls, data: Array, index: int, rows: int) -> ReleasedRow:
        """Row `index` of the data, for sketches of k = `rows` rows."""
        basis, scale, _ = np.linalg.svd(data, full_matrices=False)
        return cls(scale, basis[index], rows)

    def leverage(self, noise: float) -> float:
        """q with w = `noise`."""
        return min(float(np.sum(self.row**2 * _kept(self.scale, noise))), 1.0)

    def loss(self, noise: float) -> PrivacyLoss:
        """The privacy loss of a sketch with w = `noise`."""
        leverage = self.leverage(noise)
        if leverage > 1.0 - 1e-12:
            return PrivacyLoss.disjoint("χ² of the rows")
        return PrivacyLoss.gaussian_sketch(leverage, self.rows)


@dataclass(frozen=True, eq=False, repr=False)
class SolvedRow:
    """A zeroed row where least squares is solved on the sketch: its leverage and residual share.

    The solution is that of a sketch of [D; wI]. scale : singular values of the features, (p,).
    row, along : coordinates of the row, and of the labels y, on the left singular vectors.
    label : the row's label. rest : squared norm of the part of y orthogonal to these vectors.
    rows : k, of the sketch.
    """

    scale: Array
    row: Array
    along: Array
    label: float
    rest: float
    rows: int

    @classmethod
    def of(cls, data: Array, index: int, rows: int) -> SolvedRow:
        """Row `index` of the data, label last, for sketches of k = `rows` rows."""
        features, label = data[:, :-1], data[:, -1]
        basis, scale, _ = np.linalg.svd(features, full_matrices=False)
        along = basis.T @ label
        rest = float(np.sum((label - basis @ along) ** 2))
        return cls(scale, basis[index], along, float(label[index]), rest, rows)

    def shares(self, noise: float) -> tuple[float, float]:
        """(leverage h, residual share t) with w = `noise`."""
        kept = _kept(self.scale, noise)
        leverage = min(float(np.sum(self.row**2 * kept)), 1.0)
        residual = self.label - float(np.sum(self.row * kept * self.along))
        total = self.rest + noise**2 + float(np.sum(self.along**2 * (1.0 - kept)))
        room = (1.0 - leverage) * total
        return leverage, min(residual**2 / room, 1.0) if room > 0.0 else 0.0

    def curve(self, noise: float) -> Curve:
        """δ(ε) of the solution with w = `noise`."""
        return StudentCurve(*self.shares(noise), len(self.scale), self.rows)


def _kept(scale: Array, noise: float) -> Array:
    """s²/(s² + w²) on each axis, 1 where both are 0."""
    weight = scale**2 + noise**2
    return np.divide(scale**2, weight, out=np.ones_like(weight), where=weight > 0.0)
