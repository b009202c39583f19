"""Paper 1, section 4 and appendix C: no privacy with utility for functions of unbounded move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpaudit._core.linalg import least_squares
from dpaudit.testing import reals
from reports.make.findings.evidence import Evidence, stated
from reports.make.findings.measures import outlying_line
from reports.make.findings.statement import CORNER, Searched, Statement, Swept


def _largest_error(bound: float, answer: float) -> float:
    """E(M(D) − f(D))² of M(D) = answer, the largest over databases with ever larger outliers."""
    outliers = (0.0, 1e3, 1e3 * bound)
    return max(float((answer - least_squares(outlying_line(one)).coef[0]) ** 2) for one in outliers)


def _largest_move(outlier: float) -> float:
    """Over all n neighbours of a database without a zero row."""
    return float(least_squares(outlying_line(outlier)).displacement.max())


def _filled_move(bound: float, outlier: float) -> float:
    """The move when a zero row is replaced by (1, c), c as in the proof of lemma 7."""
    data = outlying_line(outlier)
    before = float(least_squares(data).coef[0])
    corner = 1.0 / float(data[:, 0] @ data[:, 0])
    label = before + bound + 1.001 * bound / corner
    return abs(float(least_squares(np.vstack([data, [1.0, label]])).coef[0]) - before)


def _claim_2(seed: int, features: int) -> Evidence:
    """f(D′) − f(D) when a row (v, c) is added, as printed and by least squares."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((features + 3, features + 1))
    v, c = rng.standard_normal(features), float(rng.standard_normal())
    inverse, x = np.linalg.inv(data[:, :-1].T @ data[:, :-1]), least_squares(data).coef
    shown = (c * inverse @ v - inverse @ v * (v @ x)) / (1.0 + v @ inverse @ v)
    true = least_squares(np.vstack([data, np.append(v, c)])).coef - x
    return stated("f(D′) − f(D)", 1.0, 1.0 + float(np.linalg.norm(shown - true)))


LEMMA_7 = Searched(
    lambda bound: bound,
    lambda bound, outlier: _largest_move(outlier),
    {"bound": reals(1e-3, 1e6), "outlier": reals(0.0, 100.0)},
    side="lower",
    quantity="largest ‖f(D) − f(D′)‖",
    tries=200,
)
COROLLARY_1 = Searched(
    lambda bound: bound,
    lambda bound: 0.0,
    {"bound": reals(1e-3, 1e6), "answer": reals(-10.0, 10.0)},
    side="lower",
    quantity="largest g(D)",
    tries=200,
)
STATEMENTS = (
    Statement(
        "1-lemma-6",
        1,
        "lemma 6",
        "section 4",
        "If M satisfies (ε, δ)-DP for ε ∈ ℝ≥0, δ ∈ [0, ½], then it is not A-useful with respect to "
        "utility function g, for every A > 0",
        "f of unbounded sensitivity, g(D) = E((M(D) − f(D))²)",
        untested="it is about every mechanism; the proof was read line by line and its constants "
        "agree: 1 − 1/k² − δ = ¼, and the error exceeds b",
        fault="the sentence after it calls it lemma 7",
    ),
    Statement(
        "1-claim-1",
        1,
        "claim 1",
        "appendix C",
        "Pr[|M(D) − f(D)| ≥ (k + 1)√b] ≤ 1/k²",
        "b > 0, E((M(D) − f(D))²) ≤ b, k > 0; against the largest such chance over all laws, "
        "1/(k + 1)²",
        test=Searched(
            lambda k: 1.0 / k**2,
            lambda k: 1.0 / (k + 1.0) ** 2,
            {"k": reals(1e-3, 1e3)},
            quantity="chance",
        ),
    ),
    Statement(
        "1-corollary-1",
        1,
        "corollary 1",
        "section 4",
        "Let g be the utility function outputting the variance of Frobenius norm of M(D) − f(D), "
        "i.e., Var(‖M(D) − f(D)‖_F). If M satisfies (ε, δ)-DP …, then it is not A-useful, with "
        "respect to utility function g, for every A > 0",
        "ε ∈ ℝ≥0 fixed and bounded, δ ∈ [0, ½]; f of unbounded sensitivity, here least squares",
        test=COROLLARY_1,
        fails=CORNER,
        fault="a mechanism with the same answer for every database is (0, 0)-DP, and ‖M(D) − "
        "f(D)‖_F is one number, whose variance is 0: it is A-useful for every A. The sum of the "
        "variances of the coordinates, as section 5 reads it, is 0 there too",
        corrected="g(D) = E(‖M(D) − f(D)‖_F²), as lemma 6 has it",
        fixed=replace(COROLLARY_1, exact=_largest_error),
    ),
    Statement(
        "1-lemma-7",
        1,
        "lemma 7",
        "section 4",
        "for every database D = [B, b] in the domain, and every a > 0, there is a database D′ such "
        "that D′ ≃ D (Def. 1) and ‖f(D) − f(D′)‖_∞ > a",
        "BᵀB of full rank; by definition 1 n is fixed, and one row is replaced with a row of zeros",
        test=LEMMA_7,
        fails=CORNER,
        fault="a database without a zero row has the n neighbours in which one of its rows is "
        "zeroed, and no others; the proof appends a zero row, which makes another database",
        corrected="for every database D with a row of zeros, which is all that definition 4 and "
        "corollary 1 need",
        fixed=replace(LEMMA_7, exact=_filled_move),
    ),
    Statement(
        "1-claim-2",
        1,
        "claim 2",
        "appendix C",
        "f(D′) − f(D) = (c(BᵀB)⁻¹v − (BᵀB)⁻¹vvᵀf(D))/(1 + vᵀ(BᵀB)⁻¹v)",
        "a row of zeros replaced by (v, c)",
        test=Swept(
            _claim_2,
            {"seed": 0, "features": 3},
            {"seed": (0, 1, 2), "features": (1, 2, 5)},
        ),
    ),
)
