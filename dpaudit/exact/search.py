"""The search for the worst of many pairs: the largest δ so far, and which δ's may still exceed it.

For m values of ε there are 2m places: the forward direction at each ε, then the backward one. So
the worst entry in either direction is searched for at once, and a pair whose two δ's are computed
together serves both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class

FAINT = 1e-30  # a smaller δ counts as 0, so the search ignores such pairs
MARGIN = 1e-9  # relative: how far a bound must lie below a δ, for the rounding of either
BATCH = 1 << 10  # how many δ are computed before the list of open pairs is updated


@value_class
class Worst:
    """The entry with the largest δ known at each place, (2m,), and that δ; −1 and 0 at first."""

    entry: np.ndarray
    delta: Array

    @classmethod
    def unknown(cls, count: int) -> Worst:
        return cls(np.full(2 * count, -1), np.zeros(2 * count))

    @property
    def threshold(self) -> Array:
        return np.maximum(self.delta, FAINT) * (1.0 - MARGIN)

    def with_values(self, entry: np.ndarray, place: np.ndarray, delta: Array) -> Worst:
        """The worst after δ's of entries at these places, each (k,), have been computed."""
        order = np.lexsort((entry, -delta, place))  # of equal δ's the first entry
        first = order[np.unique(place[order], return_index=True)[1]]
        first = first[delta[first] > self.delta[place[first]]]
        entries, largest = self.entry.copy(), self.delta.copy()
        entries[place[first]], largest[place[first]] = entry[first], delta[first]
        return Worst(entries, largest)


@value_class
class Open:
    """δ's that may be computed: entry, place and bound, each (k,)."""

    entry: np.ndarray
    place: np.ndarray
    bound: Array

    @classmethod
    def all_of(cls, entry: np.ndarray, bound: Array, first: int = 0) -> Open:
        row, place = np.indices(bound.shape).reshape(2, -1)
        return cls(entry[row], first + place, bound.ravel())

    @classmethod
    def together(cls, parts: list[Open]) -> Open:
        names = ("entry", "place", "bound")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def at(self, some: np.ndarray) -> Open:
        return Open(self.entry[some], self.place[some], self.bound[some])

    def above(self, worst: Worst) -> Open:
        """Those whose bound exceeds the threshold at their place, by falling ratio."""
        ratio = self.bound / worst.threshold[self.place]
        order = np.argsort(-ratio, kind="stable")
        return self.at(order[ratio[order] > 1.0])

    def foremost(self) -> Open:
        """For each place the entry with the largest bound."""
        order = np.lexsort((-self.bound, self.place))
        return self.at(order[np.unique(self.place[order], return_index=True)[1]])

    def computed(self, worst: Worst, delta_of: Callable[[Open], Array]) -> Worst:
        """The worst after every δ that could exceed it is computed, largest bounds first."""
        left = self.above(worst)
        while len(left.entry):
            places = np.arange(len(left.entry))
            batch, rest = left.at(places[:BATCH]), left.at(places[BATCH:])
            worst = worst.with_values(batch.entry, batch.place, delta_of(batch))
            left = rest.above(worst)
        return worst
