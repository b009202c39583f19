"""Paper 4, sections 1 and 2 and appendix A: tails, densities and lemmas on χ² and Wishart laws."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtr, chdtrc, ndtr
from scipy.stats import binomtest, invwishart, wishart

from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import CERTIFIED, Evidence, claimed
from reports.make.findings.statement import Searched, Swept, Tested

# Sections 1 and 2


def _normal_tail(nu: float, factor: float = 1.0) -> float:
    """P(x > μ + σ√(factor·ln(1/ν))) for a normal x."""
    return float(ndtr(-math.sqrt(factor * math.log(1.0 / nu))))


def _outside_root(k: int, nu: float, least: float = -math.inf) -> float:
    """P(χ²_k outside (max(√k − s, least)², (√k + s)²)), s = √(2 ln(2/ν))."""
    root, radius = math.sqrt(k), math.sqrt(2.0 * math.log(2.0 / nu))
    low = max(root - radius, least) ** 2
    return float(chdtr(k, low) + chdtrc(k, (root + radius) ** 2))


def _rows_for(eta: float, beta: float) -> int:
    """The r − d + 1 = O(1/η²) for which lemma A.1's bound is at most η."""
    t = 1.0 - 1.0 / math.sqrt(1.0 + eta)
    return math.ceil(2.0 * math.log(2.0 / beta) / t**2)


def _divided_misses(eta: float, beta: float, dim: int = 1) -> float:
    """P(vᵀv outside (1 ± η)·vᵀ(RᵀR/r)⁻¹v): vᵀv/vᵀ(RᵀR)⁻¹v is χ² with r − d + 1 degrees.

    With d = 1 it is the same for any d and 1/(r − d + 1) in place of 1/r.
    """
    dof = _rows_for(eta, beta)
    divisor = dof + dim - 1
    return _outside(divisor * (1.0 - eta), divisor * (1.0 + eta), dof)


def _mode(dim: int, dof: int) -> float:
    """The x at which the density of W⁻¹_d(I, ν) at xI is largest, found by search."""
    power = 0.5 * dim * (dof + dim + 1)
    optimum = minimize_scalar(
        lambda log: power * log + 0.5 * dim * math.exp(-log),
        bracket=(-math.log(2.0 * dof), 0.0),
        options={"xtol": 1e-12},
    )
    return math.exp(float(optimum.x))


def _density(dim: int, dof: int, low: float, high: float, family: Any = wishart) -> float:
    """ln of the density at high·I less that at low·I, V = I, by scipy."""
    law = family(df=dof, scale=np.eye(dim))
    return float(law.logpdf(high * np.eye(dim)) - law.logpdf(low * np.eye(dim)))


WISHART_DENSITY = Searched(
    lambda dim, dof, low, high: 0.5 * dim * ((dof - dim - 1) * math.log(high / low) - (high - low)),
    _density,
    {
        "dim": integers(1, 5),
        "dof": integers(1, 50),
        "low": reals(0.1, 10.0),
        "high": reals(0.1, 10.0),
    },
    hypotheses=lambda dim, dof, low, high: dof > dim - 1 and high > 1.01 * low,
    side="both",
    quantity="log density ratio",
    tolerance=1e-6,
    rounding=1e-9,
    tries=300,
)


# Appendix A

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


def _far(m: int, delta: float, share: float, sign: float = -1.0) -> float:
    """P(|αV − X| > |α − (√m ± s)²|) for d = 1, V = 1, α = `share`·m."""
    alpha = share * m
    radius = abs(alpha - (math.sqrt(m) + sign * _spread(1, delta)) ** 2)
    return _outside(alpha - radius, alpha + radius, m)


def _enough(m: int, delta: float) -> bool:
    return math.sqrt(m) > _spread(1, delta)


def _inverses(m: int, dim: int, delta: float, share: float, both_ends: bool = False) -> Evidence:
    """P(‖(αV)⁻¹ − X⁻¹‖ > …) for V = I, α = `share`·m, from below by draws of X."""
    root, spread, alpha = math.sqrt(m), _spread(dim, delta), share * m
    ends = (root + spread, root - spread) if both_ends else (root + spread,)
    radius = max(abs(1.0 / alpha - end**-2) for end in ends)
    draws = np.random.default_rng(SEED).standard_normal((DRAWS, m, dim))
    eigenvalues = np.linalg.eigvalsh(draws.transpose(0, 2, 1) @ draws)
    missed = int(np.sum(np.abs(1.0 / alpha - 1.0 / eigenvalues).max(axis=1) > radius))
    low = binomtest(missed, DRAWS, alternative="greater").proportion_ci(1.0 - LEVEL).low
    return claimed(delta, float(low), kind=CERTIFIED, quantity="P(outside)")


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


