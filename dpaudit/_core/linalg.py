"""Least squares by column-scaled thin QR, from which row statistics and output laws are computed.

A database is factorised once, however often its fit is needed (`ByContent`). The last functions
handle triangular factors, and symmetric matrices stored as their upper triangles: the d(d+1)/2
entries on and above the diagonal, row by row.
"""

from __future__ import annotations

import hashlib
import math
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from functools import cache, cached_property
from typing import Generic, TypeVar

import numpy as np
from scipy.linalg import qr, solve_triangular
from threadpoolctl import ThreadpoolController

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.errors import DegenerateData

EPS = float(np.finfo(np.float64).eps)
SMALLEST, LARGEST = 1e-300, 1e290  # beyond these, products of rows lose digits or overflow
HEAVY = 0.5  # rows of more leverage or residual share use a fit of the other rows; they are few
TILE = 256  # rows: tile by tile, transposing takes half the time
MOST_RESULTS = 4  # results that a `ByContent` holds
Result = TypeVar("Result")
UNEVEN = 1e3  # ratio of row sizes (columns scaled to norm 1) from which rows are sorted for QR


@value_class
class Factor:
    """The thin QR of an n × p matrix with rows v_i; its arrays are read-only.

    basis : (n, p), orthonormal columns. root : (p, p), upper triangular; matrix = basis·root.
    leverage : (n,), h_i = v_iᵀG⁻¹v_i with G the Gram matrix. room : (n,), 1 − h_i to full relative
    accuracy; exactly 0 where removing the row loses rank. heavy_pulls : G⁻¹v_i for each row i of
    large leverage.
    """

    basis: Array
    root: Array
    leverage: Array
    room: Array
    heavy_pulls: dict[int, Array]

    def __post_init__(self) -> None:
        _read_only(self.basis, self.root, self.leverage, self.room)

    @property
    def pulls(self) -> Array:
        """G⁻¹v_i of each row, (n, p); computed anew each time, as it is as large as the basis."""
        pulls = solve_triangular(self.root, self.basis.T, check_finite=False).T
        for row, pull in self.heavy_pulls.items():
            pulls[row] = pull
        return np.asarray(pulls)


@value_class
class LeastSquares:
    """The fit of the last column of a database on the other columns; its arrays are read-only.

    coef : (p,), coefficients. residual : (n,), w_i. norm : ‖w‖. factor : the QR of the features.
    residual_share : (n,), t_i = w_i²/((1−h_i)‖w‖²), the share of ‖w‖² that disappears without row
    i; 0 where the leverage is 1 (the fit goes through such a row), 1 where the other rows fit
    exactly. share_room : (n,), 1 − t_i to full relative accuracy.
    """

    coef: Array
    residual: Array
    norm: float
    factor: Factor
    residual_share: Array
    share_room: Array

    def __post_init__(self) -> None:
        _read_only(self.coef, self.residual, self.residual_share, self.share_room)

    @property
    def leverage(self) -> Array:
        """The leverage of each row among the features, shape (n,)."""
        return self.factor.leverage

    @cached_property
    def displacement(self) -> Array:
        """‖x_opt − x'_opt‖ when row i is set to zero, (n,); infinite where the leverage is 1."""
        room, pulls = self.factor.room, self.factor.pulls
        size = column_norms((self.residual[:, None] * pulls).T)
        moved = np.divide(size, room, out=np.full_like(room, np.inf), where=room > 0.0)
        return _read_only(moved)


def _read_only(*arrays: Array) -> Array:
    for array in arrays:
        array.setflags(write=False)
    return arrays[0]


class ByContent(Generic[Result]):
    """A cache of a function of one array: its results are computed once for each content.

    The key holds a SHA-256 digest of all numbers, so an array that was changed in place has another
    key, and a copy has the same key. A result is stored while the array that it was computed for
    lives, and only the last few results are, so that nothing large outlives its data.
    """

    def __init__(self) -> None:
        self._results: dict[Hashable, tuple[Result, weakref.ref[Array]]] = {}

    def get(self, array: Array, compute: Callable[[], Result]) -> Result:
        """The stored result for this content of `array` (any shape), or else that of `compute`.

        All callers share the result, so its arrays should be read-only.
        """
        # shape and layout too: sums over columns may round differently in another order of memory
        content = hashlib.sha256(np.ascontiguousarray(array).data).digest()
        key = array.shape, array.strides, content
        cached = self._results.get(key)
        if cached is not None:
            return cached[0]
        result = compute()
        self._results[key] = result, weakref.ref(array, lambda _: self._results.pop(key, None))
        for old in list(self._results)[:-MOST_RESULTS]:
            self._results.pop(old, None)
        return result


