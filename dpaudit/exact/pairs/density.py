"""Two laws of one number, by their densities.

The region where the loss exceeds ε is found, then p − e^ε q is integrated over it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.pairs import discrete
from dpaudit.laws import Density
from dpaudit.laws.density import gauss_legendre
from dpaudit.laws.discrete import row_positions

HALVINGS = 60
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)  # of log p
UNDERFLOW = 750.0  # natural-log units: a panel of so small a density adds nothing
INSIDE = 1e-9  # of a panel: how near its ends the densities are looked at, for they may jump there
UNSPENT = 1e-9  # share of an integral on the outermost panels at which it is taken to diverge

LogDensity = Callable[[Array], Array]


@value_class
class DensityPair:
    """∫ (p − e^ε q)₊ on panels where both densities are smooth.

    The points where the loss crosses ε are found by bisection; between them there are 16 Gauss
    nodes. The relative accuracy is some 1e-12 where the panels suit the densities. Atoms are
    summed.
    """

    left: Density
    right: Density

    @cached_property
    def _ends(self) -> Array:
        return np.union1d(self.left.edges, self.right.edges)

    @cached_property
    def _nodes(self) -> tuple[Array, Array]:
        return gauss_legendre(self._ends[:-1], self._ends[1:])

    @cached_property
    def _points(self) -> tuple[Array, Array, Array]:
        """The points of each panel, its ends included, (panels, 18); log p and log q there."""
        start, end = self._ends[:-1], self._ends[1:]
        margin = INSIDE * (end - start)
        x = np.column_stack([start + margin, self._nodes[0], end - margin])
        return x, _values(self.left.log_p, x), _values(self.right.log_p, x)

    @cached_property
    def _atoms(self) -> discrete.Atoms:
        atoms = np.union1d(self.left.atoms, self.right.atoms)[:, None]
        return discrete.Atoms(*(_masses(law, atoms) for law in (self.left, self.right)))

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`.

        Raises `NoExactSpectrum` where these are no directions of two laws, since the panels do not
        suit the densities.
        """
        return by_sorted_epsilon(epsilon, self._curves)

    def _curves(self, epsilon: Array) -> Curves:
        x, p, q = self._points
        forward = self._direction(x, p, q, self.left.log_p, self.right.log_p, epsilon)
        backward = self._direction(x, q, p, self.right.log_p, self.left.log_p, epsilon)
        if len(self._atoms.left):
            ahead, back = self._atoms.delta(epsilon)
            forward, backward = forward + ahead, backward + back
        return np.clip(forward, 0.0, 1.0), np.clip(backward, 0.0, 1.0)

    def _direction(
        self, x: Array, p: Array, q: Array, log_p: LogDensity, log_q: LogDensity, epsilon: Array
    ) -> Array:
        """Whole panels from what is known at their nodes; parts of panels for all ε together."""
        loss, total, pieces = discrete.loss(p, q), np.zeros(len(epsilon)), []
        # a loss within its rounding of ε counts as above: it adds nothing, and crosses nowhere
        raised = loss + ROUNDING * np.where(np.isneginf(p), 0.0, np.abs(p))
        points = np.column_stack([self._ends[:-1], x[:, 1:-1], self._ends[1:]])
        weights, heavy = self._nodes[1], p.max(axis=1) > -UNDERFLOW
        for j, e in enumerate(epsilon):
            above = raised > e
            whole = above.all(axis=1)
            total[j] = _excess(weights[whole], p[whole, 1:-1], q[whole, 1:-1], e).sum()
            some = above.any(axis=1) & ~whole & heavy
            pieces.append(_parts(points[some], above[some], j))
        near, far, crossed, which = (np.concatenate(side) for side in zip(*pieces, strict=True))
        inside, beyond, level = near[crossed], far[crossed], epsilon[which[crossed]]
        for _ in range(HALVINGS if len(inside) else 0):
            middle = 0.5 * (inside + beyond)
            exceeds = _loss_at(log_p, log_q, middle) > level
            inside, beyond = np.where(exceeds, middle, inside), np.where(exceeds, beyond, middle)
        far[crossed] = inside
        nodes, weights = gauss_legendre(np.minimum(near, far), np.maximum(near, far))
        part = _excess(weights, _values(log_p, nodes), _values(log_q, nodes), epsilon[which, None])
        return np.asarray(total + np.bincount(which, part, len(epsilon)))

    def renyi(self, order: float) -> tuple[float, float]:
        order = check.real("order", order, 0.0, open_=True)
        return self._renyi(order, forward=True), self._renyi(order, forward=False)

    def _renyi(self, order: float, forward: bool) -> float:
        nodes, weights = self._nodes
        p, q = (_values(law.log_p, nodes) + np.log(weights) for law in (self.left, self.right))
        atoms = self._atoms
        if not forward:
            p, q, atoms = q, p, discrete.Atoms(atoms.right, atoms.left)
        with np.errstate(invalid="ignore"):
            share = np.where(
                np.isneginf(p) | np.isneginf(q), -np.inf, order * p + (1.0 - order) * q
            )
        total = logsumexp(share)
        if np.isposinf(total) or logsumexp(share[[0, -1]]) > total + np.log(UNSPENT):
            return float("inf")
        masses = [np.concatenate([a.ravel(), b]) for a, b in ((p, atoms.left), (q, atoms.right))]
        return discrete.renyi_of_masses(masses[0], masses[1], order)

    @cached_property
    def supremum(self) -> tuple[float, float]:
        x, p, q = self._points
        forward = self._supremum(x, discrete.loss(p, q), self.left.log_p, self.right.log_p)
        backward = self._supremum(x, discrete.loss(q, p), self.right.log_p, self.left.log_p)
        atoms = self._atoms.supremum if len(self._atoms.left) else (0.0, 0.0)
        return max(forward, atoms[0]), max(backward, atoms[1])

    def _supremum(self, x: Array, loss: Array, log_p: LogDensity, log_q: LogDensity) -> float:
        """The largest loss at the points, then between the two neighbours of the point that has it.

        Infinite if the loss still climbs at the outermost points.
        """
        best = int(np.argmax(loss.ravel()))
        largest, flat = float(loss.ravel()[best]), x.ravel()
        if np.isposinf(largest) or _climbs(loss[0, ::-1]) or _climbs(loss[-1]):
            return float("inf")
        from scipy.optimize import minimize_scalar  # here: rarely used, and slow to import

        low, high = flat[max(best - 1, 0)], flat[min(best + 1, x.size - 1)]
        lowest = minimize_scalar(
            lambda y: -float(_loss_at(log_p, log_q, np.array([y]))[0]),
            bounds=(low, high),
            method="bounded",
        )
        return max(largest, -float(lowest.fun))


