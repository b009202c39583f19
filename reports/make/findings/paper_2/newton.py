"""Paper 2, section 5: logistic regression and generalised linear models by noisy Newton steps."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import expit

from dpaudit._core.types import Array
from dpaudit.auditing.api import audit
from dpaudit.curves.readings import gdp_mu
from dpaudit.papers import PMTGLM, printed
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import CERTIFIED, Evidence, claimed, stated
from reports.make.findings.measures import exact_claim
from reports.make.findings.statement import Searched, Swept, Tested

STEEPEST = (3.0 - math.sqrt(3.0)) / 6.0
X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.0, 1.0])


# Section 5.1: logistic regression


def largest_step(radius: float) -> float:
    """The largest shift of one step of algorithm 3 between two rows, over μ/√T, on any path.

    Rows of norm R and cosine c, with |y − p| = s and s′: the Hessian moves by (w²+w′²−2ww′c²)R⁴/n²,
    w = s(1 − s), and the gradient by at most (s²+s′²+2ss′|c|)R²/n², against σ₁ = ½R²√T/(μn) and σ₂
    = 2R²√T/(μn).
    """
    s, other, cosine = np.meshgrid(*[np.linspace(0.0, 1.0, 41)] * 3, indexing="ij", sparse=True)
    w, w_other = s * (1.0 - s), other * (1.0 - other)
    hessian = 4.0 * (w**2 + w_other**2 - 2.0 * w * w_other * cosine**2)
    gradient = (s**2 + other**2 + 2.0 * s * other * cosine) / (4.0 * radius**2)
    return math.sqrt(float(np.max(hessian + gradient)))


def _loss(beta: complex, ridge: float) -> complex:
    """(7) for one feature X and labels Y, with Σ̂_B = 1."""
    data_term = np.mean(Y * X * beta - np.log1p(np.exp(X * beta)))
    return complex(-data_term + 0.5 * ridge * beta**2)


def _slope_of_loss(coef: float, ridge: float) -> float:
    """The derivative of (7): Im L(β + ih)/h, to rounding at h = 10⁻²⁰."""
    return _loss(complex(coef, 1e-20), ridge).imag / 1e-20


def _mean(coef: complex) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-X * coef)))


def _gradient(coef: complex, ridge: float) -> complex:
    return complex(-np.mean(X * (Y - _mean(coef))) + ridge * coef)


def _derivatives(what: str, coef: float, ridge: float) -> Evidence:
    """The printed gradient and Hessian against derivatives of the loss and of the gradient."""
    weight = _mean(coef) * (1.0 - _mean(coef))
    shown, true = {
        "gradient": (_gradient(coef, ridge).real, _slope_of_loss(coef, ridge)),
        "Hessian": (
            float(np.mean(weight * X**2) + ridge),
            _gradient(complex(coef, 1e-20), ridge).imag / 1e-20,
        ),
    }[what]
    return stated(what, shown, true)


def _newton(seed: int, steps: int) -> Evidence:
    """β̂^(t) and Σ̂_B^{−1/2} β̃^(t) after t steps from 0, for rows that are not cut."""
    rng = np.random.default_rng(seed)
    rows, label = rng.standard_normal((40, 2)), (rng.random(40) < 0.5).astype(float)
    root = np.array([[0.7, 0.2], [0.2, 0.4]])
    direct = _steps(rows, label, 0.1 * np.eye(2), steps)
    inner = _steps(rows @ root, label, 0.1 * root @ root, steps)
    apart = np.linalg.norm(root @ inner - direct) / np.linalg.norm(direct)
    return stated("β̂^(t)", 1.0, 1.0 + float(apart))


def _steps(rows: Array, label: Array, penalty: Array, steps: int) -> Array:
    coef = np.zeros(rows.shape[1])
    for _ in range(steps):
        mean = 1.0 / (1.0 + np.exp(-rows @ coef))
        gradient = -rows.T @ (label - mean) / len(rows) + penalty @ coef
        hessian = (rows.T * (mean * (1.0 - mean))) @ rows / len(rows) + penalty
        coef = coef - np.linalg.solve(hessian, gradient)
    return coef


def _constant(dim: int, rows: int, eta: float, factor: float = 1.0) -> float:
    """(d(1 + log(factor·n/η)))^{3/2}/(6√3); NaN where it has no value."""
    square = dim * (1.0 + math.log(factor * rows / eta))
    return square**1.5 / (6.0 * math.sqrt(3.0)) if square >= 0.0 else math.nan


def _steepest_slope(dim: int, rows: int, eta: float) -> float:
    """The slope of the Hessian for n equal rows at algorithm 1's radius, less rounding."""
    slope = STEEPEST * (1.0 - STEEPEST) * (1.0 - 2.0 * STEEPEST)
    return slope * printed.algorithm_1_radius(dim, rows, eta) ** 3 * (1.0 - 1e-12)


# Section 5.2: generalised linear models


def _curvature(family: str, z: float) -> float:
    """b″(z)."""
    if family == "linear":
        return 1.0
    return float(expit(z) * expit(-z)) if family == "logistic" else math.exp(z)


