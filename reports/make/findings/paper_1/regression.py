"""Paper 1, sections 3.1 and 4, appendices B.1, B.3 and C: least squares, sketched, a row zeroed."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr

from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import Evidence, claimed, stated
from reports.make.findings.statement import Searched, Swept, Tested

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(8)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


# Section 3.1 and appendix B.1: the law of the solution of a sketched problem


def _distance(rows: int, features: int) -> Evidence:
    """The largest distance of two cdfs: of a coordinate of x̃, over its printed deviation, and Φ.

    The coordinate is Student's t with ν = r − p + 1, scaled by √(r/ν).
    """
    dof, x = rows - features + 1, np.linspace(-8.0, 8.0, 4001)
    distance = float(np.abs(stdtr(dof, x * math.sqrt(dof / rows)) - ndtr(x)).max())
    return claimed(features / rows, distance, quantity="largest |F_r − Φ|")


def _fourth_moment(sigma: float) -> float:
    """E(x⁴) for N(0, σ²) by quadrature that is exact for polynomials."""
    return float(np.sum(WEIGHTS * (sigma * NODES) ** 4))


def _normals(count: int) -> tuple[Array, Array]:
    """Points and weights that integrate polynomials of `count` normals exactly."""
    grids = list(itertools.product(range(len(NODES)), repeat=count))
    return NODES[grids], WEIGHTS[grids].prod(axis=1)


def _residual(seed: int) -> tuple[Array, Array]:
    """Three rows of two features, and the residual of labels on them."""
    B, b = np.split(np.random.default_rng(seed).standard_normal((3, 3)), [2], axis=1)
    return B, b[:, 0] - B @ np.linalg.lstsq(B, b[:, 0], rcond=None)[0]


def _products(seed: int, what: str) -> Evidence:
    """Moments of v = Bᵀggᵀw and of ggᵀwwᵀggᵀ over g, exactly."""
    (B, w), (g, weight) = _residual(seed), _normals(3)
    v, square = (g @ w)[:, None] * (g @ B), float(w @ w)
    outer = np.einsum("k,ki,kj,k->ij", weight, g, g, (g @ w) ** 2)
    values: dict[str, tuple[Any, Any]] = {
        "covariance": (square * B.T @ B, (v * weight[:, None]).T @ v),
        "mean": (np.zeros(2), weight @ v),
        "Q": (2.0 * np.outer(w, w) + square * np.eye(3), outer),
        "variance of η": (square, np.sum(weight * (g @ w) ** 2)),
    }
    shown, true = values[what]
    apart = float(np.linalg.norm(np.subtract(shown, true)))
    return stated(what, 1.0, 1.0 + apart)


def _checked(*what: str) -> Swept:
    settings = [{"seed": seed, "what": one} for one in what for seed in (0, 1, 2)]
    return Swept(_products, settings[0], more=settings[1:])


# Appendix B.3: what zeroing a row does to the solution, the residual and the law


def _zeroed(seed: int, features: int, what: str) -> Evidence:
    """A printed value of propositions 7–10 against the same for the database without its row 0."""
    data = np.random.default_rng(seed).standard_normal((features + 4, features + 1))
    B, b = data[:, :-1], data[:, -1]
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


# Section 4 and appendix C: no privacy with utility for functions of unbounded move


def _outlying_line(outlier: float) -> Array:
    """Twelve rows about y = x, the first off it by `outlier`."""
    x = np.linspace(1.0, 2.0, 12)
    return np.column_stack([x, x + 0.1 * np.cos(7.0 * x) + np.r_[outlier, np.zeros(11)]])


def _largest_error(bound: float, answer: float) -> float:
    """E(M(D) − f(D))² of M(D) = answer, the largest over databases with ever larger outliers."""
    outliers = (0.0, 1e3, 1e3 * bound)
    return max(
        float((answer - least_squares(_outlying_line(one)).coef[0]) ** 2) for one in outliers
    )


def _largest_move(outlier: float) -> float:
    """The largest move of the solution over all n neighbours of a database without a zero row."""
    return float(least_squares(_outlying_line(outlier)).displacement.max())


def _filled_move(bound: float, outlier: float) -> float:
    """The move when a zero row is replaced by (1, c), c as in the proof of lemma 7."""
    data = _outlying_line(outlier)
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


TESTS: dict[str, Tested] = {
    "1-lemma-1": Swept(
        _distance,
        {"rows": 10_000, "features": 12},
        {"rows": (1_000, 10_000, 1_000_000), "features": (1, 3, 12, 100)},
    ),
    "1-proposition-3": _checked("variance of η"),
    "1-proposition-4": Searched(
        lambda sigma: 3.0 * sigma**4,
        _fourth_moment,
        {"sigma": reals(1e-3, 1e3)},
        side="both",
        quantity="E(x⁴)",
        tries=50,
    ),
    "1-proposition-5": _checked("covariance", "mean"),
    "1-equations-1-to-6": _checked("Q"),
    "1-proposition-6": Searched(
        lambda features: features,
        _rank,
        {
            "leverage": choices(0.5, 1.0),
            "residual_share": choices(0.5, 1.0),
            "features": integers(1, 4),
        },
        side="both",
        quantity="rank(Q′)",
        fixed={"hypotheses": lambda leverage, residual_share: max(leverage, residual_share) < 1.0},
    ),
    **{
        f"1-proposition-{number}": Swept(
            partial(_zeroed, what=what),
            {"seed": 0, "features": 3},
            {"seed": (0, 1, 2, 3), "features": (1, 2, 5)},
        )
        for number, what in enumerate(("b′ᵀB′", "x′_opt", "‖w′‖²", "ratio of determinants"), 7)
    },
    "1-claim-1": Searched(
        lambda k: 1.0 / k**2,
        lambda k: 1.0 / (k + 1.0) ** 2,
        {"k": reals(1e-3, 1e3)},
        quantity="chance",
    ),
    "1-corollary-1": Searched(
        lambda bound: bound,
        lambda bound: 0.0,
        {"bound": reals(1e-3, 1e6), "answer": reals(-10.0, 10.0)},
        side="lower",
        quantity="largest g(D)",
        tries=200,
        fixed={"exact": _largest_error},
    ),
    "1-lemma-7": Searched(
        lambda bound: bound,
        _largest_move,
        {"bound": reals(1e-3, 1e6), "outlier": reals(0.0, 100.0)},
        side="lower",
        quantity="largest ‖f(D) − f(D′)‖",
        tries=200,
        fixed={"exact": _filled_move},
    ),
    "1-claim-2": Swept(
        _claim_2,
        {"seed": 0, "features": 3},
        {"seed": (0, 1, 2), "features": (1, 2, 5)},
    ),
}
