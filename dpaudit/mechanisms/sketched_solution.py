"""The law of least squares on a Gaussian sketch, x̃ = (ΠB)†Πb, and three routes to its draws."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.check import fail
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.laws import StudentRows, StudentT, bartlett
from dpaudit.mechanisms.base import Sampler

LITERAL_BLOCK = 1 << 22  # numbers of the sketching matrix that the literal sampler holds at a time


def sketched_solution_law(data: Array, rows: int) -> StudentT:
    """Student t about x_opt with r − p + 1 degrees of freedom, since ΠB and Πw are independent."""
    fit = least_squares(data)
    return StudentT(fit.coef, fit.factor.root / fit.norm, _sketch_dof(rows, len(fit.coef)))


def sketched_solution_rows(data: Array, rows: int) -> StudentRows:
    """Leverage and residual share of every row of the least-squares problem that is sketched."""
    fit = least_squares(data)
    _sketch_dof(rows, len(fit.coef))
    return StudentRows(fit.leverage, fit.residual_share, len(fit.coef), rows)


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
