"""Paper 4, appendix A: tails of χ² and of Wishart matrices, rank-one updates."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.special import chdtr, chdtrc
from scipy.stats import binomtest

from dpaudit._core.types import Array
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import CERTIFIED, Evidence, Test, claimed
from reports.make.findings.statement import CORNER, MISPRINT, Searched, Statement, Swept

DRAWS, SEED, LEVEL = 2_000, 4, 1e-6


def _outside(low: float, high: float, dof: int) -> float:
    """P(χ² outside [low, high])."""
    return float(chdtr(dof, max(low, 0.0)) + chdtrc(dof, max(high, 0.0)))


def _excess(rows: int, beta: float) -> float:
    """Lemma A.1's bound, 2√(2 ln(2/β)/r) + 2 ln(2/β)/r."""
    part = 2.0 * math.log(2.0 / beta) / rows
    return 2.0 * math.sqrt(part) + part


def _sketch_misses(rows: int, beta: float) -> float:
    """P(|vᵀ(XᵀX/r − I)v| > bound·‖v‖²): vᵀXᵀXv/‖v‖² is χ²_r."""
    bound = _excess(rows, beta)
    return _outside(rows * (1.0 - bound), rows * (1.0 + bound), rows)


def _ratio(rows: int, dim: int, beta: float) -> float:
    """t = √(2 ln(2/β)/(r − d + 1))."""
    return math.sqrt(2.0 * math.log(2.0 / beta) / (rows - dim + 1))


def _inverse_excess(rows: int, dim: int, beta: float) -> float:
    t = _ratio(rows, dim, beta)
    return (2.0 * t - t**2) / (1.0 - t) ** 2


def _inverse_misses(rows: int, dim: int, beta: float) -> float:
    """P(|1 − m/c| > bound), c ~ χ² of m = r − d + 1 degrees."""
    dof, bound = rows - dim + 1, _inverse_excess(rows, dim, beta)
    high = dof / (1.0 - bound) if bound < 1.0 else math.inf
    return _outside(dof / (1.0 + bound), high, dof)


def _admits(rows: int, dim: int, beta: float) -> bool:
    return rows >= dim and _ratio(rows, dim, beta) < 1.0


def _larger_tail(k: int, part: float) -> float:
    """The larger of both tails of claim A.2 at Δ = `part`·k."""
    shift = math.sqrt(part * k)
    low, high = (math.sqrt(k) - shift) ** 2, (math.sqrt(k) + shift) ** 2
    return float(max(chdtr(k, low), chdtrc(k, high)))


def _spread(dim: int, delta: float) -> float:
    """s = √d + √(2 ln(2/δ))."""
    return math.sqrt(dim) + math.sqrt(2.0 * math.log(2.0 / delta))


def _singular_value(m: int, delta: float) -> float:
    """P(X outside (√m ± s)²) for d = 1, V = 1."""
    root, spread = math.sqrt(m), _spread(1, delta)
    return _outside((root - spread) ** 2, (root + spread) ** 2, m)


def _far(m: int, delta: float, share: float, sign: float) -> float:
    """P(|αV − X| > |α − (√m ± s)²|) for d = 1, V = 1, α = `share`·m."""
    alpha = share * m
    radius = abs(alpha - (math.sqrt(m) + sign * _spread(1, delta)) ** 2)
    return _outside(alpha - radius, alpha + radius, m)


def _printed_far(m: int, delta: float, share: float) -> float:
    return _far(m, delta, share, -1.0)


def _right_far(m: int, delta: float, share: float) -> float:
    return _far(m, delta, share, 1.0)


def _enough(m: int, delta: float) -> bool:
    return math.sqrt(m) > _spread(1, delta)


def _inverses(both_ends: bool) -> Test:
    """P(‖(αV)⁻¹ − X⁻¹‖ > …) for V = I, α = `share`·m, from below by draws of X."""

    def test(m: int, dim: int, delta: float, share: float) -> Evidence:
        root, spread, alpha = math.sqrt(m), _spread(dim, delta), share * m
        ends = (root + spread, root - spread) if both_ends else (root + spread,)
        radius = max(abs(1.0 / alpha - end**-2) for end in ends)
        values = _eigenvalues(m, dim)
        missed = int(np.sum(np.abs(1.0 / alpha - 1.0 / values).max(axis=1) > radius))
        low = binomtest(missed, DRAWS, alternative="greater").proportion_ci(1.0 - LEVEL).low
        return claimed(delta, float(low), kind=CERTIFIED, quantity="P(outside)")

    return test


def _eigenvalues(m: int, dim: int) -> Array:
    """Of `DRAWS` draws of W_d(I, m), (draws, d)."""
    draws = np.random.default_rng(SEED).standard_normal((DRAWS, m, dim))
    return np.asarray(np.linalg.eigvalsh(draws.transpose(0, 2, 1) @ draws))


