"""Pairs of databases in which a zeroed row has the largest leverage that the bounds allow."""

from __future__ import annotations

import math

import numpy as np

from dpaudit._core.types import Array
from dpaudit.neighbours import NeighbourPair, zero_row


def axis_pair(row_bound: float, eigenvalue: float) -> NeighbourPair:
    """Two columns with DᵀD = λC²·I, a little more on the second axis; a row (C, 0) is zeroed.

    row_bound : C > 0. eigenvalue : λ ≥ 1.
    """
    return zero_row(row_bound * _rows(eigenvalue, 1.0), 0)


def labelled_pair(row_bound: float, label_bound: float, eigenvalue: float) -> NeighbourPair:
    """`axis_pair` rotated, with one feature and a label: the zeroed row is (C_X, C_Y).

    All rows are within both bounds, and λ is in units of C_X² + C_Y².
    """
    size = math.hypot(row_bound, label_bound)
    x, y = row_bound / size, label_bound / size
    rows = size * _rows(eigenvalue, 0.999 * min(x / y, y / x)) @ np.array([[x, y], [-y, x]])
    rows[0] = row_bound, label_bound
    return zero_row(rows, 0)


def _rows(eigenvalue: float, longest: float) -> Array:
    """Rows for C = 1, those on the second axis no longer than `longest`."""
    first, second = max(1, math.ceil(eigenvalue)), math.ceil(1.0001 * eigenvalue / longest**2)
    rest = math.sqrt(max(eigenvalue - 1.0, 0.0) / first)
    parts = [
        [[1.0, 0.0]],
        [[rest, 0.0]] * first,
        [[0.0, math.sqrt(1.0001 * eigenvalue / second)]] * second,
    ]
    rows = np.array([row for part in parts for row in part])
    return np.asarray(rows[np.any(rows != 0.0, axis=1)])
