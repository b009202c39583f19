"""Paper 4, sections 2 and 4, appendix B: Gaussian and Wishart noise on AᵀA and on its inverse."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.stats import binomtest

from dpaudit import mechanisms
from dpaudit._core.types import Array
from dpaudit.exact import additive_wishart, gaussian_shift, spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import AnalyzeGaussNoise, NoisyInverse, printed
from dpaudit.testing import integers, reals
from reports.make.findings.evidence import CERTIFIED, Evidence, claimed
from reports.make.findings.paper_4.sketches import LIMIT
from reports.make.findings.statement import Searched, Swept, Tested

# Section 2 and theorem B.5: Gaussian noise


def _shift(epsilon: float, delta: float) -> float:
    """δ(ε) of a shift by Δ under σ² = 2Δ² ln(2/δ)/ε."""
    return float(gaussian_shift(math.sqrt(epsilon / (2.0 * math.log(2.0 / delta))), epsilon))


def _right_shift(epsilon: float, delta: float) -> float:
    """δ(ε) of that shift with ε² in place of ε for ε ≤ 1."""
    size = min(epsilon, math.sqrt(epsilon))
    return float(gaussian_shift(size / math.sqrt(2.0 * math.log(2.0 / delta)), epsilon))


def _analyze_gauss(row_bound: float, epsilon: float, delta: float, square: float = 1.0) -> float:
    """δ(ε) of Analyze Gauss with σ² = square·2B⁴ ln(2/δ)/ε², (B, 0) replaced by (0, B)."""
    sigma = row_bound**2 * math.sqrt(2.0 * square * math.log(2.0 / delta)) / epsilon
    pair = AnalyzeGaussNoise(epsilon, delta, row_bound).pair()
    return float(spectrum(mechanisms.AnalyzeGauss(sigma), pair, epsilon).delta)


def _inverse(
    row_bound: float, rho: float, epsilon: float, delta: float, scaled: bool = False
) -> float:
    """δ(ε) of theorem B.5, or with σ/B² if `scaled`, for AᵀA = diag(2 + ρ, 1 + ρ)·B².

    A row is turned by a right angle.
    """
    pair = NoisyInverse(rho, epsilon, delta, row_bound).pair()
    sigma = printed.theorem_b_5_sigma(rho, epsilon, delta) / (row_bound**2 if scaled else 1.0)
    return float(spectrum(mechanisms.GaussianInverse(sigma), pair, epsilon).delta)


def _inverse_change(rho: float, turn: float) -> float:
    """ρ²B⁴‖(A′ᵀA′)⁻¹ − (AᵀA)⁻¹‖_F², M = ρB²I, v and u at an angle (in right angles)."""
    inner = np.eye(2) * rho
    angle = 0.5 * math.pi * turn
    v, u = np.array([1.0, 0.0]), np.array([math.cos(angle), math.sin(angle)])
    gap = np.linalg.inv(inner + np.outer(u, u)) - np.linalg.inv(inner + np.outer(v, v))
    return rho**2 * float(np.sum(gap**2))


# Section 4 and appendix B.2: Wishart noise

DRAWS, SEED, LEVEL = 200, 4, 1e-6


def _wishart_leak(dim: int, dof: int, epsilon: float, scale: float = 1.0) -> float:
    """δ(ε) of W_d(scale·I, ν), the larger of a row zeroed and one replaced at a right angle."""
    zeroed = float(max(additive_wishart(1.0 / scale, dof, dim, epsilon)))
    if dim == 1:
        return zeroed
    pair = NeighbourPair(np.eye(dim)[:1], np.eye(dim)[1:2], "replace", 0)
    noisy = mechanisms.AdditiveWishart(dof, math.sqrt(scale))
    return max(zeroed, float(spectrum(noisy, pair, epsilon).delta))


def _algorithm_3(dim: int, epsilon: float, delta: float, largest: float = math.inf) -> float:
    """δ(ε) of algorithm 3 with the degrees of freedom for min(ε, largest)."""
    dof = printed.algorithm_3_dof(dim, min(epsilon, largest), delta)
    return _wishart_leak(dim, dof, epsilon)


def _least_noise(dim: int, spread: float, epsilon: float, delta: float) -> tuple[float, int]:
    """The least C₁/B² that the condition admits with C₂ = `spread`, and the least ν."""
    dof = math.floor(dim + 2.0 * spread * math.log(4.0 / delta))
    return _condition(spread) / epsilon, dof


def _theorem_b_3(dim: int, spread: float, epsilon: float, delta: float) -> float:
    scale, dof = _least_noise(dim, spread, epsilon, delta)
    return _wishart_leak(dim, dof, epsilon, scale)


def _in_words(dim: int, spread: float, epsilon: float, delta: float) -> str:
    scale, dof = _least_noise(dim, spread, epsilon, delta)
    return f"so C₁ = {scale:.3g} B², ν = {dof}"


def _condition(spread: float) -> float:
    """2√C₂/(√C₂ − 1)²."""
    return 2.0 * math.sqrt(spread) / (math.sqrt(spread) - 1.0) ** 2


def _least_eigenvalue(dim: int, dof: int, rng: np.random.Generator) -> float:
    """The least eigenvalue of a draw of W_d(I, k), by its bidiagonal form.

    Dumitriu and Edelman 2002.
    """
    diagonal = np.sqrt(rng.chisquare(np.arange(dof, dof - dim, -1)))
    below: Array = np.sqrt(rng.chisquare(np.arange(dim - 1, 0, -1)))
    squares = diagonal**2
    squares[1:] += below**2
    least = eigvalsh_tridiagonal(squares, diagonal[:-1] * below, select="i", select_range=(0, 0))
    return float(least[0])


def _shifted(dim: int, epsilon: float, delta: float, conditioned: bool = False) -> Evidence:
    """P(A = 0, and N less the printed multiple of I is indefinite), from below by draws."""
    dof = printed.algorithm_3_dof(dim, epsilon, delta)
    room = math.sqrt(dof) - math.sqrt(dim) - math.sqrt(2.0 * math.log(4.0 / delta))
    amount = 0.0 if conditioned and room < 0.0 else room**2
    rng = np.random.default_rng(SEED)
    indefinite = sum(_least_eigenvalue(dim, dof, rng) < amount for _ in range(DRAWS))
    low = binomtest(indefinite, DRAWS, alternative="greater").proportion_ci(1.0 - LEVEL).low
    where = f"so k = {dof:,} and {amount:.3g} B²·I is taken off"
    return claimed(0.5 * delta, float(low), kind=CERTIFIED, quantity="P(indefinite)", at=where)


BUDGET = {"dim": integers(1, 30), "epsilon": reals(0.02, 0.999), "delta": reals(1e-12, LIMIT)}


def _second_order(spread: float, delta: float) -> float:
    """What stands before “+ 6”: 2√(2mL) − 2L + 2 + 2/(1 − √(2L/m))², m = 2C₂L."""
    log = math.log(4.0 / delta)
    return _first_order(spread, log) + 2.0 + 2.0 / (1.0 - 1.0 / math.sqrt(spread)) ** 2


def _first_order(spread: float, log: float) -> float:
    return 4.0 * log * math.sqrt(spread) - 2.0 * log


TESTS: dict[str, Tested] = {
    "4-section-2": Searched(
        printed=lambda delta: delta,
        exact=_shift,
        domain={"epsilon": reals(1e-3, 100.0), "delta": reals(1e-12, 0.99)},
        at={"epsilon": 0.1, "delta": math.exp(-9.0)},
        fixed={"exact": _right_shift},
    ),
    "4-analyze-gauss": Searched(
        printed=lambda delta: delta,
        exact=_analyze_gauss,
        domain={
            "row_bound": reals(0.01, 100.0),
            "epsilon": reals(1e-3, 1.0),
            "delta": reals(1e-12, 0.9),
        },
        tries=500,
        at={"row_bound": 1.0, "epsilon": 0.5, "delta": 1e-6},
        fixed={"exact": partial(_analyze_gauss, square=2.0)},
    ),
    "4-theorem-b-5": Searched(
        printed=lambda delta: delta,
        exact=_inverse,
        domain={
            "row_bound": reals(0.01, 100.0),
            "rho": reals(1e-3, 1e3),
            "epsilon": reals(1e-3, 0.999),
            "delta": reals(1e-12, 0.3678),
        },
        tries=500,
        at={"row_bound": 0.1, "rho": 0.1, "epsilon": 0.5, "delta": 1e-5},
        fixed={"exact": partial(_inverse, scaled=True)},
    ),
    "4-theorem-b-5-change": Searched(
        printed=lambda: 4.0,
        exact=_inverse_change,
        domain={"rho": reals(1e-4, 1e4), "turn": reals(0.0, 1.0)},
        quantity="ρ²‖change‖²",
    ),
    "4-algorithm-3": Searched(
        printed=lambda delta: delta,
        exact=_algorithm_3,
        domain=BUDGET | {"epsilon": reals(0.02, 30.0)},
        tries=400,
        at={"dim": 3, "epsilon": 10.0, "delta": 1e-5},
        fixed={"exact": partial(_algorithm_3, largest=1.0)},
    ),
    "4-theorem-4-1": Searched(
        printed=lambda delta: delta,
        exact=lambda dim, epsilon, delta: _wishart_leak(
            dim, printed.theorem_4_1_dof(dim, epsilon, delta), epsilon
        ),
        domain=BUDGET,
        tries=400,
    ),
    "4-section-4-shift": Swept(
        test=_shifted,
        setting={"dim": 5000, "epsilon": 0.9, "delta": 0.05},
        grid={"dim": (20, 500, 5000), "epsilon": (0.5, 0.9)},
        fixed=partial(_shifted, conditioned=True),
    ),
    "4-theorem-b-3": Searched(
        printed=lambda delta: delta,
        exact=_theorem_b_3,
        domain=BUDGET | {"spread": reals(1e-4, 1e4)},
        hypotheses=lambda spread: spread != 1.0,
        tries=400,
        at={"dim": 3, "epsilon": 0.5, "delta": 1e-5, "spread": 0.01},
        also=_in_words,
        fixed={"hypotheses": lambda spread: spread > 1.0, "also": _in_words},
    ),
    "4-theorem-b-3-example": Searched(
        printed=lambda epsilon: epsilon,
        exact=lambda epsilon: _condition(14.0 / epsilon**2),
        domain={"epsilon": reals(1e-6, 0.999999)},
        quantity="left side·B²",
    ),
    "4-comment-b-3": Searched(
        printed=lambda epsilon: epsilon,
        exact=lambda epsilon: epsilon * _condition(14.0),  # for V = (B²/ε)I and C₂ = 14
        domain={"epsilon": reals(1e-6, 0.999999)},
        quantity="left side·B²",
    ),
    # the rows of NᵀN for N d × d against those of N′, ν; the rows of N′ᵀN′ against those of N
    "4-comment-b-3-product": Searched(
        printed=lambda dim: float(len(np.zeros((dim, dim)).T @ np.zeros((dim, dim)))),
        exact=lambda dof: float(dof),
        domain={"dof": integers(1, 100), "dim": integers(1, 20)},
        side="both",
        quantity="rows",
        fixed={
            "printed": lambda dof, dim: float(len(np.zeros((dof, dim)).T @ np.zeros((dof, dim)))),
            "exact": lambda dim: float(dim),
        },
    ),
    "4-proof-b-3": Searched(
        printed=lambda x, y: math.exp(min(-x + y / (1.0 - y), 700.0)),
        exact=lambda x, y: (1.0 - x) / (1.0 - y),
        domain={"x": reals(-5.0, 5.0), "y": reals(-5.0, 5.0)},
        hypotheses=lambda y: y != 1.0,
        quantity="(1 − x)/(1 − y)",
        fixed={"hypotheses": lambda y: y < 1.0},
    ),
    "4-proof-b-3-six": Searched(
        printed=lambda spread, delta: _first_order(spread, math.log(4.0 / delta)) + 6.0,
        exact=_second_order,
        domain={"spread": reals(1.01, 1e4), "delta": reals(1e-12, LIMIT)},
        quantity="bracket",
        fixed={"hypotheses": lambda spread: spread >= 12.0},
    ),
}
