"""Paper 2, section 2: what it quotes on f-DP and Gaussian privacy."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit.exact import PrivacyLoss, gaussian_pair
from dpaudit.mechanisms import AnalyzeGauss
from dpaudit.testing import integers, reals
from reports.make.findings.statement import MISPRINT, Searched, Statement


def _tradeoff(mu: float, alpha: float) -> float:
    """Φ(Φ⁻¹(1 − α) − μ), the function of μ-GDP."""
    return float(ndtr(ndtri(1.0 - alpha) - mu))


def _further(mu: float, alpha: float, step: float) -> float:
    return _tradeoff(mu, alpha + step * (1.0 - alpha))


def _lemma_2_1(mu: float, epsilon: float) -> float:
    below = math.exp(epsilon) * ndtr(-epsilon / mu - 0.5 * mu)
    return float(ndtr(-epsilon / mu + 0.5 * mu) - below)


def _shift(mu: float, epsilon: float) -> float:
    """By the contour integral of two normal laws μ apart."""
    one = np.eye(1)
    return float(max(gaussian_pair([0.0], one, [mu], one, epsilon)))


def _together(mu: float, steps: int, epsilon: float) -> float:
    whole = steps * PrivacyLoss.gaussian_shift(mu)
    return float(whole.spectrum(epsilon).delta)


def _noisy_square(mu: float, row_bound: float) -> float:
    """h(X) = XᵀX of one column with |x_i| ≤ B, so Δ = B²: a row B replaced by 0."""
    noisy = AnalyzeGauss(row_bound**2 / mu)
    rows = row_bound * np.array([[1.0], [0.5]])
    return float(noisy.replaced_rows(rows, np.zeros((1, 1))).mu[0])


MONOTONE = Searched(
    _tradeoff,
    _further,
    {"mu": reals(0.01, 5.0), "alpha": reals(0.01, 0.98), "step": reals(0.01, 0.99)},
    side="lower",
    quantity="f(α′), α′ > α",
    tries=200,
)
STATEMENTS = (
    Statement(
        "2-definition-2-2",
        2,
        "definition 2.2",
        "section 2.1",
        "f is a convex, continuous, non-decreasing function satisfying f(α) ≤ 1 − α for all α ∈ "
        "[0, 1]",
        "f-DP; by definition 2.3 μ-GDP is f-DP with f(α) ≥ Φ(Φ⁻¹(1 − α) − μ)",
        test=MONOTONE,
        fails=MISPRINT,
        fault="such an f is at most 0, as f(1) ≤ 0, and asks for nothing; the function of μ-GDP "
        "decreases",
        corrected="non-increasing",
        fixed=replace(MONOTONE, side="upper"),
    ),
    Statement(
        "2-lemma-2-1",
        2,
        "lemma 2.1",
        "section 2.1",
        "A mechanism M satisfies μ-GDP if and only if it is (ε, δ(ε))-DP for ∀ε ≥ 0, where δ(ε) = "
        "Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)",
        "quoted from Dong et al.",
        test=Searched(
            _lemma_2_1,
            _shift,
            {"mu": reals(0.05, 8.0), "epsilon": reals(0.0, 5.0)},
            side="both",
            rounding=1e-12,
            tolerance=1e-6,
            tries=150,
        ),
    ),
    Statement(
        "2-theorem-2-1",
        2,
        "theorem 2.1",
        "section 2.1",
        "M(X) = M₁ ∘ M₂ ∘ ⋯ ∘ M_T is μ = √(Σ_{i=1}^T μ_i²)-GDP",
        "M_i is μ_i-GDP; here T Gaussian releases of equal μ_i, for which it is exact",
        test=Searched(
            lambda mu, steps, epsilon: _lemma_2_1(math.sqrt(steps) * mu, epsilon),
            _together,
            {"mu": reals(0.05, 2.0), "steps": integers(1, 20), "epsilon": reals(0.0, 3.0)},
            side="both",
            rounding=1e-9,
            tolerance=1e-6,
            tries=200,
        ),
    ),
    Statement(
        "2-theorem-2-2",
        2,
        "theorem 2.2",
        "section 2.1",
        "G(X) = h(X) + (Δ_h/μ)g, G(X) is μ-GDP",
        "h of l₂-sensitivity Δ_h, g ~ N(0, I); here the second moment of one column",
        test=Searched(
            lambda mu: mu,
            _noisy_square,
            {"mu": reals(0.01, 10.0), "row_bound": reals(1e-3, 1e3)},
            side="both",
            quantity="μ",
            tolerance=1e-8,
            tries=200,
        ),
        fault="exact. Definition 2.4 has f where h is meant",
    ),
)
