"""How quantities change when a row v of a database is replaced by a candidate u, for all v and u.

`old` (n, d) holds the rows v and `new` (m, d) the candidates u, in the same coordinates; results
have shape (n, m) unless a function says otherwise. Rows are subtracted before anything is squared,
so that the change between nearly equal rows keeps its digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core import check
from dpaudit._core.linalg import EPS, Factor, LeastSquares
from dpaudit._core.types import Array

BLOCK = 1 << 15  # pairs at a time: their numbers stay in cache
SMALLEST_SQUARE = 1e-290  # smaller ones lose digits


def over_pairs(data: Array, candidates: Array, change: Callable[[slice], Array]) -> Array:
    """Compute the change for every pair of a row and a candidate, (…, n·m), in blocks of rows.

    change : maps a slice of the rows of `data` to the changes, (…, rows in the slice, m). If the
        candidate equals the row, the result is 0 whatever `change` returns.
    """
    step = max(1, BLOCK // len(candidates))
    changes = np.empty(0)
    for start in range(0, len(data), step):
        rows = slice(start, start + step)
        equal = np.ones((len(data[rows]), len(candidates)), dtype=bool)
        for v, u in zip(data[rows].T, candidates.T, strict=True):
            equal &= v[:, None] == u
        block = np.where(equal, 0.0, change(rows))
        if start == 0:  # filled in place, as joined blocks would need twice the memory
            changes = np.empty((*block.shape[:-2], len(data), len(candidates)))
        changes[..., rows, :] = block
    return changes.reshape(*changes.shape[:-2], -1)


def check_candidates(data: Array, candidates: Array) -> Array:
    candidates = check.matrix("candidates", candidates)
    if candidates.shape[1] != data.shape[1]:
        check.fail(
            "candidates",
            check.Words(f"{candidates.shape[1]} columns"),
            f"rows of {data.shape[1]} columns, as data",
        )
    return candidates


def whitened(factor: Factor, rows: Array) -> Array:
    """The rows times root⁻¹: the factored matrix then has the Gram matrix I."""
    return np.asarray(solve_triangular(factor.root, rows.T, trans="T", check_finite=False).T)


def square_norm_change(old: Array, new: Array) -> Array:
    """‖u‖² − ‖v‖² for each row v and candidate u, (n, m)."""
    total = np.zeros((len(old), len(new)))
    for v, u in zip(old.T, new.T, strict=True):
        total += (u - v[:, None]) * (u + v[:, None])
    return total


def gram_determinant(old: Array, new: Array) -> Array:
    """‖u‖²‖v‖² − (uᵀv)², (n, m), as ‖v‖² times the square norm of u's part orthogonal to v."""
    size = np.einsum("ij,ij->i", old, old)
    slope = np.divide(
        old @ new.T, size[:, None], out=np.zeros((len(old), len(new))), where=size[:, None] > 0.0
    )
    orthogonal = np.zeros_like(slope)
    for v, u in zip(old.T, new.T, strict=True):
        orthogonal += (u - slope * v[:, None]) ** 2
    return size[:, None] * orthogonal


def eigenvalue_changes(old: Array, new: Array) -> Array:
    """(up, down), (2, n, m), such that I − vvᵀ + uuᵀ has the eigenvalues 1 + up and 1 − down.

    All its other eigenvalues are 1. `down` is exactly 1 if the matrix is singular up to rounding.
    """
    up, down = difference_eigenvalues(old, new)
    return np.stack([up, np.where(down > 1.0 - 8.0 * old.shape[1] * EPS, 1.0, down)])


def difference_eigenvalues(old: Array, new: Array) -> tuple[Array, Array]:
    """(up, down), each (n, m), such that uuᵀ − vvᵀ has the eigenvalues up ≥ 0 and −down ≤ 0.

    All its other eigenvalues are 0. On the span of u and v the trace of uuᵀ − vvᵀ is
    g = ‖u‖² − ‖v‖², and its determinant is −A, where A is the Gram determinant. So up and −down are
    the roots of λ² − gλ − A. The root of larger size is computed without cancellation, and the
    other one from the product of the two.
    """
    g, product = square_norm_change(old, new), gram_determinant(old, new)
    large = 0.5 * (np.abs(g) + _root(g, product))
    small = np.divide(product, large, out=np.zeros_like(large), where=large > 0.0)
    return np.where(g >= 0.0, large, small), np.where(g >= 0.0, small, large)


def _root(g: Array, product: Array) -> Array:
    """√(g² + 4·product), by `np.hypot` only where g² is rounded to 0 or ∞, as it takes long."""
    with np.errstate(over="ignore"):
        square = g * g
        root = np.sqrt(square + 4.0 * product)
    rare = (square < SMALLEST_SQUARE) | (square > 1.0 / SMALLEST_SQUARE)
    root[rare] = np.hypot(g[rare], 2.0 * np.sqrt(product[rare]))
    return root


