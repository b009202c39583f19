"""Paper 4: noise added to the second-moment matrix and to its inverse, Gaussian and Wishart."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpaudit import mechanisms
from dpaudit.exact import additive_wishart, gaussian_shift, spectrum
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers import printed
from reports.make.findings.finding import Evidence, Finding, asked, claimed
from reports.make.findings.measures import SMALL_DELTAS, least, least_noise


def _b_5(power: float) -> Callable[[float, float, float, float], Evidence]:
    """Theorem B.5 on AᵀA = diag((1 + ρ)B², 100B², 100B²), with σ divided by B^power.

    The row (B, 0, 0) is a part of A.
    """

    def test(row_bound: float, rho: float, epsilon: float, delta: float) -> Evidence:
        data = row_bound * np.array(
            [[1.0, 0, 0], [math.sqrt(rho), 0, 0], [0, 10.0, 0], [0, 0, 10.0]]
        )
        sigma = printed.theorem_b_5_sigma(rho, epsilon, delta) / row_bound**power
        return claimed(
            delta,
            float(spectrum(mechanisms.GaussianInverse(sigma), zero_row(data, 0), epsilon).delta),
        )

    return test


def _section_2(power: float) -> Callable[[float, float], Evidence]:
    """σ² = 2Δ² ln(2/δ)/ε^power."""

    def test(epsilon: float, delta: float) -> Evidence:
        sigma = math.sqrt(2.0 * math.log(2.0 / delta) / epsilon**power)
        return claimed(
            delta, float(gaussian_shift(1.0 / sigma, epsilon)), at=f"so σ = {sigma:.4g} Δ"
        )

    return test


def _section_2_asked(epsilon: float, delta: float) -> Evidence:
    needed = least_noise(epsilon, delta)
    return asked("σ/Δ", math.sqrt(2.0 * math.log(2.0 / delta) / epsilon), needed)


def _analyze_gauss(square: float) -> Callable[[float, float], Evidence]:
    """AᵀA + N with the least σ that is exact for ‖change‖² = `square`·B⁴.

    The row (B, 0) is replaced by (0, B).
    """

    def test(epsilon: float, delta: float) -> Evidence:
        sigma = math.sqrt(square) * least_noise(epsilon, delta) * (1.0 + 1e-9)
        one, other = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])
        pair = NeighbourPair(one, other, "replace", 0)
        return claimed(delta, float(spectrum(mechanisms.AnalyzeGauss(sigma), pair, epsilon).delta))

    return test


def _dof(dim: int, epsilon: float, delta: float) -> Evidence:
    needed = least(mechanisms.AdditiveWishart(dim, 1.0), epsilon, delta, dim, "dof")
    return asked("k", float(printed.theorem_4_1_dof(dim, epsilon, delta)), needed)


def _b_3(dim: int, spread: float, epsilon: float, delta: float) -> Evidence:
    """The least scale and degrees of freedom that the theorem allows for C₂ = `spread`."""
    dof = printed.theorem_b_3_dof(dim, spread, delta)
    scale = printed.theorem_b_3_scale(1.0, spread, epsilon)
    return claimed(
        delta,
        float(max(additive_wishart(1.0 / scale, dof, dim, epsilon))),
        at=f"so ν = {dof}, C₁ = {scale:.3g} B²",
    )


def _algorithm_3(dim: int, epsilon: float, delta: float) -> Evidence:
    """The k that algorithm 3 prints for any ε, with noise of scale B²."""
    dof = math.floor(dim + 28.0 * math.log(4.0 / delta) / epsilon**2)
    return claimed(delta, float(max(additive_wishart(1.0, dof, dim, epsilon))), at=f"so k = {dof}")


def _algorithm_3_small(dim: int, epsilon: float, delta: float) -> Evidence:
    """The k of ε = 1 where ε is more."""
    dof = math.floor(dim + 28.0 * math.log(4.0 / delta) / min(epsilon, 1.0) ** 2)
    return claimed(delta, float(max(additive_wishart(1.0, dof, dim, epsilon))))


def _b_3_replaced(dim: int, spread: float, epsilon: float, delta: float) -> Evidence:
    """The same for one row replaced by one at right angles."""
    scale = printed.theorem_b_3_scale(1.0, spread, epsilon)
    dof = printed.theorem_b_3_dof(dim, spread, delta)
    pair = NeighbourPair(np.eye(dim)[:1], np.eye(dim)[1:2], "replace", 0)
    noisy = mechanisms.AdditiveWishart(dof, math.sqrt(scale))
    return claimed(
        delta, float(spectrum(noisy, pair, epsilon).delta), at=f"so ν = {dof}, C₁ = {scale:.3g} B²"
    )


FINDINGS = (
    Finding(
        key="4-theorem-b-5",
        paper=4,
        place="theorem B.5, noise on the inverse",
        claim="(AᵀA)⁻¹ + N is (ε, δ)-DP where λ_min(AᵀA) ≥ (1 + ρ)B²",
        formula="N(0, 8 ln(2/δ)/(ρ²ε²))",
        fault="the noise does not scale with B, though the inverse scales as 1/B²: the last step "
        "of the proof takes (ρB²)² for (ρB²)⁴",
        corrected="N(0, 8 ln(2/δ)/(ρ²B⁴ε²)): the change is at most √2/(ρ(1 + ρ)B²)",
        setting={"row_bound": 0.1, "rho": 0.1, "epsilon": 0.5, "delta": 1e-5},
        test=_b_5(0.0),
        grid={
            "row_bound": (0.01, 0.1, 0.5, 1.0, 10.0),
            "rho": (0.01, 0.1, 1.0, 10.0),
            "epsilon": (0.05, 0.5, 0.99),
        },
        fixed=_b_5(2.0),
    ),
    Finding(
        key="4-section-2",
        paper=4,
        place="Gaussian noise of section 2 (ε for ε²)",
        claim="adding N(0, 2Δ² ln(2/δ)/ε) is (ε, δ)-DP",
        formula="σ² = 2Δ² ln(2/δ)/ε",
        fault="ε where ε² belongs: too little noise for ε < 1",
        corrected="σ² = 2Δ² ln(2/δ)/ε² for ε ≤ 1",
        setting={"epsilon": 0.1, "delta": 1e-5},
        test=_section_2(1.0),
        grid={"epsilon": (0.01, 0.1, 0.5, 0.9), "delta": SMALL_DELTAS},
        fixed=_section_2(2.0),
    ),
    Finding(
        key="4-section-2-loose",
        paper=4,
        place="Gaussian noise of section 2 (ε for ε²)",
        claim="the same at ε = 1, where the two are one",
        formula="σ² = 2Δ² ln(2/δ)/ε",
        fault="more noise than (1, δ) takes",
        corrected="",
        setting={"epsilon": 1.0, "delta": 1e-5},
        test=_section_2_asked,
        grid={"delta": SMALL_DELTAS},
    ),
    Finding(
        key="4-analyze-gauss",
        paper=4,
        place="section 2, sensitivity of AᵀA",
        claim="‖AᵀA − A′ᵀA′‖²_F = B⁴ where A and A′ differ on one row",
        formula="‖f(A) − f(A′)‖²_F = B⁴",
        fault="true where a row is removed; replacing (B, 0) by (0, B), neighbours by definition "
        "2.1, changes it 2B⁴",
        corrected="‖f(A) − f(A′)‖²_F ≤ 2B⁴",
        setting={"epsilon": 1.0, "delta": 1e-5},
        test=_analyze_gauss(1.0),
        grid={"epsilon": (0.1, 1.0, 5.0), "delta": SMALL_DELTAS},
        fixed=_analyze_gauss(2.0),
    ),
    Finding(
        key="4-algorithm-3",
        paper=4,
        place="algorithm 3, k at ε > 1",
        claim="(ε, δ)-DP for any privacy parameters ε, δ > 0 that the box is given",
        formula="k = ⌊d + (14/ε²)·2 ln(4/δ)⌋",
        fault="theorem 4.1 is for ε < 1, the box is not: with few degrees of freedom the output "
        "may rule a row out",
        corrected="k as for ε = 1 where ε is more",
        setting={"dim": 3, "epsilon": 10.0, "delta": 1e-5},
        test=_algorithm_3,
        grid={
            "dim": (1, 3, 20),
            "epsilon": (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0),
            "delta": (0.3, *SMALL_DELTAS),
        },
        fixed=_algorithm_3_small,
    ),
    Finding(
        key="4-theorem-b-3",
        paper=4,
        place="theorem B.3, scale and degrees of freedom",
        claim="AᵀA + W(V, ν) is (ε, δ)-DP for all C₁, C₂ that meet its condition, ε < 1, δ < 1/e",
        formula="2√C₂/(C₁(√C₂ − 1)²) ≤ ε/B², ν ≥ ⌊d + 2C₂ ln(4/δ)⌋",
        fault="held wherever a row is zeroed, from C₂ just above 1 on",
        corrected="",
        setting={"dim": 3, "spread": 56.0, "epsilon": 0.5, "delta": 1e-5},
        test=_b_3,
        grid={
            "dim": (1, 3, 20),
            "spread": (1.01, 1.5, 4.0, 14.0, 100.0, 1400.0),
            "epsilon": (0.01, 0.1, 0.5, 0.99),
            "delta": (0.36, 0.2, 1e-2, 1e-5, 1e-10),
        },
    ),
    Finding(
        key="4-theorem-b-3-replace",
        paper=4,
        place="theorem B.3, one row replaced",
        claim="the same for the paper's own neighbours, one row replaced",
        formula="2√C₂/(C₁(√C₂ − 1)²) ≤ ε/B², ν ≥ ⌊d + 2C₂ ln(4/δ)⌋",
        fault="held wherever a row is replaced by one at right angles, though the proof's last "
        "step needs ln(4/δ) ≥ 3",
        corrected="",
        setting={"dim": 3, "spread": 56.0, "epsilon": 0.5, "delta": 1e-5},
        test=_b_3_replaced,
        grid={
            "dim": (2, 20),
            "spread": (1.01, 1.5, 4.0, 14.0),
            "epsilon": (0.1, 0.5, 0.99),
            "delta": (0.36, 0.2, 1e-2, 1e-5),
        },
    ),
    Finding(
        key="4-loose-4-1",
        paper=4,
        place="theorem 4.1, degrees of freedom",
        claim="Wishart noise of scale B² with k degrees of freedom is (ε, δ)-DP",
        formula="k ≥ ⌊d + 28 ln(4/δ)/ε²⌋",
        fault="many more degrees of freedom than (ε, δ) takes",
        corrected="",
        setting={"dim": 3, "epsilon": 0.5, "delta": 1e-5},
        test=_dof,
        grid={"dim": (2, 20), "epsilon": (0.1, 0.5, 0.9), "delta": (1e-2, 1e-5, 1e-10)},
    ),
)
