"""Paper 3, section 5 and appendices F and G: linear and logistic regression and their utility."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np
from numpy.polynomial import chebyshev
from scipy.optimize import brentq, minimize_scalar
from scipy.special import fdtri, ndtr, stdtr, stdtrit
from scipy.stats import f as fisher

from dpaudit._core.check import fail
from dpaudit.papers import LinearMixing, printed
from dpaudit.papers.paper_3.sketches import SketchedFit
from dpaudit.testing import integers, reals
from reports.make.findings.evidence import CERTIFIED, Evidence, stated
from reports.make.findings.paper_3.algorithm_1 import theorem_1
from reports.make.findings.statement import Searched, Swept, Tested


def _ridge_and_spread(
    rows: float, mean_label: float, mixtures: int, square: float
) -> tuple[float, float]:
    """Location and scale of θ for rows x = 1, labels ±1 or 1 of mean m, noise variance `square`.

    θ is Student t with k degrees of freedom. The padded data have XᵀX = n + σ², XᵀY = nm and
    YᵀY = n + σ².
    """
    gram = rows + square
    center = rows * mean_label / gram
    residual = gram - (rows * mean_label) ** 2 / gram
    return center, math.sqrt(residual / gram / mixtures)


def middle_excess(rows: int, mixtures: int, square: float) -> float:
    """The median of n(1 − θ)² for n rows x = y = 1, noise of variance `square`."""
    center, scale = _ridge_and_spread(rows, 1.0, mixtures, square)

    def beyond(half: float) -> float:
        ends = [(1.0 + sign * half - center) / scale for sign in (1.0, -1.0)]
        return float(stdtr(mixtures, ends[0]) - stdtr(mixtures, ends[1])) - 0.5

    return rows * float(brentq(beyond, 0.0, 1.0 + 100.0 * scale)) ** 2


# Algorithm 2 and theorem 2


def _solution_leak(row_bound: float, mixtures: int, epsilon: float, delta: float) -> float:
    """δ of θ on the algorithm's own pair, at C_X = C_Y, at least.

    No noise is added to either side except for a probability p, and then θ is least squares on a
    sketch: its Student t laws' δ, less (1 + e^ε)p.
    """
    mechanism = LinearMixing(mixtures, epsilon, delta, row_bound, row_bound)
    pair, mixing = mechanism.pair(), mechanism.mixing
    curve = SketchedFit.of(pair.left).curve(0, mixtures, 0.0)
    square = mixing.row_bound**2
    lowest = min(float(np.linalg.eigvalsh(one.T @ one)[0]) for one in (pair.left, pair.right))
    missed = float(ndtr(mixing.tau - (lowest - mixing.gamma) / (mixing.spread * square)))
    leak = max(float(one) for one in curve.delta(np.array(epsilon)))
    return leak - (1.0 + math.exp(epsilon)) * missed


def _joint_leak(row_bound: float, mixtures: int, epsilon: float, delta: float) -> float:
    """λ̃ and θ together, by the corrected line, on the same pair."""
    bounds = (row_bound, row_bound)
    pair = LinearMixing(mixtures, epsilon, delta, *bounds).pair()
    mechanism = LinearMixing(mixtures, epsilon, delta, *bounds, variant="corrected")
    return float(mechanism.joint_spectrum(pair, epsilon).delta)


def _rank(mixtures: int, features: int, more: int = 0) -> Evidence:
    """The rank of X̃ᵀX̃, of k + `more`·d rows with d features, against d, which an inverse takes."""
    sketch = np.random.default_rng(0).standard_normal((mixtures + more * features, features))
    return stated("rank of X̃ᵀX̃", features, float(np.linalg.matrix_rank(sketch.T @ sketch)))


FEW_MIXTURES = Swept(
    _rank,
    {"mixtures": 1, "features": 2},
    {"mixtures": (1, 2, 5), "features": (2, 5, 20)},
    fixed=partial(_rank, more=1),
)
# Theorem 3 and appendix F: utility

CONSTANT = 100.0  # for O(·), whose constant is not stated: any other fails further on


@lru_cache(maxsize=4096)
def _gamma(mixtures: int, epsilon: float, delta: float) -> float:
    return printed.linear_mixing_gamma(mixtures, epsilon, delta)


def _of_theorem_3(scale: float) -> float:
    """(1 + χ)²·scale·(C_X² + C_Y²)(1 + ‖θ*‖²) at C_X = C_Y = θ* = χ = 1."""
    return CONSTANT * 4.0 * scale * 2.0 * 2.0


def _median_loss(mixtures: int, epsilon: float, delta: float) -> float:
    """The median of L(θ) − (1 + χ)²L(θ*) for n = γ(C_X² + C_Y²) rows x = y = 1, where L(θ*) = 0.

    λ_min([X, Y]) = 0, so that the full noise is added; with λ̃ > 0, of probability at most δ/3,
    there is less.
    """
    square = 2.0 * _gamma(mixtures, epsilon, delta)
    return middle_excess(max(1, round(square)), mixtures, square)


def _both_conditions(mixtures: int, gamma: float, delta: float) -> bool:
    """k/(2γ²) is at most the other terms, and the least α of (59) is within its range."""
    small = mixtures <= 8.0 * gamma**2 * math.log(3.75 / delta)
    return small and gamma * math.sqrt(2.0 * math.log(3.0 / delta) / mixtures) <= 0.4 * gamma - 1.0


def _mixtures_for(features: int, failure: float) -> int:
    """k = (e₁d/c₂) log(c₁/ϱ), for e₁ = 2 and c₁ = c₂ = 1."""
    return math.ceil(2.0 * features * math.log(1.0 / failure))


def _sketched(rows: float, features: int, failure: float) -> float:
    """The median of L(θ) − L(θ*) without any noise, where L(θ*) = n/4.

    (L(θ) − L(θ*))/L(θ*) is (d/ν)·F(d, ν), ν = k − d + 1.
    """
    dof = _mixtures_for(features, failure) - features + 1
    return 0.25 * rows * features / dof * float(fdtri(features, dof, 0.5))


def _sketched_high(rows: float, features: int, failure: float) -> float:
    """A bound of L(θ) − L(θ*) without any noise that holds but for a probability ϱ."""
    dof = _mixtures_for(features, failure) - features + 1
    return 0.25 * rows * features / dof * float(fisher.isf(failure, features, dof))


def _without_residual(features: int, failure: float, delta: float, epsilon: float) -> float:
    """√(d log(1/ϱ) log(1/δ))·C_X²/ε·‖θ*‖² at C_X = 1, ‖θ*‖ = 10."""
    logs = math.log(1.0 / failure) * math.log(1.0 / delta)
    return CONSTANT * 100.0 * math.sqrt(features * logs) / epsilon


def _with_residual(
    rows: float, features: int, failure: float, delta: float, epsilon: float
) -> float:
    chi = 1.0 / math.sqrt(2.0 * features)
    rest = _without_residual(features, failure, delta, epsilon)
    return (2.0 * chi + chi**2) * 0.25 * rows + rest


def _ridge(seed: int, rows: int, features: int, noise: float) -> tuple[float, float]:
    """‖Y − Xθ*(σ²)‖² − ‖Y − Xθ*‖² and σ²‖θ*‖² for random X and Y."""
    data = np.random.default_rng(seed).standard_normal((rows + features, features + 1))
    x, y = data[:, :-1], data[:, -1]
    plain = np.linalg.lstsq(x, y, rcond=None)[0]
    ridge = np.linalg.solve(x.T @ x + noise * np.eye(features), x.T @ y)
    rise = np.sum((y - x @ ridge) ** 2) - np.sum((y - x @ plain) ** 2)
    return float(rise), float(noise * np.sum(plain**2))


# Section 5.2 and appendix G: logistic regression by a parabola

FARTHEST = 500.0
WIDTH = 100.0  # kχ²/d, for the constant c₀ that is not stated
LIKELY = 0.999  # the chance that θ is within the quantiles that are looked at


def _fit(ones: int, sign: float = -1.0) -> Evidence:
    """argmin of sign·Σ ln(1 + exp(−y_iθ)) for `ones` labels 1 and one label −1: ln(ones)."""

    def objective(theta: float) -> float:
        return sign * float(ones * np.logaddexp(0.0, -theta) + np.logaddexp(0.0, theta))

    bounds = (-FARTHEST, FARTHEST)
    ends = [objective(end) for end in bounds]
    inside = minimize_scalar(objective, bounds=bounds, method="bounded", options={"xatol": 1e-10})
    outside = math.copysign(math.inf, ends[0] - ends[1])
    lowest = outside if min(ends) < inside.fun else float(inside.x)
    return stated("θ∗", lowest, math.log(ones), tolerance=1e-6)


def _length(rows: int, power: float = 1.0) -> Evidence:
    """‖Y‖ of n labels ±1 against n^power."""
    label = np.where(np.arange(rows) % 3 == 0, -1.0, 1.0)
    return stated("‖Y‖", float(rows) ** power, float(np.linalg.norm(label)))


@lru_cache(maxsize=1024)
def _parabola(radius: float) -> tuple[float, float, float, float]:
    """(b₀, b₁, b₂, q) for −ln(1 + e^{−s}) on [−Q, Q], b by Chebyshev's interpolation."""
    nodes = radius * np.cos(np.pi * (np.arange(3) + 0.5) / 3)
    fit = chebyshev.chebfit(nodes / radius, -np.logaddexp(0.0, -nodes), 2)
    value, slope, bend = chebyshev.cheb2poly(fit) / radius ** np.arange(3)
    s = np.linspace(-radius, radius, 20_001)
    error = -np.logaddexp(0.0, -s) - (value + slope * s + bend * s**2)
    return float(value), float(slope), float(bend), float(np.abs(error).max()) * (1.0 + 1e-6)


