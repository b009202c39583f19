"""Sketches SD + wξ with a random noise level w: their draws, and the privacy loss of a zeroed row.

S (k × n) and ξ (k × d) are standard normal, and w is drawn anew for each sketch. Given w, a row of
the sketch is N(0, DᵀD + w²I), and the least-squares solution has the law of that on a sketch of
[D; wI], a Student t law (paper 3, equation 52).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.linalg import upper_triangle
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.spectrum import Curve
from dpaudit.exact import PrivacyLoss, StudentCurve
from dpaudit.laws import bartlett
from dpaudit.laws.base import draw_in_chunks
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers.algorithm import singular_axes

Noise = Callable[[int, np.random.Generator], Array]  # count → standard deviations w ≥ 0, (count,)


def grams_of_sketches(
    data: Array, rows: int, noise: Noise, size: int, rng: np.random.Generator
) -> Array:
    """Upper triangles of the Gram matrices of SD + wξ, k = `rows`, with one w for each draw."""
    scale, axes = singular_axes(data)
    d = len(axes)

    def draw(count: int) -> Array:
        spread = np.sqrt(scale**2 + noise(count, rng)[:, None] ** 2)
        factor = axes.T @ (spread[:, :, None] * bartlett(count, d, rows, rng))
        return upper_triangle(factor @ factor.transpose(0, 2, 1))

    return draw_in_chunks(size, d * (d + 1) // 2, d**2, draw)


@value_class
class SketchedFit:
    """Least squares of the label y on X, both from a sketch of D = [X, y]: draws, and what one row
    of D is in it.

    X = U·diag(s)·Vᵀ. basis : U. scale : s. axes : Vᵀ. along : u = Uᵀy. label : y. rest : ‖y − Uu‖².
    """

    basis: Array
    scale: Array
    axes: Array
    along: Array
    label: Array
    rest: float

    @classmethod
    def of(cls, data: Array) -> SketchedFit:
        n, p, label = len(data), data.shape[1] - 1, data[:, -1]
        if n < p:
            fail("data", Words(f"{n} rows"), f"at least as many rows as features, {p}")
        basis, scale, axes = np.linalg.svd(data[:, :-1], full_matrices=False)
        along = basis.T @ label
        return cls(basis, scale, axes, along, label, float(np.sum((label - basis @ along) ** 2)))

    def draw(self, noise: Array, rows: int, rng: np.random.Generator) -> Array:
        """One solution on a sketch of k = `rows` rows for each w in `noise` (m,); (m, p).

        They are V[su/(s² + w²) + ‖res‖·t/√(s² + w²)] with ‖res‖² = ‖y − Uu‖² + w² +
        Σu²w²/(s² + w²) and t multivariate Student with k − p + 1 degrees of freedom.
        """
        p, square = len(self.scale), noise[:, None] ** 2
        weight = self.scale**2 + square
        inverse = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0.0)
        shrunk = np.sum(self.along**2 * square * inverse, axis=1, keepdims=True)
        residual = self.rest + square + shrunk
        chi = 2.0 * rng.standard_gamma(0.5 * (rows - p + 1), (len(noise), 1))
        spread = np.sqrt(residual * inverse / chi) * rng.standard_normal((len(noise), p))
        return np.asarray((self.scale * self.along * inverse + spread) @ self.axes)

    def shares(self, index: int, noise: float) -> tuple[float, float]:
        """The leverage and residual share of row `index` in [D; wI], with w = `noise`."""
        shares, row = _shrinkage(self.scale, noise), self.basis[index]
        leverage = min(float(np.sum(row**2 * shares)), 1.0)
        residual = float(self.label[index]) - float(np.sum(row * shares * self.along))
        total = self.rest + noise**2 + float(np.sum(self.along**2 * (1.0 - shares)))
        room = (1.0 - leverage) * total
        return leverage, min(residual**2 / room, 1.0) if room > 0.0 else 0.0

    def curve(self, index: int, rows: int, noise: float) -> Curve:
        """The curve of zeroing a row, if a solution with k = `rows` and w = `noise` is released."""
        return StudentCurve(*self.shares(index, noise), len(self.scale), rows)


def released_row(data: Array, index: int, rows: int) -> Callable[[float], PrivacyLoss]:
    """The function w ↦ privacy loss of zeroing row `index`, if a sketch of k = `rows` is released.

    The row's leverage q = vᵀ(DᵀD + w²I)⁻¹v is computed on D's singular axes.
    """
    basis, scale, _ = np.linalg.svd(data, full_matrices=False)
    square = basis[index] ** 2

    def loss(noise: float) -> PrivacyLoss:
        leverage = min(float(np.sum(square * _shrinkage(scale, noise))), 1.0)
        if leverage > 1.0 - 1e-12:
            return PrivacyLoss.disjoint("χ² of the rows")
        return PrivacyLoss.gaussian_sketch(leverage, rows)

    return loss


def _shrinkage(scale: Array, noise: float) -> Array:
    """The factors s²/(s² + w²) for s in `scale` and w = `noise`; 1 where both are 0."""
    weight = scale**2 + noise**2
    return np.divide(scale**2, weight, out=np.ones_like(weight), where=weight > 0.0)


def axis_pair(row_bound: float, eigenvalue: float) -> NeighbourPair:
    """Data of two columns with DᵀD = λC²·I, or slightly more on axis 2; a row (C, 0) is zeroed.

    row_bound : C > 0. eigenvalue : λ ≥ 1.
    """
    return zero_row(row_bound * _axis_rows(eigenvalue, 1.0), 0)


def labelled_pair(row_bound: float, label_bound: float, eigenvalue: float) -> NeighbourPair:
    """`axis_pair` rotated so that the zeroed row is (C_X, C_Y), with one feature and a label.

    All rows are within both bounds. eigenvalue : λ_min in units of C_X² + C_Y².
    """
    size = math.hypot(row_bound, label_bound)
    x, y = row_bound / size, label_bound / size
    rows = size * _axis_rows(eigenvalue, 0.999 * min(x / y, y / x)) @ np.array([[x, y], [-y, x]])
    rows[0] = row_bound, label_bound
    return zero_row(rows, 0)


def _axis_rows(eigenvalue: float, longest: float) -> Array:
    """The rows of `axis_pair` for C = 1; those on the second axis have norm ≤ `longest`."""
    first, second = max(1, math.ceil(eigenvalue)), math.ceil(1.0001 * eigenvalue / longest**2)
    rest = math.sqrt(max(eigenvalue - 1.0, 0.0) / first)
    parts = [
        [[1.0, 0.0]],
        [[rest, 0.0]] * first,
        [[0.0, math.sqrt(1.0001 * eigenvalue / second)]] * second,
    ]
    rows = np.array([row for part in parts for row in part])
    return np.asarray(rows[np.any(rows != 0.0, axis=1)])
