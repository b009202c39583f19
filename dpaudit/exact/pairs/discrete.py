"""Two laws with finitely many outcomes, of several forms, or of different kinds side by side.

Each δ(ε) is a sum over finitely many outcomes, from logarithms of their masses. Where laws have
several forms, or parts of different kinds, a term of the sum is another curve.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.composition import PrivacyLoss, compose
from dpaudit.exact.numerics.sorted_epsilon import Curves
from dpaudit.laws import Branches, Discrete
from dpaudit.laws.discrete import row_positions

# atoms that are summed one by one at every ε; more are added up once, by descending loss
FEW = 1 << 14
NEAR = 0.5  # a sum that exceeds 1 by less is had from its excess
SAME = 1e-12  # losses closer than this, relative to 1 + their size, are one

# most atoms of a product of two releases; beyond, one curve is summed over the other's atoms
MANY = 1 << 20

Sums = tuple[Array, Array, Array]
CurveOf = Callable[[Any, Any], tuple[Curve, str]]


@value_class
class Atoms:
    """Two laws with finitely many outcomes (atoms), listed in the same order.

    left, right : (m,), log masses, −∞ where a law has none.
    """

    left: Array
    right: Array

    @classmethod
    def of(cls, left: Discrete, right: Discrete) -> Atoms:
        place = row_positions(left.outcomes, right.outcomes)
        return cls.matched(left.log_probability, right.log_probability, place)

    @classmethod
    def matched(cls, left: Array, right: Array, place: np.ndarray) -> Atoms:
        """The pair of log masses (m,) and (n,); place : of right atom i on the left, or −1."""
        shared = place >= 0
        beside = np.full(len(left), -np.inf)
        beside[place[shared]] = right[shared]
        alone = right[~shared]
        return cls(
            np.concatenate([left, np.full(len(alone), -np.inf)]), np.concatenate([beside, alone])
        )

    def delta(self, epsilon: ArrayLike) -> Curves:
        epsilon = check.epsilon(epsilon)
        if len(self.left) > FEW:
            forward, backward = self._sums
            return _from_sums(forward, epsilon), _from_sums(backward, epsilon)
        return _delta(self.left, self.right, epsilon), _delta(self.right, self.left, epsilon)

    @cached_property
    def _sums(self) -> tuple[Sums, Sums]:
        return _sums(self.left, self.right), _sums(self.right, self.left)

    def renyi(self, order: float) -> tuple[float, float]:
        order = check.real("order", order, 0.0, open_=True)
        return renyi_of_masses(self.left, self.right, order), renyi_of_masses(
            self.right, self.left, order
        )

    @cached_property
    def supremum(self) -> tuple[float, float]:
        forward, backward = loss(self.left, self.right), loss(self.right, self.left)
        return max(float(forward.max()), 0.0), max(float(backward.max()), 0.0)

    def times(self, other: Atoms) -> Atoms:
        """The pair of product laws: both releases, independently."""
        return Atoms(
            *(
                (a[:, None] + b).ravel()
                for a, b in ((self.left, other.left), (self.right, other.right))
            )
        )

    def merged(self) -> Atoms:
        """The pair with atoms of equal loss merged, which changes no δ."""
        own = loss(self.left, self.right)
        order = np.argsort(own)
        own, left, right = own[order], self.left[order], self.right[order]
        with np.errstate(invalid="ignore"):
            near = np.diff(own) <= SAME * (1.0 + np.abs(own[:-1]))
        finite = np.isfinite(own)
        same = np.where(finite[1:] & finite[:-1], near, own[1:] == own[:-1])
        starts = np.concatenate([[0], np.flatnonzero(~same) + 1])
        return Atoms(*(np.logaddexp.reduceat(side, starts) for side in (left, right)))


def loss(left: Array, right: Array) -> Array:
    """log p/q of each atom; −∞ where p = 0, also if q = 0."""
    return np.subtract(left, right, out=np.full_like(left, -np.inf), where=~np.isneginf(left))


def _delta(left: Array, right: Array, epsilon: Array) -> Array:
    excess = -np.expm1(np.minimum(epsilon[..., None] - loss(left, right), 0.0))
    return np.clip(excess @ np.exp(left), 0.0, 1.0) + 0.0


def _sums(left: Array, right: Array) -> Sums:
    """Losses in descending order, and the cumulative masses of both laws in that order."""
    own = loss(left, right)
    order = np.argsort(-own)
    p, q = (np.concatenate([[0.0], np.cumsum(np.exp(side[order]))]) for side in (left, right))
    return -own[order], p, q


def _from_sums(sums: Sums, epsilon: Array) -> Array:
    """P(L > ε) − e^ε Q(L > ε): 16 digits of the former, which is enough for many atoms."""
    descending, p, q = sums
    count = np.searchsorted(descending, -epsilon, side="left")
    with np.errstate(divide="ignore"):
        beside = np.exp(np.minimum(epsilon + np.log(q[count]), 0.0))
    return np.clip(p[count] - beside, 0.0, 1.0) + 0.0


def renyi_of_masses(left: Array, right: Array, order: float, inner: Array | None = None) -> float:
    """log Σ p^α q^{1−α} e^{(α−1)R}/(α − 1) over atoms, and its limit at α = 1.

    left, right : (m,), log masses. inner : (m,), R, the divergence of that order given the atom; 0
    by default. Infinite for α ≥ 1 where the left law has an atom of its own.

    With s = α − 1, L = log p/q and h(x) = e^x − 1 − x ≥ 0 the sum for R = 0 exceeds 1 by
    Σ p h(sL) + s Σ p h(−L), since the masses of either law sum to 1. So no digits are lost as
    α → 1 or p → q; nor as α → 0, where (1 − α) R_α(P, Q) = α R_{1−α}(Q, P) is used.
    """
    inner = np.zeros_like(left) if inner is None else inner
    if order >= 0.5:
        return _renyi(left, right, order - 1.0, inner)
    turn = order / (1.0 - order)
    return turn * _renyi(right, left, -order, inner / turn)


def _renyi(left: Array, right: Array, s: float, inner: Array) -> float:
    own, shared = ~np.isneginf(left), ~np.isneginf(left) & ~np.isneginf(right)
    lost = float(np.exp(left[own & ~shared]).sum())
    if not shared.any() or (s >= 0.0 and lost > 0.0):
        return float("inf")
    p, inner = left[shared], inner[shared]
    gap = p - right[shared]
    back = float(_above_tangent(p, -gap).sum() + np.exp(right[~own]).sum())
    if s == 0.0:
        return back + float(np.exp(p) @ inner)
    with np.errstate(over="ignore", invalid="ignore"):
        excess = _above_tangent(p, s * gap).sum() + s * back - (1.0 + s) * lost
        excess += np.exp(p + s * gap) @ np.expm1(s * inner)
        near = np.log1p(excess) if abs(excess) < NEAR else logsumexp(p + s * (gap + inner))
    return max(float(near) / s, 0.0) + 0.0


def _above_tangent(log_p: Array, x: Array) -> Array:
    """p(e^x − 1 − x) of each atom; by its series where it is small."""
    small = np.where(np.abs(x) < 0.5, x, 0.0)
    series = np.ones_like(small)
    for j in range(16, 2, -1):
        series = 1.0 + series * small / j
    with np.errstate(over="ignore"):
        far = np.exp(log_p + x) - np.exp(log_p) * (1.0 + x)
    return np.where(np.abs(x) < 0.5, np.exp(log_p) * (0.5 * small**2 * series), far)


NOTHING = Atoms(np.zeros(1), np.zeros(1))  # a release that does not depend on the data


@value_class
class BranchCurve:
    """Branch i has the log masses `atoms.left[i]`, `atoms.right[i]` and the curve `curves[i]`.

    δ(ε) = Σ P_i δ_i(ε − log P_i/Q_i), since given the branch the loss is log P_i/Q_i more.
    """

    atoms: Atoms
    curves: tuple[Curve, ...]

    def delta(self, epsilon: ArrayLike) -> Curves:
        epsilon = check.epsilon(epsilon)
        groups: dict[Curve, list[int]] = {}
        for i, curve in enumerate(self.curves):
            groups.setdefault(curve, []).append(i)
        forward, backward = np.zeros(epsilon.size), np.zeros(epsilon.size)
        for curve, which in groups.items():
            p, q = self.atoms.left[which], self.atoms.right[which]
            forward += np.exp(p) @ _signed(curve, epsilon.ravel(), p, q, 0)
            backward += np.exp(q) @ _signed(curve, epsilon.ravel(), q, p, 1)
        shape = epsilon.shape
        return np.clip(forward, 0.0, 1.0).reshape(shape), np.clip(backward, 0, 1.0).reshape(shape)

    def renyi(self, order: float) -> tuple[float, float]:
        """Σ p^α q^{1−α} over branches: each branch's own moment times that of its masses."""
        order = check.real("order", order, 0.0, open_=True)
        left, right = self.atoms.left, self.atoms.right
        shared = ~np.isneginf(left) & ~np.isneginf(right)
        inner = np.zeros((len(shared), 2))
        for i in np.flatnonzero(shared):
            inner[i] = self.curves[i].renyi(order)
        forward, backward = (
            np.inf
            if order >= 1.0 and np.isposinf(inner[:, side]).any()
            else renyi_of_masses(*masses, order, inner[:, side])
            for side, masses in enumerate(((left, right), (right, left)))
        )
        return forward, backward

    @property
    def supremum(self) -> tuple[float, float]:
        inner = np.array([curve.supremum for curve in self.curves])
        forward = loss(self.atoms.left, self.atoms.right) + inner[:, 0]
        backward = loss(self.atoms.right, self.atoms.left) + inner[:, 1]
        return max(float(forward.max()), 0.0), max(float(backward.max()), 0.0)


