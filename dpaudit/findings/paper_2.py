"""Paper 2: private ridge and logistic regression on rows truncated by public second moments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binomtest

from dpaudit.auditing import audit
from dpaudit.exact import gaussian_shift, printed, spectrum
from dpaudit.findings.finding import CERTIFIED, Evidence, Finding, asked, claimed
from dpaudit.mechanisms.papers import DPLR, PMT, PMTGLM, PMTRR, PracticalDPRR

TRIALS, DRAWS, SEED = 2_000, 10_000, 2


def _gaussian_of(mechanism: Any) -> float:
    """μ of the Gaussian shift between both sides of the mechanism's own pair."""
    pair = mechanism.pair()
    family = mechanism.replaced_rows(pair.left, pair.right[pair.index][None])
    return float(family.mu[pair.index])


def _theorem_3_2(mu: float, public_rows: int) -> Evidence:
    return asked("1/μ", 1.0 / _gaussian_of(PMT(mu, public_rows=public_rows)), 1.0 / mu)


def _algorithm_2(mu: float, public_rows: int) -> Evidence:
    mechanism = PMTRR(mu, public_rows=public_rows, release="statistics")
    return asked("1/μ", 1.0 / _gaussian_of(mechanism), 1.0 / (math.sqrt(2.0) * mu))


def _norm(shorter: float) -> Callable[[int, int, float, float], Evidence]:
    """P(‖G‖₂ > the printed bound · `shorter`) by draws; a Clopper–Pearson limit at level 1 − 10⁻⁶."""

    def test(dim: int, rows: int, eta: float, mu: float) -> Evidence:
        sigma, bound = printed.theorem_3_2_sigma(dim, rows, eta, mu), printed.theorem_3_2_norm(dim, rows, eta, mu)
        noise = sigma * np.random.default_rng(SEED).standard_normal((TRIALS, dim, dim))
        upper = np.triu(noise) + np.triu(noise, 1).transpose(0, 2, 1)
        outside = np.linalg.norm(upper, 2, axis=(1, 2)) > shorter * bound
        low = binomtest(int(outside.sum()), TRIALS, alternative="greater").proportion_ci(1.0 - 1e-6).low
        return claimed(eta, float(low), kind=CERTIFIED, quantity="P(‖G‖₂ > …)")

    return test


def _remark_4_4(share: float) -> Callable[[float, float, int, float], Evidence]:
    """The cross moment alone: a row at the radius whose label changes its sign moves it by 2·R·R_y/n."""

    def test(mu: float, epsilon: float, rows: int, eta: float) -> Evidence:
        _, sigma = printed.remark_4_4_sigmas(2.0, 1.0, 2, rows, eta, mu)
        reach = printed.theorem_4_3_radius(2.0, 2, rows, eta) * printed.remark_4_4_label_radius(1.0, rows, eta)
        moved = 2.0 * reach / rows / (sigma if share == 0.0 else 2.0 * sigma / mu)
        allowed = float(gaussian_shift(math.sqrt(2.0) * mu, epsilon))
        return claimed(allowed, float(gaussian_shift(moved, epsilon)))

    return test


def _private_radii(mu: float, epsilon: float) -> Evidence:
    mechanism = PracticalDPRR(mu, release="statistics")
    return _exact(mechanism, epsilon)


def _private_trace(mu: float, epsilon: float) -> Evidence:
    return _exact(DPLR(mu, steps=1, release="statistics"), epsilon)


def _public_trace(mu: float, epsilon: float) -> Evidence:
    return _exact(DPLR(mu, steps=1, trace=2.0, variant="corrected", release="statistics"), epsilon)


def _public_radii(mu: float, epsilon: float) -> Evidence:
    return _exact(PracticalDPRR(mu, trace=2.0, label_moment=1.0, variant="corrected", release="statistics"), epsilon)


def _exact(mechanism: Any, epsilon: float) -> Evidence:
    allowed = float(mechanism.claim.delta_at(epsilon))
    return claimed(allowed, float(spectrum(mechanism, mechanism.pair(), epsilon).delta))


def _slope(variant: str) -> Callable[[float, float, float], Evidence]:
    """One Newton step from β = 0 for minus a Bernoulli label, whose mean is negative: b′ < 0."""

    def test(mu: float, epsilon: float, coef_bound: float) -> Evidence:
        mechanism = PMTGLM(
            mu, 1.0, coef_bound, steps=1, family="reflected", public_rows=4, variant=variant, release="statistics"
        )
        return _exact(mechanism, epsilon)

    return test


def _counts(variant: str) -> Callable[[float, float, int], Evidence]:
    """Five Newton steps of a Poisson model on their own pair, audited at level 1 − 10⁻⁶."""

    def test(mu: float, epsilon: float, steps: int) -> Evidence:
        mechanism = PMTGLM(mu, 1.0, 0.01, steps=steps, family="poisson", public_rows=1, variant=variant)
        found = audit(mechanism, mechanism.pair(), epsilon=epsilon, samples=DRAWS, level=1.0 - 1e-6, rng=SEED)
        allowed = float(mechanism.claim.delta_at(epsilon))
        return claimed(allowed, float(found.certified.delta_at(epsilon)), kind=CERTIFIED)

    return test


def _gradient_noise(dim: int, rows: int, eta: float) -> Evidence:
    """σ₂ of algorithm 3 against the one of its proof, which has the radius for its square."""
    _, sigma = printed.algorithm_3_sigmas(dim, rows, eta, 1.0, 1)
    return asked("σ₂", sigma, sigma / printed.algorithm_1_radius(dim, rows, eta))


MUS = {"mu": (0.3, 0.5, 1.0), "epsilon": (0.0, 0.5, 1.0)}