TESTS: dict[str, Tested] = {
    "4-intro-map": Searched(
        printed=lambda dim, dof: 1.0 / (dof - dim - 1),  # the mean of W⁻¹_d(I, ν)
        exact=_mode,
        domain={"dim": integers(1, 50), "dof": integers(3, 1000)},
        hypotheses=lambda dim, dof: dof > dim + 1,
        side="both",
        quantity="multiple of the scale",
        tolerance=1e-6,
        fixed={"printed": lambda dim, dof: 1.0 / (dof + dim + 1)},
    ),
    "4-intro-inverse": Searched(
        printed=lambda beta: beta,
        exact=_divided_misses,
        domain={"dim": integers(1, 100_000), "eta": reals(0.01, 0.9), "beta": reals(1e-6, 0.36)},
        quantity="P(outside)",
        fixed={"exact": lambda eta, beta: _divided_misses(eta, beta)},
    ),
    "4-gaussian-tail": Searched(
        printed=lambda nu: nu,
        exact=_normal_tail,
        domain={"nu": reals(1e-12, 0.5)},
        quantity="P(x > …)",
        at={"nu": 1e-5},
        fixed={"exact": partial(_normal_tail, factor=2.0)},
    ),
    "4-chi-square": Searched(
        printed=lambda nu: nu,
        exact=_outside_root,
        domain={"k": integers(1, 10_000), "nu": reals(1e-9, 0.4999)},
        quantity="P(outside)",
        at={"k": 1, "nu": 0.01},
        fixed={"exact": partial(_outside_root, least=0.0)},
    ),
    "4-wishart": WISHART_DENSITY,
    "4-inverse-wishart": replace(
        WISHART_DENSITY,
        printed=lambda dim, dof, low, high: (
            0.5 * dim * ((1.0 / low - 1.0 / high) - (dof + dim + 1) * math.log(high / low))
        ),
        exact=partial(_density, family=invwishart),
    ),
    "4-lemma-a-1": Searched(
        printed=lambda beta: beta,
        exact=_sketch_misses,
        domain={"rows": integers(1, 10**7), "beta": reals(1e-14, 0.3678)},
        quantity="P(outside)",
    ),
    "4-lemma-a-1-inverse": Searched(
        printed=lambda beta: beta,
        exact=_inverse_misses,
        domain={"rows": integers(1, 10**7), "dim": integers(1, 1000), "beta": reals(1e-14, 0.3678)},
        hypotheses=_admits,
        quantity="P(outside)",
    ),
    "4-lemma-a-1-order": Searched(
        printed=_excess,
        exact=_inverse_excess,
        domain={"rows": integers(1, 10**6), "dim": integers(1, 1000), "beta": reals(1e-9, 0.3678)},
        hypotheses=_admits,
        quantity="bound",
        at={"rows": 1000, "dim": 22, "beta": 0.05},
        fixed={"side": "lower"},
    ),
    "4-claim-a-2": Searched(
        printed=lambda k, part: math.exp(-0.5 * part * k),
        exact=_larger_tail,
        domain={"k": integers(1, 10**6), "part": reals(1e-6, 0.999999)},
        quantity="P(outside)",
    ),
    "4-lemma-a-3": Searched(
        printed=lambda delta: delta,
        exact=_singular_value,
        domain={"m": integers(9, 10**7), "delta": reals(1e-12, 0.3678)},
        hypotheses=_enough,
        quantity="P(outside)",
    ),
    "4-lemma-a-3-norm": Searched(
        printed=lambda delta: delta,
        exact=_far,
        domain={"m": integers(9, 10**6), "delta": reals(1e-9, 0.3678), "share": reals(1e-3, 1.0)},
        hypotheses=_enough,
        quantity="P(outside)",
        at={"m": 100, "delta": 0.05, "share": 0.3},
        fixed={"exact": partial(_far, sign=1.0)},
    ),
    "4-lemma-a-3-inverse": Swept(
        test=_inverses,
        setting={"m": 100, "dim": 10, "delta": 0.05, "share": 1.0},
        grid={"share": (0.1, 0.5, 1.0), "delta": (0.05, 0.3)},
        fixed=partial(_inverses, both_ends=True),
    ),
    # for V and y² numbers: V^{−1/2}(α − y²)V^{−1/2} for 1/(αV) − 1/(Vy²)
    "4-proof-a-3": Searched(
        printed=lambda variance, alpha, square: (alpha - square) / variance,
        exact=lambda variance, alpha, square: 1.0 / (alpha * variance) - 1.0 / (variance * square),
        domain={
            "variance": reals(0.1, 10.0),
            "alpha": reals(0.1, 10.0),
            "square": reals(0.1, 10.0),
        },
        side="both",
        quantity="(αV)⁻¹ − X⁻¹",
        rounding=1e-12,
        tries=300,
        at={"variance": 1.0, "alpha": 1.0, "square": 2.0},
        fixed={
            "printed": lambda variance, alpha, square: (1.0 / alpha - 1.0 / square) / variance,
        },
    ),
    "4-theorem-a-4": Searched(
        printed=lambda **setting: _updated(**setting)[0],
        exact=lambda **setting: _updated(**setting)[1],
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
}
