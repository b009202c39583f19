"""Paper 4, introduction and section 2: tails, densities and facts that it quotes."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtr, chdtrc, ndtr
from scipy.stats import invwishart, wishart

from dpaudit.testing import integers, reals
from reports.make.findings.statement import CORNER, MISPRINT, Number, Searched, Statement


def _as_probability(nu: float) -> float:
    return nu


def _as_beta(beta: float) -> float:
    return beta


def _normal_tail(nu: float) -> float:
    """P(x > μ + σ√ln(1/ν)) of a normal x."""
    return float(ndtr(-math.sqrt(math.log(1.0 / nu))))


def _right_normal_tail(nu: float) -> float:
    return float(ndtr(-math.sqrt(2.0 * math.log(1.0 / nu))))


def _radius(nu: float) -> float:
    return math.sqrt(2.0 * math.log(2.0 / nu))


def _outside_both(k: int, nu: float) -> float:
    """P(χ²_k outside ((√k − s)², (√k + s)²)), s = √(2 ln(2/ν)), the lower end as printed."""
    root, radius = math.sqrt(k), _radius(nu)
    return float(chdtr(k, (root - radius) ** 2) + chdtrc(k, (root + radius) ** 2))


def _outside(k: int, nu: float) -> float:
    """The same with the lower end 0 where √k < s."""
    root, radius = math.sqrt(k), _radius(nu)
    low = max(root - radius, 0.0) ** 2
    return float(chdtr(k, low) + chdtrc(k, (root + radius) ** 2))


def _rows_for(eta: float, beta: float) -> int:
    """The r − d + 1 = O(1/η²) for which lemma A.1's bound is at most η."""
    t = 1.0 - 1.0 / math.sqrt(1.0 + eta)
    return math.ceil(2.0 * math.log(2.0 / beta) / t**2)


def _inverse_misses(dim: int, eta: float, beta: float) -> float:
    """P(vᵀv outside (1 ± η)·vᵀ(RᵀR/r)⁻¹v): vᵀv/vᵀ(RᵀR)⁻¹v is χ² of r − d + 1 degrees."""
    dof = _rows_for(eta, beta)
    return _misses(dof, dof + dim - 1, eta)


def _right_inverse_misses(eta: float, beta: float) -> float:
    """The same with 1/(r − d + 1) for 1/r."""
    dof = _rows_for(eta, beta)
    return _misses(dof, dof, eta)


def _misses(dof: int, divisor: int, eta: float) -> float:
    low, high = divisor * (1.0 - eta), divisor * (1.0 + eta)
    return float(chdtr(dof, low) + chdtrc(dof, high))


def _mean(dim: int, dof: int) -> float:
    """Of W⁻¹_d(I, ν): a multiple of I."""
    return 1.0 / (dof - dim - 1)


def _mode(dim: int, dof: int) -> float:
    """The x at which the density of W⁻¹_d(I, ν) at xI is largest, found by search."""
    power = 0.5 * dim * (dof + dim + 1)
    found = minimize_scalar(
        lambda log: power * log + 0.5 * dim * math.exp(-log),
        bracket=(-math.log(2.0 * dof), 0.0),
        options={"xtol": 1e-12},
    )
    return math.exp(float(found.x))


def _mode_formula(dim: int, dof: int) -> float:
    return 1.0 / (dof + dim + 1)


def _wishart_printed(dim: int, dof: int, low: float, high: float) -> float:
    """ln of the printed density at high·I less that at low·I, V = I."""
    return 0.5 * dim * ((dof - dim - 1) * math.log(high / low) - (high - low))


def _wishart(dim: int, dof: int, low: float, high: float) -> float:
    law = wishart(df=dof, scale=np.eye(dim))
    return float(law.logpdf(high * np.eye(dim)) - law.logpdf(low * np.eye(dim)))


def _inverse_wishart_printed(dim: int, dof: int, low: float, high: float) -> float:
    return 0.5 * dim * ((1.0 / low - 1.0 / high) - (dof + dim + 1) * math.log(high / low))


def _inverse_wishart(dim: int, dof: int, low: float, high: float) -> float:
    law = invwishart(df=dof, scale=np.eye(dim))
    return float(law.logpdf(high * np.eye(dim)) - law.logpdf(low * np.eye(dim)))


INVERSE = Searched(
    printed=_as_beta,
    exact=_inverse_misses,
    domain={"dim": integers(1, 100_000), "eta": reals(0.01, 0.9), "beta": reals(1e-6, 0.36)},
    quantity="P(outside)",
)
TAIL = Searched(
    printed=_as_probability,
    exact=_normal_tail,
    domain={"nu": reals(1e-12, 0.5)},
    quantity="P(x > …)",
    at={"nu": 1e-5},
)
CHI_SQUARE = Searched(
    printed=_as_probability,
    exact=_outside_both,
    domain={"k": integers(1, 10_000), "nu": reals(1e-9, 0.4999)},
    quantity="P(outside)",
    at={"k": 1, "nu": 0.01},
)
MODE = Searched(
    printed=_mean,
    exact=_mode,
    domain={"dim": integers(1, 50), "dof": integers(3, 1000)},
    hypotheses=lambda dim, dof: dof > dim + 1,
    side="both",
    quantity="multiple of the scale",
    tolerance=1e-6,
)
DENSITY = {
    "dim": integers(1, 5),
    "dof": integers(1, 50),
    "low": reals(0.1, 10.0),
    "high": reals(0.1, 10.0),
}


def _density_is(printed: Number, exact: Number) -> Searched:
    return Searched(
        printed=printed,
        exact=exact,
        domain=DENSITY,
        hypotheses=lambda dim, dof, low, high: dof > dim - 1 and high > 1.01 * low,
        side="both",
        quantity="log density ratio",
        tolerance=1e-6,
        rounding=1e-9,
        tries=300,
    )