def _updated(formula: str, scale: float, other: float, slope: float) -> tuple[float, float]:
    """det or the sum of the inverse's entries of A + uvᵀ, by theorem A.4 and directly."""
    matrix = np.array([[scale, 1.0], [0.0, other]])
    u, v = np.array([1.0, slope]), np.array([slope, 2.0])
    inner = 1.0 + v @ np.linalg.solve(matrix, u)
    if formula == "det":
        return float(np.linalg.det(matrix) * inner), float(np.linalg.det(matrix + np.outer(u, v)))
    inverse = np.linalg.inv(matrix)
    updated = inverse - inverse @ np.outer(u, v) @ inverse / inner
    return float(np.sum(updated)), float(np.sum(np.linalg.inv(matrix + np.outer(u, v))))


def _is_regular(scale: float, other: float, slope: float) -> bool:
    """A is invertible and vᵀA⁻¹u is not close to −1."""
    if min(abs(scale), abs(other)) < 0.01:
        return False
    inner = slope / scale * (1.0 - slope / other) + 2.0 * slope / other
    return abs(1.0 + inner) > 0.01


LEMMA = Searched(
    printed=lambda beta: beta,
    exact=_sketch_misses,
    domain={"rows": integers(1, 10**7), "beta": reals(1e-14, 0.3678)},
    quantity="P(outside)",
)
INVERSE_LEMMA = Searched(
    printed=lambda beta: beta,
    exact=_inverse_misses,
    domain={"rows": integers(1, 10**7), "dim": integers(1, 1000), "beta": reals(1e-14, 0.3678)},
    hypotheses=_admits,
    quantity="P(outside)",
)
ORDER = Searched(
    printed=lambda rows, beta: _excess(rows, beta),
    exact=_inverse_excess,
    domain={"rows": integers(1, 10**6), "dim": integers(1, 1000), "beta": reals(1e-9, 0.3678)},
    hypotheses=_admits,
    quantity="bound",
    at={"rows": 1000, "dim": 22, "beta": 0.05},
)
NORM = Searched(
    printed=lambda delta: delta,
    exact=_printed_far,
    domain={"m": integers(9, 10**6), "delta": reals(1e-9, 0.3678), "share": reals(1e-3, 1.0)},
    hypotheses=_enough,
    quantity="P(outside)",
    at={"m": 100, "delta": 0.05, "share": 0.3},
)
INVERSES = Swept(
    test=_inverses(both_ends=False),
    setting={"m": 100, "dim": 10, "delta": 0.05, "share": 1.0},
    grid={"share": (0.1, 0.5, 1.0), "delta": (0.05, 0.3)},
)

