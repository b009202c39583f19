"""Least squares by column-scaled thin QR: what every row-wise statistic and every output law is
made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit.errors import DegenerateData

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Factor:
    """Thin QR of an n × p matrix: `basis` (n, p) orthonormal, `root` (p, p) upper triangular,
    matrix = basis·root.
    """

    basis: Array
    root: Array

    @property
    def leverage(self) -> Array:
        """h_i = v_iᵀ(BᵀB)⁻¹v_i, shape (n,); exactly 1 where removing the row loses rank."""
        leverage = np.einsum("ij,ij->i", self.basis, self.basis)
        return np.where(leverage > 1.0 - 8.0 * self.root.shape[0] * EPS, 1.0, leverage)


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The fit of the last column of a database on the others.

    coef : (p,). residual : (n,). norm : ‖residual‖. factor : of the features.
    """

    coef: Array
    residual: Array
    norm: float
    factor: Factor

    @property
    def leverage(self) -> Array:
        return self.factor.leverage

    @property
    def residual_share(self) -> Array:
        """t_i = w_i²/((1−h_i)‖w‖²), shape (n,), the share of the residual sum of squares that row i
        explains alone.

        0 where the leverage is 1 (the fit goes through such a row), 1 where the other rows fit
        exactly.
        """
        room = 1.0 - self.leverage
        share = np.divide(
            (self.residual / self.norm) ** 2, room, out=np.zeros_like(room), where=room > 0.0
        )
        return np.where(share > 1.0 - 1e3 * EPS, 1.0, share)

    @property
    def displacement(self) -> Array:
        """‖x_opt − x'_opt‖ when row i is zeroed, shape (n,); infinite where the leverage is 1."""
        influence = solve_triangular(self.factor.root, self.factor.basis.T, check_finite=False)
        room = 1.0 - self.leverage
        size = np.abs(self.residual) * np.sqrt(np.einsum("ij,ij->j", influence, influence))
        return np.divide(size, room, out=np.full_like(room, np.inf), where=room > 0.0)


def factorise(matrix: Array, name: str = "data") -> Factor:
    """Thin QR after scaling columns to norm 1. Raises `DegenerateData` when the columns are
    dependent.
    """
    n, p = matrix.shape
    if n < p:
        raise DegenerateData(
            f"{name} must have at least as many rows as columns, got {n} rows and {p} columns"
        )
    norms = np.linalg.norm(matrix, axis=0)
    if np.any(norms == 0.0):
        column = int(np.flatnonzero(norms == 0.0)[0])
        raise DegenerateData(
            f"{name} must have linearly independent columns, got only zeros in column {column}"
        )
    basis, root = qr(matrix / norms, mode="economic", overwrite_a=True, check_finite=False)
    size = np.linalg.svd(root, compute_uv=False)
    if size[-1] <= size[0] * max(n, p) * EPS:
        raise DegenerateData(f"{name} must have linearly independent columns, got rank below {p}")
    return Factor(basis, root * norms)


def shrinkage(rows: Array, bound: float) -> Array:
    """The factors, (n,), that bring rows longer than `bound` to that norm; 1 for the others."""
    norms = np.linalg.norm(rows, axis=1)
    return np.divide(bound, norms, out=np.ones_like(norms), where=norms > bound)


def padded(matrix: Array, weight: float) -> Array:
    """[matrix; weight·I], shape (n + d, d), of which the Gram matrix is larger by weight²·I; as it
    is for weight 0.
    """
    return np.vstack([matrix, weight * np.eye(matrix.shape[1])]) if weight > 0.0 else matrix


def least_squares(data: Array) -> LeastSquares:
    """Fit the last column of `data` (n, p + 1) on the first p.

    Raises `DegenerateData` for dependent features, n ≤ p, or residuals that are zero to rounding.
    """
    data = check.matrix("data", data, min_columns=2)
    features, label = data[:, :-1], data[:, -1]
    if data.shape[0] <= features.shape[1]:
        raise DegenerateData(
            f"data must have more rows than features, got {data.shape[0]} and {features.shape[1]}"
        )
    factor = factorise(features, "the features of data")
    projection = factor.basis.T @ label
    residual = label - factor.basis @ projection
    residual -= factor.basis @ (factor.basis.T @ residual)
    coef = solve_triangular(factor.root, projection)
    norm = float(np.linalg.norm(residual))
    size = float(np.linalg.norm(label)) + float(np.linalg.norm(np.abs(features) @ np.abs(coef)))
    if norm <= 100.0 * EPS * size:
        raise DegenerateData(
            "data must leave a residual: the features fit the label exactly, so nothing is random"
        )
    return LeastSquares(coef, residual, norm, factor)


def cholesky_stack(matrices: Array) -> tuple[Array, Array]:
    """Cholesky factors (m, d, d), lower, of symmetric matrices (m, d, d), and whether each is
    positive definite, (m,).

    The factor of a matrix that is not says nothing, but is invertible and of positive diagonal.
    """
    factor, definite = np.zeros_like(matrices), np.ones(len(matrices), dtype=bool)
    for j in range(matrices.shape[-1]):
        column = matrices[:, j:, j] - np.einsum("mik,mk->mi", factor[:, j:, :j], factor[:, j, :j])
        definite &= column[:, 0] > 0.0
        column[~definite] = np.eye(1, column.shape[1])
        factor[:, j:, j] = column / np.sqrt(column[:, :1])
    return factor, definite
