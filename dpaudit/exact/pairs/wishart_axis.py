"""One of the two numbers s and t that the loss of a replaced row beside Wishart noise depends on.

c = size·cosh²(place) in [size, ∞), and ln(c/(c − size)) = −2 ln tanh(place): in `place` both laws
are smooth, near c = size and far away. `root` is √(c − size) of s, whose law given the left
database is χ, and √c of t, where a χ stands for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit._core.types import Array
from dpaudit.exact.zeroed_rows.gaussian_sketch import log_chi

FAR = 38.5  # beyond √freedom, in units of χ: e^{−740}
FARTHEST = 300.0  # a place that stands for infinity
LEAST = 1e-150
NEWTON = 6
LINEAR, FROM_ZERO = np.linspace(-FAR, FAR, 65), np.linspace(0.0, 1.0, 33)  # first looked at


@dataclass(frozen=True)
class Axis:
    """shifted : whether the root is √(c − size)."""

    size: float
    freedom: int
    shifted: bool

    @cached_property
    def scale(self) -> float:
        """√size."""
        return float(np.sqrt(self.size))

    @cached_property
    def mode(self) -> float:
        """Of χ."""
        return float(np.sqrt(self.freedom - 1.0))

    @cached_property
    def far(self) -> float:
        """The place beyond which there is no mass."""
        return float(self.place(np.asarray(np.sqrt(self.freedom) + FAR)))

    def root(self, place: Array) -> Array:
        """At each place."""
        return np.asarray(self.scale * (np.sinh(place) if self.shifted else np.cosh(place)))

    def place(self, root: Array) -> Array:
        """Where the root is this, or would be if it were larger."""
        ratio = root / self.scale
        return np.asarray(
            np.arcsinh(np.maximum(ratio, 0.0))
            if self.shifted
            else np.arccosh(np.maximum(ratio, 1.0))
        )

    def value(self, place: Array) -> Array:
        """The degrees of freedom c."""
        return np.asarray((self.scale * np.cosh(place)) ** 2)

    def log_ratio(self, place: Array) -> Array:
        """ln(c/(c − size))."""
        return np.asarray(np.log1p(1.0 / np.maximum(np.sinh(place), LEAST) ** 2))

    def at_ratio(self, log_ratio: Array) -> Array:
        """The place where ln(c/(c − size)) is this; FARTHEST where it is ≤ 0."""
        with np.errstate(over="ignore"):
            ratio = np.expm1(np.maximum(log_ratio, LEAST**2))
        return np.minimum(np.arcsinh(ratio**-0.5), FARTHEST)

    def log_density(self, place: Array) -> Array:
        """log of χ at the root, per unit of place."""
        low, high = self.scale * np.sinh(place), self.scale * np.cosh(place)
        root, slope = (low, high) if self.shifted else (high, low)
        with np.errstate(divide="ignore"):
            return np.asarray(log_chi(root, self.freedom) + np.log(slope))

    def likeliest(self, low: Array, high: Array) -> Array:
        """The place between two where χ is largest."""
        return np.clip(self.top, low, high)

    @cached_property
    def top(self) -> float:
        """The place of the mode."""
        return float(self.place(np.asarray(self.mode)))

    def log_height(self, low: Array, high: Array) -> Array:
        """log of the largest χ between two places."""
        return log_chi(np.clip(self.mode, self.root(low), self.root(high)), self.freedom)

    def window(self, low: Array, high: Array, drop: Array | float) -> tuple[Array, Array]:
        """The part of [low, high], two places, where log χ is within `drop` of its largest there.

        At least: log χ has a second derivative of at most −1 in the root, and falls in u = ln root
        below its mode by freedom·(u − ½(1 − e^{−2u})) or more.
        """
        first, last = self.root(low), self.root(high)
        peak = np.clip(self.mode, first, last)
        slope = (self.freedom - 1.0) / np.maximum(peak, LEAST) - peak
        shrunk = peak * np.exp(-log_reach(drop / self.freedom))
        left = np.maximum(peak - _reach(np.maximum(slope, 0.0), drop), shrunk)
        right = peak + _reach(np.maximum(-slope, 0.0), drop)
        return (
            np.where(left > first, self.place(left), low),
            np.where(right < last, self.place(right), high),
        )

    def scanned(self, end: Array) -> Array:
        """Places up to each end, (k,), where the law is first looked at: (k, points), ascending."""
        end = np.minimum(end, self.far)[:, None]
        roots = self.place(np.maximum(np.sqrt(self.freedom) + LINEAR, 0.0))
        return np.sort(np.hstack([np.minimum(roots, end), end * FROM_ZERO]), axis=1)


def _reach(slope: Array, drop: Array | float) -> Array:
    """The x with slope·x + ½x² = drop."""
    return np.asarray(2.0 * drop / (slope + np.sqrt(slope**2 + 2.0 * drop)))


def log_reach(share: Array | float) -> Array:
    """The u with u − ½(1 − e^{−2u}) = share, by Newton's rule from above."""
    u = np.asarray(share + np.sqrt(share))
    for _ in range(NEWTON):
        slope = -np.expm1(-2.0 * u)
        u = u - (u - 0.5 * slope - share) / slope
    return u
