"""Paper 2: logistic and generalised linear models by noisy Newton steps, algorithms 3, 4 and 5."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from dpaudit.auditing.api import audit
from dpaudit.curves.readings import gdp_mu
from dpaudit.neighbours import replace_row
from dpaudit.papers import DPLR, PMTGLM, printed
from reports.make.findings.finding import CERTIFIED, Evidence, Finding, asked, claimed, stated
from reports.make.findings.measures import exact_claim
from reports.make.findings.paper_2.moments import MUS

DRAWS, SEED = 10_000, 2


def _private_trace(mu: float, epsilon: float) -> Evidence:
    return exact_claim(DPLR(mu, steps=1, release="statistics"), epsilon)


def _public_trace(mu: float, epsilon: float) -> Evidence:
    return exact_claim(
        DPLR(mu, steps=1, trace=2.0, variant="corrected", release="statistics"), epsilon
    )


def _slope(variant: str) -> Callable[[float, float, float], Evidence]:
    """One Newton step from β = 0 for minus a Bernoulli label, whose mean is negative: b′ < 0."""

    def test(mu: float, epsilon: float, coef_bound: float) -> Evidence:
        mechanism = PMTGLM(
            mu,
            1.0,
            coef_bound,
            steps=1,
            family="reflected",
            public_rows=4,
            variant=variant,
            release="statistics",
        )
        found = exact_claim(mechanism, epsilon)
        reached = float(gdp_mu(np.array(epsilon), np.array(found.found))) / mu
        return dataclasses.replace(found, at=f"so the pair is {reached:.3g} μ-GDP at best")

    return test


def _counts(variant: str) -> Callable[[float, float, int], Evidence]:
    """Newton steps of a Poisson model on their own pair, audited at level 1 − 10⁻⁶."""

    def test(mu: float, epsilon: float, steps: int) -> Evidence:
        mechanism = PMTGLM(
            mu, 1.0, 0.01, steps=steps, family="poisson", public_rows=1, variant=variant
        )
        found = audit(
            mechanism, mechanism.pair(), epsilon=epsilon, samples=DRAWS, level=1.0 - 1e-6, rng=SEED
        )
        allowed = float(mechanism.claim.delta_at(epsilon))
        return claimed(allowed, float(found.certified.delta_at(epsilon)), kind=CERTIFIED)

    return test


def _short_rows(variant: str) -> Callable[[float, float, float, float], Evidence]:
    """One row, one feature, one step: (R, 1) replaced by (R, 0).

    R² = Tr(Σ) + ln(1/η) is below 1.
    """

    def test(mu: float, epsilon: float, trace: float, eta: float) -> Evidence:
        mechanism = DPLR(mu, 1, eta, trace=trace, variant=variant, release="statistics")
        radius = printed.theorem_4_3_radius(trace, 1, 1, eta)
        return exact_claim(
            mechanism, epsilon, replace_row(np.array([[radius, 1.0]]), 0, [radius, 0.0])
        )

    return test


def _long_rows(trace: float, dim: int, rows: int, eta: float) -> Evidence:
    """σ₂ of algorithm 5 against the one with the radius for its square."""
    _, sigma = printed.algorithm_5_sigmas(trace, dim, rows, eta, 1.0, 1)
    return asked("σ₂", sigma, sigma / printed.theorem_4_3_radius(trace, dim, rows, eta))


def _gradient_noise(dim: int, rows: int, eta: float) -> Evidence:
    """σ₂ of algorithm 3 against the one of its proof, which has the radius for its square."""
    _, sigma = printed.algorithm_3_sigmas(dim, rows, eta, 1.0, 1)
    return asked("σ₂", sigma, sigma / printed.algorithm_1_radius(dim, rows, eta))


def largest_step(radius: float) -> float:
    """The largest shift of one step of algorithm 3 between two rows, over μ/√T, on any path.

    Rows of norm R and cosine c, with |y − p| = s and s′: the Hessian moves by (w²+w′²−2ww′c²)R⁴/n²,
    w = s(1 − s), and the gradient by at most (s²+s′²+2ss′|c|)R²/n², against σ₁ = ½R²√T/(μn) and σ₂
    = 2R²√T/(μn).
    """
    s, other, cosine = np.meshgrid(*[np.linspace(0.0, 1.0, 101)] * 3, indexing="ij", sparse=True)
    w, w_other = s * (1.0 - s), other * (1.0 - other)
    hessian = 4.0 * (w**2 + w_other**2 - 2.0 * w * w_other * cosine**2)
    gradient = (s**2 + other**2 + 2.0 * s * other * cosine) / (4.0 * radius**2)
    return math.sqrt(float(np.max(hessian + gradient)))


def _path(dim: int, rows: int, eta: float) -> Evidence:
    """√2 μ against T steps of at most so much each, which compose to the same at any T."""
    return asked("GDP/μ", math.sqrt(2.0), largest_step(printed.algorithm_1_radius(dim, rows, eta)))


X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.0, 1.0])


def _gradient(sign: float, scaled: bool) -> Callable[[float, float], Evidence]:
    """Equation (13) for one logistic feature against the derivative of (12).

    x̃ = (½, −1, 2), y = (1, 0, 1) and Σ̂_B = 1. The derivative is Im L(β + ih)/h, to rounding at h
    = 10⁻²⁰.
    """

    def test(coef: float, ridge: float) -> Evidence:
        def loss(beta: complex) -> complex:
            return complex(
                -np.mean(Y * X * beta - np.log1p(np.exp(X * beta))) + 0.5 * ridge * beta**2
            )

        data_term = float(np.mean(X * (Y - 1.0 / (1.0 + np.exp(-X * coef)))))
        shown = sign * data_term + (ridge if scaled else 1.0) * coef
        return stated("∂L/∂β", shown, loss(complex(coef, 1e-20)).imag / 1e-20)

    return test


def _lipschitz(doubled: float) -> Callable[[int, int, float], Evidence]:
    """The largest slope of the Hessian for n equal rows at algorithm 1's radius.

    It is max |p(1−p)(1−2p)|·R³, with the maximum at p = (3 − √3)/6. doubled : 2 for 2n/η under the
    logarithm, 1 for n/η.
    """

    def test(dim: int, rows: int, eta: float) -> Evidence:
        bound = (dim * (1.0 + math.log(doubled * rows / eta))) ** 1.5 / (6.0 * math.sqrt(3.0))
        p = (3.0 - math.sqrt(3.0)) / 6.0
        slope = p * (1.0 - p) * (1.0 - 2.0 * p) * printed.algorithm_1_radius(dim, rows, eta) ** 3
        return claimed(bound, slope * (1.0 - 1e-12), quantity="slope of the Hessian")

    return test


FINDINGS = (
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
        key="2-algorithm-5-short",
        paper=2,
        place="algorithm 5, noise on the gradient of short rows",
        claim="√2·μ-GDP at any n, η and Tr(Σ)",
        formula="σ₂ = 2√T (Tr(Σ) + d ln(n/η))/(μn)",
        fault="the square of the radius for the radius: too little noise where that is below 1, as "
        "for one short row",
        corrected="σ₂ = 2√T √(Tr(Σ) + d ln(n/η))/(μn)",
        setting={"mu": 1.0, "epsilon": 1.0, "trace": 0.001, "eta": 0.9},
        test=_short_rows("printed"),
        grid={
            "mu": (0.3, 1.0),
            "epsilon": (0.0, 1.0),
            "trace": (0.001, 0.1, 1.0),
            "eta": (0.05, 0.5, 0.9, 0.99),
        },
        fixed=_short_rows("corrected"),
    ),
    Finding(
        key="2-algorithm-5-loose",
        paper=2,
        place="algorithm 5, noise on the gradient",
        claim="the noise that makes a logistic gradient private",
        formula="σ₂ = 2√T (Tr(Σ) + d ln(n/η))/(μn)",
        fault="the square of the radius for the radius: too much noise where that is above 1",
        corrected="",
        setting={"trace": 8.0, "dim": 8, "rows": 10_000, "eta": 0.05},
        test=_long_rows,
        grid={"trace": (0.1, 1.0, 100.0), "dim": (1, 8, 50), "rows": (1000, 100_000)},
    ),
    Finding(
        key="2-algorithm-4-slope",
        paper=2,
        place="algorithm 4, M_{b′}",
        claim="√2·μ-GDP for any generalised linear model",
        formula="σ₂ = 2√T R (R_y + M_{b′})/(μn), M_{b′} the largest b′",
        fault="where b′ is negative its size counts, not its value: a label that is −1 or 0 gets "
        "too little noise",
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
        grid={"mu": (0.05, 0.1, 0.5), "steps": (2, 5)},
        fixed=_counts("corrected"),
    ),
    Finding(
        key="2-equation-13",
        paper=2,
        place="equation (13), gradient",
        claim="the gradient of the loss (12)",
        formula="∇L̃ = Ãᵀ(y − b̃′)/n + Σ̂_B⁻¹β",
        fault="the data term has the wrong sign, and the penalty lacks λ (algorithm 4 run with it "
        "goes uphill)",
        corrected="∇L̃ = −Ãᵀ(y − b̃′)/n + λΣ̂_B⁻¹β",
        setting={"coef": 0.7, "ridge": 0.1},
        test=_gradient(1.0, False),
        grid={"coef": (-1.0, 0.7, 3.0), "ridge": (0.01, 0.1, 1.0, 10.0)},
        fixed=_gradient(-1.0, True),
    ),
    Finding(
        key="2-lemma-5-2",
        paper=2,
        place="lemma 5.2, constant of the transformed data",
        claim="the Hessian is Lipschitz with this constant",
        formula="C = (d(1 + ln(n/η)))^{3/2}/(6√3)",
        fault="algorithm 1 cuts at √(d(1 + ln(2n/η))): the 2 is lost",
        corrected="C = (d(1 + ln(2n/η)))^{3/2}/(6√3)",
        setting={"dim": 8, "rows": 1000, "eta": 0.05},
        test=_lipschitz(1.0),
        grid={"dim": (1, 8), "rows": (1, 1000, 1_000_000), "eta": (0.5, 0.05)},
        fixed=_lipschitz(2.0),
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
        key="2-algorithm-3-path-loose",
        paper=2,
        place="algorithm 3, privacy",
        claim="T Newton steps are √2·μ-GDP",
        formula="t = 0, …, T, σ₁ and σ₂ for μ-GDP each",
        fault="no more than this on any path; of the T + 1 steps of the loop the output β^(T) uses "
        "T",
        corrected="",
        setting={"dim": 8, "rows": 10_000, "eta": 0.05},
        test=_path,
        grid={"dim": (1, 8, 50), "rows": (1, 2, 1000, 1_000_000), "eta": (0.9, 0.05)},
    ),
)
