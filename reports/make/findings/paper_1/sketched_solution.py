"""Paper 1, section 3.1 and appendix B.1: the law of the solution of a sketched problem."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr

from dpaudit._core.types import Array
from dpaudit.testing import reals
from reports.make.findings.evidence import Evidence, claimed, stated
from reports.make.findings.statement import Searched, Statement, Swept

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(8)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def _distance(rows: int, features: int) -> Evidence:
    """The largest distance of two cdfs: of a coordinate of x̃, over its printed deviation, and Φ.

    The coordinate is Student's t with ν = r − p + 1, scaled by √(r/ν).
    """
    dof, x = rows - features + 1, np.linspace(-8.0, 8.0, 4001)
    distance = float(np.abs(stdtr(dof, x * math.sqrt(dof / rows)) - ndtr(x)).max())
    return claimed(features / rows, distance, quantity="largest |F_r − Φ|")


def _moments(power: int, sigma: float) -> float:
    """E x^power for N(0, σ²) by quadrature that is exact for polynomials."""
    return float(np.sum(WEIGHTS * (sigma * NODES) ** power))


def _normals(count: int) -> tuple[Array, Array]:
    """Points and weights that integrate polynomials of `count` normals exactly."""
    grids = list(itertools.product(range(len(NODES)), repeat=count))
    return NODES[grids], WEIGHTS[grids].prod(axis=1)


def _residual(seed: int) -> tuple[Array, Array]:
    """Three rows of two features, and the residual of labels on them."""
    B, b = np.split(np.random.default_rng(seed).standard_normal((3, 3)), [2], axis=1)
    return B, b[:, 0] - B @ np.linalg.lstsq(B, b[:, 0], rcond=None)[0]


def _products(seed: int, what: str) -> Evidence:
    """Moments of v = Bᵀggᵀw and of ggᵀwwᵀggᵀ over g, exactly."""
    (B, w), (g, weight) = _residual(seed), _normals(3)
    v, square = (g @ w)[:, None] * (g @ B), float(w @ w)
    outer = np.einsum("k,ki,kj,k->ij", weight, g, g, (g @ w) ** 2)
    values: dict[str, tuple[Any, Any]] = {
        "covariance": (square * B.T @ B, (v * weight[:, None]).T @ v),
        "mean": (np.zeros(2), weight @ v),
        "Q": (2.0 * np.outer(w, w) + square * np.eye(3), outer),
        "variance of η": (square, np.sum(weight * (g @ w) ** 2)),
    }
    shown, true = values[what]
    apart = float(np.linalg.norm(np.subtract(shown, true)))
    return stated(what, 1.0, 1.0 + apart)


def _checked(*what: str) -> Swept:
    settings = [{"seed": seed, "what": one} for one in what for seed in (0, 1, 2)]
    return Swept(_products, settings[0], more=settings[1:])


STATEMENTS = (
    Statement(
        "1-lemma-1",
        1,
        "lemma 1, figure 1 (ALS)",
        "section 3.1",
        "The Algorithm 1’s output is asymptotically normally distributed with mean x_opt and "
        "covariance matrix ‖w‖₂²(BᵀB)⁻¹/r",
        "r → ∞; B of full column rank and w ≠ 0 by context",
        test=Swept(
            _distance,
            {"rows": 10_000, "features": 12},
            {"rows": (1_000, 10_000, 1_000_000), "features": (1, 3, 12, 100)},
        ),
        fault="the distance to the normal cdf falls as 1/r (here held against p/r); at finite r "
        "the law is Student t with ν = r − p + 1, of covariance ‖w‖²(BᵀB)⁻¹/(r − p − 1)",
    ),
    Statement(
        "1-theorems-1-and-2",
        1,
        "theorems 1 and 2",
        "appendix A.1",
        "x̄_n → μ almost surely; √n(x̄_n − μ) → N(0, Q)",
        "independent, identically distributed; finite mean and variance",
        untested="Kolmogorov’s law of large numbers and the central limit theorem, quoted",
    ),
    Statement(
        "1-proposition-3",
        1,
        "proposition 3",
        "appendix B.1",
        "η = Πw and, for each i ∈ [r], η_i ~ N(0, ‖w‖₂²)",
        "Πb = ΠBx_opt + η",
        test=_checked("variance of η"),
    ),
    Statement(
        "1-proposition-4",
        1,
        "proposition 4",
        "appendix B.1",
        "the second moment of x is E(x²) = σ² and the fourth moment of x is E(x⁴) = 3σ⁴",
        "x ~ N(0, σ²)",
        test=Searched(
            lambda sigma: 3.0 * sigma**4,
            lambda sigma: _moments(4, sigma),
            {"sigma": reals(1e-3, 1e3)},
            side="both",
            quantity="E(x⁴)",
            tries=50,
        ),
    ),
    Statement(
        "1-proposition-5",
        1,
        "proposition 5",
        "appendix B.1",
        "The expectation of v is E(v) = 0. The covariance matrix of v is Var(v) = ‖w‖₂²BᵀB",
        "v = Bᵀggᵀw, g ~ N(0, I_n)",
        test=_checked("covariance", "mean"),
    ),
    Statement(
        "1-equations-1-to-6",
        1,
        "equations (1) to (6)",
        "appendix B.1",
        "Q = 2wwᵀ + ‖w‖₂²I_n",
        "Q = E(ggᵀwwᵀggᵀ)",
        test=_checked("Q"),
        fault="Q is n × n, where (d − 1) × (d − 1) is printed",
    ),
    Statement(
        "1-equations-7-to-10",
        1,
        "equations (7) to (10)",
        "appendix B.1",
        "((1/r)(ΠB)ᵀΠB)⁻¹ = (BᵀB)⁻¹; (1/r)(ΠB)ᵀη = N(0, ‖w‖₂²BᵀB/r)",
        "when r is large enough",
        untested="limits as r grows, steps of the proof of lemma 1, which is tested",
    ),
)
