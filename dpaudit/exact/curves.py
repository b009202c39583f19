"""Exact curves of laws whose privacy loss has no moment function of its own, and the largest of
several curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core.check import Array, real
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.pairs.student_t import largest_losses, student_pair
from dpaudit.exact.zeroed_rows import als_finite
from dpaudit.laws import StudentT


@dataclass(frozen=True)
class StudentCurve:
    """ALS at finite `rows`, one row zeroed; see `dpaudit.exact.als`."""

    leverage: float
    residual_share: float
    features: int
    rows: int

    def delta(self, epsilon: Any) -> tuple[Array, Array]:
        return als_finite.finite(
            self.leverage, self.residual_share, self.features, self.rows, epsilon
        )

    def renyi(self, order: float) -> tuple[float, float]:
        order = real("order", order, 0.0, open_=True)
        return als_finite.renyi(self.leverage, self.residual_share, self.features, self.rows, order)

    @property
    def supremum(self) -> tuple[float, float]:
        return als_finite.pure_limits(self.leverage, self.residual_share, self.features, self.rows)


@dataclass(frozen=True, eq=False)
class StudentPairCurve:
    """Any two Student laws of one shape."""

    left: StudentT
    right: StudentT

    def delta(self, epsilon: Any) -> tuple[Array, Array]:
        return student_pair(self.left, self.right, epsilon)

    def renyi(self, order: float) -> tuple[float, float]:
        raise NoExactSpectrum(
            "no closed form for the Rényi divergence of two Student t laws that differ by more "
            "than a zeroed row; use delta_at, or law='asymptotic'"
        )

    @property
    def supremum(self) -> tuple[float, float]:
        return largest_losses(self.left, self.right)


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest of several curves at every ε, by direction."""

    curves: tuple[Curve, ...]

    def delta(self, epsilon: Any) -> tuple[Array, Array]:
        forward, backward = zip(*(curve.delta(epsilon) for curve in self.curves), strict=True)
        return np.max(forward, axis=0), np.max(backward, axis=0)

    def renyi(self, order: float) -> tuple[float, float]:
        return _by_direction([curve.renyi(order) for curve in self.curves])

    @property
    def supremum(self) -> tuple[float, float]:
        return _by_direction([curve.supremum for curve in self.curves])


def _by_direction(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    forward, backward = zip(*pairs, strict=True)
    return max(forward), max(backward)
