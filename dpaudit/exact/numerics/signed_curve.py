"""A curve δ(ε) at any real ε, to be averaged over the privacy loss of another release.

Given the loss u of one release, what is left of ε for the others is ε − u, so
δ(ε) = E[δ'(ε − u)] + P(u = ∞) with δ' the curve of the others. Below 0 it follows from the other
direction: δ'(−e) = 1 − e^{−e} + e^{−e}·δ''(e). All terms are positive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.exact.numerics.log_series import LogSeries, convolution

Delta = Callable[[Array], Array]
STEPS = 12  # edges of the first mesh of a curve, each NARROWER than the last
NARROWER = 8.0
# of log δ: the accuracy of a contour integral
PRECISE = 2e-10
LEVELS = np.array([0.0, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0])  # 1 − e^{−e} between them is smooth
TINY = 1e-100  # of δ, below which a curve is not continued


@dataclass(frozen=True, eq=False, repr=False)
class SignedCurve:
    """log δ at real ε. `ahead`, `back`: log δ of both directions at ε ≥ 0, None where δ = 0.

    reach : the largest |ε| below 0.
    """

    ahead: LogSeries | None
    back: LogSeries | None
    reach: float

    @classmethod
    def pair(
        cls, curve: tuple[Delta, Delta] | None, reach: float
    ) -> tuple[SignedCurve, SignedCurve]:
        """Forward and backward, for |ε| ≤ reach; None for a release without any loss."""
        if curve is None:
            return cls(None, None, reach), cls(None, None, reach)
        edges = np.append(0.0, reach * NARROWER ** -np.arange(STEPS - 1.0, -1.0, -1.0))
        ahead, back = (LogSeries.of(log_of(delta), edges, PRECISE) for delta in curve)
        return cls(ahead, back, reach), cls(back, ahead, reach)

    def doubled(self, curve: tuple[Delta, Delta] | None) -> tuple[SignedCurve, SignedCurve]:
        """`pair` of the same curve for twice the reach, with the same panels up to here."""
        reach = 2.0 * self.reach
        if curve is None or self.ahead is None or self.back is None:
            return self.pair(None, reach)
        ahead, back = (
            series if series.edges[-1] < self.reach else _continued(series, delta, reach)
            for series, delta in zip((self.ahead, self.back), curve, strict=True)
        )
        return SignedCurve(ahead, back, reach), SignedCurve(back, ahead, reach)

    @property
    def edges(self) -> Array:
        """Between them it is smooth."""
        below = -np.append(LEVELS[self.reach > LEVELS], self.reach)
        series = [] if self.ahead is None or self.back is None else [self.ahead, self.back]
        parts = [sign * part.edges for sign, part in zip((1.0, -1.0), series, strict=False)]
        return np.unique(np.concatenate([below, *parts]))

    def __call__(self, x: Array, at: Array | None = None) -> Array:
        """log δ(x); `at`, of the sign of x, chooses the panels of the series."""
        at = x if at is None else at
        down = np.minimum(x, 0.0)
        with np.errstate(divide="ignore", under="ignore"):
            if self.ahead is None or self.back is None:
                return np.log(-np.expm1(down))
            low = np.log(-np.expm1(down) + np.exp(down + self.back(-down, np.maximum(-at, 0.0))))
        return np.where(at < 0.0, low, self.ahead(np.maximum(x, 0.0), np.maximum(at, 0.0)))

    def averaged(self, loss: LogSeries, epsilon: Array, parts: int) -> Array:
        """E[δ(ε − u)] over the finite part of the loss u, on a mesh `parts` times as fine."""
        return np.exp(convolution(loss, self, epsilon, parts))


def _continued(series: LogSeries, delta: Delta, reach: float) -> LogSeries:
    """Up to `reach`, unless δ has vanished: beyond a series it counts as 0."""
    start = series.edges[-1]
    if delta(start[None])[0] < TINY:
        return series
    return series.followed_by(LogSeries.of(log_of(delta), np.array([start, reach]), PRECISE))


def log_of(delta: Delta) -> Delta:
    """ε ↦ log δ(ε)."""

    def log_delta(x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(delta(x))

    return log_delta
