"""Triangular roots, and symmetric matrices as their upper triangles (an off-diagonal entry counts
once).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.check import Array


def log_det(root: Array) -> float:
    """log |det root|, `root` triangular."""
    return float(np.sum(np.log(np.abs(np.diag(root)))))


def triangle(matrices: Array) -> Array:
    """(m, d(d+1)/2) upper triangles, row by row, of symmetric (m, d, d)."""
    return np.asarray(matrices[:, *np.triu_indices(matrices.shape[-1])])


def symmetric(triangles: Array, dim: int) -> Array:
    """(m, dim, dim) from upper triangles."""
    row, column = np.triu_indices(dim)
    full = np.empty((len(triangles), dim, dim))
    full[:, row, column] = triangles
    full[:, column, row] = triangles
    return full


def trace_weights(root: Array) -> Array:
    """The vector of which x @ it is tr((rootᵀroot)⁻¹X), for x the upper triangle of X; `root` upper
    triangular.
    """
    inverse = solve_triangular(root, np.eye(len(root)))
    row, column = np.triu_indices(len(root))
    return np.asarray((inverse @ inverse.T)[row, column] * np.where(row == column, 1.0, 2.0))