STATEMENTS = (
    Statement(
        key="4-intro-map",
        paper=4,
        place="the posterior's mode",
        section="section 1",
        printed="Though often one just outputs the MAP of the posterior belief (the mean of the "
        "posterior distribution)",
        hypotheses_text="the posterior is inverse Wishart, W⁻¹_d(Ψ, ν)",
        test=MODE,
        fails=MISPRINT,
        fault="the MAP is the mode, Ψ/(ν + d + 1); the mean is Ψ/(ν − d − 1)",
        corrected="the MAP of the posterior belief (the mode of the posterior distribution)",
        fixed=dataclasses.replace(MODE, printed=_mode_formula),
    ),
    Statement(
        key="4-intro-inverse",
        paper=4,
        place="what lemma A.1 shows",
        section="section 1",
        printed="we also show that for any fixed v we have w.h.p. that vᵀv ∈ "
        "(1 ± η)vᵀ((1/r)RᵀR)⁻¹v provided r = d + O(η⁻²)",
        hypotheses_text="R is r × d of i.i.d. N(0, 1); here r − d + 1 is the least for which lemma "
        "A.1's bound is η at probability 1 − β",
        test=INVERSE,
        fails=MISPRINT,
        fault="lemma A.1 divides RᵀR by r − d + 1; divided by r the quotient is near "
        "1 − (d − 1)/r, which differs from 1 by more than η once d is large beside 1/η",
        corrected="it holds that vᵀv ∈ (1 ± η)vᵀ((1/(r − d + 1))RᵀR)⁻¹v provided r = d + O(η⁻²)",
        fixed=dataclasses.replace(INVERSE, exact=_right_inverse_misses),
    ),
    Statement(
        key="4-gaussian-tail",
        paper=4,
        place="Gaussian tail",
        section="section 2",
        printed="Standard concentration bounds on Gaussians give that Pr[x > μ + σ√ln(1/ν)] < ν.",
        hypotheses_text="x ~ N(μ, σ²); nothing is said of ν",
        reading="A 2 under the root may have been lost, here or in conversion.",
        test=TAIL,
        fails=MISPRINT,
        fault="a factor 2 is missing under the root: false from about ν = 0.03 down. The paper "
        "does not use it",
        corrected="Pr[x > μ + σ√(2 ln(1/ν))] < ν",
        fixed=dataclasses.replace(TAIL, exact=_right_normal_tail),
    ),
    Statement(
        key="4-gaussian-density",
        paper=4,
        place="singular Gaussians",
        section="section 2",
        printed="The PDF of such Gaussian is defined only on the subspace colspan(Σ), where for "
        "every x ∈ colspan(Σ) we have PDF(x) = …",
        hypotheses_text="any μ and Σ",
        fails=MISPRINT,
        fault="x − μ lies in colspan(Σ), not x. The paper uses it for μ = 0 alone",
        corrected="it is defined only on μ + colspan(Σ)",
    ),
    Statement(
        key="4-chi-square",
        paper=4,
        place="tails of χ²",
        section="section 2",
        printed="Standard tail bounds on the χ²-distribution give that for any ν ∈ (0, 1/2) we "
        "have Pr_{x∼χ²_k}[x ∈ (√k ± √(2 ln(2/ν)))²] ≥ 1 − ν. (We present them in Section A for "
        "completeness.)",
        hypotheses_text="any k, any ν in (0, 1/2)",
        test=CHI_SQUARE,
        fails=CORNER,
        fault="for k < 2 ln(2/ν) the lower end (√k − √(2 ln(2/ν)))² grows again as ν falls, and "
        "cuts most of the mass off. Claim A.2 of section A rightly asks for Δ < k. The first "
        "display of lemma A.1's proof and the bound on n in theorem C.3's have no condition either",
        corrected="it holds for k > 2 ln(2/ν), and for smaller k with 0 for the lower end",
        fixed=dataclasses.replace(CHI_SQUARE, exact=_outside),
    ),
    Statement(
        key="4-wishart",
        paper=4,
        place="density of the Wishart distribution",
        section="section 2",
        printed="For m > d − 1 we have that PDF_{W_d(V,m)}(X) ∝ det(V)^{−m/2} "
        "det(X)^{(m−d−1)/2} exp(−½tr(V⁻¹X)).",
        hypotheses_text="m > d − 1",
        test=_density_is(_wishart_printed, _wishart),
        fault="compared at multiples of I with V = I",
    ),
    Statement(
        key="4-inverse-wishart",
        paper=4,
        place="density of the inverse Wishart distribution",
        section="section 2",
        printed="For m > d − 1 it holds that PDF_{W_d⁻¹(V,m)}(X) ∝ det(V)^{m/2} "
        "det(X)^{−(m+d+1)/2} exp(−½tr(VX⁻¹)).",
        hypotheses_text="m > d − 1",
        test=_density_is(_inverse_wishart_printed, _inverse_wishart),
        fault="compared at multiples of I with V = I",
    ),
    Statement(
        key="4-laplace",
        paper=4,
        place="Laplace noise and composition",
        section="section 2",
        printed="for any f where ‖f(A) − f(A′)‖₁ ≤ Δ then the algorithm that adds Laplace noise "
        "Lap(Δ/ε) to f(A) is ε-differential privacy … the composition of two algorithms, each of "
        "which is (ε, δ)-differentially private, yields an algorithm which is (2ε, 2δ)-"
        "differentially private",
        hypotheses_text="any ε > 0",
        untested="known facts, quoted from [DMNS06]: two lines of proof each",
    ),
)
