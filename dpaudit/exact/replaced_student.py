"""Sketched least squares with one row replaced: δ(ε) of many pairs at once, and the worst of them.

The output of ALS on D is known from the direction of ξ = (Y, √W) in R^{p+1}, Y ~ N(0, I_p),
W ~ χ²_ν, ν = r − p + 1 (`dpaudit.exact.zeroed_rows.als`). In these coordinates a replaced
row turns the quadratic form ξᵀξ of the density into ξᵀ(I + uuᵀ − vvᵀ)ξ. With α and −β the nonzero
eigenvalues of uuᵀ − vvᵀ, λ and −μ those of its block without √W, and k = r + 1,

    L = C + (k/2) ln(ξᵀ(I + uuᵀ − vvᵀ)ξ / ξᵀξ),
    C = −½ ln((1 + λ)(1 − μ)) − (ν/2) ln τ,   τ = ‖w'‖²/‖w‖² = (1 + α)(1 − β)/((1 + λ)(1 − μ)),

so four numbers decide. {L > ε} is the event that a quadratic form in ξ is positive, as for any two
Student t laws (`dpaudit.exact.pairs.student_t`); p − 1 of its eigenvalues are equal.

**The bound.** W has one law on either database, and given W the output is Gaussian. To release W
too takes nothing from an adversary (post-processing), and the loss of both together is

    L₊ = −½ ln((1 + λ)(1 − μ)) + (p/2) ln τ + ½ ξᵀ((I + uuᵀ − vvᵀ)/τ − I)ξ,

a quadratic form whose moment function M(s) = E[e^{sL₊}] is a product of powers. Hence, with
x ↦ (1 − e^{ε−x})₊ ≤ e^{s(x−ε)} s^s/(1 + s)^{1+s} for s > 0, and with Scarf's inequality
E(R − κ)₊ ≤ ½(√(V + (κ − 1)²) − (κ − 1)) for the likelihood ratio R of mean 1 and variance
V = M(1) − 1 under the other law, κ = e^ε,

    δ(ε) ≤ M(s) e^{−sε} s^s/(1 + s)^{1+s},    δ(ε) ≤ ½(√(V + (e^ε − 1)²) − (e^ε − 1)),

and δ(ε) = 0 from sup L = C + (k/2) ln(1 + α) on.

**The search.** At an ε a pair is left out as soon as one of its bounds lies below the largest exact
δ so far. What is left is computed in the order of the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.numerics.special import log_expm1
from dpaudit.exact.pairs.student_t import (
    OVERFLOW,
    UnknownRenyi,
    accuracy,
    excess,
    log_positive_chance,
)
from dpaudit.exact.search import Open, Worst
from dpaudit.laws import ReplacedStudentRows

ORDERS = np.geomspace(1e-2, 1e5, 57)  # the s of the bound, and log of s^s/(1 + s)^{1+s}
LOG_FACTORS = ORDERS * np.log(ORDERS) - (1.0 + ORDERS) * np.log1p(ORDERS)
BLOCK = 1 << 9  # δ's at a time
CHUNK = 1 << 15  # pairs whose bounds are computed at a time: their numbers stay in cache
SEEDS = 4  # how many pairs of the largest α, and of the largest β, are computed first
SIDES = (0, 1)  # forward, backward


@value_class
class Replaced(ReplacedStudentRows):
    """One direction of many pairs.

    up, down, inner_up, inner_down : (n,), α, β, λ and μ. features : p. rows : r.
    """

    @classmethod
    def of(cls, family: ReplacedStudentRows, entries: slice | np.ndarray) -> Replaced:
        names = ("up", "down", "inner_up", "inner_down")
        up, down, inner_up, inner_down = (getattr(family, name)[entries] for name in names)
        return cls(up, down, inner_up, inner_down, family.features, family.rows)

    def reversed(self) -> Replaced:
        """The other direction: the inverse of I + uuᵀ − vvᵀ takes the place of the matrix."""
        with np.errstate(divide="ignore"):
            up, inner_up = (down / (1.0 - down) for down in (self.down, self.inner_down))
        down, inner_down = (up_ / (1.0 + up_) for up_ in (self.up, self.inner_up))
        return Replaced(up, down, inner_up, inner_down, self.features, self.rows)

    @property
    def dof(self) -> int:
        return self.rows - self.features + 1

    @cached_property
    def disjoint(self) -> np.ndarray:
        """Whether one database has no law, as its features or residuals lose rank: then δ = 1."""
        ends = [(part == 1.0) | np.isinf(part) for part in (self.down, self.inner_down)]
        ends += [np.isinf(part) for part in (self.up, self.inner_up)]
        return np.asarray(np.any(ends, axis=0))

    @cached_property
    def _inner_log(self) -> Array:
        return np.asarray(np.log1p(self.inner_up) + np.log1p(-self.inner_down))

    @cached_property
    def _log_tau(self) -> Array:
        return np.asarray(np.log1p(self.up) + np.log1p(-self.down) - self._inner_log)

    @cached_property
    def constant(self) -> Array:
        return -0.5 * self._inner_log - 0.5 * self.dof * self._log_tau

    @cached_property
    def largest_loss(self) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            largest = self.constant + 0.5 * (self.rows + 1) * np.log1p(self.up)
        return np.where(self.disjoint, np.inf, np.maximum(largest, 0.0))

    @cached_property
    def _changes(self) -> tuple[Array, ...]:
        return self.up, -self.down, self.inner_up, -self.inner_down, np.zeros_like(self.up)

    @property
    def _powers(self) -> Array:
        """The powers of M(s) = e^{sc} ∏(1 − sa)^b for `_changes`.

        They are −ν/2 for an eigenvalue of the whole form and (ν − 1)/2 for one of its block, so
        (p − 2)(ν − 1)/2 − (p − 1)ν/2 = −(r − 1)/2 for the others, which are equal.
        """
        whole, block = -0.5 * self.dof, 0.5 * (self.dof - 1)
        return np.array([whole, whole, block, block, -0.5 * (self.rows - 1)])

    def log_moment(self, s: float) -> Array:
        """log M(s) at s > 0, (n,); infinite beyond the domain and for laws without overlap."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            rest = np.expm1(-self._log_tau)
            value = s * (0.5 * self.features * self._log_tau - 0.5 * self._inner_log)
            for change, power in zip(self._changes, self._powers, strict=True):
                value += power * np.log1p(-s * (change * (1.0 + rest) + rest))
            inside = s * (self.up * (1.0 + rest) + rest) < 1.0
        return np.where(inside & np.isfinite(value) & ~self.disjoint, value, np.inf)

    def bound(self, epsilon: Array) -> Array:
        """The least of the bounds of δ at each ε, (n, m)."""
        moment = self.log_moment(1.0)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # Scarf's, from ln V and ln(κ − 1)
            variance = moment + np.log(-np.expm1(-np.maximum(moment, 0.0)))
            gap = log_expm1(epsilon)
            root = np.logaddexp(gap, 0.5 * np.logaddexp(2.0 * gap, variance))
            least = np.exp(np.minimum(variance - root - np.log(2.0), 0.0))
        least = np.where(np.isposinf(moment), 1.0, np.where(np.isneginf(variance), 0.0, least))
        for s, factor in zip(ORDERS, LOG_FACTORS, strict=True):
            exponent = self.log_moment(s)[:, None] - s * epsilon + factor
            least = np.minimum(least, np.exp(np.minimum(exponent, 0.0)))
        return np.where(self.largest_loss[:, None] > epsilon, least, 0.0)

    def delta(self, epsilon: Array) -> Array:
        """δ = P(L > ε) − e^ε Q(L > ε) of pair i at epsilon[i] ≥ 0, (n,).

        L > ε where ξᵀ(uuᵀ − vvᵀ)ξ > ℓ·ξᵀξ, with ℓ = e^{2(ε − C)/k} − 1: a form with the eigenvalues
        of the pair less ℓ, each over 1 + its own in the coordinates of the other law.
        """
        delta, overlap = np.ones_like(epsilon), np.flatnonzero(~self.disjoint)
        for at in range(0, len(overlap), BLOCK):
            some = overlap[at : at + BLOCK]
            own, nats = Replaced.of(self, some), epsilon[some]
            exponent = 2.0 * (nats - own.constant) / (self.rows + 1)
            changes = np.stack(own._changes, axis=1)
            values = changes - np.expm1(np.minimum(exponent, OVERFLOW))[:, None]
            inside = log_positive_chance(values, self._powers)
            outside = log_positive_chance(values / (1.0 + changes), self._powers)
            delta[some] = excess(inside, outside, nats, own.largest_loss)
        return delta


