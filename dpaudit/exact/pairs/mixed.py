"""Laws of several forms, and releases of different kinds side by side.

Both are sums, over finitely many outcomes, of another curve.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.composition import PrivacyLoss, compose
from dpaudit.exact.numerics.sorted_epsilon import Curves
from dpaudit.exact.pairs import discrete
from dpaudit.exact.pairs.discrete import Atoms
from dpaudit.laws import Branches
from dpaudit.laws.discrete import row_positions

NOTHING = Atoms(np.zeros(1), np.zeros(1))  # a release that does not depend on the data
# most atoms of a product of two releases; beyond, one curve is summed over the other's atoms
MANY = 1 << 20
CurveOf = Callable[[Any, Any], tuple[Curve, str]]


@value_class
class BranchCurve:
    """Branch i has the log masses `atoms.left[i]`, `atoms.right[i]` and the curve `curves[i]`.

    δ(ε) = Σ P_i δ_i(ε − log P_i/Q_i), since given the branch the loss is log P_i/Q_i more.
    """

    atoms: Atoms
    curves: tuple[Curve, ...]

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`."""
        epsilon = check.epsilon(epsilon)
        groups: dict[Curve, list[int]] = {}
        for i, curve in enumerate(self.curves):
            groups.setdefault(curve, []).append(i)
        parts = [
            self._group(curve, np.array(which), epsilon.ravel()) for curve, which in groups.items()
        ]
        forward, backward = (
            np.sum(side, axis=0).reshape(epsilon.shape) for side in zip(*parts, strict=True)
        )
        return np.clip(forward, 0.0, 1.0), np.clip(backward, 0.0, 1.0)

    def _group(self, curve: Curve, which: np.ndarray, epsilon: Array) -> Curves:
        """The share of the branches that have the same curve, (m,) ε."""
        p, q = self.atoms.left[which], self.atoms.right[which]
        return np.exp(p) @ _signed(curve, epsilon, p, q, 0), np.exp(q) @ _signed(
            curve, epsilon, q, p, 1
        )

    def renyi(self, order: float) -> tuple[float, float]:
        """Σ p^α q^{1−α} over branches: each branch's own moment times that of its masses."""
        order = check.real("order", order, 0.0, open_=True)
        rows = zip(self.atoms.left, self.atoms.right, self.curves, strict=True)
        inner = [
            (0.0, 0.0) if np.isneginf(p) or np.isneginf(q) else curve.renyi(order)
            for p, q, curve in rows
        ]
        forward, backward = (np.array(side) for side in zip(*inner, strict=True))
        return (
            _renyi(self.atoms.left, self.atoms.right, forward, order),
            _renyi(self.atoms.right, self.atoms.left, backward, order),
        )

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest losses (forward, backward), at least 0."""
        inner = np.array([curve.supremum for curve in self.curves])
        forward = discrete.loss(self.atoms.left, self.atoms.right) + inner[:, 0]
        backward = discrete.loss(self.atoms.right, self.atoms.left) + inner[:, 1]
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


def _renyi(left: Array, right: Array, inner: Array, order: float) -> float:
    """The divergence of one direction from those of the branches, `inner`."""
    if order >= 1.0 and np.isposinf(inner[~np.isneginf(left)]).any():
        return float("inf")
    return discrete.renyi_of_masses(left, right, order, inner)


def branches_curve(left: Branches, right: Branches, curve_of: CurveOf) -> BranchCurve:
    """Branches are matched by their form; one that only one law has is an infinite loss."""
    place = row_positions(left.tags, right.tags)
    shared = place >= 0
    beside = np.full(len(left.tags), -np.inf)
    beside[place[shared]] = right.log_probability[shared]
    curves: list[Curve] = [NOTHING] * len(left.tags)
    for own, at in zip(np.flatnonzero(shared), place[shared], strict=True):
        one, other = left.parts[at], right.parts[own]
        if one is not None and other is not None:
            curves[at] = curve_of(one, other)[0]
    alone = right.log_probability[~shared]
    atoms = Atoms(
        np.concatenate([left.log_probability, np.full(len(alone), -np.inf)]),
        np.concatenate([beside, alone]),
    )
    return BranchCurve(atoms, tuple(curves) + (NOTHING,) * len(alone))


def product_curve(curves: list[Curve]) -> Curve:
    """The curve of independent releases side by side.

    Finite ones are multiplied out by loss, beside at most one of another kind. Raises
    `NoExactSpectrum`.
    """
    finite, rest = NOTHING, [curve for curve in curves if not isinstance(curve, Atoms)]
    for atoms in sorted(
        (curve for curve in curves if isinstance(curve, Atoms)), key=lambda atoms: len(atoms.left)
    ):
        if not rest and len(finite.left) * len(atoms.left) > MANY:
            rest = [atoms]
        else:
            finite = finite.times(atoms.merged()).merged()
    if not rest:
        return finite
    if len(rest) > 1 and not all(isinstance(curve, PrivacyLoss) for curve in rest):
        raise NoExactSpectrum(
            "a composition has an exact spectrum where all parts but one have finitely many "
            "outcomes, or all have moment functions; use dpaudit.audit, which needs only draws"
        )
    other = (
        rest[0]
        if len(rest) == 1
        else compose([curve for curve in rest if isinstance(curve, PrivacyLoss)])
    )
    return other if finite is NOTHING else BranchCurve(finite, (other,) * len(finite.left))