def _loss(share_of_ones: float, theta: float) -> float:
    """(1/n) Σ ln(1 + exp(−y_iθ)) for rows x = 1."""
    ones = share_of_ones * np.logaddexp(0.0, -theta)
    return float(ones + (1.0 - share_of_ones) * np.logaddexp(0.0, theta))


def _best(share_of_ones: float) -> float:
    return math.log(share_of_ones / (1.0 - share_of_ones))


def _surrogate(share_of_ones: float, radius: float) -> float:
    """θ̃*, which has to be within Q, as does θ*."""
    _, slope, bend, _ = _parabola(radius)
    theta = -0.5 * slope / bend * (2.0 * share_of_ones - 1.0)
    if max(abs(theta), abs(_best(share_of_ones))) > radius:
        fail("radius", radius, "a radius of at least |θ̃*| and |θ*|")
    return theta


def _mixtures(chi: float) -> int:
    return math.ceil(WIDTH / chi**2)


def _left(share_of_ones: float, radius: float, chi: float) -> float:
    """The left side of (69) with L as in (64), at the θ̂ at which it is least: θ*.

    There (1 + χ)²·(−L(θ̂)) is least, so that no θ̂ gives less.
    """
    value, slope, bend, error = _parabola(radius)
    _surrogate(share_of_ones, radius)
    grown, entropy = (1.0 + chi) ** 2, _loss(share_of_ones, _best(share_of_ones))
    rest = (1.0 - grown) * (value - 0.25 * slope**2 / bend)
    return (grown - 1.0) * entropy - (1.0 + grown) * error + rest


