"""Paper 4, section 3 and appendix C: accuracy of ridge regression; numbers of the experiments."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi, t

from dpaudit._core.types import Array
from dpaudit.papers import printed
from dpaudit.testing import choices, integers, reals
from reports.make.findings.statement import Searched, Tested

X, Y = np.array([1.0, 2.0, 0.0, 1.0]), np.array([1.0, 3.0, 1.0, 0.0])
NORM = float(np.sqrt(X**2 + Y**2).max())  # the norm of the longest row of [X; Y]
ROWS = 8.0 * 2.0 * math.log(2.0)  # 8·d log d, of which r is ln(1/ν)/η² times, d = 2


# Section 3: ridge regression


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


def _misses(row_bound: float, eta: float, nu: float, power: float = 1.0) -> float:
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


# Appendix C

NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)
TAIL = 1e-15


def _updated(base: float, change: float, sign: float = -1.0) -> float:
    """Equation (3) for p = 1, with ± within its inverse."""
    part = change / base
    return (1.0 - part / (1.0 + sign * part)) / base


def _normal() -> tuple[Array, Array]:
    """Nodes and weights of a N(0, 1) expectation."""
    nodes = 12.0 * NODES
    return nodes, 12.0 * WEIGHTS * np.exp(-0.5 * nodes**2) / math.sqrt(2.0 * math.pi)


def _gauss_misses(eta: float, nu: float, norm: float, constant: float = 1.0) -> float:
    """P(|n − Nβ̂|/|G + N| > 2η|β̂| + η/C), p = 1, σ = 1, G = (2C/η) ln(1/ν)."""
    noise, weights = _normal()
    size = 2.0 * constant / eta * math.log(1.0 / nu)
    radius = (2.0 * eta * norm + eta / constant) * np.abs(size + noise)
    outside = ndtr(noise * norm - radius) + ndtr(-noise * norm - radius)
    return float(np.sum(weights * outside))


def _flipped_misses(size: float, nu: float, norm: float) -> float:
    """P(ρ ≥ 2C and |β̃ − β̂| > (2C/ρ)|β̃| + 1/ρ), p = 1, σ = 1, C = 1, XᵀX = `size`.

    By quadrature over N and a grid of n: an error of about 10⁻³ of it.
    """
    noise, weights = _normal()
    other = np.linspace(-8.0, 8.0, 1601)[:, None]
    density = np.exp(-0.5 * other**2) / math.sqrt(2.0 * math.pi) * 0.01
    unit = 2.0 * math.log(1.0 / nu)
    noisy = np.abs(size + noise)
    radius = unit * (2.0 * np.abs(size * norm + other) / noisy + 1.0)
    outside = (noisy >= 2.0 * unit) & (np.abs(other - noise * norm) > radius)
    return float(np.sum(weights * density * outside))


def _margin(k: int, features: int, nu: float) -> float:
    """(√k + √p + √(2 ln(4/ν)))²."""
    return (math.sqrt(k) + math.sqrt(features) + math.sqrt(2.0 * math.log(4.0 / nu))) ** 2


def _wishart_misses(k: int, constant: float, nu: float, norm: float, radius: float) -> float:
    """P(‖β̃ − β̂‖ > radius), p = 1, σ = 1, XᵀX = C(√k + 1 + …)², |β̂| = `norm`.

    N is χ²_k, and n is √N times a standard normal.
    """
    low, high = float(chi.ppf(TAIL, k)), float(chi.isf(TAIL, k))
    roots = 0.5 * (high - low) * (NODES + 1.0) + low
    weights = 0.5 * (high - low) * WEIGHTS * chi.pdf(roots, k)
    reach = radius * (constant * _margin(k, 1, nu) + roots**2)
    outside = ndtr((roots**2 * norm - reach) / roots) + ndtr((-(roots**2) * norm - reach) / roots)
    return float(np.sum(weights * outside))


def _theorem_c_3(k: int, constant: float, nu: float, norm: float) -> float:
    margin = _margin(k, 1, nu)
    least = min(2.0 * math.sqrt(2.0 * k * math.log(4.0 / nu)), margin)
    radius = (norm + (constant - 2.0) * least / (constant * margin)) / (constant - 1.0)
    return _wishart_misses(k, constant, nu, norm, radius)


def _right_theorem_c_3(k: int, constant: float, nu: float, norm: float) -> float:
    margin, log = _margin(k, 1, nu), math.log(4.0 / nu)
    least = _margin(k, 2, nu)
    if k > 2.0 * log:
        least = min(2.0 * math.sqrt(2.0 * k * log), least)
    return _wishart_misses(k, constant, nu, norm, norm / constant + least / (constant * margin))


def _squares(x: float, y: float, divisor: float = 2.0) -> float:
    return ((x + y) ** 2 - (x - y) ** 2) / divisor


def _coordinate(k: int, features: int, nu: float) -> float:
    """(σ²/2)(√k + s)² − (σ²/2)(√k − s)², s = √(2 ln(4p/ν)), σ = 1."""
    root, spread = math.sqrt(k), math.sqrt(2.0 * math.log(4.0 * features / nu))
    return 0.5 * (root + spread) ** 2 - 0.5 * (root - spread) ** 2


def _coordinate_bound(k: int, features: int, nu: float, factor: float = 4.0) -> float:
    return factor * math.sqrt(2.0 * math.log(4.0 * features / nu)) * math.sqrt(k)


def _diagonal(dim: int, own: float = 0.0) -> float:
    """The variance of M₁₁/σ² for M = (N + Nᵀ)/√2 less `own` times diag(N)."""
    parts = np.zeros((dim, dim))
    parts[0, 0] = 1.0
    return float(np.sum(((parts + parts.T) / math.sqrt(2.0) - own * parts) ** 2))


# Numbers of the experiments

SIZES = {14: 4_096, 22: 4_194_304, 25: 33_554_432}  # as printed beside 2^exponent
# by ε: the printed factor, the printed mean errors of algorithms 1 and 2
FACTORS = {"0.1": (3.5, 0.0671, 0.0192), "0.5": (11.0, 0.0639, 0.0058)}


def _gauss_deviation(epsilon: float, delta: float) -> float:
    """σ/B² of Analyze Gauss, σ² = 4B⁴ ln(2/δ)/ε²."""
    return 2.0 * math.sqrt(math.log(2.0 / delta)) / epsilon


def _wishart_deviation(dim: int, epsilon: float, delta: float) -> float:
    """√k of W_d(B²I, k), k as in algorithm 3."""
    return math.sqrt(printed.algorithm_3_dof(dim, epsilon, delta))


TESTS: dict[str, Tested] = {
    "4-ridge": Searched(
        printed=_closed_form,
        exact=_ridge,
        domain={"padding": reals(0.1, 100.0), "scale": reals(0.1, 10.0)},
        side="both",
        quantity="β^R",
        fixed={"printed": _right_closed_form},
    ),
    "4-ridge-padded": Searched(
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
    "4-theorem-3-2": Searched(
        printed=lambda nu: nu,
        exact=_misses,
        domain={"row_bound": reals(1e-3, 1e3), "eta": reals(0.01, 1.0), "nu": reals(1e-6, 0.4999)},
        quantity="P(outside)",
        fixed={"exact": partial(_misses, power=0.5)},
    ),
    "4-equation-3": Searched(
        printed=_updated,
        exact=lambda base, change: 1.0 / (base + change),
        domain={"base": reals(0.1, 10.0), "change": reals(0.001, 5.0)},
        hypotheses=lambda base, change: abs(base - change) > 1e-3,
        side="both",
        quantity="(A + B)⁻¹",
        fixed={"printed": partial(_updated, sign=1.0)},
    ),
    "4-theorem-c-1": Searched(
        printed=lambda nu: nu,
        exact=_gauss_misses,
        domain={"eta": reals(1e-3, 0.999), "nu": reals(1e-9, 0.3678), "norm": reals(0.0, 1e4)},
        quantity="P(outside)",
        rounding=1e-12,
    ),
    "4-comment-c-1": Searched(
        printed=lambda: 1.0,
        exact=_diagonal,
        domain={"dim": integers(1, 20)},
        side="both",
        quantity="Var(M₁₁)/σ²",
        fixed={"exact": partial(_diagonal, own=math.sqrt(2.0) - 1.0)},
    ),
    "4-corollary-c-2": Searched(
        printed=lambda nu: nu,
        exact=_flipped_misses,
        domain={"size": reals(1.0, 1000.0), "nu": reals(1e-4, 0.3678), "norm": reals(0.0, 100.0)},
        quantity="P(outside)",
        tries=200,
    ),
    "4-theorem-c-3": Searched(
        printed=lambda nu: nu,
        exact=_theorem_c_3,
        domain={
            "k": integers(1, 10_000),
            "constant": reals(2.0, 1000.0),
            "nu": reals(1e-9, 0.5),
            "norm": reals(0.0, 100.0),
        },
        quantity="P(outside)",
        rounding=1e-12,
        at={"k": 100, "constant": 2.0, "nu": 0.1, "norm": 0.0},
        fixed={"exact": _right_theorem_c_3},
    ),
    "4-proof-c-3": Searched(
        printed=_squares,
        exact=lambda x, y: x * y,
        domain={"x": reals(0.01, 10.0), "y": reals(0.01, 10.0)},
        side="both",
        quantity="XY",
        fixed={"printed": partial(_squares, divisor=4.0)},
    ),
    "4-proof-c-3-coordinate": Searched(
        printed=_coordinate_bound,
        exact=_coordinate,
        domain={"k": integers(1, 1000), "features": integers(1, 100), "nu": reals(1e-9, 0.5)},
        side="both",
        quantity="bound/σ²",
        fixed={"printed": partial(_coordinate_bound, factor=2.0)},
    ),
    "4-power": Searched(
        printed=lambda exponent: float(SIZES[exponent]),
        exact=lambda exponent: float(2**exponent),
        domain={"exponent": choices(14, 22, 25)},
        side="both",
        quantity="n",
        fixed={"printed": lambda exponent: float((SIZES | {14: 16_384})[exponent])},
    ),
    "4-section-3-2": Searched(
        printed=lambda epsilon: FACTORS[epsilon][0],
        exact=lambda epsilon: FACTORS[epsilon][1] / FACTORS[epsilon][2],
        domain={"epsilon": choices("0.1", "0.5")},
        side="both",
        quantity="factor",
        tolerance=0.01,
    ),
    "4-section-6-noise": Searched(
        printed=_wishart_deviation,
        exact=_gauss_deviation,
        domain={
            "dim": integers(2, 1000),
            "epsilon": reals(1e-3, 0.999),
            "delta": reals(1e-12, 0.3678),
        },
        quantity="deviation/B²",
    ),
}