STATEMENTS = (
    Statement(
        key="4-lemma-a-1",
        paper=4,
        place="lemma A.1, sketch",
        section="appendix A",
        printed="Fix β ∈ (0, 1/e). Then, for any vector v it holds that Pr[|vᵀ((1/r)XᵀX − I)v| ≤ "
        "(2√(2 ln(2/β)/r) + 2 ln(2/β)/r)‖v‖²] ≥ 1 − β",
        hypotheses_text="X is r × d of i.i.d. N(0, 1); any r, β < 1/e",
        test=LEMMA,
        fault="also for r < 2 ln(2/β), where the first display of its proof has no longer the "
        "probability that it says (see section 2, tails of χ²)",
    ),
    Statement(
        key="4-lemma-a-1-inverse",
        paper=4,
        place="lemma A.1, inverse",
        section="appendix A",
        printed="Furthermore, if r ≥ d then denote t = √(2 ln(2/β)/(r−d+1)) and assume t < 1. Then "
        "Pr[|vᵀ(I − ((1/(r−d+1))XᵀX)⁻¹)v| ≤ ((2t−t²)/(1−t)²)‖v‖²] ≥ 1 − β",
        hypotheses_text="r ≥ d, t < 1, β < 1/e",
        test=INVERSE_LEMMA,
        fault="in the proof both ends of the interval for vᵀv/vᵀ(XᵀX)⁻¹v are printed with a minus, "
        "and r − d − 1 stands for r − d + 1 in the last displays",
    ),
    Statement(
        key="4-lemma-a-1-order",
        paper=4,
        place="the two bounds of lemma A.1",
        section="section 5.1",
        printed="Initially we conjectured that the gap can be explained by Lemma A.1, where the "
        "bound for the inverse-JL has a slightly better second order term than the bound for the "
        "standard JL.",
        hypotheses_text="both bounds of lemma A.1 at the same r and β",
        test=ORDER,
        fails=MISPRINT,
        fault="(2t − t²)/(1 − t)² is 2t + 3t² + …, more than 2t + t²; and t itself is larger, with "
        "r − d + 1 for r. The numerator alone, 2t − t², has less",
        corrected="a slightly worse second order term",
        fixed=dataclasses.replace(ORDER, side="lower"),
    ),
    Statement(
        key="4-claim-a-2",
        paper=4,
        place="claim A.2",
        section="appendix A",
        printed="for any 0 < Δ < k we have that Pr[Σ X_i² > (√k + √Δ)²] < e^{−Δ/2} and "
        "Pr[Σ X_i² < (√k − √Δ)²] < e^{−Δ/2}.",
        hypotheses_text="X₁, …, X_k i.i.d. N(0, 1), 0 < Δ < k",
        test=Searched(
            printed=lambda k, part: math.exp(-0.5 * part * k),
            exact=_larger_tail,
            domain={"k": integers(1, 10**6), "part": reals(1e-6, 0.999999)},
            quantity="P(outside)",
        ),
        fault="the last display of the proof names the upper event where the lower one is meant",
    ),
    Statement(
        key="4-lemma-a-3",
        paper=4,
        place="lemma A.3, singular values",
        section="appendix A",
        printed="w.p. ≥ 1 − δ we have that for every j = 1, 2, …, d it holds that σ_j(X) ∈ "
        "(√m ± (√d + √(2 ln(2/δ))))²σ_j(V)",
        hypotheses_text="δ < 1/e, √m > √d + √(2 ln(2/δ)); tested for d = 1",
        test=Searched(
            printed=lambda delta: delta,
            exact=_singular_value,
            domain={"m": integers(9, 10**7), "delta": reals(1e-12, 0.3678)},
            hypotheses=_enough,
            quantity="P(outside)",
        ),
        fault="for every d the proof, by Davidson and Szarek's theorem II.13, is right",
    ),
    Statement(
        key="4-lemma-a-3-norm",
        paper=4,
        place="lemma A.3, ‖αV − X‖",
        section="appendix A",
        printed="for any 0 < α ≤ m it holds ‖αV − X‖ ≤ ‖V‖·|α − (√m − (√d + √(2 ln(2/δ))))²|",
        hypotheses_text="δ < 1/e, √m > √d + √(2 ln(2/δ)), with probability at least 1 − δ; tested "
        "for d = 1, α = share·m",
        test=NORM,
        fails=CORNER,
        fault="the wrong end: αV − X is largest where X is, so (√m + s)² belongs for (√m − s)². At "
        "α = (√m − s)² the printed bound says X = αV. The proof's (m − α) + 2√m·s has the right "
        "end, less s²",
        corrected="‖αV − X‖ ≤ ‖V‖·|α − (√m + (√d + √(2 ln(2/δ))))²|",
        fixed=dataclasses.replace(NORM, exact=_right_far),
    ),
    Statement(
        key="4-lemma-a-3-inverse",
        paper=4,
        place="lemma A.3, ‖(αV)⁻¹ − X⁻¹‖",
        section="appendix A",
        printed="‖(αV)⁻¹ − X⁻¹‖ ≤ σ_min⁻¹(V)·|α⁻¹ − (√m + (√d + √(2 ln(2/δ))))⁻²|",
        hypotheses_text="the same; V = I, α = share·m",
        test=INVERSES,
        fails=CORNER,
        fault="the wrong end for α near m: X⁻¹ is largest where X is smallest. For α well below m "
        "the printed end is the right one",
        cause="4-lemma-a-3-norm",
        corrected="the larger of |α⁻¹ − (√m + s)⁻²| and |α⁻¹ − (√m − s)⁻²|, s = √d + √(2 ln(2/δ))",
        fixed=dataclasses.replace(INVERSES, test=_inverses(both_ends=True)),
    ),
    Statement(
        key="4-theorem-a-4",
        paper=4,
        place="theorem A.4",
        section="appendix A",
        printed="det(A + uvᵀ) = det(A)(1 + vᵀA⁻¹u); (A + uvᵀ)⁻¹ = A⁻¹ − A⁻¹uvᵀA⁻¹/(1 + vᵀA⁻¹u)",
        hypotheses_text="A invertible, vᵀA⁻¹u ≠ −1; tested for d = 2",
        reading="Our text has “vᵀA⁻¹u ≠ d -1”, by conversion.",
        test=Searched(
            printed=lambda formula, scale, other, slope: _updated(formula, scale, other, slope)[0],
            exact=lambda formula, scale, other, slope: _updated(formula, scale, other, slope)[1],
            domain={
                "formula": choices("det", "inverse"),
                "scale": reals(-10.0, 10.0),
                "other": reals(-10.0, 10.0),
                "slope": reals(-10.0, 10.0),
            },
            hypotheses=_is_regular,
            side="both",
            quantity="value",
            tolerance=1e-6,
            rounding=1e-6,
        ),
    ),
)
