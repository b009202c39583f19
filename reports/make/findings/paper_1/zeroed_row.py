"""Paper 1, appendix B.3: what zeroing a row does to the solution, the residual and the law."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.testing import choices, integers
from reports.make.findings.evidence import Evidence, stated
from reports.make.findings.statement import CORNER, Searched, Statement, Swept

ZEROED = "row i of B and b set to zero; (P)_{i,i} < 1"


def _database(seed: int, features: int) -> tuple[Array, Array]:
    """Features and labels of features + 4 rows."""
    data = np.random.default_rng(seed).standard_normal((features + 4, features + 1))
    return data[:, :-1], data[:, -1]


def _zeroed(seed: int, features: int, what: str) -> Evidence:
    """A printed value of propositions 7–10 against the same for the database without its row 0."""
    B, b = _database(seed, features)
    M, v, p = B.T @ B, B[0], features
    inverse = np.linalg.inv(M)
    x, h = inverse @ B.T @ b, float(v @ inverse @ v)
    w = b - B @ x
    left = 1.0 - w[0] ** 2 / ((1.0 - h) * (w @ w))
    fit = least_squares(np.column_stack([B[1:], b[1:]]))
    values: dict[str, tuple[Any, Any]] = {
        "b′ᵀB′": (b @ B - b[0] * v, b[1:] @ B[1:]),
        "x′_opt": (x - w[0] * inverse @ v / (1.0 - h), fit.coef),
        "‖w′‖²": ([w @ w - w[0] ** 2 / (1.0 - h)], [fit.norm**2]),
        "ratio of determinants": (
            [left ** (0.5 * p) / math.sqrt(1.0 - h)],
            [
                (fit.norm / math.sqrt(w @ w)) ** p
                * math.sqrt(np.linalg.det(M) / np.linalg.det(B[1:].T @ B[1:]))
            ],
        ),
    }
    shown, true = values[what]
    apart = float(np.linalg.norm(np.subtract(shown, true)) / np.linalg.norm(true))
    return stated(what, 1.0, 1.0 + apart)


def _rank(leverage: float, residual_share: float, features: int) -> float:
    """Rank of Q′ for a database in which row 0 has that leverage and share, both of them 1 or less.

    A row of leverage 1 takes a direction with it, and a share of 1 leaves no residual.
    """
    others = np.vstack([np.eye(features), np.eye(features)])
    others[:, 0] *= 1.0 - leverage
    labels = (1.0 - residual_share) * np.cos(np.arange(1.0, len(others) + 1.0))
    fit_rank = int(np.linalg.matrix_rank(others))
    if fit_rank < features:
        return fit_rank
    coef = np.linalg.lstsq(others, labels, rcond=None)[0]
    norm = float(np.linalg.norm(labels - others @ coef))
    return int(np.linalg.matrix_rank(norm**2 * np.linalg.inv(others.T @ others)))


def _identity(what: str) -> Swept:
    return Swept(
        lambda seed, features: _zeroed(seed, features, what),
        {"seed": 0, "features": 3},
        {"seed": (0, 1, 2, 3), "features": (1, 2, 5)},
    )


RANKS = Searched(
    lambda features: features,
    _rank,
    {
        "leverage": choices(0.5, 1.0),
        "residual_share": choices(0.5, 1.0),
        "features": integers(1, 4),
    },
    side="both",
    quantity="rank(Q′)",
)
STATEMENTS = (
    Statement(
        "1-proposition-6",
        1,
        "proposition 6",
        "appendix B.3",
        "rank(Q) = rank(Q′) = d − 1",
        "none are stated; B has full column rank by context",
        test=RANKS,
        fails=CORNER,
        fault="nothing is assumed of the neighbour: a row of leverage 1 leaves B′ with lower rank, "
        "and one with the whole residual leaves w′ = 0, so that Q′ is not defined or is 0, as Q is "
        "for w = 0. Then one of both laws has no density, and δ = 1 at every ε",
        corrected="for w ≠ 0, w′ ≠ 0 and (P)_{i,i} < 1, as propositions 1 and 2 assume",
        fixed=replace(
            RANKS,
            hypotheses=lambda leverage, residual_share: max(leverage, residual_share) < 1.0,
        ),
    ),
    *(
        Statement(
            f"1-proposition-{i}", 1, f"proposition {i}", "appendix B.3", text, ZEROED, test=one
        )
        for i, text, one in (
            (7, "b′ᵀB′ = bᵀB − b_(i)vᵀ", _identity("b′ᵀB′")),
            (8, "x′_opt = x_opt − w_(i)(BᵀB)⁻¹v/(1 − (P)_{i,i})", _identity("x′_opt")),
            (9, "‖w′‖₂² = ‖w‖₂² − w_(i)²/(1 − (P)_{i,i})", _identity("‖w′‖²")),
            (
                10,
                "det(Q′)^{1/2}/det(Q)^{1/2} = ((1 − w_(i)²/((1 − (P)_{i,i})‖w‖₂²))^{d−1} (1/(1 − "
                "(P)_{i,i})))^{1/2}",
                _identity("ratio of determinants"),
            ),
        )
    ),
)
