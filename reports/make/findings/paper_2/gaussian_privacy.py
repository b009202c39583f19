"""Paper 2: what it quotes on Gaussian privacy, and how loose its own claims of μ-GDP are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpaudit.exact import PrivacyLoss, gaussian_pair
from dpaudit.mechanisms import AnalyzeGauss
from dpaudit.papers import DPGD, DPRR, PMT, PMTRR
from reports.make.findings.finding import Evidence, Finding, asked, stated
from reports.make.findings.measures import gaussian_mu


def _by_formula(mu: float, epsilon: float) -> float:
    """Lemma 2.1, as printed."""
    return float(
        ndtr(-epsilon / mu + 0.5 * mu) - math.exp(epsilon) * ndtr(-epsilon / mu - 0.5 * mu)
    )


def _lemma_2_1(mu: float, epsilon: float) -> Evidence:
    """Against the contour integral of two normal laws μ apart."""
    one = np.eye(1)
    return stated(
        "δ(ε)", _by_formula(mu, epsilon), float(max(gaussian_pair([0.0], one, [mu], one, epsilon)))
    )


def _theorem_2_1(mu: float, steps: int, epsilon: float) -> Evidence:
    """T releases of μ each, composed exactly, against one of √T μ."""
    whole = steps * PrivacyLoss.gaussian_shift(mu)
    return stated(
        "δ(ε)", _by_formula(math.sqrt(steps) * mu, epsilon), float(whole.spectrum(epsilon).delta)
    )


def _theorem_2_2(mu: float, row_bound: float) -> Evidence:
    """h(X) = XᵀX of one column with |x_i| ≤ B, so Δ = B²: a row B replaced by 0, with noise Δ/μ."""
    noisy = AnalyzeGauss(row_bound**2 / mu)
    rows = row_bound * np.array([[1.0], [0.5]])
    return stated("μ", mu, float(noisy.replaced_rows(rows, np.zeros((1, 1))).mu[0]))


def _gradient_descent(mu: float, steps: int) -> Evidence:
    """Each of T steps releases μ/√T on the pair whose gradients are c and −c throughout."""
    one = gaussian_mu(DPGD(mu / math.sqrt(steps), steps=1))
    return stated("μ", mu, math.sqrt(steps) * one)


def _gdp(make: Callable[..., Any], claimed_share: float) -> Callable[..., Evidence]:
    """What is claimed over what the mechanism's own pair comes to, which is the worst one.

    Both are in units of μ.
    """

    def test(mu: float, **other: Any) -> Evidence:
        return asked("GDP/μ", claimed_share, gaussian_mu(make(mu, **other)) / mu)

    return test


def _moments(mu: float, public_rows: int) -> PMT:
    return PMT(mu, public_rows=public_rows)


def _ridge(mu: float, public_rows: int) -> PMTRR:
    return PMTRR(mu, public_rows=public_rows, release="statistics")


def _plain_ridge(mu: float, trace: float) -> DPRR:
    return DPRR(mu, trace, 1.0, release="statistics")


FINDINGS = (
    Finding(
        key="2-loose-lemma-2-1",
        paper=2,
        place="lemma 2.1",
        claim="μ-GDP is (ε, δ(ε))-DP for all ε",
        formula="δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)",
        fault="exact",
        corrected="",
        setting={"mu": 1.0, "epsilon": 1.0},
        test=_lemma_2_1,
        grid={"mu": (0.3, 1.0, 5.0), "epsilon": (0.0, 0.1, 1.0)},
    ),
    Finding(
        key="2-loose-theorem-2-1",
        paper=2,
        place="theorem 2.1",
        claim="μ_i-GDP releases together",
        formula="√(Σ μ_i²)-GDP",
        fault="exact for Gaussian releases",
        corrected="",
        setting={"mu": 0.3, "steps": 10, "epsilon": 1.0},
        test=_theorem_2_1,
        grid={"mu": (0.1, 0.3, 1.0), "steps": (2, 10), "epsilon": (0.0, 1.0)},
    ),
    Finding(
        key="2-loose-theorem-2-2",
        paper=2,
        place="theorem 2.2",
        claim="h(X) + (Δ_h/μ)·N(0, I) is μ-GDP",
        formula="σ = Δ_h/μ",
        fault="exact",
        corrected="",
        setting={"mu": 1.0, "row_bound": 1.0},
        test=_theorem_2_2,
        grid={"mu": (0.1, 1.0, 5.0), "row_bound": (0.01, 1.0, 100.0)},
    ),
    Finding(
        key="2-loose-dp-gd",
        paper=2,
        place="section 6, DP-GD (Avella-Medina et al. 2023)",
        claim="T steps with gradients cut at c are μ-GDP",
        formula="σ = 2c√T/(μn)",
        fault="exact: rows whose gradients are c and −c at every step use it up",
        corrected="",
        setting={"mu": 1.0, "steps": 1000},
        test=_gradient_descent,
        grid={"mu": (0.1, 1.0, 5.0), "steps": (1, 10, 1000)},
    ),
    Finding(
        key="2-theorem-3-2-loose",
        paper=2,
        place="theorem 3.2, privacy",
        claim="the noisy second moment is μ-GDP",
        formula="σ = 2R²/(μn)",
        fault="one replaced row moves the upper triangle by √2·R²/n, not 2R²/n: it is μ/√2-GDP "
        "(μ/2 for one column)",
        corrected="",
        setting={"mu": 1.0, "public_rows": 4},
        test=_gdp(_moments, 1.0),
        grid={"mu": (0.1, 1.0, 5.0), "public_rows": (1, 4, 20)},
    ),
    Finding(
        key="2-algorithm-2-loose",
        paper=2,
        place="algorithm 2, privacy",
        claim="DP-PMTRR is √2·μ-GDP",
        formula="σ₁, σ₂ of μ-GDP each",
        fault="the two worst changes are not of one row: together they are √1.125·μ (μ for one "
        "feature)",
        corrected="",
        setting={"mu": 1.0, "public_rows": 4},
        test=_gdp(_ridge, math.sqrt(2.0)),
        grid={"mu": (0.1, 1.0, 5.0), "public_rows": (1, 4, 20)},
    ),
    Finding(
        key="2-theorem-4-3-loose",
        paper=2,
        place="theorem 4.3, privacy",
        claim="DP-RR is √2·μ-GDP (labels cut on both sides)",
        formula="σ₁, σ₂ of μ-GDP each",
        fault="together √1.125·μ at most, as for algorithm 2",
        corrected="",
        setting={"mu": 1.0, "trace": 2.0},
        test=_gdp(_plain_ridge, math.sqrt(2.0)),
        grid={"mu": (0.1, 1.0, 5.0), "trace": (0.1, 2.0, 100.0)},
    ),
)