def moment_change(old: Array, new: Array) -> Array:
    """The square norm of the upper triangle (with diagonal) of uuᵀ − vvᵀ, (n, m).

    It is half the sum of the square norm of the matrix and that of its diagonal. The former is
    g² + 2A, with g and A as in `difference_eigenvalues`.
    """
    total = square_norm_change(old, new) ** 2 + 2.0 * gram_determinant(old, new)
    for v, u in zip(old.T, new.T, strict=True):
        total += ((u - v[:, None]) * (u + v[:, None])) ** 2
    return np.asarray(0.5 * total)


def inverse_changes(factor: Factor, data: Array, candidates: Array) -> Array:
    """The norm of the upper triangle of (G − vvᵀ + uuᵀ)⁻¹ − G⁻¹, (n·m,).

    G = rootᵀroot for the root of `factor`. The norm is infinite where G − vvᵀ + uuᵀ is singular. By
    Woodbury's formula, with z = G⁻¹v, e = G⁻¹(u − v) and a, c and Δ of `_determinant`, the change
    is (‖u − v‖²zzᵀ − (1 − a + c)(zeᵀ + ezᵀ) − (1 − a)eeᵀ)/Δ, where ‖u − v‖ is of whitened rows.
    """
    old, new = factor.basis[: len(data)], whitened(factor, candidates)
    pull, pulled = factor.pulls[: len(data)].T, solve_triangular(factor.root, new.T)

    def change(rows: slice) -> Array:
        inner, room = old[rows] @ new.T, factor.room[: len(data)][rows, None]
        z = pull[:, rows, None]
        e = pulled[:, None, :] - z
        apart = sum((u - v[:, None]) ** 2 for v, u in zip(old[rows].T, new.T, strict=True))
        total = np.zeros_like(inner)
        for k in range(len(z)):  # column k of the upper triangle
            to_z = apart * z[k] - (room + inner) * e[k]
            to_e = (room + inner) * z[k] + room * e[k]
            total += np.sum((z[: k + 1] * to_z - e[: k + 1] * to_e) ** 2, axis=0)
        return _ratio(np.sqrt(total), _determinant(room, inner, new))

    return over_pairs(data, candidates, change)


def solution_changes(fit: LeastSquares, data: Array, candidates: Array) -> Array:
    """The move ‖x′ − x‖ of the least-squares solution x when a row is replaced, shape (n·m,).

    The label is the last column. The move is infinite where the new features are dependent. With
    M = BᵀB for the features B, and the residuals w of the row and s of the candidate at x,
    x′ − x = (M − vvᵀ + uuᵀ)⁻¹(us − vw) = M⁻¹(αu + βv), where (1 + b)α + cβ = s and
    −cα + (1 − a)β = −w, with a, b and c as in `_determinant`.
    """
    factor, basis = fit.factor, fit.factor.basis
    new = whitened(factor, candidates[:, :-1])
    s = candidates[:, -1] - candidates[:, :-1] @ fit.coef
    pull, pulled = factor.pulls.T, solve_triangular(factor.root, new.T)
    size = 1.0 + np.einsum("ij,ij->i", new, new)

    def change(rows: slice) -> Array:
        inner, room = basis[rows] @ new.T, factor.room[rows, None]
        w = fit.residual[rows, None]
        alpha, beta = room * s + inner * w, inner * s - size * w
        total = sum(
            (alpha * u + beta * v[:, None]) ** 2 for v, u in zip(pull[:, rows], pulled, strict=True)
        )
        return _ratio(np.sqrt(total), _determinant(room, inner, new))

    return over_pairs(data, candidates, change)


def _determinant(room: Array, inner: Array, new: Array) -> Array:
    """The determinant Δ = det(I − vvᵀ + uuᵀ) = (1 − a)(1 + b) + c², (n, m); 0 if it is singular.

    v and u are whitened rows. room : 1 − a with a = vᵀv, (n, 1), which is 0 where v alone spans a
    direction. inner : c = vᵀu, (n, m). new : the rows u, (m, d), with b = uᵀu.
    """
    size = 1.0 + np.einsum("ij,ij->i", new, new)
    determinant = room * size + inner**2
    certain = (room > 0.0) | (inner**2 > 8.0 * new.shape[1] * EPS * size)
    return np.where(certain, determinant, 0.0)


def _ratio(size: Array, determinant: Array) -> Array:
    return np.divide(size, determinant, out=np.full_like(size, np.inf), where=determinant > 0.0)