def _signed(curve: Curve, epsilon: Array, p: Array, q: Array, side: int) -> Array:
    """δ of the curve at ε − (p − q), (branches, m).

    Below 0, δ(−e) = 1 − e^{−e} + e^{−e}·(other direction at e).
    """
    shared = ~np.isneginf(p) & ~np.isneginf(q)
    value = np.where(
        np.isneginf(q), 1.0, np.zeros((len(epsilon), 1))
    ).T  # a branch of one law alone: infinite loss
    own = epsilon - (p - q)[shared, None] if shared.any() else np.empty((0, len(epsilon)))
    if own.size:
        both = [part.reshape(own.shape) for part in curve.delta(np.abs(own).ravel())]
        below = -np.expm1(np.minimum(own, 0.0)) + np.exp(np.minimum(own, 0.0)) * both[1 - side]
        value[shared] = np.where(own < 0.0, below, both[side])
    return value


def branches_curve(left: Branches, right: Branches, curve_of: CurveOf) -> BranchCurve:
    """Branches are matched by their form; one that only one law has is an infinite loss."""
    place = row_positions(left.tags, right.tags)
    shared = place >= 0
    atoms = Atoms.matched(left.log_probability, right.log_probability, place)
    curves: list[Curve] = [NOTHING] * len(atoms.left)
    for own, at in zip(np.flatnonzero(shared), place[shared], strict=True):
        first, second = left.parts[at], right.parts[own]
        if first is not None and second is not None:
            curves[at] = curve_of(first, second)[0]
    return BranchCurve(atoms, tuple(curves))


def product_curve(curves: list[Curve]) -> Curve:
    """The curve of independent releases side by side.

    Finite ones are multiplied out by loss, beside at most one of another kind. Raises
    `NoExactSpectrum`.
    """
    finite, rest = NOTHING, [curve for curve in curves if not isinstance(curve, Atoms)]
    ours = [curve for curve in curves if isinstance(curve, Atoms)]
    for atoms in sorted(ours, key=lambda atoms: len(atoms.left)):
        if not rest and len(finite.left) * len(atoms.left) > MANY:
            rest = [atoms]
        else:
            finite = finite.times(atoms.merged()).merged()
    if not rest:
        return finite
    losses = [curve for curve in rest if isinstance(curve, PrivacyLoss)]
    if len(rest) > 1 and len(losses) < len(rest):
        raise NoExactSpectrum(
            "a composition has an exact spectrum where all parts but one have finitely many "
            "outcomes, or all have moment functions; dpaudit.exact.spectrum bounds that of a "
            "dpaudit.mechanisms.Composition, and dpaudit.audit needs only draws"
        )
    other = rest[0] if len(rest) == 1 else compose(losses)
    return other if finite is NOTHING else BranchCurve(finite, (other,) * len(finite.left))
