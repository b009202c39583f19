"""Sketched least squares with one row replaced: δ(ε), and a bound of it, of many pairs at once.

The output of ALS on D is known from the direction of ξ = (Y, √W) in R^{p+1}, Y ~ N(0, I_p),
W ~ χ²_ν, ν = r − p + 1 (`dpaudit.exact.zeroed_rows.als_finite`). In these coordinates a replaced
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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit._core.types import Array
from dpaudit.exact.pairs.student_t import OVERFLOW, excess, log_positive_chance
from dpaudit.laws import ReplacedStudentRows

ORDERS = np.geomspace(1e-2, 1e5, 57)  # the s of the bound, and log of s^s/(1 + s)^{1+s}
LOG_FACTORS = ORDERS * np.log(ORDERS) - (1.0 + ORDERS) * np.log1p(ORDERS)
BLOCK = 1 << 9  # δ's at a time


@dataclass(frozen=True, eq=False, repr=False)
class Replaced(ReplacedStudentRows):
    """One direction of many pairs.

    up, down, inner_up, inner_down : (n,), α, β, λ and μ. features : p. rows : r.
    """

    @classmethod
    def of(cls, family: ReplacedStudentRows, entries: slice | np.ndarray) -> Replaced:
        """Entries of a family, the full database against the other."""
        return cls(
            family.up[entries],
            family.down[entries],
            family.inner_up[entries],
            family.inner_down[entries],
            family.features,
            family.rows,
        )

    def reversed(self) -> Replaced:
        """The other direction: the inverse of I + uuᵀ − vvᵀ takes the place of the matrix."""
        with np.errstate(divide="ignore"):
            return Replaced(
                self.down / (1.0 - self.down),
                self.up / (1.0 + self.up),
                self.inner_down / (1.0 - self.inner_down),
                self.inner_up / (1.0 + self.inner_up),
                self.features,
                self.rows,
            )

    def at(self, entries: np.ndarray) -> Replaced:
        """Some of the pairs."""
        return Replaced.of(self, entries)

    @property
    def dof(self) -> int:
        """ν."""
        return self.rows - self.features + 1

    @cached_property
    def disjoint(self) -> np.ndarray:
        """Whether one database has no law, as its features or residuals lose rank: then δ = 1."""
        lost = [(part == 1.0) | np.isinf(part) for part in (self.down, self.inner_down)]
        lost += [np.isinf(part) for part in (self.up, self.inner_up)]
        return np.asarray(np.any(lost, axis=0))

    @cached_property
    def _inner_log(self) -> Array:
        return np.asarray(np.log1p(self.inner_up) + np.log1p(-self.inner_down))

    @cached_property
    def _log_tau(self) -> Array:
        return np.asarray(np.log1p(self.up) + np.log1p(-self.down) - self._inner_log)

    @cached_property
    def constant(self) -> Array:
        """C."""
        return -0.5 * self._inner_log - 0.5 * self.dof * self._log_tau

    @cached_property
    def largest_loss(self) -> Array:
        """sup L, infinite where the laws share no output."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found = self.constant + 0.5 * (self.rows + 1) * np.log1p(self.up)
        return np.where(self.disjoint, np.inf, np.maximum(found, 0.0))

    @cached_property
    def start(self) -> Array:
        """The constant of L₊."""
        return np.asarray(0.5 * self.features * self._log_tau - 0.5 * self._inner_log)

    @cached_property
    def form(self) -> tuple[Array, Array]:
        """Eigenvalues a, (n, 5), of the form of L₊, and powers b, (5,): M = e^{sc} ∏(1 − sa)^b.

        Two of the whole form, two of its block, and all others, which are equal: the powers are
        −ν/2 and (ν − 1)/2, so (p − 2)(ν − 1)/2 − (p − 1)ν/2 = −(r − 1)/2 for the others.
        """
        rest = np.expm1(-self._log_tau)
        changes = (self.up, -self.down, self.inner_up, -self.inner_down)
        values = np.stack([*(part * (1.0 + rest) + rest for part in changes), rest], axis=1)
        return values, self._powers

    @property
    def _powers(self) -> Array:
        whole, block = -0.5 * self.dof, 0.5 * (self.dof - 1)
        return np.array([whole, whole, block, block, -0.5 * (self.rows - 1)])

    def log_moment(self, s: float) -> Array:
        """log M(s) at s > 0, (n,); infinite beyond the domain and for laws without overlap."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            values, powers = self.form
            found = s * self.start + sum(
                power * np.log1p(-s * part) for part, power in zip(values.T, powers, strict=True)
            )
            inside = (s * values[:, 0] < 1.0) & np.isfinite(found) & ~self.disjoint
        return np.where(inside, found, np.inf)

    def bound(self, epsilon: Array) -> Array:
        """The least of the bounds of δ at each ε, (n, m)."""
        found = self._scarf(epsilon)
        for s, factor in zip(ORDERS, LOG_FACTORS, strict=True):
            exponent = self.log_moment(s)[:, None] - s * epsilon + factor
            found = np.minimum(found, np.exp(np.minimum(exponent, 0.0)))
        return np.where(self.largest_loss[:, None] > epsilon, found, 0.0)

    def _scarf(self, epsilon: Array) -> Array:
        """½V/(√(V + (κ − 1)²) + κ − 1) from the logarithms of V and κ − 1."""
        moment = self.log_moment(1.0)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = moment + np.log(-np.expm1(-np.maximum(moment, 0.0)))
            gap = log_expm1(epsilon)
            root = np.logaddexp(gap, 0.5 * np.logaddexp(2.0 * gap, variance))
            found = np.exp(np.minimum(variance - root - np.log(2.0), 0.0))
        return np.where(np.isposinf(moment), 1.0, np.where(np.isneginf(variance), 0.0, found))

    def delta(self, epsilon: Array) -> Array:
        """δ of pair i at epsilon[i] ≥ 0, (n,)."""
        parts = [self.at(some)._delta(epsilon[some]) for some in _blocks(len(epsilon))]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _delta(self, epsilon: Array) -> Array:
        found = np.ones_like(epsilon)
        some = np.flatnonzero(~self.disjoint)
        found[some] = self.at(some)._overlapping(epsilon[some])
        return found

    def _overlapping(self, epsilon: Array) -> Array:
        """P(L > ε) − e^ε Q(L > ε).

        L > ε where ξᵀ(uuᵀ − vvᵀ)ξ > ℓ·ξᵀξ, with ℓ = e^{2(ε − C)/k} − 1: a form with the eigenvalues
        of the pair less ℓ, each over 1 + its own in the coordinates of the other law.
        """
        exponent = 2.0 * (epsilon - self.constant) / (self.rows + 1)
        level = np.expm1(np.minimum(exponent, OVERFLOW))
        zero = np.zeros_like(level)
        changes = np.stack((self.up, -self.down, self.inner_up, -self.inner_down, zero), axis=1)
        values = changes - level[:, None]
        inside, outside = (
            log_positive_chance(part, self._powers) for part in (values, values / (1.0 + changes))
        )
        return excess(inside, outside, epsilon, self.largest_loss)


def log_expm1(x: Array) -> Array:
    """ln(e^x − 1) at x ≥ 0, −∞ at 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(x + np.log(-np.expm1(-x)))


def _blocks(count: int) -> Iterator[np.ndarray]:
    return (np.arange(at, min(at + BLOCK, count)) for at in range(0, count, BLOCK))
