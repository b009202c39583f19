"""The worst replacement of sketched least squares: by the bounds of `student.py`, then exactly.

At an ε a pair is left out as soon as one of its bounds lies below the largest exact δ so far. What
is left is computed in the order of the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.pairs.student_t import accuracy
from dpaudit.exact.replaced_rows.student import LOG_FACTORS, ORDERS, Replaced, log_expm1
from dpaudit.exact.replaced_rows.student_contour import contour_bound
from dpaudit.exact.replaced_rows.worst import Open, Worst, computed
from dpaudit.laws import ReplacedStudentRows

CHUNK = 1 << 15  # pairs whose bounds are computed at a time: their numbers stay in cache
SEEDS = 4  # of the largest variance, and of the largest loss, by direction: computed first
SIDES = (0, 1)


@dataclass(frozen=True, eq=False, repr=False)
class ReplacedStudentCurve:
    """The curve of ALS at finite rows with one row replaced; `pair` holds one pair."""

    pair: Replaced

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`."""
        back = self.pair.reversed()

        def both(sorted_: Array) -> Curves:
            every = np.zeros(len(sorted_), dtype=np.intp)
            return self.pair.at(every).delta(sorted_), back.at(every).delta(sorted_)

        return by_sorted_epsilon(epsilon, both, accuracy=accuracy(self.pair.dof))

    def renyi(self, order: float) -> tuple[float, float]:
        """Always raises `NoExactSpectrum`: no closed form is known."""
        raise NoExactSpectrum(
            "no closed form for the Rényi divergence of two Student t laws that differ by more "
            "than a zeroed row; use delta_at"
        )

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest losses; δ = 0 from there on."""
        back = self.pair.reversed()
        return float(self.pair.largest_loss[0]), float(back.largest_loss[0])


def replaced_curve(family: ReplacedStudentRows, index: int) -> tuple[ReplacedStudentCurve, str]:
    """The exact curve of one pair and the name of its law; forward is the full database first."""
    return ReplacedStudentCurve(Replaced.of(family, np.array([index]))), "Student t (finite rows)"


@dataclass(frozen=True, eq=False, repr=False)
class StudentSearch:
    """All pairs of a family at the given ε, (m,)."""

    family: ReplacedStudentRows
    epsilon: Array

    def worst(self, known: Worst) -> Worst:
        """The largest δ of the family and of what is `known`, at each place."""
        worst = computed(self._seeds(), known, self._delta)
        orders = [self._best_orders(worst, side) for side in SIDES]
        left: list[Open] = []
        for entries in self._chunks():
            for side in SIDES:
                part = self._open(entries, side, orders[side], worst)
                worst = computed(part.foremost(), worst, self._delta)
                left.append(part.above(worst))
        return computed(Open.together(left), worst, self._delta)

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest losses over all pairs, (forward, backward)."""
        forward, backward = (
            max(float(self._pairs(part, side).largest_loss.max()) for part in self._chunks())
            for side in SIDES
        )
        return forward, backward

    def _pairs(self, entries: np.ndarray, side: int) -> Replaced:
        pairs = Replaced.of(self.family, entries)
        return pairs.reversed() if side else pairs

    def _chunks(self) -> Iterator[np.ndarray]:
        count = len(self.family.up)
        return (np.arange(at, min(at + CHUNK, count)) for at in range(0, count, CHUNK))

    def _delta(self, some: Open) -> Array:
        """The exact δ's."""
        found = np.empty(len(some.entry))
        side, place = np.divmod(some.place, len(self.epsilon))
        for one in SIDES:
            own = side == one
            found[own] = self._pairs(some.entry[own], one).delta(self.epsilon[place[own]])
        return found

    def _seeds(self) -> Open:
        """At every ε the pairs of the largest variances of the likelihood ratio and of the loss."""
        return Open.together(
            [
                self._in_direction(entry, np.ones((len(entry), len(self.epsilon))), side)
                for side in SIDES
                for entry in (
                    self._largest(lambda pairs: pairs.log_moment(1.0), side),
                    self._largest(lambda pairs: pairs.largest_loss, side),
                )
            ]
        )

    def _largest(self, size: Callable[[Replaced], Array], side: int) -> np.ndarray:
        entry, value = np.zeros(0, dtype=np.intp), np.zeros(0)
        for entries in self._chunks():
            entry = np.concatenate([entry, entries])
            value = np.concatenate([value, size(self._pairs(entries, side))])
            best = np.argpartition(-value, min(SEEDS, len(value)) - 1)[:SEEDS]
            entry, value = entry[best], value[best]
        return entry

    def _best_orders(self, worst: Worst, side: int) -> np.ndarray:
        """The place in ORDERS of the s that bounds the worst pair known best, at each ε."""
        own = np.maximum(np.split(worst.entry, 2)[side], 0)
        entry, back = np.unique(own, return_inverse=True)
        pairs = self._pairs(entry, side)
        moments = np.stack([pairs.log_moment(s) for s in ORDERS])[:, back]
        bound = moments - np.multiply.outer(ORDERS, self.epsilon) + LOG_FACTORS[:, None]
        return np.argmin(bound, axis=0)

    def _open(self, entries: np.ndarray, side: int, orders: np.ndarray, worst: Worst) -> Open:
        """What the bounds leave of a chunk."""
        pairs, threshold = self._pairs(entries, side), np.split(worst.threshold, 2)[side]
        some = np.flatnonzero(self._may_exceed(pairs, orders, threshold))
        bound = pairs.at(some).bound(self.epsilon)
        left = np.any(bound > threshold, axis=1)
        some, bound = some[left], bound[left]
        sharper = contour_bound(pairs.at(some), self.epsilon, ORDERS[orders])
        return self._in_direction(entries[some], np.minimum(bound, sharper), side).above(worst)

    def _in_direction(self, entries: np.ndarray, bound: Array, side: int) -> Open:
        """Entries in one direction at every ε; bound : (k, m)."""
        return Open.all_of(entries, bound, side * len(self.epsilon))

    def _may_exceed(self, pairs: Replaced, orders: np.ndarray, threshold: Array) -> np.ndarray:
        """Whether the variance and the best moments of the worst pair leave a pair at some ε."""
        log_low = np.log(threshold)
        variance, loss = pairs.log_moment(1.0), pairs.largest_loss
        # of log M(1), by Scarf's inequality: log(1 + 4δ(δ + κ − 1))
        least = np.logaddexp(log_low, log_expm1(self.epsilon)) + log_low + np.log(4.0)
        least = np.logaddexp(0.0, least)
        least_moment = log_low + ORDERS[orders] * self.epsilon - LOG_FACTORS[orders]
        left = np.zeros(len(variance), dtype=bool)
        some = np.flatnonzero((variance > least.min()) & (loss > self.epsilon.min()))
        for order in np.unique(orders):
            moment = pairs.at(some).log_moment(ORDERS[order])
            for place in np.flatnonzero(orders == order):
                left[some] |= (
                    (moment > least_moment[place])
                    & (variance[some] > least[place])
                    & (loss[some] > self.epsilon[place])
                )
        return left
