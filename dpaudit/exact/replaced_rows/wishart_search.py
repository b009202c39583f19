"""The worst replacement beside additive Wishart noise: by the bound of `wishart.py`, then exactly.

The bound grows with both eigenvalues α and β. On a grid of levels the pairs that it leaves at some
place lie beyond a staircase, which is found level by level by bisection; a pair is bounded by the
level above it. A finer grid over what is left follows. What that leaves is compared by the integral
of `wishart_angle.py`, so that pairs which are nearly equal do not each need an exact curve. The
exact δ does not grow with both eigenvalues: at large ε one direction falls as the other one grows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.spectrum import Curve
from dpaudit.exact.composition import PrivacyLoss
from dpaudit.exact.pairs.additive_wishart import ReplacedWishartCurve
from dpaudit.exact.replaced_rows import wishart_angle
from dpaudit.exact.replaced_rows.wishart import bound
from dpaudit.exact.replaced_rows.worst import Open, Worst
from dpaudit.laws import ReplacedWishartRows

SEEDS = 1  # pairs of the largest α, β, α + β and αβ that are computed first
LEVELS = 48  # of either eigenvalue on a grid
COARSE = (2, 8, 32)  # ε at which the pairs are bounded, until few are left
FEW = 200  # distinct pairs that are bounded one by one
GRIDS = 4
FALL = 0.8  # from one level of the first grid to the next
RANK_ONE = 1e-9  # of the larger eigenvalue: a smaller one is rounding
CERTAIN = 1.0 - 1e-12  # a δ above it is 1 but for rounding
TINY = 1e-18  # an eigenvalue of 0 counts as this in an integral over angles


def replaced_curve(family: ReplacedWishartRows, index: int) -> tuple[Curve, str]:
    """The exact curve of one pair and the name of its law; forward is the full database first."""
    up, down = float(family.old[index]), float(family.new[index])
    if max(up, down) == 0.0:
        return PrivacyLoss.gaussian_shift(0.0), "additive Wishart"
    if min(up, down) > RANK_ONE * max(up, down):
        return ReplacedWishartCurve(up, down, family.dof, family.dim), "additive Wishart"
    loss = PrivacyLoss.additive_wishart(max(up, down), family.dof, family.dim)
    return (loss if up >= down else loss.reversed()), "additive Wishart"


@dataclass(frozen=True, eq=False, repr=False)
class WishartSearch:
    """All pairs of a family at the given ε, (m,)."""

    family: ReplacedWishartRows
    epsilon: Array

    def worst(self, known: Worst) -> Worst:
        """The largest δ of the family and of what is `known`, at each place."""
        worst, seeds = known, self._seeds()
        for entry in seeds:
            worst = self._with_exact(worst, int(entry), np.arange(len(worst.delta)))
        left = np.delete(np.arange(len(self.family.old)), seeds)
        for grid in range(GRIDS):
            if len(left) > FEW:
                left = self._beyond_staircase(left, worst, first=grid == 0)
        return self._exactly(left, worst)

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest losses over all pairs: infinite unless every candidate equals every row."""
        changed = max(float(self.family.old.max()), float(self.family.new.max())) > 0.0
        return (float("inf"), float("inf")) if changed else (0.0, 0.0)

    def _exactly(self, left: np.ndarray, worst: Worst) -> Worst:
        """One pair after the other, the most promising first, until no bound exceeds the worst."""
        if not len(left):
            return worst
        numbers = np.column_stack([self.family.old[left], self.family.new[left]])
        left = left[np.sort(np.unique(numbers, axis=0, return_index=True)[1])]
        # with the least noise each curve takes long, however few its ε
        for count in COARSE if self._freedom > 1 else COARSE[-1:]:
            left = left[np.any(self._chords(left, count) > _threshold(worst), axis=1)]
        still = Open.all_of(left, self._sharpest(left)).above(worst)
        while len(still.entry):
            entry = int(still.entry[0])
            worst = self._with_exact(worst, entry, still.place[still.entry == entry])
            still = still.at(np.flatnonzero(still.entry != entry)).above(worst)
            still = still.at(np.flatnonzero(still.bound > _threshold(worst)[still.place]))
        return worst

    def _chords(self, left: np.ndarray, count: int) -> Array:
        """The bound at a few ε, and its chords, (n, 2m): bounds too, as δ is convex in e^ε."""
        distinct = np.unique(self.epsilon)
        places = np.linspace(0, len(distinct) - 1, min(count, len(distinct))).astype(int)
        knots = distinct[places]
        at_knots = self._bound(self.family.old[left], self.family.new[left], knots)
        right = np.clip(np.searchsorted(knots, self.epsilon), 1, max(len(knots) - 1, 1))
        if len(knots) == 1:
            return np.repeat(at_knots, len(self.epsilon), axis=1)
        low, high = knots[right - 1], knots[right]
        share = np.exp(self.epsilon - high) * np.expm1(low - self.epsilon) / np.expm1(low - high)
        at_knots = at_knots.reshape(len(left), 2, len(knots))
        chords = at_knots[..., right - 1] * (1.0 - share) + at_knots[..., right] * share
        return chords.reshape(len(left), 2 * len(self.epsilon))

    def _sharpest(self, left: np.ndarray) -> Array:
        """By angles where it can be done: δ and what its integral may be off by, (n, 2m)."""
        up, down = self.family.old[left], self.family.new[left]
        if self._freedom + 1 > wishart_angle.LARGEST:
            return self._bound(up, down, self.epsilon)
        least = np.maximum(RANK_ONE * np.maximum(up, down), TINY)  # for a change of rank one
        return wishart_angle.upper(
            np.maximum(up, least), np.maximum(down, least), self._freedom, self.epsilon
        )

    def _with_exact(self, worst: Worst, entry: int, places: np.ndarray) -> Worst:
        """With the exact δ of an entry, in both directions, at the ε of these places."""
        curve, _ = replaced_curve(self.family, entry)
        at = np.unique(places % len(self.epsilon))
        delta = np.concatenate(curve.delta(self.epsilon[at]))
        both = np.concatenate([at, at + len(self.epsilon)])
        return worst.with_values(np.full(len(both), entry), both, delta)

    def _seeds(self) -> np.ndarray:
        old, new = self.family.old, self.family.new
        sizes = (old, new, old + new, old * new)
        count = min(SEEDS, len(old))
        return np.unique([np.argpartition(-size, count - 1)[:count] for size in sizes])

    def _bound(self, up: Array, down: Array, epsilon: Array) -> Array:
        """The bound of both directions at some ε, forward and then backward, (n, 2m)."""
        both = bound(np.append(up, down), np.append(down, up), self._freedom, epsilon)
        return np.hstack([both[: len(up)], both[len(up) :]])

    @property
    def _freedom(self) -> int:
        """f."""
        return self.family.dof - self.family.dim + 1

    def _beyond_staircase(self, left: np.ndarray, worst: Worst, first: bool) -> np.ndarray:
        """The entries whose levels the bound leaves at some place."""
        rows, columns = (
            _geometric(values) if first else _quantiles(values)
            for values in (self.family.old[left], self.family.new[left])
        )
        # the first level of β that is left beside each level of α; it falls as α grows
        low, high = np.zeros(len(rows), dtype=int), np.full(len(rows), len(columns))
        while np.any(low < high):
            middle = (low + high) // 2
            found = self._bound(rows, columns[np.minimum(middle, len(columns) - 1)], self.epsilon)
            exceeds = np.any(found > _threshold(worst), axis=1)
            low, high = (
                np.where(exceeds, low, np.minimum(middle + 1, high)),
                np.where(exceeds, middle, high),
            )
        row = np.searchsorted(rows, self.family.old[left])
        return left[np.searchsorted(columns, self.family.new[left]) >= low[row]]


def _threshold(worst: Worst) -> Array:
    """What a bound must exceed at each place; no δ exceeds 1."""
    return np.where(worst.delta > CERTAIN, np.inf, worst.threshold)


def _geometric(values: Array) -> Array:
    """Levels ascending to the largest value; what is below the first counts as the first."""
    return np.asarray(values.max() * FALL ** np.arange(LEVELS - 1.0, -1.0, -1.0))


def _quantiles(values: Array) -> Array:
    """Levels ascending to the largest value, each of them a value."""
    distinct = np.unique(values)
    places = np.linspace(0, len(distinct) - 1, min(LEVELS, len(distinct)))
    return distinct[np.ceil(places).astype(int)]
