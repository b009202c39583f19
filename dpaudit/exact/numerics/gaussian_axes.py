"""Two Gaussians with covariances diagonal on the same axes, and their privacy loss.

On one axis N(0, 1) against N(m, v) has L(z) = a z² + b z + c under z ~ N(0, 1), with
a = −(v − 1)/(2v), b = −m/v and c = m²/(2v) + ½ ln v. So
M(s) = (1 − 2as)^{−½} exp(cs + b²s²/(2(1 − 2as))), and independent axes multiply.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.gaussian_shift import gaussian_shift
from dpaudit.exact.numerics.contour import LossTransform, hockey_stick
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon

BLOCK = 1 << 17  # complex numbers at a time: stays in cache


@dataclass(frozen=True, eq=False, repr=False)
class Axes:
    """N(0, 1) against N(shift, ratio) on independent axes; arrays of shape (k,).

    count : copies of each axis. excess : ratio − 1, kept beside `ratio` so that neither
    nearly equal nor very unequal variances lose their digits.
    """

    shift: Array
    excess: Array
    ratio: Array
    count: Array

    @classmethod
    def of_excess(cls, shift: Array, excess: Array, count: Array) -> Axes:
        """The axes with `count` ≥ 1, from the excess of their variance ratios."""
        used = count > 0
        return cls(shift[used], excess[used], 1.0 + excess[used], count[used])

    def reversed(self) -> Axes:
        """The second law against the first, in coordinates where the second is N(0, 1)."""
        return Axes(
            -self.shift / np.sqrt(self.ratio),
            -self.excess / self.ratio,
            1.0 / self.ratio,
            self.count,
        )

    @property
    def distance(self) -> float | None:
        """‖shift‖ in standard deviations if the covariances are equal, else None."""
        return (
            float(np.sqrt(np.sum(self.count * self.shift**2))) if not np.any(self.excess) else None
        )

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ, arrays of the shape of `epsilon`."""
        if self.distance is not None:
            shift = gaussian_shift(self.distance, epsilon)
            return shift, shift
        forward, backward = self.transform(), self.reversed().transform()
        return by_sorted_epsilon(
            epsilon, lambda e: (hockey_stick(forward, e), hockey_stick(backward, e))
        )

    def transform(self) -> LossTransform:
        """Moment function of log dP/dQ under the first law."""
        a, b = -0.5 * self.excess / self.ratio, -self.shift / self.ratio
        log_ratio = np.where(
            np.abs(self.excess) < 0.5, np.log1p(np.maximum(self.excess, -0.5)), np.log(self.ratio)
        )
        c = float(np.sum(self.count * (0.5 * self.shift**2 / self.ratio + 0.5 * log_ratio)))
        curved = a != 0.0
        top = c - float(np.sum(self.count[curved] * b[curved] ** 2 / (4.0 * a[curved])))
        bounded = bool(np.all(a <= 0.0) and np.all(b[~curved] == 0.0))
        each = _merged(a, b, self.count)
        return LossTransform(
            _log_m(*each, c),
            lambda s: _slope(*each, c, s),
            lambda s: _curvature(*each, s),
            end=float(1.0 / (2.0 * a.max())) if a.max() > 0.0 else np.inf,
            maximum=top if bounded else np.inf,
        )


def _merged(a: Array, b: Array, count: Array) -> tuple[Array, Array, Array]:
    """Each distinct axis once, and all straight ones (a = 0) as one; with b² for b."""
    straight = a == 0.0
    if straight.any():
        pull = float(np.sum((count * b**2)[straight]))
        a, b = np.append(a[~straight], 0.0), np.append(b[~straight], np.sqrt(pull))
        count = np.append(count[~straight], 1.0)
    distinct, back = np.unique(np.column_stack([a, b**2]), axis=0, return_inverse=True)
    return distinct[:, 0], distinct[:, 1], np.bincount(back.ravel(), count).astype(np.float64)


def _log_m(a: Array, b2: Array, count: Array, c: float):  # type: ignore[no-untyped-def]
    """The function log M(s) of the axes, in blocks of s."""
    step = max(1, BLOCK // len(a))

    def log_m(s: np.ndarray) -> np.ndarray:
        return c * s + np.concatenate([part(s[at : at + step]) for at in range(0, len(s), step)])

    def part(s: np.ndarray) -> np.ndarray:
        bent = -2.0 * np.multiply.outer(s, a)  # room − 1
        pull = s * s * _over_axes(1.0 / (1.0 + bent), count * b2) if b2.any() else 0.0
        return np.asarray(0.5 * (pull - _over_axes(np.log1p(bent), count)))

    return log_m


def _slope(a: Array, b2: Array, count: Array, c: float, s: Array) -> Array:
    """K′(s) at real s, (k,)."""
    s = s[:, None]
    room = 1.0 - 2.0 * a * s
    return np.asarray(c + _over_axes(a / room + b2 * s * (1.0 - a * s) / room**2, count))


def _curvature(a: Array, b2: Array, count: Array, s: Array) -> Array:
    """K″(s) at real s, (k,)."""
    room = 1.0 - 2.0 * a * s[:, None]
    return _over_axes(2.0 * a**2 / room**2 + b2 / room**3, count)


def _over_axes(values: np.ndarray, weight: Array) -> np.ndarray:
    """values @ weight without BLAS, whose threads wait for one another on a busy machine.

    That made it 10 times slower at d = 100.
    """
    return np.asarray(np.einsum("ij,j->i", values, weight))
