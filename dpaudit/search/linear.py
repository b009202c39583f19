"""The effect of a changed row on least squares, from one factorisation of the data.

Let z be the row in coordinates in which the features' Gram matrix is I, h = ‖z‖² its leverage, and
w its residual. To first order in the rows, taking the row out moves the solution by −zw/(1 − h),
and putting a row in by zw/(1 + h) (Cook 1977). Which of the measures becomes privacy loss depends
on the mechanism, so changes are taken from all measures in turn.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class

MEASURES = ("cook", "displacement", "scatter", "fit", "size", "deviation")
SMALLEST = 1e-10  # share of the largest singular value below which a direction is left out
ROOM = 1e-12  # lower limit of 1 − h, which is 0 where a row alone spans a direction


@value_class
class Regression:
    """Least squares of the last column on the others; dependent columns by pseudo-inverse.

    scatter : (d, k), turns a row into coordinates in which DᵀD is I.
    features : (d − 1, j), the same for the features alone.
    coef : (d − 1,). total : residual sum of squares.
    scale : (d,) root mean square of the columns.
    """

    scatter: Array
    features: Array
    coef: Array
    total: float
    scale: Array

    @classmethod
    def of(cls, data: Array) -> Regression:
        """Fit it to data (n, d), label last."""
        x, label = data[:, :-1], data[:, -1]
        features = _whitening(x)
        coef = features @ (features.T @ (x.T @ label))
        total = float(np.sum((label - x @ coef) ** 2))
        return cls(_whitening(data), features, coef, total, np.sqrt(np.mean(data**2, axis=0)))

    def moved(self, row: Array, sign: float) -> tuple[Array, Array, Array]:
        """The effect of taking out (sign −1) or putting in (1) each of the rows, (m, d).

        Returns the change of the solution, (m, j), the change of the residual sum of squares, (m,),
        and the row in the coordinates of `scatter`, (m, k).
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
    spanned = size > SMALLEST * max(size[0], 1e-300)
    return np.asarray((axes[spanned] / size[spanned, None]).T / scale[:, None])


def measures(data: Array, out: Array, into: Array) -> Array:
    """Six measures of each change, (6, m), in the order of `MEASURES`.

    out, into : (m, d) rows that leave and come in, zeros where none does.

    cook : ‖change of the solution‖² in the metric of the features, divided by the residual sum of
        squares; leverage × residual.
    displacement : Euclidean norm of the change of the solution.
    scatter : ‖change of DᵀD‖ in coordinates in which DᵀD is I; the leverage, label included.
    fit : relative change of the residual sum of squares.
    size : ‖into − out‖. deviation : the same with each column divided by its scale.
    """
    model = Regression.of(data)
    (gone, lost, left), (come, gained, new) = model.moved(out, -1.0), model.moved(into, 1.0)
    step, total = gone + come, max(model.total, 1e-300)
    scale = np.where(model.scale > 0.0, model.scale, 1.0)
    cross = np.sum(left * new, axis=1)
    scatter = np.sum(left**2, axis=1) ** 2 + np.sum(new**2, axis=1) ** 2 - 2.0 * cross**2
    return np.stack(
        [
            np.sum(step**2, axis=1) / total,
            np.linalg.norm(step @ model.features.T, axis=1),
            np.sqrt(np.maximum(scatter, 0.0)),
            np.abs(gained + lost) / total,
            np.linalg.norm(into - out, axis=1),
            np.linalg.norm((into - out) / scale, axis=1),
        ]
    )


def in_turn(scores: Array) -> Array:
    """One score out of several, (c, m) → (m,): 1 over the best rank of a change.

    Sorting by it takes the largest of each score in turn. Constant scores are left out.
    """
    varying = scores[np.ptp(scores, axis=1) > 0.0]
    if len(varying) == 0:
        return np.ones(scores.shape[1])
    ranks = np.empty(varying.shape)
    for rank, score in zip(ranks, varying, strict=True):
        rank[np.argsort(-score, kind="stable")] = np.arange(1.0, len(score) + 1.0)
    return np.asarray(1.0 / ranks.min(axis=0))
