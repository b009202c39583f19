"""How two sides differ in their first two moments, and which part of that is signal.

In coordinates where the average covariance of the sides is I, P has mean gap/2 and covariance I −
excess/2, Q has −gap/2 and I + excess/2. With n draws a side the entries of the estimated gap have
variance 2/n, those of the excess 2/n off the diagonal and 4/n on it. In k columns the noise of some
k²/2 entries hides a difference that lies in one direction, as that of one row does. A structure
assumes where the difference lies, and keeps that part of the estimates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from dpaudit._core.types import Array
from dpaudit.scoring.base import Sides, rows_at_once
from dpaudit.scoring.whiten import Whitener

RIDGE = 1e-9  # of the whitened scale: a side may be constant
MOST = 5  # directions that `directions` keeps
WIDE = 100  # columns; of more, with the condition below, moments are taken before whitening
WELL = 1e-6  # smallest eigenvalue as a share of the largest: 6 of 16 digits may be lost


@dataclass(frozen=True, eq=False, repr=False)
class Coordinates:
    """x ↦ (x − centre)·matrix − shift, (m, k) → (m, k').

    matrix : (k, k'), or (k,) the diagonal of one.
    """

    centre: Array
    matrix: Array
    shift: Array

    def __call__(self, x: Array) -> Array:
        """The coordinates of rows (m, k)."""
        z = x - self.centre
        z = np.multiply(z, self.matrix, out=z) if self.matrix.ndim == 1 else z @ self.matrix
        return np.subtract(z, self.shift, out=z)

    def along(self, axes: Array) -> Coordinates:
        """These coordinates along the columns of `axes`."""
        diagonal = self.matrix.ndim == 1
        matrix = self.matrix[:, None] * axes if diagonal else self.matrix @ axes
        return replace(self, matrix=matrix, shift=self.shift @ axes)


@dataclass(frozen=True, eq=False, repr=False)
class MomentDifference:
    """Gap and excess as at the head of this file, from `draws` draws a side.

    coordinates : in which the average covariance is I, and 0 is the middle of the two means.
    gap : (k,). excess : (k, k).
    """

    coordinates: Coordinates
    gap: Array
    excess: Array
    draws: int

    @classmethod
    def fit(cls, train: Sides, whiten: Whitener) -> MomentDifference:
        """From all training draws; `whiten` is approximate, these coordinates are exact."""
        (mean_p, cov_p), (mean_q, cov_q) = (_moments(side, whiten) for side in (train.P, train.Q))
        inner, size = 0.5 * (cov_p + cov_q), len(mean_p)
        root = np.linalg.cholesky(inner + RIDGE * (1.0 + np.trace(inner) / size) * np.eye(size))
        axes = solve_triangular(root, np.eye(size), lower=True).T
        middle = Coordinates(whiten.centre, whiten.matrix, 0.5 * (mean_p + mean_q))
        gap, excess = (mean_p - mean_q) @ axes, axes.T @ (cov_q - cov_p) @ axes
        return cls(middle.along(axes), gap, excess, len(train.P))

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Eigenvalues (k,) and eigenvectors in columns of the excess."""
        return eigen(self.excess)

    def keeping(self, gap: Array, excess: Array) -> MomentDifference:
        """The same coordinates with the parts of gap and excess that a structure keeps."""
        return replace(self, gap=gap, excess=excess)


def _moments(x: Array, whiten: Whitener) -> tuple[Array, Array]:
    """Mean and covariance of the whitened draws.

    A matrix product for each draw is saved where the whitening may as well come last.
    """
    if len(whiten.centre) <= WIDE or whiten.least < WELL:
        return _sums(x, whiten.rounded, whiten.matrix.shape[1])
    scale = np.linalg.norm(whiten.matrix, axis=1)
    axes = np.divide(
        whiten.matrix, scale[:, None], out=np.zeros_like(whiten.matrix), where=scale[:, None] > 0.0
    )
    mean, covariance = _sums(x, Coordinates(whiten.centre, scale, np.zeros_like(scale)), len(scale))
    return mean @ axes, axes.T @ covariance @ axes


def _sums(x: Array, coordinates: Callable[[Array], Array], size: int) -> tuple[Array, Array]:
    """Mean and covariance of the draws' coordinates, a chunk at a time.

    Sums are taken about the mean of the first chunk, so that squares do not cancel.
    """
    step = rows_at_once(x)
    guess = coordinates(x[:step]).mean(axis=0)
    first, second = np.zeros(size), np.zeros((size, size))
    for start in range(0, len(x), step):
        part = coordinates(x[start : start + step])
        part -= guess
        first += part.sum(axis=0)
        second += part.T @ part
    mean = first / len(x)
    return guess + mean, second / len(x) - np.outer(mean, mean)


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues (k,) and eigenvectors in columns of a symmetric matrix; its own if diagonal."""
    value = np.diag(matrix)
    if np.count_nonzero(matrix) == np.count_nonzero(value):
        return value, np.eye(len(value))
    value, axes = np.linalg.eigh(matrix)
    return value, axes


def full(moments: MomentDifference) -> MomentDifference:
    """The whole gap and excess: quadratic discriminant analysis."""
    return moments


def shift(moments: MomentDifference) -> MomentDifference:
    """A gap between the means, and one ratio of scales common to all directions."""
    size = len(moments.gap)
    level = _shrunk(np.trace(moments.excess) / size, 4.0 / (moments.draws * size))
    return moments.keeping(_stein(moments.gap, moments.draws), level * np.eye(size))


def spiked(moments: MomentDifference) -> MomentDifference:
    """The eigenvalues of the excess that stand out of its bulk, and the bulk's mean.

    Noise alone has eigenvalues in a semicircle of radius R = 2√(2k/n), and enlarges an eigenvalue s
    to √(s² + R²) or more. The eigenvalues are shrunk by the rule that is best in Frobenius norm,
    √(λ² − R²) (Gavish & Donoho 2017).
    """
    value, axes = moments.axes
    radius = 2.0 * np.sqrt(2.0 * len(value) / moments.draws)
    inner = value[np.abs(value - value[(len(value) - 1) // 2]) <= radius]
    bulk = _shrunk(float(inner.mean()), 4.0 / (moments.draws * len(inner)))
    spike = np.sign(value - bulk) * np.sqrt(np.maximum((value - bulk) ** 2 - radius**2, 0.0))
    gap = _stein(moments.gap, moments.draws)
    if not spike.any():
        return moments.keeping(gap, bulk * np.eye(len(gap)))
    return moments.keeping(gap, (axes * (bulk + spike)) @ axes.T)


def directions(moments: MomentDifference) -> MomentDifference:
    """The few directions in which gap and excess together stand out of the noise.

    The other directions keep one common ratio of scales, and the shrunken gap. A row's influence on
    a mean and on a covariance lies in one direction; either alone may be too weak to be seen.
    """
    axes = _directions(moments)
    rest = np.eye(len(moments.gap)) - axes @ axes.T
    size = max(len(rest) - axes.shape[1], 1)
    level = _shrunk(np.sum(rest * moments.excess) / size, 4.0 / (moments.draws * size))
    inside = axes.T @ moments.excess @ axes
    gap = axes @ (axes.T @ moments.gap) + _stein(rest @ moments.gap, moments.draws)
    return moments.keeping(gap, axes @ inside @ axes.T + level * rest)


def _directions(moments: MomentDifference) -> Array:
    """Orthonormal columns (k, j), found one by one until the remainder looks like noise."""
    size = len(moments.gap)
    left, found = moments, np.zeros((size, 0))
    # evidence that noise may have: ½·χ² of the gap, and the excess at the edge of the semicircle
    noise = 1.5 * size + np.log(moments.draws)
    while found.shape[1] < min(MOST, size):
        axis, gain = _strongest(left, found)
        if gain < noise:
            break
        found = np.column_stack([found, axis])
        rest = np.eye(size) - found @ found.T
        left = moments.keeping(rest @ moments.gap, rest @ moments.excess @ rest)
    return found


def _strongest(moments: MomentDifference, found: Array) -> tuple[Array, float]:
    """The unit vector u orthogonal to `found` of most evidence, and that evidence in nats.

    n(gᵀu)²/4 + n(uᵀEu − c)²/8 is, to second order, the gain in log-likelihood by a gap and a
    variance of its own along u; c is the bulk of the excess.
    """
    size, draws = len(moments.gap), moments.draws
    rest = np.eye(size) - found @ found.T
    bulk = np.trace(moments.excess) / max(size - found.shape[1], 1)
    excess = moments.excess - bulk * rest

    def negative_evidence(v: Array) -> tuple[float, Array]:
        """Of the direction of v, and its gradient by v."""
        length = np.linalg.norm(v)
        u = v / length
        image, along = excess @ u, moments.gap @ u
        value = u @ image
        slope = 0.5 * along * moments.gap + 0.5 * value * image
        evidence = draws * (0.25 * along**2 + 0.125 * value**2)
        return -evidence, -draws * (slope - (slope @ u) * u) / length

    value, axes = moments.axes
    starts = [axes[:, np.argmax(np.abs(value - bulk))]]
    if np.linalg.norm(moments.gap) > 0.0:
        starts.append(moments.gap / np.linalg.norm(moments.gap))
    ends = [minimize(negative_evidence, start, jac=True, method="L-BFGS-B") for start in starts]
    best = min(ends, key=lambda end: float(end.fun))
    axis = rest @ best.x
    return axis / np.linalg.norm(axis), -float(best.fun)


def _stein(gap: Array, draws: int) -> Array:
    """James and Stein's positive-part shrinkage of a gap whose entries have variance 2/draws."""
    spare = max(len(gap) - 2, 0) * 2.0 / draws
    return gap * max(0.0, 1.0 - spare / max(float(gap @ gap), 1e-300))


def _shrunk(level: float, variance: float) -> float:
    """An estimate with this variance, shrunk towards 0; 0 where it is within one standard error."""
    return level * max(0.0, 1.0 - variance / max(level**2, 1e-300))


Structure = Callable[[MomentDifference], MomentDifference]
STRUCTURES: dict[str, Structure] = {
    "directions": directions,
    "spiked": spiked,
    "shift": shift,
    "full": full,
}
