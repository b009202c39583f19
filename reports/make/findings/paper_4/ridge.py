"""Paper 4, section 3: ridge regression, its closed form and the accuracy of algorithm 1."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.stats import t

from dpaudit._core.types import Array
from dpaudit.papers import printed
from dpaudit.testing import reals
from reports.make.findings.statement import MISPRINT, Searched, Statement

X, Y = np.array([1.0, 2.0, 0.0, 1.0]), np.array([1.0, 3.0, 1.0, 0.0])
NORM = float(np.sqrt(X**2 + Y**2).max())  # of the longest row of [X; Y]
ROWS = 8.0 * 2.0 * math.log(2.0)  # of d log d ln(1/ν)/η²


def _data(scale: float) -> tuple[Array, Array]:
    return scale * X, scale * Y


def _closed_form(padding: float, scale: float) -> float:
    """(XᵀX + w²I)Xᵀy for one feature."""
    x, y = _data(scale)
    return float((x @ x + padding**2) * (x @ y))


def _right_closed_form(padding: float, scale: float) -> float:
    x, y = _data(scale)
    return float((x @ y) / (x @ x + padding**2))


def _ridge(padding: float, scale: float) -> float:
    """β^R as the least-squares solution of the padded problem."""
    x, y = _data(scale)
    rows, label = np.append(x, padding)[:, None], np.append(y, 0.0)
    return float(np.linalg.lstsq(rows, label, rcond=None)[0][0])


def _penalised(padding: float, scale: float, coef: float) -> float:
    """‖X′β − y′‖² + w²."""
    x, y = _data(scale)
    return float(np.sum((coef * x - y) ** 2) + (padding * coef) ** 2 + padding**2)


def _of_padded(padding: float, scale: float, coef: float) -> float:
    """‖A′(β; −1)‖²."""
    rows = np.vstack([np.column_stack(_data(scale)), padding * np.eye(2)])
    return float(np.sum((rows @ np.array([coef, -1.0])) ** 2))


def _misses(power: float, row_bound: float, eta: float, nu: float) -> float:
    """P(‖β^R − β̃^R‖ > η f(β^R)^power/√(w² + σ_min(AᵀA))) for algorithm 1 on [X; Y] in units of B.

    ε = 1, δ = 10⁻⁵, r = 8·d log d·ln(1/ν)/η², d = 2. With f = f(β^R) and M = x′ᵀx′ the error is
    √(f/(rM)) times a Student t of r degrees of freedom.
    """
    rows = math.ceil(ROWS * math.log(1.0 / nu) / eta**2) + 2
    x, y = _data(row_bound / NORM)
    square = printed.theorem_3_1_padding(row_bound, rows, 1.0, 1e-5) ** 2
    moment = float(x @ x) + square
    loss = float(y @ y) + square - float(x @ y) ** 2 / moment
    gram = np.array([[x @ x, x @ y], [x @ y, y @ y]])
    least = float(np.linalg.eigvalsh(gram)[0])
    radius = eta * loss**power / math.sqrt(square + least)
    return 2.0 * float(t.sf(radius * math.sqrt(rows * moment / loss), rows))


def _printed_misses(row_bound: float, eta: float, nu: float) -> float:
    return _misses(1.0, row_bound, eta, nu)


def _right_misses(row_bound: float, eta: float, nu: float) -> float:
    return _misses(0.5, row_bound, eta, nu)


RIDGE = Searched(
    printed=_closed_form,
    exact=_ridge,
    domain={"padding": reals(0.1, 100.0), "scale": reals(0.1, 10.0)},
    side="both",
    quantity="β^R",
)
ACCURACY = Searched(
    printed=lambda nu: nu,
    exact=_printed_misses,
    domain={"row_bound": reals(1e-3, 1e3), "eta": reals(0.01, 1.0), "nu": reals(1e-6, 0.4999)},
    quantity="P(outside)",
)

STATEMENTS = (
    Statement(
        key="4-ridge",
        paper=4,
        place="closed form of ridge regression",
        section="section 3",
        printed="Ridge regression has a closed form solution: β^R = (XᵀX + w²I_{p×p})Xᵀy.",
        reading="An exponent −1 may have been lost, here or in conversion.",
        test=RIDGE,
        fails=MISPRINT,
        fault="the inverse is missing",
        corrected="β^R = (XᵀX + w²I_{p×p})⁻¹Xᵀy",
        fixed=dataclasses.replace(RIDGE, printed=_right_closed_form),
    ),
    Statement(
        key="4-ridge-padded",
        paper=4,
        place="ridge regression on padded data",
        section="section 3",
        printed="f(β) = ‖A′(β; −1)‖² = ‖X′β − y′‖² + w². Hence β^R = arg min f(β).",
        test=Searched(
            printed=_penalised,
            exact=_of_padded,
            domain={
                "padding": reals(0.1, 100.0),
                "scale": reals(0.1, 10.0),
                "coef": reals(-10.0, 10.0),
            },
            side="both",
            quantity="f(β)",
        ),
    ),
    Statement(
        key="4-theorem-3-2",
        paper=4,
        place="theorem 3.2",
        section="section 3",
        printed="[[Sar06], Theorem 12] Fix any η > 0 and ν ∈ (0, 1/2). Apply Algorithm 1 with "
        "r = O(d log(d) ln(1/ν)/η²). Then, w.p ≥ 1 − ν it holds that "
        "‖β^R − β̃^R‖ ≤ (η/√(w² + σ_min(AᵀA))) f(β^R).",
        hypotheses_text="here r = 8·d log(d) ln(1/ν)/η² + 2, d = 2, four rows in units of B, ε = 1",
        reading="A root over f(β^R) may have been lost; [Sar06] has the norm, not its square.",
        test=ACCURACY,
        fails=MISPRINT,
        fault="f is a square: in other units of A and B the left side stays and the right side "
        "changes, so that no r is enough for small units",
        corrected="‖β^R − β̃^R‖ ≤ (η/√(w² + σ_min(AᵀA))) √f(β^R)",
        fixed=dataclasses.replace(ACCURACY, exact=_right_misses),
    ),
)
