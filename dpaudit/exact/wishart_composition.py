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
from dpaudit.exact.numerics.lazy_curve import LEAST, SMALLEST, LazyCurve
from dpaudit.exact.numerics.log_series import AGREE, LogSeries, unresolved
from dpaudit.exact.numerics.signed_curve import Delta, SignedCurve
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.zeroed_rows.wishart_loss import WishartLoss

UNSEEN = 1e-18  # of P(L = ∞): no finite loss that weighs less is seen


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

        Raises `InvalidInput`; `NoExactSpectrum` where two meshes disagree, or the two directions
        at ε = 0, where both are the total variation.
        """
        if not self._agreeing:
            unresolved("the two directions disagree at ε = 0")
        return by_sorted_epsilon(epsilon, self._both)

    @cached_property
    def _agreeing(self) -> bool:
        """Whether both directions have one total variation: it comes from different integrals."""
        ahead, back = (float(one[0]) for one in self._both(np.zeros(1)))
        return abs(ahead - back) <= AGREE * max(ahead, back, LEAST)

    def _both(self, epsilon: Array) -> Curves:
        found = []
        for forward, finite in zip((True, False), self._finite, strict=True):
            shift = self._points if forward else -self._points
            floor, constant = _floor(self.parts, forward), _floor(self._constant, forward)
            found.append(np.clip(floor + (1.0 - constant) * finite(epsilon - shift), 0.0, 1.0))
        return found[0], found[1]

    @cached_property
    def _finite(self) -> tuple[Delta, Delta]:
        """Forward and backward, the average over the finite losses that are not constant."""
        mirrored = None if self.density is None else self.density.mirrored()
        return self._direction(self.density, True), self._direction(mirrored, False)

    def _direction(self, density: LogSeries | None, forward: bool) -> Delta:
        """At any real ε, from 0 on by a series."""
        side = 0 if forward else 1
        if density is None:
            return lambda epsilon: np.exp(self._others(_reach(epsilon))[side](epsilon))
        far = float(np.abs(density.edges).max())

        def on_mesh(epsilon: Array, parts: int) -> Array:
            return self._others(_reach(epsilon) + far)[side].averaged(density, epsilon, parts)

        least = max(SMALLEST, UNSEEN * _floor(self.parts, forward))
        return LazyCurve(on_mesh, density.spread(), least)

    def _others(self, reach: float) -> tuple[SignedCurve, SignedCurve]:
        """The curves of all other releases as far as `reach`, or further; each panel made once."""
        while self._made[-1][0].reach < reach:
            self._made.append(self._made[-1][0].doubled(self.rest))
        return self._made[-1]

    @cached_property
    def _made(self) -> list[tuple[SignedCurve, SignedCurve]]:
        far = 0.0 if self.density is None else float(np.abs(self.density.edges).max())
        return [SignedCurve.pair(self.rest, far + 1.0)]

    @property
    def _points(self) -> float:
        """The sum of the constant finite losses, forward."""
        return sum(k * part.point for part, k in self._constant)

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


def _reach(epsilon: Array) -> float:
    return float(np.abs(epsilon).max()) + 1.0


def _floor(parts: Iterable[tuple[WishartPart, int]], forward: bool) -> float:
    """P(L = ∞) of any of the parts."""
    with np.errstate(divide="ignore"):
        logs = [k * np.log1p(-part.floor(forward)) for part, k in parts]
    return float(-np.expm1(np.sum(logs))) + 0.0
