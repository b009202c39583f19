"""Checks and preparations of data that the papers' algorithms share."""

from __future__ import annotations

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.linalg import shrinkage
from dpaudit._core.types import Array


def within(data: Array, row_bound: float) -> Array:
    """The data unchanged. Raises `InvalidInput`, naming row_bound, if a row is longer than it."""
    largest = float(np.linalg.norm(data, axis=1).max())
    if row_bound < largest * (1.0 - 1e-12):
        fail("row_bound", row_bound, "at least the largest row norm")
    return data


def added_bound(row_bound: float, largest: float) -> float:
    """The bound on an added row. Raises `InvalidInput` where it is above the mechanism's own bound.

    A longer row is refused by the mechanism, so no database would attain its δ.
    """
    bound = check.real("row_bound", row_bound, 0.0, open_=True)
    if bound > largest * (1.0 + 1e-12):
        fail("row_bound", row_bound, f"at most the mechanism's own bound on row norms, {largest:g}")
    return bound


def within_bounds(data: Array, row_bound: float, label_bound: float) -> Array:
    """The data unchanged, if ‖x_i‖ ≤ `row_bound` and |y_i| ≤ `label_bound` in every row (x_i, y_i).

    Raises `InvalidInput` otherwise, naming the bound that is exceeded.
    """
    data = check.matrix("data", data, min_columns=2)
    within(data[:, :-1], row_bound)
    largest = float(np.abs(data[:, -1]).max())
    if label_bound < largest * (1.0 - 1e-12):
        fail("label_bound", label_bound, "at least the largest label")
    return data


def check_signs(data: Array) -> Array:
    """The data unchanged, if every label is −1 or 1 (a row of zeros may have 0).

    Raises `InvalidInput` otherwise.
    """
    data = check.matrix("data", data, min_columns=2)
    label = data[:, -1]
    unknown = ~np.isin(label, (-1.0, 1.0)) & np.any(data != 0.0, axis=1)
    if unknown.any():
        fail("data", float(label[unknown][0]), "labels of -1 and 1 in the last column")
    return data


def shrunk(data: Array, row_bound: float) -> Array:
    """Rows longer than `row_bound` shrunk to it, as in paper 4, section 3.1."""
    return np.asarray(data * shrinkage(data, row_bound)[:, None])


def smallest_eigenvalue(data: Array) -> float:
    """λ_min(DᵀD) ≥ 0."""
    if len(data) < data.shape[1]:
        return 0.0
    return float(np.linalg.svd(data, compute_uv=False)[-1] ** 2)


def singular_axes(data: Array) -> tuple[Array, Array]:
    """Singular values, (d,), descending, and right singular vectors as rows, (d, d).

    Fewer rows than columns give singular values 0.
    """
    n, d = data.shape
    full = np.vstack([data, np.zeros((max(0, d - n), d))])
    _, scale, axes = np.linalg.svd(full, full_matrices=False)
    return scale, axes
