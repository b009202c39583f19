"""Paper 4: Gaussian noise on a function, on AᵀA (section 2) and on its inverse (theorem B.5)."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from dpaudit import mechanisms
from dpaudit.exact import gaussian_shift, spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import AnalyzeGaussNoise, NoisyInverse, printed
from dpaudit.testing import reals
from reports.make.findings.statement import MISPRINT, PRIVACY, Searched, Statement

ROUNDING = 1e-9  # of a δ that may be just met


def _delta(delta: float) -> float:
    return delta


def _shift(epsilon: float, delta: float) -> float:
    """δ(ε) of a shift by Δ under σ² = 2Δ² ln(2/δ)/ε."""
    return float(gaussian_shift(math.sqrt(epsilon / (2.0 * math.log(2.0 / delta))), epsilon))


def _right_shift(epsilon: float, delta: float) -> float:
    """The same with ε² for ε ≤ 1."""
    size = min(epsilon, math.sqrt(epsilon))
    return float(gaussian_shift(size / math.sqrt(2.0 * math.log(2.0 / delta)), epsilon))


def _analyze_gauss(row_bound: float, epsilon: float, delta: float) -> float:
    """δ(ε) of section 2's Analyze Gauss with ε² for ε, (B, 0) replaced by (0, B)."""
    return _of_change(1.0, row_bound, epsilon, delta)


def _right_analyze_gauss(row_bound: float, epsilon: float, delta: float) -> float:
    """The same with 2B⁴ for B⁴."""
    return _of_change(2.0, row_bound, epsilon, delta)


def _of_change(square: float, row_bound: float, epsilon: float, delta: float) -> float:
    """The same at σ² = `square`·2B⁴ ln(2/δ)/ε²."""
    sigma = row_bound**2 * math.sqrt(2.0 * square * math.log(2.0 / delta)) / epsilon
    pair = AnalyzeGaussNoise(epsilon, delta, row_bound).pair()
    return float(spectrum(mechanisms.AnalyzeGauss(sigma), pair, epsilon).delta)


def _inverse(row_bound: float, rho: float, epsilon: float, delta: float) -> float:
    """δ(ε) of theorem B.5 for AᵀA = diag(2 + ρ, 1 + ρ)·B², of which a right angle turns a row."""
    noisy = NoisyInverse(rho, epsilon, delta, row_bound)
    return _inverse_leak(noisy.pair(), printed.theorem_b_5_sigma(rho, epsilon, delta), epsilon)


def _right_inverse(row_bound: float, rho: float, epsilon: float, delta: float) -> float:
    """The same with σ/B²."""
    noisy = NoisyInverse(rho, epsilon, delta, row_bound)
    sigma = printed.theorem_b_5_sigma(rho, epsilon, delta) / row_bound**2
    return _inverse_leak(noisy.pair(), sigma, epsilon)


def _inverse_leak(pair: NeighbourPair, sigma: float, epsilon: float) -> float:
    return float(spectrum(mechanisms.GaussianInverse(sigma), pair, epsilon).delta)


def _inverse_change(rho: float, turn: float) -> float:
    """ρ²B⁴‖(A′ᵀA′)⁻¹ − (AᵀA)⁻¹‖_F², M = ρB²I, v and u at an angle (in right angles)."""
    inner = np.eye(2) * rho
    angle = 0.5 * math.pi * turn
    v, u = np.array([1.0, 0.0]), np.array([math.cos(angle), math.sin(angle)])
    gap = np.linalg.inv(inner + np.outer(u, u)) - np.linalg.inv(inner + np.outer(v, v))
    return rho**2 * float(np.sum(gap**2))


NOISE = Searched(
    printed=_delta,
    exact=_shift,
    domain={"epsilon": reals(1e-3, 100.0), "delta": reals(1e-12, 0.99)},
    at={"epsilon": 0.1, "delta": math.exp(-9.0)},
)
ANALYZE = Searched(
    printed=_delta,
    exact=_analyze_gauss,
    domain={
        "row_bound": reals(0.01, 100.0),
        "epsilon": reals(1e-3, 1.0),
        "delta": reals(1e-12, 0.9),
    },
    tries=500,
    at={"row_bound": 1.0, "epsilon": 0.5, "delta": 1e-6},
)
INVERSE = Searched(
    printed=_delta,
    exact=_inverse,
    domain={
        "row_bound": reals(0.01, 100.0),
        "rho": reals(1e-3, 1e3),
        "epsilon": reals(1e-3, 0.999),
        "delta": reals(1e-12, 0.3678),
    },
    tries=500,
    at={"row_bound": 0.1, "rho": 0.1, "epsilon": 0.5, "delta": 1e-5},
)

