"""Paper 4: its theorems for its own neighbours, one row replaced by another within the bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit import mechanisms
from dpaudit.exact import calibrate, spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import AnalyzeGaussNoise, NoisyInverse, printed
from reports.make.findings.finding import Evidence, Finding, asked, claimed
from reports.make.findings.paper_4.sketches import SWAP

Padding = Callable[[float, int, float, float], float]


def _section_2(variant: str) -> Callable[[float, float, float], Evidence]:
    """AᵀA plus the noise of section 2; (B, 0) is replaced by (0, B)."""

    def test(row_bound: float, epsilon: float, delta: float) -> Evidence:
        noisy = AnalyzeGaussNoise(epsilon, delta, row_bound, variant=variant)
        leak = float(spectrum(noisy, noisy.pair(), epsilon).delta)
        return claimed(delta, leak * (1.0 - 1e-9))  # the corrected noise may be just enough

    return test


def _inverse(power: float) -> Callable[[float, float, float, float], Evidence]:
    """AᵀA = diag(2 + ρ, 1 + ρ)·B², and the same turned by a right angle.

    σ_min(AᵀA) = (1 + ρ)B² on both sides. The printed σ is divided by B^power.
    """

    def test(row_bound: float, rho: float, epsilon: float, delta: float) -> Evidence:
        pair = NoisyInverse(rho, epsilon, delta, row_bound).pair()
        sigma = printed.theorem_b_5_sigma(rho, epsilon, delta) / row_bound**power
        return claimed(
            delta, float(spectrum(mechanisms.GaussianInverse(sigma), pair, epsilon).delta)
        )

    return test


def _padding_asked(padding: Padding) -> Callable[[int, float, float], Evidence]:
    """The padding against the least that hides (1, 0) replaced by (0, 1), exactly."""

    def test(rows: int, epsilon: float, delta: float) -> Evidence:
        needed = calibrate(
            mechanisms.RandomProjection(rows),
            SWAP.left,
            epsilon,
            delta,
            relation="replace",
            candidates=SWAP.right,
            parameter="padding",
        )
        return asked("w/B", padding(1.0, rows, epsilon, delta), float(needed.value))

    return test


def _dof_asked(dim: int, epsilon: float, delta: float) -> Evidence:
    """k against the fewest degrees of freedom that hide two rows at right angles.

    More degrees of freedom only add noise.
    """
    pair = NeighbourPair(np.eye(dim)[:1], np.eye(dim)[1:2], "replace", 0)
    size = printed.theorem_4_1_dof(dim, epsilon, delta)
    few, enough = dim - 1, size
    while enough - few > 1:
        middle = (few + enough) // 2
        kept = (
            float(spectrum(mechanisms.AdditiveWishart(middle, 1.0), pair, epsilon).delta) <= delta
        )
        few, enough = (few, middle) if kept else (middle, enough)
    return asked("k", float(size), float(enough))


FINDINGS = (
    Finding(
        key="4-section-2-replace",
        paper=4,
        place="section 2, Analyze Gauss, one row replaced",
        claim="AᵀA + N is (ε, δ)-DP for the paper's own neighbours, one row replaced",
        formula="σ² = 2B⁴ ln(2/δ)/ε",
        fault="ε for ε², and the change is up to √2·B²: it fails at ε = 1 too",
        corrected="σ² = 4B⁴ ln(2/δ)/ε², and no less than (ε, δ) takes",
        setting={"row_bound": 1.0, "epsilon": 0.1, "delta": 1e-5},
        test=_section_2("printed"),
        grid={
            "row_bound": (0.1, 10.0),
            "epsilon": (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0),
            "delta": (1e-2, 1e-3, 1e-5, 1e-7, 1e-10),
        },
        fixed=_section_2("corrected"),
    ),
    Finding(
        key="4-theorem-b-5-replace",
        paper=4,
        place="theorem B.5, one row replaced",
        claim="(AᵀA)⁻¹ + N is (ε, δ)-DP where λ_min(AᵀA) ≥ (1 + ρ)B², here on both sides",
        formula="N(0, 8 ln(2/δ)/(ρ²ε²))",
        fault="the same: the noise does not scale with B",
        corrected="N(0, 8 ln(2/δ)/(ρ²B⁴ε²))",
        setting={"row_bound": 0.1, "rho": 1.0, "epsilon": 0.5, "delta": 1e-5},
        test=_inverse(0.0),
        grid={
            "row_bound": (0.01, 0.1, 0.5, 1.0, 10.0),
            "rho": (0.01, 0.1, 1.0, 10.0),
            "epsilon": (0.05, 0.5, 0.99),
        },
        fixed=_inverse(2.0),
    ),
    *(
        Finding(
            key=f"4-loose-{key}-replace",
            paper=4,
            place=place,
            claim="the padding that hides a row replaced by one at right angles",
            formula=formula,
            fault="one row replaced: less room than with a row removed",
            corrected="",
            setting={"rows": 1000, "epsilon": epsilon, "delta": 1e-5},
            test=_padding_asked(padding),
            grid={"rows": (10, 1000), "epsilon": (0.1, 0.99), "delta": (1e-2, 1e-10)},
        )
        for key, place, formula, padding, epsilon in (
            (
                "3-1",
                "theorem 3.1, padding, one row replaced",
                "4B²(√(2rL) + L)/ε",
                printed.theorem_3_1_padding,
                1.0,
            ),
            (
                "b-1",
                "theorem B.1, padding, one row replaced",
                "B²(1 + (1 + ε/L)(2√(2rL) + 2L)/ε)",
                printed.theorem_b_1_padding,
                1.0,
            ),
            (
                "b-2",
                "corollary B.2 with ε, one row replaced",
                "8B²√(rL)/ε",
                printed.corollary_b_2_padding,
                0.5,
            ),
            (
                "b-4",
                "theorem B.4, padding, one row replaced (r stands for ν)",
                "B²(2√(2νL) + 2L)/(ε(1 − ε/(2L)))",
                printed.theorem_b_4_padding,
                1.0,
            ),
        )
    ),
    Finding(
        key="4-loose-4-1-replace",
        paper=4,
        place="theorem 4.1, degrees of freedom, one row replaced",
        claim="Wishart noise of scale B² with k degrees of freedom is (ε, δ)-DP",
        formula="k ≥ ⌊d + 28 ln(4/δ)/ε²⌋",
        fault="many more degrees of freedom than (ε, δ) takes for rows at right angles",
        corrected="",
        setting={"dim": 3, "epsilon": 0.5, "delta": 1e-5},
        test=_dof_asked,
        grid={"dim": (3, 20), "epsilon": (0.1, 0.9), "delta": (1e-2, 1e-10)},
    ),
)
