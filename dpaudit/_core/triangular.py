"""Triangular factors, and symmetric matrices stored as their upper triangles.

An upper triangle holds the d(d+1)/2 entries on and above the diagonal, row by row.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.types import Array


def log_det(root: Array) -> float:
    """log |det root| of a triangular matrix."""
    return float(np.sum(np.log(np.abs(np.diag(root)))))


def upper_triangle(matrices: Array) -> Array:
    """Upper triangles (..., d(d+1)/2) of symmetric matrices (..., d, d)."""
    return np.asarray(matrices[..., *np.triu_indices(matrices.shape[-1])])


def symmetric_matrix(triangles: Array, dim: int) -> Array:
    """Symmetric matrices (m, dim, dim) from their upper triangles (m, dim(dim+1)/2)."""
    row, column = np.triu_indices(dim)
    full = np.empty((len(triangles), dim, dim))
    full[:, row, column] = triangles
    full[:, column, row] = triangles
    return full


def trace_weights(root: Array) -> Array:
    """The vector w with xᵀw = tr((rootᵀroot)⁻¹X) for x the upper triangle of a symmetric X.

    root : (d, d) upper triangular. An entry off the diagonal of X occurs twice in the trace and
        once in x, so its weight is doubled.
    """
    inverse = solve_triangular(root, np.eye(len(root)))
    row, column = np.triu_indices(len(root))
    return np.asarray((inverse @ inverse.T)[row, column] * np.where(row == column, 1.0, 2.0))