SECTION_2 = (
    Statement(
        key="4-section-2",
        paper=4,
        place="Gaussian noise (in our text ε for ε²)",
        section="section 2",
        printed="for any f where ‖f(A) − f(A′)‖₂ ≤ Δ then adding Laplace noise "
        "N(0, 2Δ² ln(2/δ)/ε) to f(A) is (ε, δ)-differential privacy.",
        hypotheses_text="nothing is said of ε and δ",
        reading="The exponent of ε² may have been lost in conversion: the proof of theorem B.5 has "
        "2 log(2/δ)/ε². If it is in print, the line holds for ε ≤ 1.",
        test=NOISE,
        fails=MISPRINT,
        fault="as in our text, ε stands where ε² belongs, which is too little noise for ε < 1. We "
        "count it as a misprint, since our text may be to blame. “Laplace” stands for Gaussian",
        corrected="N(0, 2Δ² ln(2/δ)/ε²) for ε ≤ 1 (for larger ε as printed)",
        fixed=dataclasses.replace(NOISE, exact=_right_shift),
    ),
    Statement(
        key="4-analyze-gauss",
        paper=4,
        place="change of AᵀA, and Analyze Gauss",
        section="section 2",
        printed="for the function f(A) = AᵀA we have that ‖f(A) − f(A′)‖²_F = B⁴. And so they add "
        "i.i.d Gaussian noise to each coordinate of AᵀA (forcing the noise to be symmetric, as AᵀA "
        "is symmetric). We therefore refer to this benchmark as the Analyze Gauss algorithm.",
        hypotheses_text="A and A′ “differ on a single row”; the noise of the line before, read "
        "with ε²: N(0, 2B⁴ ln(2/δ)/ε²), for ε ≤ 1",
        test=ANALYZE,
        fails=PRIVACY,
        fault="true where a row is added or removed, as in the introduction; where it is replaced, "
        "as in section 2 and all proofs, (B, 0) to (0, B) changes AᵀA by 2B⁴. At the δ = e⁻⁹ and "
        "ε ≤ 0.5 of the experiments the noise is enough all the same, at small δ it is not",
        corrected="‖f(A) − f(A′)‖²_F ≤ 2B⁴, so that the variance is 4B⁴ ln(2/δ)/ε²",
        fixed=dataclasses.replace(ANALYZE, exact=_right_analyze_gauss),
    ),
)
APPENDIX_B = (
    Statement(
        key="4-theorem-b-5",
        paper=4,
        place="theorem B.5",
        section="appendix B.4",
        printed="Fix ε ∈ (0,1) and δ ∈ (0, e⁻¹). Let A be a (n × d)-matrix where the l₂-norm of "
        "each row is bounded by B, where it is publicly known that σ_min(AᵀA)/B² ≥ 1 + ρ with "
        "ρ > 0. Then the algorithm that outputs (AᵀA)⁻¹ + N where N is a symmetric matrix with "
        "each entry on or above the main diagonal of N is sampled i.i.d from "
        "N(0, 8 log(2/δ)/(ρ²ε²)) is (ε, δ)-differentially private.",
        hypotheses_text="one row replaced; the promise on σ_min holds of both databases",
        test=INVERSE,
        fails=PRIVACY,
        fault="the noise does not scale with B, though the inverse scales as 1/B²: in the proof "
        "μ_j²μ_k² ≥ (ρB²)⁴ is written (ρB²)². At B = 1 the theorem holds as printed",
        corrected="N(0, 8 log(2/δ)/(ρ²B⁴ε²))",
        fixed=dataclasses.replace(INVERSE, exact=_right_inverse),
    ),
    Statement(
        key="4-theorem-b-5-change",
        paper=4,
        place="proof of theorem B.5, change of the inverse (B = 1)",
        section="appendix B.4",
        printed="‖(A′ᵀA′)⁻¹ − (AᵀA)⁻¹‖_F² … = (2‖v‖⁴ + 2‖v′‖⁴)/(ρB²)² ≤ 4B⁴/(ρB²)² = 4/ρ²",
        hypotheses_text="σ_min(MᵀM) ≥ ρB², here MᵀM = ρB²I and B = 1",
        test=Searched(
            printed=lambda: 4.0,
            exact=_inverse_change,
            domain={"rho": reals(1e-4, 1e4), "turn": reals(0.0, 1.0)},
            quantity="ρ²‖change‖²",
        ),
        fault="with B = 1 the printed bound is right, though by another way than the printed one: "
        "the change is at most √2/(ρ(1 + ρ)B²) (the factor 1 + vᵀ(MᵀM)⁻¹v, dropped in the proof, "
        "makes up for the missing square)",
    ),
)
