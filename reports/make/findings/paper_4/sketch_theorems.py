"""Paper 4, appendix B: theorem B.1, corollary B.2 and theorem B.4, with their proofs."""

from __future__ import annotations

import dataclasses
import math

from scipy.stats import invwishart

from dpaudit.papers import printed
from dpaudit.testing import integers, reals
from reports.make.findings.paper_4.paddings import (
    WORST,
    of_dof,
    of_rows,
    of_size,
    swapped,
    target,
)
from reports.make.findings.statement import CORNER, MISPRINT, Searched, Statement


def _ratio(x: float, y: float) -> float:
    return (1.0 + x) / (1.0 + y)


def _ratio_bound(x: float, y: float) -> float:
    return math.exp(min(x - y / (1.0 - y), 700.0))


def _right_ratio_bound(x: float, y: float) -> float:
    return math.exp(x - y / (1.0 + y))


def _sherman_morrison(dof: int, leverage: float) -> float:
    """vᵀ(ν(MᵀM)⁻¹)v for one column, where AᵀA = MᵀM + vvᵀ and vᵀ(AᵀA)⁻¹v = `leverage`."""
    square = 1.0
    moment = square / leverage
    return dof * square / (moment - square)


def _minus(dof: int, leverage: float) -> float:
    return dof * leverage - dof * leverage**2 / (1.0 - leverage)


def _plus(dof: int, leverage: float) -> float:
    return dof * leverage + dof * leverage**2 / (1.0 - leverage)


def _density(dof: int, low: float, high: float) -> float:
    """ln of the density of W⁻¹₁(1, ν) at `high` less that at `low`."""
    law = invwishart(df=dof, scale=1.0)
    return float(law.logpdf(high) - law.logpdf(low))


def _power(power: float, low: float, high: float) -> float:
    return power * math.log(high / low) - 0.5 / high + 0.5 / low


def _printed_density(dof: int, low: float, high: float) -> float:
    """p + 1 = d = 1."""
    return _power(0.5 * (dof + 1), low, high)


def _right_density(dof: int, low: float, high: float) -> float:
    return _power(-0.5 * (dof + 2), low, high)


