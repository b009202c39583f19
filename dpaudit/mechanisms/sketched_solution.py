"""The law of least squares on a Gaussian sketch, x̃ = (ΠB)†Πb, and three routes to its draws."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.check import fail
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.laws import ReplacedStudentRows, StudentRows, StudentT, bartlett
from dpaudit.mechanisms import replacement
from dpaudit.mechanisms.base import Sampler

NO_ADDED_ROW = (
    "no worst row within a bound that is proved: no row has both the largest leverage and the "
    "largest residual share, and no order of the rows in between is proved"
)
LITERAL_BLOCK = 1 << 22  # numbers of the sketching matrix that the literal sampler holds at a time


def sketched_solution_law(data: Array, rows: int) -> StudentT:
    """Student t about x_opt with r − p + 1 degrees of freedom, since ΠB and Πw are independent."""
    fit = least_squares(data)
    return StudentT(fit.coef, fit.factor.root / fit.norm, _sketch_dof(rows, len(fit.coef)))


def sketched_solution_rows(data: Array, rows: int) -> StudentRows:
    """Leverage and residual share of every row of the least-squares problem that is sketched."""
    fit = least_squares(data)
    _sketch_dof(rows, len(fit.coef))
    shares = fit.leverage, fit.residual_share, fit.factor.room, fit.share_room
    return StudentRows(*shares, len(fit.coef), rows)


def replaced_solution_rows(
    problem: Array, count: int, candidates: Array, rows: int
) -> ReplacedStudentRows:
    """What replacing each of the first `count` rows of the sketched problem by a candidate changes.

    In the coordinates of an orthonormal basis of [B, b] whose last axis is the residual w, the
    label of a candidate is its own residual over ‖w‖, and the other coordinates are those of B.
    """
    candidates = replacement.check_candidates(problem, candidates)
    fit = least_squares(problem)
    features = len(fit.coef)
    _sketch_dof(rows, features)
    new = replacement.whitened(fit.factor, candidates[:, :-1])
    label = candidates[:, -1] - candidates[:, :-1] @ fit.coef
    old = np.column_stack([fit.factor.basis, fit.residual / fit.norm])[:count]
    new = np.column_stack([new, label / fit.norm])

    def changes(columns: int) -> Array:
        return replacement.over_pairs(
            problem[:count, :columns],
            candidates[:, :columns],
            lambda some: replacement.eigenvalue_changes(old[some, :columns], new[:, :columns]),
        )

    (up, down), (inner_up, inner_down) = changes(features + 1), changes(features)
    return ReplacedStudentRows(up, down, inner_up, inner_down, features, rows)


def _sketch_dof(rows: int, features: int) -> int:
    if rows < features + 1:
        fail("rows", rows, f"at least features + 1 = {features + 1}")
    return rows - features + 1


def wishart_sampler(data: Array, rows: int) -> Sampler:
    """Draws from Bartlett factors of (ΠD)ᵀΠD.

    (ΠD)ᵀΠD = (UR)ᵀ(UR) with U an upper triangular Bartlett factor and R the QR root of D, so
    x̃ = x_opt + ‖w‖R₁₁⁻¹U₁₁⁻¹u₁₂.
    """
    fit = least_squares(data)
    features = len(fit.coef)
    to_scale = fit.norm * solve_triangular(fit.factor.root, np.eye(features)).T

    def sample(size: int, rng: np.random.Generator) -> Array:
        return fit.coef + _upper_solution(size, features, rows, rng) @ to_scale

    return sample


def _upper_solution(size: int, features: int, rows: int, rng: np.random.Generator) -> Array:
    """U₁₁⁻¹u₁₂ for UᵀU ~ Wishart(I, rows), by back substitution in all draws at once.

    Shape (size, features).
    """
    upper = bartlett(size, features + 1, rows, rng).transpose(0, 2, 1)
    solution = np.empty((size, features))
    for i in range(features - 1, -1, -1):
        known = np.einsum("sj,sj->s", upper[:, i, i + 1 : features], solution[:, i + 1 :])
        solution[:, i] = (upper[:, i, features] - known) / upper[:, i, i]
    return solution


def literal_sampler(data: Array, rows: int) -> Sampler:
    """Draws by the algorithm as printed, one sketch a draw."""
    return lambda size, rng: np.stack([_literal_draw(data, rows, rng) for _ in range(size)])


def _literal_draw(data: Array, rows: int, rng: np.random.Generator) -> Array:
    """Sketch the data, in blocks of its rows, and solve the sketched problem."""
    sketch = np.zeros((rows, data.shape[1]))
    step = max(1, LITERAL_BLOCK // rows)
    for start in range(0, len(data), step):
        part = data[start : start + step]
        sketch += rng.standard_normal((rows, len(part))) @ part
    return np.asarray(np.linalg.lstsq(sketch[:, :-1], sketch[:, -1], rcond=None)[0])