FINDINGS = (
    Finding(
        key="2-theorem-3-2-norm",
        paper=2,
        place="theorem 3.2, inequality (1)",
        claim="the norm of the noise is below this except with probability O(η)",
        formula="‖G‖₂ ≤ √(d³ ln(2d/η)) (1 + ln(2n/η))/(μn)",
        fault="a factor 2√2 is lost between lemma A.1 and the theorem: the noise passes the bound nearly always",
        corrected="‖G‖₂ ≤ 2√2 √(d³ ln(2d/η)) (1 + ln(2n/η))/(μn), which is σ√(2d ln(2d/η))",
        setting={"dim": 10, "rows": 1000, "eta": 0.05, "mu": 1.0},
        test=_norm(1.0),
        fixed=_norm(2.0 * math.sqrt(2.0)),
    ),
    Finding(
        key="2-remark-4-4",
        paper=2,
        place="remark 4.4, noise on the cross moment",
        claim="√2·μ-GDP for any μ",
        formula="σ₂ = R·R_y/n",
        fault="the factor 2/μ of theorem 4.3 is lost: the noise does not depend on μ",
        corrected="σ₂ = 2R·R_y/(μn)",
        setting={"mu": 0.5, "epsilon": 1.0, "rows": 1000, "eta": 0.05},
        test=_remark_4_4(0.0),
        grid={"mu": (0.3, 0.5, 1.0, 1.4), "epsilon": (0.0, 1.0)},
        fixed=_remark_4_4(1.0),
    ),
    Finding(
        key="2-remark-4-4-radii",
        paper=2,
        place="remark 4.4, radii read off the data",
        claim="√2·μ-GDP with the radii from Tr(Σ̂) and σ̂² of the private rows",
        formula="R = √(Tr(Σ̂) + d ln(n/η)), R_y = √(σ̂² + ln(n/η))",
        fault="one replaced row changes the radii, so the noise, and its size tells the two apart",
        corrected="Tr(Σ) and σ² public numbers (and the factor 2/μ in σ₂)",
        setting={"mu": 0.5, "epsilon": 1.0},
        test=_private_radii,
        grid=MUS,
        fixed=_public_radii,
    ),
    Finding(
        key="2-algorithm-5-trace",
        paper=2,
        place="algorithm 5, Tr(Σ) read off the data",
        claim="√2·μ-GDP, with Tr(Σ̂) of the private rows for lack of Σ, as remark 4.4 does",
        formula="rows cut at √(Tr(Σ̂) + d ln(n/η))",
        fault="one long row changes the radius and with it the noise",
        corrected="Tr(Σ) a public number",
        setting={"mu": 0.5, "epsilon": 1.0},
        test=_private_trace,
        grid=MUS,
        fixed=_public_trace,
    ),
    Finding(
        key="2-algorithm-4-slope",
        paper=2,
        place="algorithm 4, M_{b′}",
        claim="√2·μ-GDP for any generalised linear model",
        formula="σ₂ = 2√T R (R_y + M_{b′})/(μn), M_{b′} the largest b′",
        fault="where b′ is negative its size counts, not its value: a label that is −1 or 0 gets too little noise",
        corrected="M_{b′} the largest |b′|",
        setting={"mu": 1.0, "epsilon": 1.0, "coef_bound": 1.0},
        test=_slope("printed"),
        grid=MUS | {"coef_bound": (0.5, 1.0, 3.0)},
        fixed=_slope("corrected"),
    ),
    Finding(
        key="2-algorithm-4-bound",
        paper=2,
        place="algorithm 4, ‖β‖ ≤ R_β",
        claim="√2·μ-GDP for Poisson regression, b′ and b″ bounded where ‖β‖ ≤ R_β",
        formula="β^(t+1) = β^(t) − (noisy Hessian)⁻¹(noisy gradient)",
        fault="no step keeps ‖β‖ ≤ R_β, and beyond it b′ and b″ grow without bound",
        corrected="β^(t+1) shrunk to norm R_β",
        setting={"mu": 0.1, "epsilon": 0.1, "steps": 5},
        test=_counts("printed"),
        fixed=_counts("corrected"),
    ),
    Finding(
        key="2-algorithm-3-loose",
        paper=2,
        place="algorithm 3, noise on the gradient",
        claim="the noise that makes a logistic gradient private",
        formula="σ₂ = 2√T d(1 + ln(2n/η))/(μn)",
        fault="the proof needs √(d(1 + ln(2n/η))), the radius for its square",
        corrected="",
        setting={"dim": 8, "rows": 10_000, "eta": 0.05},
        test=_gradient_noise,
        grid={"dim": (1, 8, 50), "rows": (1000, 100_000)},
    ),
    Finding(
        key="2-theorem-3-2-loose",
        paper=2,
        place="theorem 3.2, privacy",
        claim="the noisy second moment is μ-GDP",
        formula="σ = 2R²/(μn)",
        fault="one replaced row moves the upper triangle by √2·R²/n, not 2R²/n: it is μ/√2-GDP",
        corrected="",
        setting={"mu": 1.0, "public_rows": 4},
        test=_theorem_3_2,
        grid={"mu": (0.1, 1.0, 5.0), "public_rows": (1, 4, 20)},
    ),
    Finding(
        key="2-algorithm-2-loose",
        paper=2,
        place="algorithm 2, privacy",
        claim="DP-PMTRR is √2·μ-GDP",
        formula="σ₁, σ₂ of μ-GDP each",
        fault="the two worst changes are not of one row: together they are √1.125·μ (μ for one feature)",
        corrected="",
        setting={"mu": 1.0, "public_rows": 4},
        test=_algorithm_2,
        grid={"mu": (0.1, 1.0, 5.0), "public_rows": (1, 4, 20)},
    ),
)
