"""Any two Student t laws of equal dimension and degrees of freedom.

Replaced rows and padding read off the data give such pairs.

With x = mean₁ + root₁⁻¹Y/√W, Y ~ N(0, I_k), W ~ χ²_ν, {L > ε} is {ξᵀ(A − κI)ξ > 0} for ξ = (Y, √W),
A the quadratic form of the other law's density, bordered by its shift, and κ =
e^{2(ε−ln|root₁|+ln|root₂|)/(ν+k)}. With μ_j the k + 1 eigenvalues of A and λ_i those of A without
its last row and column, the form has the moment function

    E[e^{sF}] = ∏_i (1 − 2s(λ_i − κ))^{(ν−1)/2} ∏_j (1 − 2s(μ_j − κ))^{−ν/2},

because E over Y leaves e^{W G(s)} and (1 − 2G)∏(1 − 2s(λ_i − κ)) = det(I − 2s(A − κI)). Its sign is
inverted on a contour through the saddle point. A = CᵀC for the C of ξ ↦ the other law's ξ, so in
the coordinates of Q the set has the eigenvalues of I − κA⁻¹, (μ_j − κ)/μ_j and (λ_i − κ)/λ_i.

δ = P(L > ε) − e^ε Q(L > ε) here, so the error is absolute: about 1e-13, 1e-15 ν, or 1e-16 over the
relative difference of the two roots, whichever is largest. For zeroed rows
`dpaudit.exact.zeroed_rows.als` keeps relative accuracy.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import eigh, eigvalsh, solve_triangular

from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.contour import extent, trapezoid
from dpaudit.exact.numerics.sorted_epsilon import Accuracy, Curves, by_sorted_epsilon
from dpaudit.laws import StudentT

BISECTIONS = 60
OVERFLOW = 700.0  # e^{this} is about as far as floats go; no form is positive at such a level
TINY = 1e-300  # relative to the largest eigenvalue
NEAR = 0.5  # eigenvalues closer to 1 than this are stored by their difference from 1
AGREE = 1e-9  # of two sums over a contour
FAR = 94.0  # where a contour ends whose integrand grows at first


class UnknownRenyi:
    """A curve of two Student t laws whose Rényi divergences have no closed form."""

    def renyi(self, order: float) -> tuple[float, float]:
        raise NoExactSpectrum(
            "no closed form for the Rényi divergence of two Student t laws that differ by more "
            "than a zeroed row; use delta_at, or law='asymptotic'"
        )


@value_class
class StudentPairCurve(UnknownRenyi):
    """The curve of any two Student t laws of equal dimension and degrees of freedom."""

    left: StudentT
    right: StudentT

    @cached_property
    def _forms(self) -> tuple[_Form, _Form]:
        there = _Form.of(self.left, self.right)
        return there, there.reversed()

    def delta(self, epsilon: ArrayLike) -> Curves:
        there, back = self._forms
        return by_sorted_epsilon(
            epsilon, lambda e: (there.delta(e), back.delta(e)), accuracy(self.left.dof)
        )

    @property
    def supremum(self) -> tuple[float, float]:
        there, back = self._forms
        return max(there.largest_loss, 0.0), max(back.largest_loss, 0.0)


def accuracy(dof: int) -> Accuracy:
    return Accuracy(absolute=max(1e-11, 1e-15 * dof))


def excess(inside: Array, outside: Array, epsilon: Array, largest_loss: float | Array) -> Array:
    """δ = P(L > ε) − e^ε Q(L > ε) from the logarithms of both: e^ε alone would overflow.

    It lies between 0 and 1 − e^{ε − sup L}, whatever rounding does to nearly equal laws.
    """
    room = -np.expm1(np.minimum(epsilon - largest_loss, 0.0))
    return np.clip(np.exp(inside) - np.exp(np.minimum(epsilon + outside, 0.0)), 0.0, room)


@value_class
class _Form:
    """The quadratic form of one direction, by its eigenvalues.

    ratio : (2k + 1,), those of its principal block, then its own. change : ratio − 1, kept beside
    it, so that neither nearly equal nor very unequal scales lose their digits.
    """

    ratio: Array
    change: Array
    dof: int
    log_ratio: float  # ln|root₁| − ln|root₂|

    @classmethod
    def of(cls, left: StudentT, right: StudentT) -> _Form:
        turn = solve_triangular(left.root, right.root.T, trans="T").T  # right.root · left.root⁻¹
        shift = right.root @ (left.mean - right.mean)
        whole = np.zeros((left.dim + 1, left.dim + 1))
        whole[:-1, :-1], whole[:-1, -1], whole[-1, -1] = turn, shift, 1.0
        inner, axes = eigh(turn.T @ turn - np.eye(left.dim))
        bordered = np.diag(np.append(inner, shift @ shift))
        bordered[:-1, -1] = bordered[-1, :-1] = axes.T @ (turn.T @ shift)
        outer = eigvalsh(bordered)
        inner = np.clip(inner, outer[:-1], outer[1:])  # Cauchy's interlacing, which rounding breaks
        change = np.concatenate([inner, outer])
        ratio = np.where(
            np.abs(change) < NEAR, 1.0 + change, np.concatenate([_squares(turn), _squares(whole)])
        )
        log_ratio = float(np.sum(np.log(np.abs(np.diag(left.root) / np.diag(right.root)))))
        change = np.where(np.abs(change) < NEAR, change, ratio - 1.0)
        return cls(ratio, change, left.dof, log_ratio)

    def reversed(self) -> _Form:
        return _Form(1.0 / self.ratio, -self.change / self.ratio, self.dof, -self.log_ratio)

    @property
    def _power(self) -> float:
        return 0.5 * (self.dof + len(self.ratio) // 2)

    @property
    def largest_loss(self) -> float:
        return self.log_ratio + self._power * float(np.log(self.ratio).max())

    def delta(self, epsilon: Array) -> Array:
        """P(L > ε) − e^ε Q(L > ε); for Q the set {L > ε} has the eigenvalues of P's, each over its
        ratio.
        """
        exponent = np.minimum((epsilon - self.log_ratio) / self._power, OVERFLOW)[:, None]
        values = np.where(
            np.abs(self.change) < NEAR,
            self.change - np.expm1(exponent),
            self.ratio - np.exp(exponent),
        )
        values /= np.maximum(np.abs(values).max(axis=1, keepdims=True), TINY)
        size = len(self.ratio) // 2
        powers = np.repeat([0.5 * (self.dof - 1), -0.5 * self.dof], [size, size + 1])
        inside = log_positive_chance(values, powers)
        outside = log_positive_chance(values / self.ratio, powers)
        return excess(inside, outside, epsilon, self.largest_loss)


def _squares(triangle: Array) -> Array:
    """Squared singular values, ascending; by the inverse below 1, where it keeps their digits."""
    large = np.linalg.svd(triangle, compute_uv=False)[::-1] ** 2
    inverse = solve_triangular(triangle, np.eye(len(triangle)))
    with np.errstate(divide="ignore"):
        small = np.linalg.svd(inverse, compute_uv=False) ** -2.0
    return np.where(large > 1.0, large, small)


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
    low, high = np.zeros_like(end), end.copy()
    for _ in range(BISECTIONS):
        s = 0.5 * (low + high)
        rising = _sum(values, powers, s, 1) > 1.0 / s
        low, high = np.where(rising, low, s), np.where(rising, s, high)
    saddle = 0.5 * (low + high)
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
        total = trapezoid(integrand, min(extent(integrand), FAR), AGREE)
        return np.asarray(np.log(np.maximum(total, 0.0)) + peak)


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


def _sum(values: Array, powers: Array, s: Array, power: int) -> Array:
    """−2 Σ powers_j·(values_j/(1 − 2s·values_j))^power: K′(s) of K = log E[e^{sF}], K″(s)/2."""
    return np.asarray(-2.0 * (values / (1.0 - 2.0 * values * s[:, None])) ** power @ powers)
