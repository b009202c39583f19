"""How two sides differ in their first two moments, and what of that is signal.

In coordinates where the average covariance of the sides is I, P has mean gap/2 and covariance I −
excess/2, Q has −gap/2 and I + excess/2. With n draws a side the entries of the gap have variance
2/n, those of the excess 2/n off the diagonal and 4/n on it: in k columns some k²/2 of them drown a
difference that lies in one direction, as that of one row does. Each structure keeps a part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from dpaudit._core.check import Array
from dpaudit.scoring.base import CHUNK, Sides
from dpaudit.scoring.whiten import Whitener

RIDGE = 1e-9  # of the whitened scale: a side may be constant
MOST = 5  # directions


@dataclass(frozen=True, eq=False)
class Coordinates:
    """x ↦ (x − centre)·turn − shift."""

    centre: Array
    turn: Array
    shift: Array

    def __call__(self, x: Array) -> Array:
        return (x - self.centre) @ self.turn - self.shift

    def turned(self, axes: Array) -> Coordinates:
        """The same, seen along the columns of `axes`."""
        return replace(self, turn=self.turn @ axes, shift=self.shift @ axes)


@dataclass(frozen=True, eq=False)
class Moments:
    """gap (k,) and excess (k, k) in coordinates of average covariance I about the middle; n `draws`
    a side.
    """

    coordinates: Coordinates
    gap: Array
    excess: Array
    draws: int

    @classmethod
    def fit(cls, train: Sides, whiten: Whitener, by_column: bool = False) -> Moments:
        """`whiten` has brought the draws to a numerically sound scale; here it is made exact.

        by_column : leave the columns as they are but for their scales; only variances are looked
            at.
        """
        (mean_p, cov_p), (mean_q, cov_q) = (_moments(side, whiten) for side in (train.P, train.Q))
        if by_column:
            cov_p, cov_q = np.diag(np.diag(cov_p)), np.diag(np.diag(cov_q))
        inner, size = 0.5 * (cov_p + cov_q), len(mean_p)
        root = np.linalg.cholesky(inner + RIDGE * (1.0 + np.trace(inner) / size) * np.eye(size))
        turn = solve_triangular(root, np.eye(size), lower=True).T
        middle = Coordinates(whiten.centre, whiten.turn, 0.5 * (mean_p + mean_q))
        return cls(
            middle.turned(turn),
            (mean_p - mean_q) @ turn,
            turn.T @ (cov_q - cov_p) @ turn,
            len(train.P),
        )

    def keeping(self, gap: Array, excess: Array) -> Moments:
        return replace(self, gap=gap, excess=excess)


def _moments(x: Array, whiten: Whitener) -> tuple[Array, Array]:
    """Mean and covariance of the whitened draws, a chunk at a time, about a first guess at the
    mean.
    """
    size = whiten.turn.shape[1]
    guess = whiten(x[:CHUNK]).mean(axis=0)
    first, second = np.zeros(size), np.zeros((size, size))
    for start in range(0, len(x), CHUNK):
        part = whiten(x[start : start + CHUNK]) - guess
        first += part.sum(axis=0)
        second += part.T @ part
    mean = first / len(x)
    return guess + mean, second / len(x) - np.outer(mean, mean)


def full(moments: Moments) -> Moments:
    """All of it: quadratic discriminant analysis."""
    return moments


def shift(moments: Moments) -> Moments:
    """A gap between the means, and one common ratio of scales (a sum of squares tells that)."""
    size = len(moments.gap)
    level = _shrunk(np.trace(moments.excess) / size, 4.0 / (moments.draws * size))
    return moments.keeping(_stein(moments.gap, moments.draws), level * np.eye(size))


def spiked(moments: Moments) -> Moments:
    """The excess beyond what noise makes, about its bulk.

    Noise alone has eigenvalues in a semicircle of radius R = 2√(2k/n), and turns a spike s into
    √(s² + R²) or more: the singular values are shrunk by the rule that is best in Frobenius norm,
    √(λ² − R²) (Gavish & Donoho 2017).
    """
    value, axes = np.linalg.eigh(moments.excess)
    radius = 2.0 * np.sqrt(2.0 * len(value) / moments.draws)
    inner = value[np.abs(value - value[(len(value) - 1) // 2]) <= radius]
    bulk = _shrunk(float(inner.mean()), 4.0 / (moments.draws * len(inner)))
    spike = np.sign(value - bulk) * np.sqrt(np.maximum((value - bulk) ** 2 - radius**2, 0.0))
    return moments.keeping(_stein(moments.gap, moments.draws), (axes * (bulk + spike)) @ axes.T)


def directions(moments: Moments) -> Moments:
    """The few directions in which gap and excess TOGETHER stand out, and one common ratio of scales
    in the others.

    A row's influence on a mean and on a covariance lies in one direction; either alone may be too
    weak to show.
    """
    axes = _directions(moments)
    rest = np.eye(len(moments.gap)) - axes @ axes.T
    size = max(len(rest) - axes.shape[1], 1)
    level = _shrunk(np.sum(rest * moments.excess) / size, 4.0 / (moments.draws * size))
    inside = axes.T @ moments.excess @ axes
    gap = axes @ (axes.T @ moments.gap) + _stein(rest @ moments.gap, moments.draws)
    return moments.keeping(gap, axes @ inside @ axes.T + level * rest)


def _directions(moments: Moments) -> Array:
    """Orthonormal columns, found one after the other until what is left looks like noise."""
    size = len(moments.gap)
    left, found = moments, np.zeros((size, 0))
    # ½·χ² of the gap and the edge of the semicircle, with room
    noise = 1.5 * size + np.log(moments.draws)
    while found.shape[1] < min(MOST, size):
        axis, gain = _strongest(left, found)
        if gain < noise:
            break
        found = np.column_stack([found, axis])
        rest = np.eye(size) - found @ found.T
        left = moments.keeping(rest @ moments.gap, rest @ moments.excess @ rest)
    return found


def _strongest(moments: Moments, found: Array) -> tuple[Array, float]:
    """The unit vector u orthogonal to `found` of most evidence, and that evidence in nats.

    n(gᵀu)²/4 + n(uᵀEu − c)²/8 is, to second order, the gain in log-likelihood by a gap and a
    variance of its own along u; c is the bulk of the excess.
    """
    size, draws = len(moments.gap), moments.draws
    rest = np.eye(size) - found @ found.T
    bulk = np.trace(moments.excess) / max(size - found.shape[1], 1)
    excess = moments.excess - bulk * rest

    def lack(v: Array) -> tuple[float, Array]:
        length = np.linalg.norm(v)
        u = v / length
        turned, along = excess @ u, moments.gap @ u
        value = u @ turned
        slope = 0.5 * along * moments.gap + 0.5 * value * turned
        return -draws * (0.25 * along**2 + 0.125 * value**2), -draws * (
            slope - (slope @ u) * u
        ) / length

    value, axes = np.linalg.eigh(excess)
    starts = [axes[:, np.argmax(np.abs(value))]]
    if np.linalg.norm(moments.gap) > 0.0:
        starts.append(moments.gap / np.linalg.norm(moments.gap))
    best = min(
        (minimize(lack, start, jac=True) for start in starts), key=lambda end: float(end.fun)
    )
    axis = rest @ best.x
    return axis / np.linalg.norm(axis), -float(best.fun)


def _stein(gap: Array, draws: int) -> Array:
    """James and Stein's positive-part shrinkage."""
    spare = max(len(gap) - 2, 0) * 2.0 / draws
    return gap * max(0.0, 1.0 - spare / max(float(gap @ gap), 1e-300))


def _shrunk(level: float, variance: float) -> float:
    return level * max(0.0, 1.0 - variance / max(level**2, 1e-300))


Structure = Callable[[Moments], Moments]
STRUCTURES: dict[str, Structure] = {
    "directions": directions,
    "spiked": spiked,
    "shift": shift,
    "full": full,
}
