"""Additive Wishart noise composed with itself and with other releases.

Contours are of no use here: the moment function has poles on either side, and with few degrees of
freedom it falls off slowly. So the densities of the losses are convolved, and the curve of the
other releases is averaged over their sum. All terms are positive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from dpaudit._core.types import Array, ArrayLike
from dpaudit.exact.numerics.log_series import AGREE, LogSeries, unresolved
from dpaudit.exact.numerics.signed_curve import Delta, SignedCurve
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.zeroed_rows.wishart_loss import WishartLoss


@dataclass(frozen=True, repr=False)
class WishartPart:
    """One release; `swapped` where forward is zeroed → full."""

    loss: WishartLoss
    swapped: bool = False

    def reversed(self) -> WishartPart:
        """The two directions swapped."""
        return WishartPart(self.loss, not self.swapped)

    @property
    def density(self) -> LogSeries:
        """Of the finite part of the loss, forward."""
        return self.loss.density.mirrored() if self.swapped else self.loss.density

    @property
    def point(self) -> float:
        """The one finite value of a constant loss, forward."""
        return -self.loss.z if self.swapped else self.loss.z

    def floor(self, forward: bool) -> float:
        """P(L = ∞)."""
        return self.loss.floor if forward == self.swapped else 0.0


Counted = tuple[tuple[WishartPart, int], ...]


@dataclass(frozen=True, eq=False, repr=False)
class WishartComposition:
    """Parts with how often each is released, and the curves of all other releases.

    rest : δ forward and backward at ε ≥ 0, (m,) → (m,); None where there are no others.
    """

    parts: Counted
    rest: tuple[Delta, Delta] | None

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`.

        Raises `InvalidInput`; `NoExactSpectrum` where two meshes disagree.
        """
        return by_sorted_epsilon(epsilon, self._both)

    def _both(self, epsilon: Array) -> Curves:
        points = sum(k * part.point for part, k in self._constant)
        far = 0.0 if self.density is None else float(np.abs(self.density.edges).max())
        reach = float(epsilon.max()) + abs(points) + far + 1.0
        ahead, back = SignedCurve.pair(self.rest, reach)
        mirrored = None if self.density is None else self.density.mirrored()
        return (
            self._direction(ahead, self.density, epsilon - points, True),
            self._direction(back, mirrored, epsilon + points, False),
        )

    def _direction(
        self, curve: SignedCurve, density: LogSeries | None, epsilon: Array, forward: bool
    ) -> Array:
        """P(L = ∞), and the average over finite losses."""
        mean = np.exp(curve(epsilon)) if density is None else curve.averaged(density, epsilon)
        finite = 1.0 - _floor(self._constant, forward)
        return np.clip(_floor(self.parts, forward) + finite * mean, 0.0, 1.0)

    @property
    def _constant(self) -> Counted:
        """Parts whose finite loss is one number."""
        return tuple((part, k) for part, k in self.parts if part.loss.constant)

    @cached_property
    def density(self) -> LogSeries | None:
        """Of the sum of the other parts' finite losses, forward; None where there are none."""
        counts: dict[WishartPart, int] = {}
        for part, k in self.parts:
            if not part.loss.constant:
                counts[part] = counts.get(part, 0) + k
        each = [_power(part.density, k) for part, k in counts.items()]
        if not each:
            return None
        whole = reduce(LogSeries.convolved, each)
        for series, forward in ((whole, True), (whole.mirrored(), False)):
            finite = 1.0 - _floor(counts.items(), forward)
            if abs(series.mass() - finite) > AGREE:
                unresolved("the density of the losses does not sum to its known mass")
        return whole


def _power(density: LogSeries, times: int) -> LogSeries:
    """The density of the sum of `times` independent losses, by doubling."""
    if times == 1:
        return density
    half = _power(density, times // 2)
    twice = half.convolved(half)
    return twice.convolved(density) if times % 2 else twice


def _floor(parts: Iterable[tuple[WishartPart, int]], forward: bool) -> float:
    """P(L = ∞) of any of the parts."""
    with np.errstate(divide="ignore"):
        logs = [k * np.log1p(-part.floor(forward)) for part, k in parts]
    return float(-np.expm1(np.sum(logs))) + 0.0
