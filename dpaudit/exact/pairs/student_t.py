"""Any two Student t laws of equal dimension and degrees of freedom.

Replaced rows and padding read off the data give such pairs.

With x = mean₁ + root₁⁻¹Y/√W, Y ~ N(0, I_k), W ~ χ²_ν, {L > ε} is {ξᵀ(A − κI)ξ > 0} for ξ = (Y, √W),
A the quadratic form of the other law's density, bordered by its shift, and κ =
e^{2(ε−ln|root₁|+ln|root₂|)/(ν+k)}. With μ_j the k + 1 eigenvalues of A and λ_i those of A without
its last row and column, the form has the moment function

    E[e^{sF}] = ∏_i (1 − 2s(λ_i − κ))^{(ν−1)/2} ∏_j (1 − 2s(μ_j − κ))^{−ν/2},

because E over Y leaves e^{W G(s)} and (1 − 2G)∏(1 − 2s(λ_i − κ)) = det(I − 2s(A − κI)). Its sign is
inverted on a contour through the saddle point. δ = P(L > ε) − e^ε Q(L > ε) here, so the error is
absolute: about 1e-13, or 1e-16 over the relative difference of the two roots if that is larger. For
zeroed rows `dpaudit.exact.zeroed_rows.als_finite` keeps relative accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, eigvalsh, solve_triangular

from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.contour import extent, trapezoid
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.laws import StudentT

BISECTIONS = 60
OVERFLOW = 700.0  # e^{this} is about as far as floats go; no form is positive at such a level


@dataclass(frozen=True, eq=False, repr=False)
class StudentPairCurve:
    """The curve of any two Student t laws of equal dimension and degrees of freedom."""

    left: StudentT
    right: StudentT

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`."""
        return student_pair(self.left, self.right, epsilon)

    def renyi(self, order: float) -> tuple[float, float]:
        """Always raises `NoExactSpectrum`: no closed form is known."""
        raise NoExactSpectrum(
            "no closed form for the Rényi divergence of two Student t laws that differ by more "
            "than a zeroed row; use delta_at, or law='asymptotic'"
        )

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest losses (forward, backward)."""
        return largest_losses(self.left, self.right)


def student_pair(left: StudentT, right: StudentT, epsilon: ArrayLike) -> tuple[Array, Array]:
    """(forward, backward) δ(ε) of two Student t laws; forward is left against right."""
    there, back = _Form.of(left, right), _Form.of(right, left)

    def both(sorted_: Array) -> Curves:
        return _delta(there, back, sorted_), _delta(back, there, sorted_)

    return by_sorted_epsilon(epsilon, both)


def largest_losses(left: StudentT, right: StudentT) -> tuple[float, float]:
    """sup L of (forward, backward); δ(ε) = 0 from there on."""
    return max(_Form.of(left, right).largest_loss, 0.0), max(
        _Form.of(right, left).largest_loss, 0.0
    )


def _delta(own: _Form, other: _Form, epsilon: Array) -> Array:
    """P(L > ε) − e^ε Q(L > ε), the last being Q(L' < −ε) with L' = −L the other law's loss."""
    inside = own.log_probability(own.level(epsilon), 1.0)
    outside = other.log_probability(other.level(-epsilon), -1.0)
    return excess(inside, outside, epsilon, own.largest_loss)


def excess(inside: Array, outside: Array, epsilon: Array, largest_loss: float | Array) -> Array:
    """δ = P(L > ε) − e^ε Q(L > ε) from the logarithms of both: e^ε alone would overflow.

    It lies between 0 and 1 − e^{ε − sup L}, whatever rounding does to nearly equal laws.
    """
    room = -np.expm1(np.minimum(epsilon - largest_loss, 0.0))
    return np.clip(np.exp(inside) - np.exp(np.minimum(epsilon + outside, 0.0)), 0.0, room)


@dataclass(frozen=True, eq=False, repr=False)
class _Form:
    """The quadratic form of one direction.

    outer : (k + 1,), eigenvalues less 1 of the bordered form. inner : (k,), of its principal block.
    """

    inner: Array
    outer: Array
    dof: int
    log_ratio: float  # ln|root₁| − ln|root₂|

    @classmethod
    def of(cls, left: StudentT, right: StudentT) -> _Form:
        """The form of log left/right under the left law."""
        size = left.dim
        turn = solve_triangular(left.root, right.root.T, trans="T").T  # right.root · left.root⁻¹
        shift = right.root @ (left.mean - right.mean)
        inner, axes = eigh(turn.T @ turn - np.eye(size))
        form = np.diag(np.append(inner, shift @ shift))
        form[:size, size] = form[size, :size] = axes.T @ (turn.T @ shift)
        log_ratio = float(np.sum(np.log(np.abs(np.diag(left.root) / np.diag(right.root)))))
        return cls(inner, eigvalsh(form), left.dof, log_ratio)

    @property
    def largest_loss(self) -> float:
        """sup L."""
        return self.log_ratio + 0.5 * (self.dof + len(self.inner)) * float(
            np.log1p(self.outer.max())
        )

    def level(self, epsilon: Array) -> Array:
        """κ − 1."""
        power = 0.5 * (self.dof + len(self.inner))
        return np.expm1(np.minimum((epsilon - self.log_ratio) / power, OVERFLOW))

    def log_probability(self, level: Array, sign: float) -> Array:
        """ln P(sign·F > 0) for each κ − 1 in `level`."""
        values = np.concatenate([self.inner, self.outer])
        powers = np.repeat(
            [0.5 * (self.dof - 1), -0.5 * self.dof], [len(self.inner), len(self.outer)]
        )
        return log_positive_chance(sign * (values - level[:, None]), powers)


def log_positive_chance(values: Array, powers: Array) -> Array:
    """ln P(F > 0) of each form with E[e^{sF}] = ∏_j (1 − 2s·values_j)^{powers_j}, (m,).

    values : (m, j); the extremes are eigenvalues of the whole form. powers : (j,), the (ν − 1)/2 of
        its principal block's eigenvalues and the −ν/2 of its own, equal ones merged.
    """
    result = np.where(values.max(axis=1) <= 0.0, -np.inf, 0.0)
    mixed = (values.max(axis=1) > 0.0) & (values.min(axis=1) < 0.0)
    values = values[mixed]
    likely = values @ powers < 0.0
    # take the unlikely side on its own contour
    tail = _log_upper_tail(np.where(likely, -1.0, 1.0)[:, None] * values, powers)
    result[mixed] = np.where(likely, np.log1p(-np.exp(np.minimum(tail, 0.0))), tail)
    return np.minimum(result, 0.0)


def _log_upper_tail(values: Array, powers: Array) -> Array:
    """ln (1/2πi) ∫ M(s)/s ds to the right of 0 for each row of eigenvalues."""
    start, end = 0.5 / values.min(axis=1), 0.5 / values.max(axis=1)  # branch points on either side
    saddle = _saddle(values, powers, end)
    nearness = saddle**-2.0 + (end - saddle) ** -2.0 + (saddle - start) ** -2.0
    scale = 1.0 / np.sqrt(2.0 * _sum(values, powers, saddle, 2) + nearness)
    tilted = 2.0 * values / (1.0 - 2.0 * values * saddle[:, None])
    peak = np.log1p(-2.0 * values * saddle[:, None]) @ powers

    def integrand(u: np.ndarray) -> np.ndarray:
        above = scale[:, None] * np.sinh(u)
        with np.errstate(under="ignore"):
            moment = np.exp(log_ratio(tilted, powers, above))
        return np.asarray(
            moment / (saddle[:, None] + 1j * above) * (1j * scale[:, None] * np.cosh(u))
        )

    with np.errstate(under="ignore", divide="ignore"):
        return np.asarray(np.log(np.maximum(trapezoid(integrand, extent(integrand)), 0.0)) + peak)


def log_ratio(tilted: Array, powers: Array, above: Array) -> np.ndarray:
    """log ∏_j (1 − iω·tilted_j)^{powers_j}, which is log E[e^{(s + iω)F}]/E[e^{sF}], (m, nodes).

    tilted : (m, j), λ/(1 − 2sλ)·2 of the eigenvalues λ. above : ω, (m, nodes) or (1, nodes). Real
        functions take a sixth of the time of a complex logarithm.
    """
    shape = (len(tilted), above.shape[1])
    size, angle = np.zeros(shape), np.zeros(shape)
    for column, power in zip(tilted.T, powers, strict=True):
        turn = above * column[:, None]
        angle -= power * np.arctan(turn)
        size += 0.5 * power * np.log1p(turn * turn)
    return size + 1j * angle


def _saddle(values: Array, powers: Array, end: Array) -> Array:
    low, high = np.zeros_like(end), end.copy()
    for _ in range(BISECTIONS):
        s = 0.5 * (low + high)
        slope = _sum(values, powers, s, 1) - 1.0 / s
        low, high = np.where(slope > 0.0, low, s), np.where(slope > 0.0, s, high)
    return 0.5 * (low + high)


def _sum(values: Array, powers: Array, s: Array, power: int) -> Array:
    """−2 Σ powers_j·(values_j/(1 − 2s·values_j))^power: K′(s) of K = log E[e^{sF}], K″(s)/2."""
    return np.asarray(-2.0 * (values / (1.0 - 2.0 * values * s[:, None])) ** power @ powers)