def _right(
    rows: int, share_of_ones: float, radius: float, chi: float, epsilon: float, delta: float
) -> float:
    """(70) at C_X = 1."""
    rate = math.sqrt(_mixtures(chi) * math.log(1.0 / delta)) / (rows * epsilon)
    return CONSTANT * (1.0 + chi) ** 2 * rate * _surrogate(share_of_ones, radius) ** 2


def _corrected_left(
    rows: int, share_of_ones: float, radius: float, chi: float, epsilon: float, delta: float
) -> float:
    """The corrected left side at the worse of the outer quantiles of θ̂, with the full noise."""
    value, slope, bend, error = _parabola(radius)
    mixtures, scale = _mixtures(chi), -0.5 * slope / bend
    square = 2.0 * _gamma(mixtures, epsilon, delta)
    center, spread = _ridge_and_spread(rows, 2.0 * share_of_ones - 1.0, mixtures, square)
    tail = float(stdtrit(mixtures, 0.5 + 0.5 * LIKELY)) * spread
    roots = [scale * (center + sign * tail) for sign in (1.0, -1.0)]
    if max(map(abs, roots)) > radius:
        fail("radius", radius, "a radius that covers θ̂")
    grown = (1.0 + chi) ** 2
    worst = max(_loss(share_of_ones, one) for one in roots)
    rest = (1.0 - grown) * (value - 0.25 * slope**2 / bend)
    return worst - grown * _loss(share_of_ones, _best(share_of_ones)) - (1.0 + grown) * error + rest


def _corrected_right(
    rows: int, share_of_ones: float, radius: float, chi: float, epsilon: float, delta: float
) -> float:
    """(1 + χ)²|b₂|γ(C_X² + 1)(s² + ‖θ̃*‖²)/n, s = −b₁/(2b₂), for at C_X = 1."""
    _, slope, bend, _ = _parabola(radius)
    gamma = _gamma(_mixtures(chi), epsilon, delta)
    size = (0.5 * slope / bend) ** 2 + _surrogate(share_of_ones, radius) ** 2
    return (1.0 + chi) ** 2 * abs(bend) * gamma * 2.0 * size / rows


def _squares(seed: int, slope: float, bend: float) -> tuple[float, float]:
    """(65) and (66) less b₀ on random rows and signs."""
    rng = np.random.default_rng(seed)
    x, theta, y = rng.standard_normal((7, 3)), rng.standard_normal(3), rng.choice([-1.0, 1.0], 7)
    direct = slope * theta @ x.T @ y / 7 + bend * np.sum((x @ theta) ** 2) / 7
    square = np.sum((-0.5 * slope / bend * y - x @ theta) ** 2)
    return float(direct), float(-(slope**2) / (28.0 * bend) * 7.0 + bend / 7.0 * square)


