"""How much each row of a database matters, and extreme rows that might come into it.

Leverage, squared residual and displacement of a new row v are convex in v, or nearly so. Hence they
are largest on the boundary of a bounded set, and at the corners of a box. So all rows here are on
the boundary: along the directions in which the data vary least, along each column, and at random.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class

RANDOM = 512  # random rows of the boundary
CORNERS = 10  # a box of up to so many varying columns gives all its corners


def within_norm(data: Array, bound: float, rng: np.random.Generator) -> Array:
    """Rows of Euclidean norm `bound`, (k, d).

    They point along the principal axes of the data, along each column, both with either sign, and
    in random directions. The axes are those of the columns as they are (the last has the largest
    leverage of all rows of this norm) and those of columns of equal scale. Half of the random
    directions are divided by the spread of the data, so that they prefer weak directions.
    """
    size, axes = _axes(data)
    width = len(axes)
    white = rng.standard_normal((RANDOM, width))
    leaning = np.concatenate([white[: RANDOM // 2] / size, white[RANDOM // 2 :]]) @ axes
    plain = np.linalg.svd(data, full_matrices=len(data) < width)[2]
    both = np.concatenate([plain, axes, np.eye(width)])
    directions = np.concatenate([both, -both, leaning])
    return bound * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def within_box(data: Array, box: Array, rng: np.random.Generator) -> Array:
    """Corners of a box, and last the row of the box that is nearest to zero, (k, d).

    box : (d, 2), the least and the largest value of each column. If few columns vary, all corners;
    else the corners towards the principal axes of the data, and random ones.
    """
    free = np.flatnonzero(box[:, 0] < box[:, 1])
    if len(free) <= CORNERS:
        up = ((np.arange(1 << len(free))[:, None] >> np.arange(len(free))) & 1).astype(bool)
    else:
        size, axes = _axes(data)
        towards = (rng.standard_normal((RANDOM // 2, len(axes))) / size) @ axes
        at_random = rng.standard_normal((RANDOM // 2, len(axes)))
        up = np.concatenate([axes, -axes, towards, at_random])[:, free] > 0.0
    rows = np.tile(box[:, 0], (len(up) + 1, 1))
    rows[:-1, free] = np.where(up, box[free, 1], box[free, 0])
    rows[-1] = np.clip(0.0, *box.T)
    return rows


def within_data(data: Array, rng: np.random.Generator) -> Array:
    """The rows of `within_box` for the least box around the data, (k, d); they are private."""
    return within_box(data, np.column_stack([data.min(axis=0), data.max(axis=0)]), rng)


def _axes(data: Array) -> tuple[Array, Array]:
    """The spread along each principal axis of the scaled columns, (d,), and the axes, (d, d)."""
    norms = np.linalg.norm(data, axis=0)
    scale = np.where(norms > 0.0, norms, 1.0)
    value, vector = np.linalg.eigh((data / scale).T @ (data / scale))
    axes = vector.T / scale
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    if value[-1] <= 0.0:
        return np.ones(len(value)), axes / length
    return np.sqrt(np.maximum(value, 1e-12 * value[-1])), axes / length


def box(bounds: ArrayLike, width: int) -> Array:
    """Bounds as an array (d, 2), least and largest value by column."""
    expected = f"a ({width}, 2) array: the least and the largest value of each column"
    limits = check.array_of_numbers("bounds", bounds, expected)
    if limits.shape != (width, 2):
        fail("bounds", Words(f"shape {limits.shape}"), expected)
    limits = check.matrix("bounds", limits)
    if np.any(limits[:, 0] > limits[:, 1]):
        column = int(np.flatnonzero(limits[:, 0] > limits[:, 1])[0])
        fail("bounds", Words(f"{limits[column].tolist()} for column {column}"), expected)
    return limits


@value_class
class RowStatistics:
    """The effect of zeroing each row on the least-squares solution x_opt, (n,) each.

    leverage : hᵢ. residual_share : the share of the residual sum of squares that only row i
    explains. displacement : ‖x_opt − x'_opt‖, with x'_opt the solution without row i.
    """

    leverage: Array
    residual_share: Array
    displacement: Array

    def __repr__(self) -> str:
        return f"RowStatistics({len(self.leverage):,} rows)"


def row_statistics(data: ArrayLike) -> RowStatistics:
    """Leverage, residual share and displacement of each row of `data`, the label last.

    Raises `DegenerateData` for dependent features, n ≤ p or zero residuals.
    """
    fit = least_squares(check.matrix("data", data, min_columns=2))
    return RowStatistics(fit.leverage, fit.residual_share, fit.displacement)