def _excess(weights: Array, p: Array, q: Array, epsilon: float | Array) -> Array:
    gain = -np.expm1(np.minimum(epsilon - discrete.loss(p, q), 0.0))
    return np.asarray(np.sum(weights * np.exp(p) * gain, axis=1))


def _values(log_p: LogDensity, x: Array) -> Array:
    return np.asarray(log_p(x.ravel())).reshape(x.shape)


def _masses(law: Density, atoms: Array) -> Array:
    place = row_positions(law.atoms[:, None], atoms)
    return np.array([law.log_mass[at] if at >= 0 else -np.inf for at in place])


def _loss_at(log_p: LogDensity, log_q: LogDensity, x: Array) -> Array:
    return discrete.loss(np.asarray(log_p(x)), np.asarray(log_q(x)))


def _climbs(rim: Array) -> bool:
    """Whether the loss grows outwards by more than rounding over the last panel."""
    return bool(
        np.isfinite(rim).all() and rim[-1] > 0.0 and rim[-1] - rim[0] > 1e-6 * (1.0 + abs(rim[-1]))
    )


def _parts(x: Array, above: np.ndarray, which: int) -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """The parts of panels between neighbouring points of which at least one has a loss above ε.

    Returns (k,) each: that point, the other point, whether the loss of the other is not above ε,
    and `which`.
    """
    left, right = above[:, :-1], above[:, 1:]
    seen = left | right
    near, far = np.where(left, x[:, :-1], x[:, 1:]), np.where(left, x[:, 1:], x[:, :-1])
    return near[seen], far[seen], (left != right)[seen], np.full(np.count_nonzero(seen), which)
