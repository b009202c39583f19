"""Paper 4, appendix B.2: the example of theorem B.3, its proof and the comment after it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from dpaudit.testing import integers, reals
from reports.make.findings.paper_4.paddings import LIMIT
from reports.make.findings.paper_4.wishart_noise import condition
from reports.make.findings.statement import CORNER, MISPRINT, Searched, Statement


def _scaled_condition(epsilon: float) -> float:
    """The condition's left side times B², for V = (B²/ε)I and C₂ = 14."""
    return epsilon * condition(14.0)


def _quotient(x: float, y: float) -> float:
    return (1.0 - x) / (1.0 - y)


def _quotient_bound(x: float, y: float) -> float:
    return math.exp(min(-x + y / (1.0 - y), 700.0))


def _second_order(spread: float, delta: float) -> float:
    """What stands before “+ 6”: 2√(2mL) − 2L + 2 + 2/(1 − √(2L/m))², m = 2C₂L."""
    log = math.log(4.0 / delta)
    return _first_order(spread, log) + 2.0 + 2.0 / (1.0 - 1.0 / math.sqrt(spread)) ** 2


def _six(spread: float, delta: float) -> float:
    return _first_order(spread, math.log(4.0 / delta)) + 6.0


def _first_order(spread: float, log: float) -> float:
    return 4.0 * log * math.sqrt(spread) - 2.0 * log


def _product(dof: int, dim: int) -> float:
    """The rows of NᵀN for N d × d, where N′ has ν."""
    scatter = np.zeros((dim, dim))
    return float(len(scatter.T @ scatter))


def _right_product(dof: int, dim: int) -> float:
    sample = np.zeros((dof, dim))
    return float(len(sample.T @ sample))


QUOTIENT = Searched(
    printed=_quotient_bound,
    exact=_quotient,
    domain={"x": reals(-5.0, 5.0), "y": reals(-5.0, 5.0)},
    hypotheses=lambda y: y != 1.0,
    quantity="(1 − x)/(1 − y)",
)
SIX = Searched(
    printed=_six,
    exact=_second_order,
    domain={"spread": reals(1.01, 1e4), "delta": reals(1e-12, LIMIT)},
    quantity="bracket",
)
PRODUCT = Searched(
    printed=_product,
    exact=lambda dim: float(dim),
    domain={"dof": integers(1, 100), "dim": integers(1, 20)},
    side="both",
    quantity="rows",
)

STATEMENTS = (
    Statement(
        key="4-theorem-b-3-example",
        paper=4,
        place="theorem B.3, the example",
        section="appendix B.2",
        printed="(E.g., C₁ = B² and C₂ = 14/ε².)",
        hypotheses_text="ε < 1; the condition of theorem B.3",
        test=Searched(
            printed=lambda epsilon: epsilon,
            exact=lambda epsilon: condition(14.0 / epsilon**2),
            domain={"epsilon": reals(1e-6, 0.999999)},
            quantity="left side·B²",
        ),
        fault="up to ε = 1.006",
    ),
    Statement(
        key="4-comment-b-3",
        paper=4,
        place="comment after theorem B.3, scale",
        section="appendix B.2",
        printed="one can sample a matrix N′ ∈ ℝ^{ν×d} of i.i.d normal Gaussians, multiple all "
        "entries by B/√ε",
        hypotheses_text="V = (B²/ε)I with C₂ = 14, ε < 1",
        test=Searched(
            printed=lambda epsilon: epsilon,
            exact=_scaled_condition,
            domain={"epsilon": reals(1e-6, 0.999999)},
            quantity="left side·B²",
        ),
        fault="V = (B²/ε)I goes with C₁ = B²/ε and C₂ = 14, another choice that theorem B.3 admits",
    ),
    Statement(
        key="4-comment-b-3-product",
        paper=4,
        place="comment after theorem B.3, product",
        section="appendix B.2",
        printed="one can sample a matrix N′ ∈ ℝ^{ν×d} of i.i.d normal Gaussians … and set N′ = NᵀN",
        hypotheses_text="N is d × d; compared by the number of rows",
        test=dataclasses.replace(PRODUCT, exact=lambda dof: float(dof)),
        fails=MISPRINT,
        fault="the wrong way round",
        corrected="N = N′ᵀN′",
        fixed=dataclasses.replace(PRODUCT, printed=_right_product),
    ),
    Statement(
        key="4-proof-b-3",
        paper=4,
        place="proof of theorem B.3, the inequality",
        section="appendix B.2",
        printed="(1−x)/(1−y) = (1−x)(1 + y/(1−y)) ≤ exp(−x + y/(1−y)) for any x and any y ≠ 1",
        test=QUOTIENT,
        fails=MISPRINT,
        fault="false for x, y > 1, where both factors are negative. It is used with "
        "y = v′ᵀ(X − MᵀM)⁻¹v′, which is below 1 where X − A′ᵀA′ is positive definite, above 1 "
        "else; we did not find where the proof deals with that (“Later, we justify why such events "
        "can be ignored”). On the event of lemma A.1 it is below 1",
        corrected="it holds for any x and any y < 1",
        fixed=dataclasses.replace(QUOTIENT, hypotheses=lambda y: y < 1.0),
    ),
    Statement(
        key="4-proof-b-3-six",
        paper=4,
        place="proof of theorem B.3, “+ 6”",
        section="appendix B.2",
        printed="… 2√(2(ν−d+1) ln(4/δ)) − 2 ln(4/δ) + 2 + 2/(1 − √(2 ln(4/δ)/(ν−d−1)))² = "
        "2√(2(ν−d+1) ln(4/δ)) − 2 ln(4/δ) + 6",
        hypotheses_text="ν − d + 1 = 2C₂ ln(4/δ), any C₂ > 1; ν − d + 1 is put for ν − d − 1, and "
        "≤ for =",
        test=SIX,
        fails=CORNER,
        fault="asks for √C₂ ≥ 2 + √2, so C₂ ≥ 11.7 (the example has 14/ε²); the next step "
        "needs δ ≤ 0.199 and is marked δ < 1/6 in our text, where the theorem has δ < 1/e. No "
        "failure of the theorem itself was found in either gap",
        corrected="≤ for =, and C₂ ≥ 12",
        fixed=dataclasses.replace(SIX, hypotheses=lambda spread: spread >= 12.0),
    ),
)