@value_class
class ReplacedStudentCurve(UnknownRenyi):
    """The curve of ALS at finite rows with one row replaced; `pair` holds one pair."""

    pair: Replaced

    def delta(self, epsilon: ArrayLike) -> Curves:
        back = self.pair.reversed()

        def both(ascending: Array) -> Curves:
            every = np.zeros(len(ascending), dtype=np.intp)
            forward = Replaced.of(self.pair, every).delta(ascending)
            return forward, Replaced.of(back, every).delta(ascending)

        return by_sorted_epsilon(epsilon, both, accuracy(self.pair.dof))

    @property
    def supremum(self) -> tuple[float, float]:
        back = self.pair.reversed()
        return float(self.pair.largest_loss[0]), float(back.largest_loss[0])


@value_class
class StudentSearch:
    """All pairs of a family at the given ε, (m,)."""

    family: ReplacedStudentRows
    epsilon: Array

    def worst(self, known: Worst) -> Worst:
        """The largest δ of the family and of what is known before, at each place."""
        # the pairs of the largest α and those of the largest β come first
        count = min(SEEDS, len(self.family.up))
        sizes = (self.family.up, self.family.down)
        seeds = np.unique([np.argpartition(size, len(size) - count)[-count:] for size in sizes])
        first = Open.all_of(seeds, np.ones((len(seeds), 2 * len(self.epsilon))))
        worst = first.computed(known, self._delta)
        orders = [self._best_orders(seeds, side) for side in SIDES]
        left = []
        for entries in self._chunks():
            for side in SIDES:
                pairs = self._pairs(entries, side)
                threshold = np.split(worst.threshold, 2)[side]
                some = np.flatnonzero(self._may_exceed(pairs, orders[side], threshold))
                bound = np.zeros((0, len(self.epsilon)))
                if len(some):  # few chunks have any, and a bound of nothing takes time too
                    bound = Replaced.of(pairs, some).bound(self.epsilon)
                part = Open.all_of(entries[some], bound, side * len(self.epsilon)).above(worst)
                worst = part.foremost().computed(worst, self._delta)
                left.append(part.above(worst))
        return Open.together(left).computed(worst, self._delta)

    @property
    def supremum(self) -> tuple[float, float]:
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
        delta = np.empty(len(some.entry))
        sides, place = np.divmod(some.place, len(self.epsilon))
        for side in SIDES:
            own = sides == side
            delta[own] = self._pairs(some.entry[own], side).delta(self.epsilon[place[own]])
        return delta

    def _best_orders(self, entries: np.ndarray, side: int) -> np.ndarray:
        """The place in ORDERS of the s that best bounds the entry with the largest bound, at each
        ε.
        """
        pairs = self._pairs(entries, side)
        moments = np.stack([pairs.log_moment(s) for s in ORDERS])
        factors = LOG_FACTORS[:, None] - np.multiply.outer(ORDERS, self.epsilon)
        bound = moments[:, :, None] + factors[:, None, :]  # order, entry, ε
        largest = np.argmax(bound.min(axis=0), axis=0)
        return np.argmin(bound[:, largest, np.arange(len(self.epsilon))], axis=0)

    def _may_exceed(self, pairs: Replaced, orders: np.ndarray, threshold: Array) -> np.ndarray:
        """Whether the variance and the moments of these orders leave a pair at some ε."""
        log_low = np.log(threshold)
        variance, loss = pairs.log_moment(1.0), pairs.largest_loss
        # least log M(1), by Scarf's inequality: log(1 + 4δ(δ + κ − 1))
        least = np.logaddexp(log_low, log_expm1(self.epsilon)) + log_low + np.log(4.0)
        least = np.logaddexp(0.0, least)
        least_moment = log_low + ORDERS[orders] * self.epsilon - LOG_FACTORS[orders]
        left = np.zeros(len(variance), dtype=bool)
        for order in np.unique(orders):
            places = np.flatnonzero(orders == order)
            some = np.flatnonzero(
                (variance > least[places].min()) & (loss > self.epsilon[places].min()) & ~left
            )
            moment = Replaced.of(pairs, some).log_moment(ORDERS[order])
            for place in places:
                left[some] |= (
                    (moment > least_moment[place])
                    & (variance[some] > least[place])
                    & (loss[some] > self.epsilon[place])
                )
        return left