_FACTORS: ByContent[Factor] = ByContent()
_FITS: ByContent[LeastSquares] = ByContent()


def ascending_columns(rows: Array) -> Array:
    """The columns of rows (n, k), each sorted, as contiguous rows (k, n)."""
    columns = np.empty(rows.shape[::-1])
    for start in range(0, len(rows), TILE):
        columns[:, start : start + TILE] = rows[start : start + TILE].T
    columns.sort(axis=1)
    return columns


def medians(rows: Array) -> Array:
    """The median of each column of rows (n, k), (k,), in a third of the time of `np.median`."""
    columns, middle = ascending_columns(rows), (len(rows) - 1) // 2
    return 0.5 * (columns[:, middle] + columns[:, len(rows) // 2])


def factorise(matrix: Array, name: str = "data") -> Factor:
    """The thin QR of `matrix` (n, p), columns scaled to norm 1; computed once for each content.

    Raises `DegenerateData` when the columns are dependent; its text calls the matrix `name`.
    """
    return _FACTORS.get(matrix, lambda: _thin_qr(matrix, name))


def least_squares(data: ArrayLike, *, exact: bool = False) -> LeastSquares:
    """The fit of the last column of `data` (n, p + 1) on the first p, once for each content.

    Residuals that are zero to rounding are 0. Raises `DegenerateData` for dependent features, n ≤
    p, numbers that floats hold with few digits, and, unless the fit may be `exact`, where all
    residuals are 0.
    """
    data = check.matrix("data", data, min_columns=2)
    size = float(np.abs(data).max(initial=0.0))
    if size > 0.0 and not SMALLEST <= size <= LARGEST:
        raise DegenerateData(
            f"data must have a largest number between {SMALLEST:g} and {LARGEST:g} in size; choose "
            "another unit"
        )
    fit = _FITS.get(data, lambda: _fit(data))
    if fit.norm == 0.0 and not exact:
        raise DegenerateData(
            "data must leave a residual: the features fit the label exactly, so nothing is random"
        )
    return fit


def column_norms(matrix: Array) -> Array:
    """The Euclidean norms of the columns, correct even where squares underflow or overflow."""
    size = np.ldexp(1.0, np.frexp(np.abs(matrix).max(axis=0, initial=0.0))[1] - 1)
    return np.asarray(size * np.linalg.norm(matrix / size, axis=0))


def _thin_qr(matrix: Array, name: str) -> Factor:
    n, p = matrix.shape
    if n < p:
        raise DegenerateData(
            f"{name} must have at least as many rows as columns, got {n} rows and {p} columns"
        )
    norms = column_norms(matrix)
    if np.any(norms == 0.0):
        column = int(np.flatnonzero(norms == 0.0)[0])
        raise DegenerateData(
            f"{name} must have linearly independent columns, got only zeros in column {column}"
        )
    unit = matrix / norms
    order, basis = _large_first(unit), np.empty_like(matrix)
    basis[order], root = qr(unit[order], mode="economic", check_finite=False)
    if _singular(root, n):
        raise DegenerateData(f"{name} must have linearly independent columns, got rank below {p}")
    leverage = np.einsum("ij,ij->i", basis, basis)
    room, pulls = 1.0 - leverage, {}
    for i, others in _roots_of_others(matrix, leverage > HEAVY):
        room[i] = 0.0
        if not _singular(others, n):
            # With v the row, R the root of the others and z = R⁻ᵀv, these are 1/(1 + zᵀz) and
            # R⁻¹z/(1 + zᵀz) (Sherman & Morrison).
            white = solve_triangular(others, matrix[i], trans="T")
            room[i] = 1.0 / (1.0 + float(white @ white))
            pulls[i] = room[i] * solve_triangular(others, white)
        leverage[i] = 1.0 - room[i]
    return Factor(basis, root * norms, leverage, room, pulls)


def _large_first(unit: Array) -> np.ndarray | slice:
    """The order of rows, largest first, in which Householder's QR keeps the digits of small rows
    (Cox & Higham 1998); rows of similar sizes stay in their order.
    """
    size = np.abs(unit).max(axis=1, initial=0.0)
    smallest = size.min(initial=np.inf, where=size > 0.0)
    return slice(None) if size.max(initial=0.0) <= UNEVEN * smallest else np.argsort(-size)


def _singular(root: Array, rows: int) -> bool:
    """Whether the QR root of a matrix with this many rows, columns scaled to 1, has lost rank."""
    norms = np.linalg.norm(root, axis=0)
    if np.any(norms == 0.0):
        return True
    size = np.linalg.svd(root / norms, compute_uv=False)
    return bool(size[-1] <= size[0] * max(rows, len(root)) * EPS)


def _roots_of_others(matrix: Array, chosen: np.ndarray) -> Iterator[tuple[int, Array]]:
    """Yield each chosen row's index, and the QR root of all other rows."""
    if not chosen.any():
        return
    norms, few = column_norms(matrix), np.flatnonzero(chosen)
    unit, rest = matrix[few] / norms, matrix[~chosen] / norms
    rest = np.linalg.qr(rest[_large_first(rest)], mode="r")
    square = np.zeros((len(norms), len(norms)))  # makes the root square where few rows are left
    for place, i in enumerate(few):
        others = np.vstack([np.delete(unit, place, axis=0), rest, square])
        yield int(i), np.asarray(np.linalg.qr(others[_large_first(others)], mode="r") * norms)


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
    norm = float(column_norms(residual))
    if norm <= _rounding(data, coef):
        norm, residual = 0.0, np.zeros_like(residual)
    share = np.divide(
        (residual / (norm or 1.0)) ** 2,
        factor.room,
        out=np.zeros(len(data)),
        where=factor.room > 0.0,
    )
    share_room = 1.0 - share
    heavy = (np.maximum(factor.leverage, share) > HEAVY) & (factor.room > 0.0) & (norm > 0.0)
    for i, others in _roots_of_others(data, heavy):
        residual[i], share[i], share_room[i] = _deletion(data, i, others, factor.room[i])
    return LeastSquares(coef, residual, norm, factor, share, share_room)


def _deletion(data: Array, row: int, root: Array, room: float) -> tuple[float, float, float]:
    """The residual w of one row, its residual share t and 1 − t, from the fit of the other rows.

    With root = [[R, z], [0, ρ]] the QR root of these, x' = R⁻¹z and e = y − vᵀx' for the row (v,
    y): w = (1−h)e and t = (1−h)e²/(ρ² + (1−h)e²), where `room` = 1 − h.
    """
    coef = solve_triangular(root[:-1, :-1], root[:-1, -1])
    error = float(data[row, -1] - data[row, :-1] @ coef)
    others, own = abs(float(root[-1, -1])), math.sqrt(room) * abs(error)
    if others <= _rounding(np.delete(data, row, axis=0), coef):
        others = 0.0
    whole = math.hypot(own, others)
    share, rest = ((own / whole) ** 2, (others / whole) ** 2) if own > 0.0 else (0.0, 1.0)
    return room * error, share, rest


def _rounding(data: Array, coef: Array) -> float:
    """The largest norm of the residuals that may be rounding alone."""
    size = column_norms(data[:, -1]) + column_norms(np.abs(data[:, :-1]) @ np.abs(coef))
    return 100.0 * EPS * float(size)


def shrinkage(rows: Array, bound: float) -> Array:
    """The factors, (n,), that scale rows longer than `bound` to norm `bound`; 1 for other rows."""
    norms = np.linalg.norm(rows, axis=1)
    return np.divide(bound, norms, out=np.ones_like(norms), where=norms > bound)


def padded(matrix: Array, weight: float) -> Array:
    """The matrix [matrix; weight·I], (n + d, d), with weight²·I added to its Gram matrix; the
    matrix itself for weight 0.
    """
    return np.vstack([matrix, weight * np.eye(matrix.shape[1])]) if weight > 0.0 else matrix


def cholesky_stack(matrices: Array) -> tuple[Array, Array]:
    """Lower Cholesky factors of symmetric matrices, and whether each matrix is positive definite.

    matrices : (m, d, d). Returns arrays (m, d, d) and (m,). The factor of a matrix that is not
    positive definite has no meaning, but it is invertible and its diagonal is positive.
    """
    factor, definite = np.zeros_like(matrices), np.ones(len(matrices), dtype=bool)
    for j in range(matrices.shape[-1]):
        column = matrices[:, j:, j] - np.einsum("mik,mk->mi", factor[:, j:, :j], factor[:, j, :j])
        definite &= column[:, 0] > 0.0
        column[~definite] = np.eye(1, column.shape[1])
        factor[:, j:, j] = column / np.sqrt(column[:, :1])
    return factor, definite


def log_det(root: Array) -> float:
    """log |det root| for a triangular matrix `root`."""
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
    """The vector w with xᵀw = tr((rootᵀroot)⁻¹X), x the upper triangle of a symmetric X; root is
    (d, d) upper triangular.
    """
    inverse = solve_triangular(root, np.eye(len(root)))
    row, column = np.triu_indices(len(root))
    return np.asarray((inverse @ inverse.T)[row, column] * np.where(row == column, 1.0, 2.0))


def one_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread.

    In products with a few dozen columns a second thread costs twice the time that it saves.
    """
    return _libraries().limit(limits=1, user_api="blas")


_libraries = cache(ThreadpoolController)  # finding the loaded libraries is slow