def _without_epsilon(row_bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Corollary B.2's w as printed, w² = 8B²√(rL)."""
    return printed.corollary_b_2_padding(row_bound, rows, epsilon, delta) * math.sqrt(epsilon)


def _rows_kept(padding: float, epsilon: float, delta: float) -> float:
    """δ(ε) of corollary B.2's r at a public w/B = `padding`."""
    return of_size(padding, printed.corollary_b_2_rows(1.0, padding, epsilon, delta), epsilon)


def _b_4_target(dof: int, epsilon: float, delta: float) -> float:
    """δ where the printed w has a value."""
    size = printed.theorem_b_4_padding(1.0, dof, epsilon, delta)
    return math.nan if math.isnan(size) else delta


def _below_twice_log(epsilon: float, delta: float) -> bool:
    return epsilon < 2.0 * math.log(4.0 / delta)


THEOREM_B_1 = of_rows(swapped(printed.theorem_b_1_padding), limit=0.4999)
RATIO = Searched(
    printed=_ratio_bound,
    exact=_ratio,
    domain={"x": reals(0.0, 5.0), "y": reals(0.0, 5.0)},
    hypotheses=lambda x, y: x != 1.0 and y != 1.0,
    quantity="(1 + x)/(1 + y)",
)
SIGN = Searched(
    printed=_minus,
    exact=_sherman_morrison,
    domain={"dof": integers(1, 1000), "leverage": reals(1e-3, 0.5)},
    side="both",
    quantity="νvᵀ(MᵀM)⁻¹v",
)
DENSITY = Searched(
    printed=_printed_density,
    exact=_density,
    domain={"dof": integers(1, 50), "low": reals(0.1, 10.0), "high": reals(0.1, 10.0)},
    hypotheses=lambda low, high: high > 1.01 * low,
    side="both",
    quantity="log density ratio",
    tolerance=1e-6,
    rounding=1e-9,
    tries=300,
)

COROLLARY_B_2 = of_rows(
    swapped(_without_epsilon), most=0.999, at={"rows": 100, "epsilon": 0.01, "delta": 1e-5}
)
ROWS_KEPT = Searched(
    printed=target,
    exact=_rows_kept,
    domain={
        "padding": reals(1.0, 1e4),
        "epsilon": reals(0.01, 0.999),
        "delta": reals(1e-12, 0.3678),
    },
)
THEOREM_B_4 = dataclasses.replace(
    of_dof(
        printed.theorem_b_4_padding,
        most=100.0,
        at={"dof": 10, "epsilon": 6.0, "delta": 0.35},
    ),
    printed=_b_4_target,
)

APPENDIX_B_1 = (
    Statement(
        key="4-theorem-b-1",
        paper=4,
        place="theorem B.1",
        section="appendix B.1",
        printed="Fix ε > 0 and δ ∈ (0, 1/2). Fix B > 0. Fix a positive integer r and let w be such "
        "that w² = B²(1 + ((1 + ε/ln(4/δ))/ε)(2√(2r ln(4/δ)) + 2 ln(4/δ))). … Given that "
        "σ_min(A) ≥ w, the algorithm … publishes R·A is (ε, δ)-differentially private.",
        hypotheses_text=f"any ε > 0, δ < 1/2; {WORST}",
        test=THEOREM_B_1,
        fault="the proof holds at every ε; even the promise of A alone is enough (see theorem "
        "3.1), and d < r is not needed, as the comment after theorem B.4 says",
    ),
    Statement(
        key="4-proof-b-1",
        paper=4,
        place="proof of theorem B.1, the inequality",
        section="appendix B.1",
        printed="(1+x)/(1+y) = (1+x)(1 − y/(1+y)) ≤ exp(x − y/(1−y)) for any x, y ≠ 1",
        hypotheses_text="it is used for x, y > 0",
        reading="A plus may have become a minus in conversion; appendix B.3 has exp(x − y/(1+y)).",
        test=RATIO,
        fails=MISPRINT,
        fault="a sign in the last denominator: false for every y in (0, 1) at small x. The lines "
        "after it use the right one",
        corrected="(1+x)/(1+y) ≤ exp(x − y/(1+y)) for y > −1",
        fixed=dataclasses.replace(RATIO, printed=_right_ratio_bound),
    ),
    Statement(
        key="4-corollary-b-2",
        paper=4,
        place="corollary B.2, w (in our text without ε)",
        section="appendix B.1",
        printed="assuming ε < 1 and δ < e⁻¹, if it holds that r ≥ 2 ln(4/δ) then it suffices to "
        "have w² ≥ 8B²√(r ln(4/δ)) for the results of Theorem B.1 to hold.",
        hypotheses_text="ε < 1, δ < 1/e, r ≥ 2 ln(4/δ)",
        reading="The conversion garbled this formula (our text repeats 2 ln(4/δ) within it); a "
        "division by ε may have been lost. If it is in print, the line holds.",
        test=COROLLARY_B_2,
        fails=MISPRINT,
        fault="as in our text, ε is missing, which the corollary's own formula for r has. We count "
        "it as a misprint, since our text may be to blame",
        corrected="w² ≥ 8B²√(r ln(4/δ))/ε",
        fixed=of_rows(swapped(printed.corollary_b_2_padding), most=0.999),
    ),
    Statement(
        key="4-corollary-b-2-rows",
        paper=4,
        place="corollary B.2, r",
        section="appendix B.1",
        printed="given input where its least singular value is publicly known to w, we can set "
        "r = ⌈(εw²/(8B² ln(4/δ)))²⌉, if indeed r > 2 ln(4/δ) and satisfy (ε, δ)-differential "
        "privacy.",
        hypotheses_text="ε < 1, δ < 1/e, both databases with σ_min ≥ w",
        test=ROWS_KEPT,
        fault="safe; w² = 8B²√(r ln(4/δ))/ε would allow ln(4/δ) times as many rows",
    ),
    Statement(
        key="4-corollary-b-2-gaussian",
        paper=4,
        place="corollary B.2, i.i.d. rows",
        section="appendix B.1",
        printed="if the rows of A are i.i.d draws from a 0-mean multivariate Gaussian with "
        "variance Σ, then we may set r as ⌈(nεσ_min(Σ)/(8B² ln(4/δ)))²⌉ = Ω(n²).",
        untested="a statement on random rows, which B does not bound; σ_min(AᵀA) is below "
        "nσ_min(Σ) by a factor near (1 − √(d/n))², for which the factor ln(4/δ) of the line before "
        "leaves room",
    ),
)
APPENDIX_B_3 = (
    Statement(
        key="4-theorem-b-4",
        paper=4,
        place="theorem B.4",
        section="appendix B.3",
        printed="Fix ε > 0 and δ ∈ (0, 1/e). Fix B > 0. Let A be a (n × d)-matrix and fix an "
        "integer ν ≥ d. Let w be such that w² = (B²/(ε(1 − ε/(2 ln(4/δ)))))(2√(2ν ln(4/δ)) + "
        "2 ln(4/δ)). Then, given that σ_min(A) ≥ w, the algorithm that samples a matrix from "
        "W_d⁻¹(AᵀA, ν) is (ε, δ)-differentially private.",
        hypotheses_text=f"any ε > 0, δ < 1/e; {WORST}",
        test=THEOREM_B_4,
        fails=CORNER,
        fault="w² has no value at ε = 2 ln(4/δ) and is negative beyond; below that the theorem "
        "holds",
        corrected="for ε < 2 ln(4/δ)",
        fixed=dataclasses.replace(THEOREM_B_4, hypotheses=_below_twice_log, at=None),
    ),
    Statement(
        key="4-proof-b-4",
        paper=4,
        place="proof of theorem B.4, the density",
        section="appendix B.3",
        printed="PDF_{W_d⁻¹(AᵀA,ν)}(X) ∝ det(AᵀA)^{ν/2} det(X)^{(ν+p+1)/2} exp(−½tr((AᵀA)X⁻¹))",
        reading="A minus sign in the exponent may have been lost in conversion; section 2 has the "
        "density right.",
        test=DENSITY,
        fails=MISPRINT,
        fault="the power of det X has the wrong sign, and p for d; it cancels in the ratio that is "
        "used. Likewise (AᵀA)^{1/2}X⁻¹(AᵀA)^{−1/2} ∼ W_d(I, ν) stands for "
        "(AᵀA)^{1/2}X⁻¹(AᵀA)^{1/2}",
        corrected="det(X)^{−(ν+d+1)/2} for the power of det(X)",
        fixed=dataclasses.replace(DENSITY, printed=_right_density),
    ),
    Statement(
        key="4-proof-b-4-sign",
        paper=4,
        place="proof of theorem B.4, Sherman–Morrison",
        section="appendix B.3",
        printed="vᵀ(ν(MᵀM)⁻¹ − X⁻¹)v = vᵀ(ν(AᵀA)⁻¹ − X⁻¹)v − ν·(vᵀ(AᵀA)⁻¹v)²/(1 − vᵀ(AᵀA)⁻¹v)",
        hypotheses_text="MᵀM = AᵀA − vvᵀ; tested without the X⁻¹ of both sides",
        test=SIGN,
        fails=MISPRINT,
        fault="removing a row makes the inverse larger: the last term is added. The proof drops it "
        "as negative; the theorem has room for it (w² ≥ 4B² wherever w² is positive, so it is at "
        "most (4/3)ν B⁴/w⁴), as the search above confirms. Two more signs, in the next display, "
        "are on the safe side",
        corrected="+ for − before ν·(vᵀ(AᵀA)⁻¹v)²/(1 − vᵀ(AᵀA)⁻¹v)",
        fixed=dataclasses.replace(SIGN, printed=_plus),
    ),
)
