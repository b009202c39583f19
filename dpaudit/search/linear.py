"""What a changed row does to least squares, from one factorisation: leverage, residual, and what is
made of them.

To first order in the rows, with z the row in coordinates in which the features' Gram matrix is I, h
= ‖z‖² and w the residual: taking a row out moves the solution by −zw/(1 − h), putting one in by
zw/(1 + h) (Cook 1977). Which of the measures a mechanism turns into privacy loss is its own affair,
so rows are taken from all of them in turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array

MEASURES = ("cook", "displacement", "scatter", "fit", "size", "deviation")
SMALLEST = 1e-10  # of the largest singular value: directions below it are not there
ROOM = 1e-12  # 1 − h is no less: such a row alone holds a direction up


@dataclass(frozen=True, eq=False)
class Regression:
    """The last column on the others, by pseudo-inverse where columns are dependent.

    scatter : (d, k) turns a row into coordinates in which DᵀD is I; features : (d − 1, j) the same
    for the features alone. coef : (d − 1,). total : residual sum of squares. scale : (d,) root mean
    square of the columns.
    """

    scatter: Array
    features: Array
    coef: Array
    total: float
    scale: Array

    @classmethod
    def of(cls, data: Array) -> Regression:
        x, label = data[:, :-1], data[:, -1]
        features = _whitening(x)
        coef = features @ (features.T @ (x.T @ label))
        total = float(np.sum((label - x @ coef) ** 2))
        return cls(_whitening(data), features, coef, total, np.sqrt(np.mean(data**2, axis=0)))

    def moved(self, row: Array, sign: float) -> tuple[Array, Array, Array]:
        """Of rows taken out (sign −1) or put in (1): change of the solution (m, j), of the fit
        (m,), and z (m, k).
        """
        z, residual = row[:, :-1] @ self.features, row[:, -1] - row[:, :-1] @ self.coef
        room = np.maximum(1.0 + sign * np.sum(z * z, axis=1), ROOM)
        return sign * z * (residual / room)[:, None], sign * residual**2 / room, row @ self.scatter


def _whitening(matrix: Array) -> Array:
    """W with (matrix·W)ᵀ(matrix·W) = I over the directions that the rows span, (d, k)."""
    if matrix.shape[1] == 0:
        return np.zeros((0, 0))
    norms = np.linalg.norm(matrix, axis=0)
    scale = np.where(norms > 0.0, norms, 1.0)
    _, size, axes = np.linalg.svd(matrix / scale, full_matrices=False)
    kept = size > SMALLEST * max(size[0], 1e-300)
    return np.asarray((axes[kept] / size[kept, None]).T / scale[:, None])


def measures(data: Array, out: Array, into: Array) -> Array:
    """Six sizes of each change, (6, m), as `MEASURES`; out, into : (m, d), zeros where no row
    leaves or comes.

    cook : ‖change of the solution‖² in the metric of the features, by the residual sum of squares:
    leverage × residual. displacement : its plain norm. scatter : ‖change of DᵀD‖ where that is I
    (the leverage, label included).
    fit : change of the residual sum of squares, relative. size : ‖into − out‖. deviation : the same
        by columns' scales.
    """
    found = Regression.of(data)
    (gone, lost, left), (come, gained, new) = found.moved(out, -1.0), found.moved(into, 1.0)
    step, total = gone + come, max(found.total, 1e-300)
    scale = np.where(found.scale > 0.0, found.scale, 1.0)
    cross = np.sum(left * new, axis=1)
    scatter = np.sum(left**2, axis=1) ** 2 + np.sum(new**2, axis=1) ** 2 - 2.0 * cross**2
    return np.stack(
        [
            np.sum(step**2, axis=1) / total,
            np.linalg.norm(step @ found.features.T, axis=1),
            np.sqrt(np.maximum(scatter, 0.0)),
            np.abs(gained + lost) / total,
            np.linalg.norm(into - out, axis=1),
            np.linalg.norm((into - out) / scale, axis=1),
        ]
    )


def in_turn(scores: Array) -> Array:
    """One score of several, (c, m) → (m,): 1 over the best of a change's c ranks; those that say
    nothing are left out.

    Sorting by it takes the largest of each in turn.
    """
    telling = scores[np.ptp(scores, axis=1) > 0.0]
    if len(telling) == 0:
        return np.ones(scores.shape[1])
    ranks = np.empty(telling.shape)
    for rank, score in zip(ranks, telling, strict=True):
        rank[np.argsort(-score, kind="stable")] = np.arange(1.0, len(score) + 1.0)
    return np.asarray(1.0 / ranks.min(axis=0))