def _ends(family: str, reach: float) -> float:
    """min b″ over |z| ≤ reach."""
    return min(_curvature(family, z) for z in (-reach, reach))


def _reflected(mu: float, epsilon: float, coef_bound: float, variant: str = "printed") -> Evidence:
    """One Newton step from β = 0, b = ln(1 + e^−θ), R_y = 1: opposite rows, both with label 1."""
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
    return replace(found, at=f"so the pair is {reached:.3g} μ-GDP at best")


def _counts(mu: float, epsilon: float, steps: int, variant: str = "printed") -> Evidence:
    """Newton steps of a Poisson model on their own pair, audited at level 1 − 10⁻⁶."""
    mechanism = PMTGLM(mu, 1.0, 0.01, steps=steps, family="poisson", public_rows=1, variant=variant)
    found = audit(
        mechanism, mechanism.pair(), epsilon=epsilon, draws=10_000, level=1.0 - 1e-6, rng=2
    )
    allowed = float(mechanism.claim.delta_at(epsilon))
    return claimed(allowed, float(found.certified.delta_at(epsilon)), kind=CERTIFIED)


def _equation_13(coef: float, ridge: float, corrected: bool = False) -> Evidence:
    """(13) for one logistic feature against the derivative of (12), with r(φ) = 1 and Σ̂_B = 1."""
    data_term = float(np.mean(X * (Y - expit(X * coef))))
    shown = -data_term + ridge * coef if corrected else data_term + coef
    return stated("∂L/∂β", shown, _slope_of_loss(coef, ridge))


def _mapped_back(moment: float, ridge: float, dispersion: float) -> float:
    """Σ̂_B^{−1/2} times the minimizer of (12), whose data term is divided by r(φ)."""
    return 1.0 / dispersion / (moment / dispersion + ridge)


# Theorem 5.3, appendix B.10 and lemma A.7: convergence

MEDIAN = 0.6744897501960817
HESSIAN_SLOPE = 1.0 / (6.0 * math.sqrt(3.0))  # the largest of (log(1 + e^β))‴
CURVATURE = float(expit(2.0) * expit(-2.0))  # the least of (log(1 + e^β))″ on |β| ≤ 2


def _recursion(start: float, noise: float, step: int) -> float:
    """x_{t+1} where x_{t+1} = x_t² + C, all that (15) gives."""
    x = start
    for _ in range(step + 1):
        x = x * x + noise
    return x


def _slope(coef: float, minimizer: float) -> float:
    """C_h‖∇L(β)‖/(2γ²) for L = log(1 + e^β) − ȳβ on |β| ≤ 2, ȳ the mean at its minimizer."""
    return HESSIAN_SLOPE * abs(float(expit(coef) - expit(minimizer))) / (2.0 * CURVATURE**2)


def _one_step(start: float, minimizer: float, noise: float) -> float:
    """At most the median of C_h‖∇L‖/(2γ²) after one step whose gradient has noise N(0, noise²).

    The Hessian depends on no label, so it has no sensitivity. Where noise of ±MEDIAN·noise leads to
    both sides of the minimizer, the gradient grows beyond them, so half of all draws leave at
    least the smaller of both values; else 0 is returned.
    """
    exact = (expit(start) - expit(minimizer)) / (expit(start) * expit(-start))
    moved = MEDIAN * noise / (expit(start) * expit(-start))
    ends = [float(start - exact + sign * moved) for sign in (-1.0, 1.0)]
    across = (ends[0] - minimizer) * (ends[1] - minimizer) <= 0.0
    return min(_slope(end, minimizer) for end in ends) if across else 0.0


REFLECTED = Swept(
    _reflected,
    {"mu": 1.0, "epsilon": 1.0, "coef_bound": 1.0},
    {"mu": (0.3, 0.5, 1.0), "epsilon": (0.0, 0.5, 1.0), "coef_bound": (0.5, 1.0, 3.0)},
    fixed=partial(_reflected, variant="corrected"),
)


