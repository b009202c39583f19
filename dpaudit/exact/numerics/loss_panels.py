"""Integrals of 1 − e^{ε−L} over panels of a loss L(x), each with its error; δ(ε) from them.

The error is read off the nodes that are there: if the Legendre coefficients of an integrand fall
off geometrically, c_n ~ ρ^{−n}, Gauss's rule with N nodes is off by about c_{2N} ~ c_N²/c_0. A
panel whose error is seen in some δ is halved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import legvander

from dpaudit._core.types import Array

ORDER = 12  # Gauss–Legendre points a panel
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
LEGENDRE = WEIGHTS[:, None] * legvander(NODES, ORDER - 1) * (np.arange(ORDER) + 0.5)
# values at the nodes → the first Legendre coefficient and the last two
SEEN = LEGENDRE[:, [0, -2, -1]]
RESOLVED = 4e-10  # of a δ: what a panel may be off
ROUNDING = 64.0 * float(np.finfo(np.float64).eps)  # of a loss
SMALLEST = 1e-290  # of a δ or a mass that is resolved

Integrand = Callable[[Array], Array]


@dataclass(frozen=True, eq=False, repr=False)
class LossPanels:
    """Integrals over panels, arrays of shape (k,), for losses that increase with x.

    start, stop : the ends. interval : the last ε whose threshold lies before the panel.
    own : ∫ (1 − e^{ε−L}) of the density at this ε. mass : ∫ of the density. own_error,
    mass_error : of these.
    """

    start: Array
    stop: Array
    interval: np.ndarray
    own: Array
    mass: Array
    own_error: Array
    mass_error: Array

    @classmethod
    def between(
        cls,
        start: Array,
        stop: Array,
        log_density: Integrand,
        loss: Integrand,
        thresholds: Array,
        epsilon: Array,
    ) -> LossPanels:
        """By Gauss's rule; no threshold lies within a panel."""
        half = 0.5 * (stop - start)
        x = (start + half)[:, None] + half[:, None] * NODES
        interval = np.searchsorted(thresholds, start + half, side="right") - 1
        density = half[:, None] * np.exp(log_density(x))
        gain = density * -np.expm1(np.minimum(epsilon[interval, None] - loss(x), 0.0))
        integral, error = _gauss(np.concatenate([gain, density]))
        return cls(start, stop, interval, *np.split(integral, 2), *np.split(error, 2))

    def delta(self, epsilon: Array) -> Array:
        """δ at each ε, (m,), joined from the right.

        1 − e^{ε_j−L} = (1 − e^{−g}) + e^{−g}(1 − e^{ε_{j+1}−L}) with g = ε_{j+1} − ε_j.
        """
        own, tail = self._by_interval(self.own, len(epsilon)), self._tail(len(epsilon))
        gap = np.append(np.diff(epsilon), 0.0)
        own[:-1] -= np.expm1(-gap[:-1]) * tail[1:]
        found, last = [], 0.0
        for term, share in zip(own[::-1].tolist(), np.exp(-gap[::-1]).tolist(), strict=True):
            last = term + share * last
            found.append(last)
        return np.array(found[::-1])

    def rough(self, delta: Array, epsilon: Array) -> np.ndarray:
        """Panels whose error is seen in δ: at their own ε, or by their mass at a smaller one.

        An error is not seen that is less than what the rounding of L may do to L − ε.
        """
        own = np.maximum(delta, SMALLEST)[self.interval]
        rounding = ROUNDING * epsilon[self.interval] * self.mass
        tail = np.maximum(self._tail(len(delta)), SMALLEST)[self.interval]
        before = self.interval > 0
        return np.asarray(
            (self.own_error > RESOLVED * own + rounding)
            | ((self.mass_error > RESOLVED * tail) & before)
        )

    def without(self, some: np.ndarray) -> LossPanels:
        """The panels that are not among `some`, a mask."""
        return LossPanels(*(part[~some] for part in self._parts))

    def with_panels(self, other: LossPanels) -> LossPanels:
        """Both together."""
        pairs = zip(self._parts, other._parts, strict=True)
        return LossPanels(*(np.concatenate(pair) for pair in pairs))

    @property
    def _parts(self) -> tuple[np.ndarray, ...]:
        return (
            self.start,
            self.stop,
            self.interval,
            self.own,
            self.mass,
            self.own_error,
            self.mass_error,
        )

    def _tail(self, count: int) -> Array:
        """The mass from each threshold on."""
        return np.asarray(np.cumsum(self._by_interval(self.mass, count)[::-1])[::-1])

    def _by_interval(self, values: Array, count: int) -> Array:
        return np.bincount(self.interval, values, count).astype(np.float64)


def _gauss(values: Array) -> tuple[Array, Array]:
    """The integral of each panel and its error, from positive integrands at the nodes, (k, ORDER).

    Lengths are counted in half-widths of the panel.
    """
    mean, one, other = (values @ SEEN).T
    last = np.abs(one) + np.abs(other)
    return 2.0 * mean, 2.0 * last * (last / np.maximum(mean, SMALLEST))
