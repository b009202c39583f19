"""Least squares by column-scaled thin QR, from which row statistics and output laws are made.

A database is factorised once however often it is asked for (`ByContent`): the worst case over its
rows, the exact spectrum, the sampler and the record of a run all read the same fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import qr, solve_triangular

from dpaudit._core import check
from dpaudit._core.by_content import ByContent
from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import DegenerateData

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, repr=False)
class Factor:
    """Thin QR of an n × p matrix; its arrays are read-only.

    basis : (n, p), orthonormal columns. root : (p, p), upper triangular; matrix = basis·root.
    """

    basis: Array
    root: Array

    def __post_init__(self) -> None:
        _read_only(self.basis, self.root)

    @cached_property
    def leverage(self) -> Array:
        """h_i = v_iᵀ(BᵀB)⁻¹v_i, shape (n,); exactly 1 where removing the row loses rank."""
        leverage = np.einsum("ij,ij->i", self.basis, self.basis)
        return _read_only(np.where(leverage > 1.0 - 8.0 * self.root.shape[0] * EPS, 1.0, leverage))[
            0
        ]


@dataclass(frozen=True, eq=False, repr=False)
class LeastSquares:
    """The fit of the last column of a database on the others; its arrays are read-only.

    coef : (p,). residual : (n,). norm : ‖residual‖. factor : of the features.
    """

    coef: Array
    residual: Array
    norm: float
    factor: Factor

    def __post_init__(self) -> None:
        _read_only(self.coef, self.residual)

    @property
    def leverage(self) -> Array:
        """The leverage of each row among the features, shape (n,)."""
        return self.factor.leverage

    @cached_property
    def residual_share(self) -> Array:
        """t_i = w_i²/((1−h_i)‖w‖²), shape (n,): how much of ‖w‖² disappears without row i.

        0 where the leverage is 1 (the fit goes through such a row), 1 where the other rows fit
        exactly.
        """
        room = 1.0 - self.leverage
        share = np.divide(
            (self.residual / self.norm) ** 2, room, out=np.zeros_like(room), where=room > 0.0
        )
        return _read_only(np.where(share > 1.0 - 1e3 * EPS, 1.0, share))[0]

    @cached_property
    def displacement(self) -> Array:
        """‖x_opt − x'_opt‖ when row i is zeroed, shape (n,); infinite where the leverage is 1."""
        influence = solve_triangular(self.factor.root, self.factor.basis.T, check_finite=False)
        room = 1.0 - self.leverage
        size = np.abs(self.residual) * np.sqrt(np.einsum("ij,ij->j", influence, influence))
        return _read_only(np.divide(size, room, out=np.full_like(room, np.inf), where=room > 0.0))[
            0
        ]


def _read_only(*arrays: Array) -> tuple[Array, ...]:
    for array in arrays:
        array.setflags(write=False)
    return arrays


_FACTORS: ByContent[Factor] = ByContent()
_FITS: ByContent[LeastSquares] = ByContent()


def factorise(matrix: Array, name: str = "data") -> Factor:
    """Thin QR after scaling columns to norm 1, done once for each content of `matrix` (n, p).

    Raises `DegenerateData`, which calls the matrix `name`, when its columns are dependent.
    """
    return _FACTORS.get(matrix, lambda: _thin_qr(matrix, name))


def least_squares(data: ArrayLike) -> LeastSquares:
    """Fit the last column of `data` (n, p + 1) on the first p, done once for each content.

    Raises `DegenerateData` for dependent features, n ≤ p, or residuals that are zero to rounding.
    """
    data = check.matrix("data", data, min_columns=2)
    return _FITS.get(data, lambda: _fit(data))


def _thin_qr(matrix: Array, name: str) -> Factor:
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


def _fit(data: Array) -> LeastSquares:
    features, label = data[:, :-1], data[:, -1]
    if data.shape[0] <= features.shape[1]:
        raise DegenerateData(
            f"data must have more rows than features, got {data.shape[0]} and {features.shape[1]}"
        )
    factor = _thin_qr(features, "the features of data")
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


def shrinkage(rows: Array, bound: float) -> Array:
    """The factors, (n,), that bring rows longer than `bound` to that norm; 1 for the others."""
    norms = np.linalg.norm(rows, axis=1)
    return np.divide(bound, norms, out=np.ones_like(norms), where=norms > bound)


def padded(matrix: Array, weight: float) -> Array:
    """[matrix; weight·I], shape (n + d, d), which adds weight²·I to the Gram matrix.

    The matrix itself for weight 0.
    """
    return np.vstack([matrix, weight * np.eye(matrix.shape[1])]) if weight > 0.0 else matrix


def cholesky_stack(matrices: Array) -> tuple[Array, Array]:
    """Lower Cholesky factors of symmetric matrices, and whether each is positive definite.

    matrices : (m, d, d). Returns (m, d, d) and (m,). The factor of a matrix that is not positive
    definite means nothing, but it is invertible and its diagonal is positive.
    """
    factor, definite = np.zeros_like(matrices), np.ones(len(matrices), dtype=bool)
    for j in range(matrices.shape[-1]):
        column = matrices[:, j:, j] - np.einsum("mik,mk->mi", factor[:, j:, :j], factor[:, j, :j])
        definite &= column[:, 0] > 0.0
        column[~definite] = np.eye(1, column.shape[1])
        factor[:, j:, j] = column / np.sqrt(column[:, :1])
    return factor, definite