TESTS: dict[str, Tested] = {
    "2-equations-5-to-8": Swept(
        _derivatives,
        {"what": "gradient", "coef": 0.7, "ridge": 0.1},
        {"what": ("gradient", "Hessian"), "coef": (-1.0, 0.7, 3.0), "ridge": (0.0, 0.1, 10.0)},
    ),
    "2-theorem-5-1": Swept(
        _newton, {"seed": 0, "steps": 3}, {"seed": (0, 1, 2), "steps": (1, 3, 8)}
    ),
    "2-algorithm-3": Searched(
        lambda: math.sqrt(2.0),
        lambda rows, dim, eta: largest_step(printed.algorithm_1_radius(dim, rows, eta)),
        {"rows": integers(1, 10**6), "dim": integers(1, 50), "eta": reals(1e-6, 0.999)},
        quantity="GDP/μ",
        tries=200,
    ),
    "2-lemma-5-2-rows": Searched(
        lambda: 1.0 / (6.0 * math.sqrt(3.0)),
        lambda chance: abs(chance * (1.0 - chance) * (1.0 - 2.0 * chance)),
        {"chance": reals(0.0, 1.0)},
        quantity="slope/‖A_i‖³",
        tries=300,
    ),
    "2-lemma-5-2": Searched(
        _constant,
        _steepest_slope,
        {"dim": integers(1, 20), "rows": integers(1, 10**6), "eta": reals(1e-6, 0.999)},
        quantity="slope of the Hessian",
        tries=200,
        at={"dim": 8, "rows": 1000, "eta": 0.05},
        fixed={"printed": partial(_constant, factor=2.0)},
    ),
    "2-algorithm-5": Searched(
        lambda: math.sqrt(2.0),
        lambda trace, rows, dim, eta: largest_step(
            printed.theorem_4_3_radius(trace, dim, rows, eta)
        ),
        {
            "trace": reals(0.0, 100.0),
            "rows": integers(2, 10**6),
            "dim": integers(1, 50),
            "eta": reals(1e-6, 0.999),
        },
        quantity="GDP/μ",
        tries=200,
    ),
    "2-equation-10": Searched(
        lambda predictor: math.log(predictor / (1.0 - predictor)),
        lambda predictor: predictor,
        {"predictor": reals(0.01, 0.99)},
        side="both",
        quantity="θ_i",
        tries=50,
        fixed={"printed": lambda predictor: math.log(expit(predictor) / expit(-predictor))},
    ),
    "2-section-5-2": Searched(
        lambda tau: tau,
        _curvature,
        {
            "tau": reals(1e-6, 0.1),
            "family": choices("linear", "logistic", "Poisson"),
            "reach": reals(0.1, 50.0),
            "z": reals(-50.0, 50.0),
        },
        side="lower",
        quantity="b″(z)",
        tries=200,
        at={"tau": 0.01, "family": "logistic", "reach": 1.0, "z": 10.0},
        fixed={"printed": _ends, "hypotheses": lambda reach, z: abs(z) <= reach},
    ),
    "2-equation-13": Swept(
        _equation_13,
        {"coef": 0.7, "ridge": 0.1},
        {"coef": (-1.0, 0.7, 3.0), "ridge": (0.01, 0.1, 1.0, 10.0)},
        fixed=partial(_equation_13, corrected=True),
    ),
    "2-corollary-5-1": Searched(
        _mapped_back,
        # the minimizer of (11) for one feature, b = θ²/2 and a cross moment of 1
        lambda moment, ridge: 1.0 / (moment + ridge),
        {
            "moment": reals(0.01, 10.0),
            "ridge": reals(0.0, 10.0),
            "dispersion": reals(0.01, 100.0),
        },
        side="both",
        quantity="β̂",
        tries=200,
        fixed={
            "printed": lambda moment, ridge, dispersion: _mapped_back(
                moment, ridge / dispersion, dispersion
            )
        },
    ),
    "2-algorithm-4-slope": REFLECTED,
    "2-theorem-5-5": REFLECTED,
    "2-algorithm-4-bound": Swept(
        _counts,
        {"mu": 0.1, "epsilon": 0.1, "steps": 5},
        {"mu": (0.05, 0.1, 0.5), "steps": (2, 5)},
        fixed=partial(_counts, variant="corrected"),
    ),
    "2-lemma-a-7": Searched(
        lambda start, minimizer: _slope(start, minimizer) ** 2,
        _one_step,
        {"start": reals(-1.0, 1.0), "minimizer": reals(-1.0, 1.0), "noise": reals(1e-6, 0.1)},
        hypotheses=lambda start, minimizer: _slope(start, minimizer) <= 0.5,  # ‖∇L‖ ≤ γ²/C_h
        quantity="C_h‖∇L‖/(2γ²)",
        kind=CERTIFIED,
        tries=300,
        at={"start": 0.0, "minimizer": 0.0, "noise": 0.1},
        fixed={
            "printed": lambda start, minimizer, noise: (
                _slope(start, minimizer) ** 2 + HESSIAN_SLOPE * noise / CURVATURE**2
            )
        },
    ),
    "2-equation-22": Searched(
        lambda start, noise: start**2 + noise,
        _recursion,
        {
            "start": reals(0.0, 0.5),
            "noise": reals(1e-9, 1.0 / 18.0),
            "step": integers(0, 6),
        },
        quantity="C‖∇L̃(β^(t+1))‖/(2γ²)",
        tries=200,
        at={"start": 0.01, "noise": 0.05, "step": 1},
        fixed={"printed": lambda start, noise, step: start ** (2.0 ** (step + 1)) + 3.0 * noise},
    ),
    "2-theorem-5-3-steps": Searched(
        lambda rows, constant: constant * math.log(math.log(rows)),
        lambda rows: math.log(math.log(2.0) * rows) / math.log(2.0),
        {"rows": reals(20.0, 1e300), "constant": reals(2.0, 100.0)},
        quantity="T",
        tries=200,
        # the least T with (1/2)^{2^T} ≤ C_pri = 1/n
        fixed={"exact": lambda rows: math.log(math.log(rows) / math.log(2.0)) / math.log(2.0)},
    ),
}
