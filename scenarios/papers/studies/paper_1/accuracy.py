"""How far a released solution is from the one without privacy: in closed form, and as paper 1
measures it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._core.check import Array
from dpaudit.laws import Gaussian, StudentT


@dataclass(frozen=True)
class Accuracy:
    """bias : ‖E M(D) − f(D)‖². variance : Σ_j Var M(D)_j, infinite for a Student t of 1 or 2
    degrees of freedom.
    """

    bias: float
    variance: float

    @property
    def mean_square(self) -> float:
        """E‖M(D) − f(D)‖²."""
        return self.bias + self.variance


def accuracy(law: Gaussian | StudentT, truth: Array) -> Accuracy:
    """Of a law N(mean, (RᵀR)⁻¹), or t about `mean` with covariance (RᵀR)⁻¹/(ν − 2); truth : (p,),
    f(D).
    """
    spread = float(np.sum(solve_triangular(law.root, np.eye(law.dim)) ** 2))
    if isinstance(law, StudentT):
        spread = spread / (law.dof - 2) if law.dof > 2 else math.inf
    return Accuracy(float(np.sum((law.mean - truth) ** 2)), spread)


def norm_variance(
    law: Gaussian | StudentT, truth: Array, draws: int, repeats: int, seed: np.random.SeedSequence
) -> Array:
    """Paper 1's measure Var(‖M(D) − f(D)‖), (repeats,): each estimated from as many draws."""
    rng = np.random.default_rng(seed)
    return np.array(
        [
            np.var(np.linalg.norm(law.sample(draws, rng) - truth, axis=1), ddof=1)
            for _ in range(repeats)
        ]
    )
