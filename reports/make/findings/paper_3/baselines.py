"""Paper 3, appendices H and I: the algorithms that it compares with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpaudit.exact import gaussian_shift, spectrum
from dpaudit.laws.noise import laplace_log_cdf
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import (
    ObjectivePerturbation,
    SheffetOLS,
    SheffetRenyiOLS,
    printed,
)
from dpaudit.papers.paper_3.sheffet import SheffetAlgorithm
from dpaudit.papers.paper_3.sketches import SolvedRow
from dpaudit.testing import integers, reals
from reports.make.findings.evidence import CERTIFIED
from reports.make.findings.measures import least_noise
from reports.make.findings.statement import (
    CORNER,
    MISPRINT,
    PRIVACY,
    Searched,
    Statement,
)

Box = Callable[..., SheffetAlgorithm]
BUDGET = "‖x_i‖ ≤ C_X, |y_i| ≤ C_Y; here C_X = C_Y = C, zero-out neighbours"


def _solved(box: Box) -> Callable[[float, int, float, float], float]:
    """δ of what the box returns, θ̃, on its own pair, at least.

    λ_min is so small there that noise is added except for a probability p: the Student t laws' δ
    with that noise, less (1 + e^ε)p.
    """

    def leak(row_bound: float, mixtures: int, epsilon: float, delta: float) -> float:
        mechanism = box(mixtures, epsilon, delta, row_bound, row_bound)
        pair = mechanism.pair()
        lowest = max(float(np.linalg.eigvalsh(one.T @ one)[0]) for one in (pair.left, pair.right))
        missed = math.exp(float(laplace_log_cdf(np.array(mechanism.margin(lowest)))))
        curve = SolvedRow.of(pair.left, 0, mixtures).curve(mechanism.sigma)
        found = max(float(one) for one in curve.delta(np.array(epsilon)))
        return found - (1.0 + math.exp(epsilon)) * missed

    return leak


def _solved_rightly(box: Box) -> Callable[[float, int, float, float], float]:
    """The branch taken and θ̃ together, by the corrected lines, on the same pair."""

    def leak(row_bound: float, mixtures: int, epsilon: float, delta: float) -> float:
        mechanism = box(mixtures, epsilon, delta, row_bound, row_bound, variant="corrected")
        return float(mechanism.joint_spectrum(mechanism.pair(), epsilon).delta)

    return leak


def _ada_ssp(epsilon: float, delta: float) -> float:
    """Three releases that all move by their sensitivity: together a shift of √3/s."""
    return _shifted(math.sqrt(3.0) / printed.ada_ssp_deviation(epsilon, delta), epsilon)


def _ada_ssp_enough(epsilon: float, delta: float) -> float:
    least = math.sqrt(3.0) * least_noise(epsilon, delta)
    deviation = max(printed.ada_ssp_deviation(epsilon, delta), least)
    return _shifted(math.sqrt(3.0) / deviation * (1.0 - 1e-9), epsilon)


def _shifted(mu: float, epsilon: float) -> float:
    return float(gaussian_shift(mu, epsilon))


def _objective(epsilon: float, delta: float) -> float:
    """The corrected algorithm 6 on its own pair of one feature, exactly."""
    mechanism = ObjectivePerturbation(epsilon, delta, variant="corrected")
    pair = mechanism.pair()
    return float(spectrum(mechanism, NeighbourPair(pair.left, pair.right), epsilon).delta)


def _box(low: float, high: float, at: float) -> dict[str, object]:
    return {
        "domain": {
            "row_bound": reals(low, high),
            "mixtures": integers(2, 1000),
            "epsilon": reals(0.1, 10.0),
            "delta": reals(1e-8, 0.01),
        },
        "at": {"row_bound": at, "mixtures": 10, "epsilon": 5.0, "delta": 1e-5},
    }


ADA_SSP = Searched(
    lambda delta: delta,
    _ada_ssp,
    {"epsilon": reals(0.01, 100.0), "delta": reals(1e-10, 0.1)},
    at={"epsilon": 40.0, "delta": 1e-5},
)
SHEFFET = Searched(
    lambda delta: delta,
    _solved(SheffetOLS),
    kind=CERTIFIED,
    tries=60,
    **_box(1e-3, 100.0, 0.01),  # type: ignore[arg-type]
)
RENYI = Searched(
    lambda delta: delta,
    _solved(SheffetRenyiOLS),
    kind=CERTIFIED,
    tries=60,
    **_box(1.0, 1000.0, 10.0),  # type: ignore[arg-type]
)
STATEMENTS = (
    Statement(
        "3-algorithm-3",
        3,
        "algorithm 3, AdaSSP",
        "appendix H.1",
        "λ̃_min = max{λ_min + √log(6/δ)·C_X²/(ε/3)·z − log(6/δ)/(ε/3)·C_X², 0}; … XᵀX + "
        "√log(6/δ)·C_X²/(ε/3)·ξ₁; Xᵀy + √log(6/δ)·C_XC_Y/(ε/3)·ξ₂",
        f"{BUDGET}; no condition on ε; read as (ε, δ)-DP of the three releases",
        test=ADA_SSP,
        fails=CORNER,
        fault="the three together leak more than δ from about ε = 20 on, beyond the experiments’ "
        "ε ≤ 10",
        corrected="for ε ≤ 10",
        fixed=replace(ADA_SSP, hypotheses=lambda epsilon: epsilon <= 10.0, at=None),
        code="divides z by the last term, which the box subtracts, and draws it once for all runs",
    ),
    Statement(
        "3-algorithm-3-failure",
        3,
        "algorithm 3, line 4",
        "appendix H.1",
        "√(d log(6/δ) log(2d²/ρ))·C_X²/(ε/3)",
        BUDGET,
        fails=MISPRINT,
        fault="ρ is not among the inputs",
        corrected="an input ρ ∈ (0, 1), the probability of failure",
        code="ρ = 10⁻⁴",
    ),
    Statement(
        "3-h2-algorithm-4",
        3,
        "algorithm 4, line 9",
        "appendix H.2",
        "((SX + γξ₁)ᵀ(SX + γξ₁))⁻¹(SX + γξ₁)ᵀ(SY + γξ₂), γ = 4(C_X² + C_Y²)/ε·(√(2k log(8/δ)) + "
        "2 log(8/δ))",
        f"{BUDGET}; θ̃ itself",
        reading="our text carries the LaTeX of each formula, so that a root lost in conversion is "
        "unlikely; section 4 has “set either to 0 or to √γ”",
        test=SHEFFET,
        fails=CORNER,
        fault="γ is compared with λ_min, so it is a variance: as a deviation it is too little "
        "where rows are short, γ < 1, and too much elsewhere",
        corrected="SX + √γ·ξ₁, SY + √γ·ξ₂",
        fixed=replace(SHEFFET, exact=_solved_rightly(SheffetOLS), at=None),
        code="np.sqrt(sigma_matrix_sheffet), as corrected; its γ has log(8/δ) once, and no C_X² + "
        "C_Y², which is 2 there",
    ),
    Statement(
        "3-h2-algorithm-5",
        3,
        "algorithm 5, line 3",
        "appendix H.2",
        "Set γ s.t. min over 1 < α < γ of {φ(α; k, γ) + log(1 − 1/α) − log(αδ)/(α − 1)} ≤ ε/2",
        f"{BUDGET}; λ_min > γ + … without noise, else SX + γξ₁; θ̃ itself",
        test=RENYI,
        fails=PRIVACY,
        fault="lemma 1’s γ is in units of C_X² + C_Y²; lines 5 and 9 use it as if that were 1, so "
        "that long rows get too little noise",
        corrected="γ times C_X² + C_Y² in lines 5 and 9, and √ in line 9 as in algorithm 4",
        fixed=replace(RENYI, exact=_solved_rightly(SheffetRenyiOLS), at=None),
        code="√γ·√(C_X² + C_Y²) in line 9, as corrected; half of γ(C_X² + C_Y²) in line 5",
    ),
    Statement(
        "3-algorithm-6",
        3,
        "algorithm 6, objective perturbation",
        "appendix I.1",
        "argmin {Σ −(1/n) log(1 + exp{−y_ix_iᵀθ}) + bᵀθ/n + Δ‖θ‖²/(2n)}",
        "‖x_i‖ ≤ C_X, y_i ∈ {−1, 1}; σ = √(4ε + 8 log(2/δ))/ε·C_X, Δ = C_X²/(2ε)",
        fails=MISPRINT,
        fault="the sign of the loss, as in (10), without which it is Kifer et al.’s algorithm",
        cause="3-equation-10",
        corrected="Σ (1/n) log(1 + exp{−y_ix_iᵀθ}) + …",
        code="binary cross-entropy, as corrected; but Δ/(4n) for Δ/(2n)",
    ),
    Statement(
        "3-algorithm-6-noise",
        3,
        "algorithm 6, line 2",
        "appendix I.1",
        "Set σ = √(4ε + 8 log(2/δ))/ε·C_X and Δ = C_X²/(2ε)",
        "‖x_i‖ ≤ C_X, y_i ∈ {−1, 1}; with the sign of the loss put right, for one feature, equal "
        "rows of norm C_X of which one is zeroed",
        test=Searched(
            lambda delta: delta,
            _objective,
            {"epsilon": reals(0.1, 10.0), "delta": reals(1e-6, 0.05)},
            tries=60,
        ),
    ),
)
