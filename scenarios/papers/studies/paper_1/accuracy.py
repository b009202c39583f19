"""The error of a released solution: in closed form, and by paper 1's own measure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.types import Array
from dpaudit.laws import Gaussian, StudentT


@dataclass(frozen=True)
class Accuracy:
    """The error of M(D) as an estimate of f(D), the solution without privacy.

    bias : ‖E M(D) − f(D)‖². variance : Σ_j Var M(D)_j, infinite for Student t with 1 or 2 degrees
    of freedom.
    """

    bias: float
    variance: float

    @property
    def mean_square(self) -> float:
        """E‖M(D) − f(D)‖²."""
        return self.bias + self.variance


def accuracy(law: Gaussian | StudentT, truth: Array) -> Accuracy:
    """The accuracy of draws of N(mean, (RᵀR)⁻¹), or of Student t with covariance (RᵀR)⁻¹/(ν − 2).

    truth : f(D), (p,).
    """
    spread = float(np.sum(solve_triangular(law.root, np.eye(law.dim)) ** 2))
    if isinstance(law, StudentT):
        spread = spread / (law.dof - 2) if law.dof > 2 else math.inf
    return Accuracy(float(np.sum((law.mean - truth) ** 2)), spread)


def norm_variance(
    law: Gaussian | StudentT, truth: Array, draws: int, repeats: int, seed: np.random.SeedSequence
) -> Array:
    """Paper 1's measure Var(‖M(D) − f(D)‖), (repeats,), each estimated from `draws` draws."""
    rng = np.random.default_rng(seed)
    errors = (np.linalg.norm(law.sample(draws, rng) - truth, axis=1) for _ in range(repeats))
    return np.array([np.var(error, ddof=1) for error in errors])