TESTS: dict[str, Tested] = {
    "3-algorithm-2": Searched(
        lambda delta: delta,
        _solution_leak,
        {
            "row_bound": reals(1.0, 100.0),
            "mixtures": integers(1000, 100_000),
            "epsilon": reals(0.5, 2.0),
            "delta": reals(1e-6, 0.1),
        },
        kind=CERTIFIED,
        tries=30,
        at={"row_bound": 10.0, "mixtures": 10_000, "epsilon": 1.0, "delta": 1e-5},
        fixed={"exact": _joint_leak},
    ),
    "3-theorem-2-rows": FEW_MIXTURES,
    "3-theorem-3-chi": FEW_MIXTURES,
    "3-theorem-3": Searched(
        lambda mixtures, epsilon, delta: _of_theorem_3(
            math.sqrt(mixtures * math.log(1.0 / delta)) / epsilon
        ),
        _median_loss,
        {"mixtures": integers(100, 10_000), "epsilon": reals(0.1, 1e8), "delta": reals(1e-12, 0.1)},
        quantity="L(θ) − (1 + χ)²L(θ*)",
        tries=150,
        at={"mixtures": 1000, "epsilon": 1e6, "delta": 1e-6},
        also=lambda mixtures, epsilon, delta: f"so γ = {_gamma(mixtures, epsilon, delta):.3g}",
        fixed={
            "printed": lambda mixtures, epsilon, delta: (
                _of_theorem_3(_gamma(mixtures, epsilon, delta)) / CONSTANT
            )
        },
    ),
    "3-equations-54-to-57": Searched(
        lambda **at: _ridge(**at)[1],
        lambda **at: _ridge(**at)[0],
        {
            "seed": integers(1, 50),
            "rows": integers(1, 50),
            "features": integers(1, 8),
            "noise": reals(1e-3, 1e4),
        },
        quantity="‖Y − Xθ*(σ²)‖² − ‖Y − Xθ*‖²",
        rounding=1e-9,
        tries=300,
    ),
    "3-equation-60": Searched(
        lambda mixtures, gamma, delta: (
            3.0 * math.sqrt(2.0 * mixtures * math.log(3.75 / delta)) / gamma
        ),
        theorem_1,
        {"mixtures": integers(1, 1_000_000), "gamma": reals(2.51, 1e4), "delta": reals(1e-10, 0.5)},
        quantity="ε̃",
        tries=150,
        at={"mixtures": 1, "gamma": 10.0, "delta": 1e-10},
        fixed={"hypotheses": _both_conditions},
    ),
    "3-excess-risk": Searched(
        _without_residual,
        _sketched,
        {
            "rows": reals(1e3, 1e12),
            "features": integers(5, 30),
            "failure": reals(1e-14, 1e-3),
            "delta": reals(1e-10, 1e-2),
            "epsilon": reals(0.1, 10.0),
        },
        hypotheses=lambda features, failure: failure < math.exp(-features),
        quantity="L(θ) − L(θ*)",
        at={"rows": 1e9, "features": 10, "failure": 1e-6, "delta": 1e-6, "epsilon": 1.0},
        tries=400,
        fixed={"printed": _with_residual, "exact": _sketched_high},
    ),
    "3-equation-10": Swept(_fit, {"ones": 2}, {"ones": (2, 5, 100)}, fixed=partial(_fit, sign=1.0)),
    "3-equations-65-to-67": Searched(
        lambda **at: math.exp(_squares(**at)[0]),
        lambda **at: math.exp(_squares(**at)[1]),
        {"seed": integers(1, 100), "slope": reals(0.1, 1.0), "bend": reals(-1.0, -0.01)},
        side="both",
        quantity="exp(L̃ − b₀)",
        tolerance=1e-7,
        tries=200,
    ),
    "3-corollary-2": Searched(
        _right,
        _left,
        {
            "rows": integers(1000, 10**12),
            "share_of_ones": reals(0.5, 0.7),
            "radius": reals(0.1, 4.0),
            "chi": reals(0.02, 0.9),
            "epsilon": reals(0.1, 10.0),
            "delta": reals(1e-10, 0.01),
        },
        quantity="left side of (69)",
        rounding=1e-12,
        tries=200,
        at={
            "rows": 10**8,
            "share_of_ones": 0.6,
            "radius": 1.0,
            "chi": 0.1,
            "epsilon": 1.0,
            "delta": 1e-6,
        },
        fixed={"printed": _corrected_right, "exact": _corrected_left},
    ),
    "3-corollary-2-norm": Swept(
        _length,
        {"rows": 1000},
        {"rows": (2, 10, 1000)},
        fixed=partial(_length, power=0.5),
    ),
}
