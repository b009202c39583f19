"""What replacing row v of a database by a candidate u changes, for all pairs of a row and a
candidate at once.

`old` (n, d) holds the rows and `new` (m, d) the candidates, in one set of coordinates; results are
(n, m). Differences of nearly equal rows are taken before anything is squared, so that a small
change keeps its digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit._core.linalg import EPS, Factor, LeastSquares

BLOCK = 1 << 15  # pairs at a time: their numbers stay in cache


def over_pairs(data: Array, candidates: Array, work: Callable[[slice], Array]) -> Array:
    """work(some rows of the data) gives (…, their number, m): all of them as (…, n·m), 0 where
    nothing is replaced.
    """
    step = max(1, BLOCK // len(candidates))
    parts = []
    for start in range(0, len(data), step):
        rows = slice(start, start + step)
        parts.append(np.where(_equal(data[rows], candidates), 0.0, work(rows)))
    found = np.concatenate(parts, axis=-2)
    return found.reshape(*found.shape[:-2], -1)


def checked(data: Array, candidates: Array) -> Array:
    """Candidates as a matrix of the data's columns. Raises `InvalidInput`."""
    candidates = check.matrix("candidates", candidates)
    if candidates.shape[1] != data.shape[1]:
        check.fail(
            "candidates",
            f"{candidates.shape[1]} columns",
            f"rows of {data.shape[1]} columns, as data",
        )
    return candidates


def _equal(old: Array, new: Array) -> np.ndarray:
    same = np.ones((len(old), len(new)), dtype=bool)
    for v, u in zip(old.T, new.T, strict=True):
        same &= v[:, None] == u
    return same


def white(factor: Factor, rows: Array) -> Array:
    """Rows in the coordinates in which the factored matrix has the Gram matrix I, as factor.basis
    has them.
    """
    return np.asarray(solve_triangular(factor.root, rows.T, trans="T", check_finite=False).T)


def gap(old: Array, new: Array) -> Array:
    """‖u‖² − ‖v‖²."""
    total = np.zeros((len(old), len(new)))
    for v, u in zip(old.T, new.T, strict=True):
        total += (u - v[:, None]) * (u + v[:, None])
    return total


def area(old: Array, new: Array) -> Array:
    """‖u‖²‖v‖² − (uᵀv)², as ‖v‖² times the square of what is left of u beside v."""
    size = np.einsum("ij,ij->i", old, old)
    slope = np.divide(
        old @ new.T, size[:, None], out=np.zeros((len(old), len(new))), where=size[:, None] > 0.0
    )
    left = np.zeros_like(slope)
    for v, u in zip(old.T, new.T, strict=True):
        left += (u - slope * v[:, None]) ** 2
    return size[:, None] * left


def scales(old: Array, new: Array) -> Array:
    """(up, down), shape (2, n, m): I − vvᵀ + uuᵀ has the eigenvalues 1 + up, 1 − down, and else 1.

    On the span of u and v the trace of uuᵀ − vvᵀ is the gap g and its determinant minus the area A,
    so up and −down are the roots of λ² − gλ − A. The larger in size comes without cancellation;
    their product gives the other.
    """
    g, product = gap(old, new), area(old, new)
    large = 0.5 * (np.abs(g) + np.hypot(g, 2.0 * np.sqrt(product)))
    small = np.divide(product, large, out=np.zeros_like(large), where=large > 0.0)
    up, down = np.where(g >= 0.0, large, small), np.where(g >= 0.0, small, large)
    return np.stack([up, np.where(down > 1.0 - 8.0 * old.shape[1] * EPS, 1.0, down)])


def moment_change(old: Array, new: Array) -> Array:
    """Square norm of the upper triangle of uuᵀ − vvᵀ: half of the whole matrix's, g² + 2A, and of
    the diagonal's.
    """
    total = gap(old, new) ** 2 + 2.0 * area(old, new)
    for v, u in zip(old.T, new.T, strict=True):
        total += ((u - v[:, None]) * (u + v[:, None])) ** 2
    return np.asarray(0.5 * total)


def inverse_changes(factor: Factor, data: Array, candidates: Array) -> Array:
    """Norm of the upper triangle of (G − vvᵀ + uuᵀ)⁻¹ − G⁻¹, G = rootᵀroot, shape (n·m,); infinite
    where rank is lost.

    By Woodbury's formula, with z = G⁻¹v, e = G⁻¹(u − v) and Δ the determinant of `_rest`, the
    change is (‖u − v‖²zzᵀ − (1 − a + c)(zeᵀ + ezᵀ) − (1 − a)eeᵀ)/Δ, where ‖·‖, a and c are of white
    rows.
    """
    old, new, leverage = factor.basis[: len(data)], white(factor, candidates), factor.leverage
    pull, pulled = solve_triangular(factor.root, old.T), solve_triangular(factor.root, new.T)

    def change(rows: slice) -> Array:
        inner, room = old[rows] @ new.T, (1.0 - leverage[: len(data)][rows])[:, None]
        z = pull[:, rows, None]
        e = pulled[:, None, :] - z
        apart = sum((u - v[:, None]) ** 2 for v, u in zip(old[rows].T, new.T, strict=True))
        total = np.zeros_like(inner)
        for k in range(len(z)):
            to_z = apart * z[k] - (room + inner) * e[k]
            to_e = (room + inner) * z[k] + room * e[k]
            total += np.sum((z[: k + 1] * to_z - e[: k + 1] * to_e) ** 2, axis=0)
        return _over(np.sqrt(total), _rest(room, inner, new))

    return over_pairs(data, candidates, change)


def solution_changes(fit: LeastSquares, data: Array, candidates: Array) -> Array:
    """‖x'_opt − x_opt‖ of a least-squares problem, label last, shape (n·m,); infinite where rank is
    lost.

    With the residuals w of the row and s of the candidate, x' − x = (M − vvᵀ + uuᵀ)⁻¹(us − vw),
    which is M⁻¹(αu + βv) with (1 + b)α + cβ = s and −cα + (1 − a)β = −w.
    """
    factor, leverage = fit.factor, fit.leverage
    new, s = white(factor, candidates[:, :-1]), candidates[:, -1] - candidates[:, :-1] @ fit.coef
    pull, pulled = (
        solve_triangular(factor.root, factor.basis.T),
        solve_triangular(factor.root, new.T),
    )
    size = 1.0 + np.einsum("ij,ij->i", new, new)

    def change(rows: slice) -> Array:
        inner, room, w = (
            factor.basis[rows] @ new.T,
            (1.0 - leverage[rows])[:, None],
            fit.residual[rows, None],
        )
        alpha, beta = room * s + inner * w, inner * s - size * w
        total = sum(
            (alpha * u + beta * v[:, None]) ** 2 for v, u in zip(pull[:, rows], pulled, strict=True)
        )
        return _over(np.sqrt(total), _rest(room, inner, new))

    return over_pairs(data, candidates, change)


def _rest(room: Array, inner: Array, new: Array) -> Array:
    """Δ = det(I − vvᵀ + uuᵀ) = (1 − a)(1 + b) + c² with `room` 1 − a = 1 − vᵀv, b = uᵀu, c = vᵀu; 0
    if rank is lost.
    """
    size = 1.0 + np.einsum("ij,ij->i", new, new)
    determinant = room * size + inner**2
    return np.where(determinant > 8.0 * new.shape[1] * EPS * size, determinant, 0.0)


def _over(size: Array, determinant: Array) -> Array:
    return np.divide(size, determinant, out=np.full_like(size, np.inf), where=determinant > 0.0)
