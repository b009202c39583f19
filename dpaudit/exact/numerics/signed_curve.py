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
from dpaudit.exact.numerics.log_series import AGREE, LogSeries, convolution, unresolved

Delta = Callable[[Array], Array]
STEPS = 12  # edges of the first mesh of a curve, each NARROWER than the last
NARROWER = 8.0
# of log δ: the accuracy of a contour integral
PRECISE = 2e-10
LEVELS = np.array([0.0, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0])  # 1 − e^{−e} between them is smooth
TINY = 1e-300
LEAST = 1e-13  # of δ, below which two meshes may differ


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
        ahead, back = (LogSeries.of(_log(delta), edges, PRECISE) for delta in curve)
        return cls(ahead, back, reach), cls(back, ahead, reach)

    @property
    def edges(self) -> Array:
        """Between them it is smooth."""
        below = -np.append(LEVELS[self.reach > LEVELS], self.reach)
        series = [] if self.ahead is None or self.back is None else [self.ahead, self.back]
        parts = [sign * part.edges for sign, part in zip((1.0, -1.0), series, strict=False)]
        return np.unique(np.concatenate([below, *parts]))

    def __call__(self, x: Array) -> Array:
        """log δ(x)."""
        down = np.minimum(x, 0.0)
        share = -np.expm1(down)
        if self.ahead is None or self.back is None:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(share))
        with np.errstate(divide="ignore", under="ignore"):
            low = np.log(share + np.exp(down + self.back(-down)))
        return np.where(x < 0.0, low, self.ahead(x))

    def averaged(self, loss: LogSeries, epsilon: Array) -> Array:
        """E[δ(ε − u)] over the finite part of the loss u; two meshes must agree.

        Raises `NoExactSpectrum`.
        """
        once, twice = (np.exp(convolution(loss, self, epsilon, parts)) for parts in (1, 2))
        if np.any(np.abs(once - twice) > AGREE * np.maximum(twice, LEAST)):
            unresolved("two meshes of an average over losses disagree")
        return twice


def _log(delta: Delta) -> Delta:
    def log_delta(x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(delta(x))

    return log_delta
