"""Rows that might come into a database: extreme ones inside a bound that is public.

Leverage, squared residual and displacement of a new row v are convex in v, or nearly so: over a
bounded set they are largest on its rim, over a box at its corners. So only the rim is looked at:
along the directions in which the data are weakest, along each column, and at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array, fail

RANDOM = 512  # rows of the rim at random
CORNERS = 10  # columns up to which every corner of a box is looked at


def within_norm(data: Array, bound: float, rng: np.random.Generator) -> Array:
    """Rows of Euclidean norm `bound`, (k, d): both signs of the data's axes, of each column, and
    directions at random.

    Axes as the columns are (the last is the weakest: of all rows of this norm it has the largest
    leverage) and of columns of one scale. Directions at random lean to where the data are weak:
    white ones divided by the spread.
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
    """Corners of a box, (k, d); box : (d, 2), the least and the largest value of each column.

    Every corner of a few columns that may vary; of more, those towards the data's axes and some at
    random.
    """
    free = np.flatnonzero(box[:, 0] < box[:, 1])
    if len(free) <= CORNERS:
        up = (np.arange(1 << len(free))[:, None] >> np.arange(len(free))) & 1
        return _corners(box, free, up.astype(bool))
    size, axes = _axes(data)
    towards = (rng.standard_normal((RANDOM // 2, len(axes))) / size) @ axes
    at_random = rng.standard_normal((RANDOM // 2, len(axes)))
    return _corners(box, free, np.concatenate([axes, -axes, towards, at_random])[:, free] > 0.0)


def _corners(box: Array, free: np.ndarray, up: np.ndarray) -> Array:
    rows = np.tile(box[:, 0], (len(up), 1))
    rows[:, free] = np.where(up, box[free, 1], box[free, 0])
    return rows


def _axes(data: Array) -> tuple[Array, Array]:
    """Spread along each principal axis of the columns, and the axes as rows; (d,) and (d, d)."""
    norms = np.linalg.norm(data, axis=0)
    scale = np.where(norms > 0.0, norms, 1.0)
    value, vector = np.linalg.eigh((data / scale).T @ (data / scale))
    axes = vector.T / scale
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    return np.sqrt(np.maximum(value, 1e-12 * value[-1])) if value[-1] > 0.0 else np.ones(
        len(value)
    ), axes / length


def box(bounds: Any, width: int) -> Array:
    """(d, 2) from a list of (least, largest), one a column. Raises `InvalidInput`."""
    expected = f"a ({width}, 2) array: the least and the largest value of each column"
    found = check.matrix("bounds", bounds)
    if found.shape != (width, 2):
        fail("bounds", f"shape {found.shape}", expected)
    if np.any(found[:, 0] > found[:, 1]):
        column = int(np.flatnonzero(found[:, 0] > found[:, 1])[0])
        fail("bounds", f"{found[column].tolist()} for column {column}", expected)
    return found
