"""Paper 3, appendices B and C: Rényi divergences of normal laws, and the proofs of section 4."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import Evidence, stated
from reports.make.findings.statement import MISPRINT, Searched, Statement, Swept

NORMAL = {
    "first": reals(0.2, 5.0),
    "second": reals(0.2, 5.0),
    "shift": reals(-2.0, 2.0),
    "order": reals(1.05, 4.0),
}
ROOTS = {"gamma": reals(1.0001, 1e6)}


def _lemma_2(first: float, second: float, shift: float, order: float) -> float:
    """(13) and (14) in one dimension, Σ₁ and Σ₂ the squares of `first` and `second`."""
    if order / first**2 + (1.0 - order) / second**2 <= 1e-3:
        fail("order", order, "an order with αΣ₁⁻¹ + (1 − α)Σ₂⁻¹ > 0")
    mixed = first**2 + order * (second**2 - first**2)
    logs = math.log(mixed) - 2.0 * (1.0 - order) * math.log(first) - 2.0 * order * math.log(second)
    return 0.5 * order * shift**2 / mixed - 0.5 * logs / (order - 1.0)


def _by_quadrature(first: float, second: float, shift: float, order: float) -> float:
    """ln ∫ p^α q^{1−α}/(α − 1) by sums about the largest value of the integrand.

    Of a normal density, equally spaced sums with a step of 1/8 deviation are exact to rounding.
    """
    a, b = order / first**2, (1.0 - order) / second**2
    center, width = b * shift / (a + b), 1.0 / math.sqrt(a + b)

    x = center + width * np.arange(-12.0, 12.0, 0.125)
    log = -0.5 * (a * x**2 + b * (x - shift) ** 2)
    top = float(log.max())
    mass = 0.125 * width * float(np.exp(log - top).sum())
    scale = order * math.log(first) + (1.0 - order) * math.log(second)
    return (math.log(mass) + top - scale - 0.5 * math.log(2.0 * math.pi)) / (order - 1.0)


@lru_cache(maxsize=256)
def _example(seed: int) -> tuple[Array, Array]:
    """XᵀX + I and a row x of X, for random X with three columns."""
    data = np.random.default_rng(seed).standard_normal((5, 3))
    return data.T @ data + np.eye(3), data[0]


def _share(seed: int) -> float:
    gram, row = _example(seed)
    return float(row @ np.linalg.solve(gram, row))


def _determinant(seed: int, order: float) -> float:
    """det(XᵀX + σ²I − αxxᵀ)/det(XᵀX + σ²I)."""
    gram, row = _example(seed)
    return float(np.linalg.det(gram - order * np.outer(row, row)) / np.linalg.det(gram))


def _lowest(seed: int, order: float) -> float:
    """The least eigenvalue of the middle matrix of (40): Σ₁^{1/2}(αΣ₁⁻¹ + (1 − α)Σ₂⁻¹)Σ₁^{1/2}."""
    gram, row = _example(seed)
    values, axes = np.linalg.eigh(gram)
    root = (axes * np.sqrt(values)) @ axes.T
    less = np.linalg.inv(gram - np.outer(row, row))
    middle = root @ (order * np.linalg.inv(gram) + (1.0 - order) * less) @ root
    return float(np.linalg.eigvalsh(middle)[0])


def _of_41(seed: int, order: float) -> float:
    share = _share(seed)
    return min(1.0 + (1.0 - order) * share / (1.0 - share), 1.0)


def _positive(factor: float) -> Callable[[int], Evidence]:
    """Whether (41) is positive at α = `factor`/xᵀΣ₁⁻¹x: 1 for yes."""

    def test(seed: int) -> Evidence:
        lowest = _lowest(seed, factor / _share(seed))
        return stated("positive (1 = yes)", 1.0, float(lowest > 1e-9))

    return test


def _ratio(order: float, share: float) -> float:
    """(1 − t)^α/(1 − αt) at t = share/α, over its value at 0.999 t."""
    near, far = share / order, 0.999 * share / order
    logs = [order * math.log1p(-t) - math.log1p(-order * t) for t in (near, far)]
    return math.exp(logs[0] - logs[1])


def _directions(order: float, share: float) -> float:
    """exp f(t; α) at t = share/α."""
    t = share / order
    forward = order * math.log1p(-t) - math.log1p(-order * t)
    return math.exp(forward - order * math.log1p(t) + math.log1p(order * t))


def _roots(gamma: float) -> tuple[float, float, float]:
    """Δ_H, α_min and α_max of (45) and (46), without the cancellation in γ² ln(1 − 1/γ) + γ."""
    if gamma < 100.0:
        log = gamma**2 * math.log1p(-1.0 / gamma) + gamma
    else:
        log = -sum(gamma ** (2 - n) / n for n in range(2, 12))
    middle = 1.0 + gamma + log
    discriminant = middle**2 - 8.0 * gamma * (1.0 + log)
    root = math.sqrt(max(discriminant, 0.0))
    return discriminant, 0.25 * (middle - root), 0.25 * (middle + root)


def _bound_of_root(which: str) -> float:
    return {"α_max > 2γ/5": 1.0, "α_max < γ": 1.0, "α_min < ½": 1.0, "Δ_H ≥ 0": 1.0}[which]


def _of_root(gamma: float, which: str) -> float:
    """What has to be at most 1 for the inequality."""
    discriminant, low, high = _roots(gamma)
    return {
        "α_max > 2γ/5": 0.4 * gamma / high,
        "α_max < γ": high / gamma,
        "α_min < ½": math.exp(low - 0.5),
        "Δ_H ≥ 0": math.exp(min(-discriminant, 700.0)),
    }[which]


EDGE = Swept(_positive(1.0), {"seed": 1}, {"seed": (1, 2, 3, 4, 5)})
STATEMENTS = (
    Statement(
        "3-lemma-2",
        3,
        "lemma 2",
        "appendix B",
        "D_α(x₁‖x₂) = (α/2)(μ₁ − μ₂)ᵀ(Σ₁ + α(Σ₂ − Σ₁))⁻¹(μ₁ − μ₂) − 1/(2(α − 1))·"
        "log(det(Σ₁ + α(Σ₂ − Σ₁))/((det Σ₁)^(1−α)(det Σ₂)^α))",
        "αΣ₁⁻¹ + (1 − α)Σ₂⁻¹ ≻ 0; here one dimension, against quadrature",
        test=Searched(
            _lemma_2,
            _by_quadrature,
            NORMAL,
            side="both",
            quantity="D_α",
            tolerance=1e-6,
            rounding=1e-8,
            tries=300,
        ),
    ),
    Statement(
        "3-equations-15-to-30",
        3,
        "equations (15) to (30)",
        "appendix B",
        "det(−αx₁x₁ᵀ + XᵀX + σ²I_d)/det(XᵀX + σ²I_d) = 1 − αx₁ᵀ(XᵀX + σ²I_d)⁻¹x₁",
        "XᵀX + σ²I_d invertible",
        test=Searched(
            lambda seed, order: 1.0 - order * _share(seed),
            _determinant,
            {"seed": integers(1, 100), "order": reals(1.0, 5.0)},
            side="both",
            quantity="ratio of determinants",
            tolerance=1e-7,
            rounding=1e-11,
            tries=300,
        ),
        fault="D_α(M(X)‖M(X′)) of (30) itself is tested with lemma 1",
    ),
    Statement(
        "3-equation-31",
        3,
        "equations (31) and (32) to (37)",
        "appendix B",
        "the function (1 − t)^α/(1 − αt) is a monotonically non-decreasing function of t in the "
        "range 0 ≤ t < 1/α for α > 1",
        "",
        test=Searched(
            lambda: 1.0,
            _ratio,
            {"order": reals(1.001, 100.0), "share": reals(1e-3, 0.999)},
            side="lower",
            quantity="ratio of two values",
            rounding=1e-12,
            tries=500,
        ),
    ),
    Statement(
        "3-equation-39",
        3,
        "equations (38) and (39)",
        "appendix B",
        "f(t; α) ≥ 0 for all t < 1/α, and we get that the maximum between the two divergences is "
        "always given by the case where X′ contains a zero row",
        "t ≥ 0",
        test=Searched(
            lambda: 1.0,
            _directions,
            {"order": reals(1.001, 100.0), "share": reals(1e-3, 0.999)},
            side="lower",
            quantity="exp f(t; α)",
            rounding=1e-12,
            tries=500,
        ),
        fault="compared at the same t, though t is larger for the zeroed row of the same pair; the "
        "conclusion is right for each pair, too, see lemma 1",
    ),
    Statement(
        "3-equations-40-and-41",
        3,
        "equations (40) and (41)",
        "appendix B",
        "its eigenvalues are 1’s and an additional eigenvalue that is given by 1 + (1 − α)·"
        "x_iᵀΣ₁⁻¹x_i/(1 − x_iᵀΣ₁⁻¹x_i)",
        "Σ₂ = Σ₁ − x_ix_iᵀ",
        test=Searched(
            lambda seed, order: math.exp(_of_41(seed, order)),
            lambda seed, order: math.exp(_lowest(seed, order)),
            {"seed": integers(1, 100), "order": reals(1.0, 5.0)},
            side="both",
            quantity="exp of the least eigenvalue",
            tolerance=1e-6,
            rounding=1e-10,
            tries=300,
        ),
    ),
    Statement(
        "3-equation-41-edge",
        3,
        "below (37d) and (41)",
        "appendix B",
        "this term is positive whenever α ≤ 1/(x_iᵀΣ₁⁻¹x_i); α ≤ min_i{(λ̄_min + σ²)/‖x_i‖²} = "
        "(λ̄_min + σ²)/C_X²",
        "",
        test=EDGE,
        fails=MISPRINT,
        fault="at equality the term is 0, and (37d) is infinite; the minimum is at least the last "
        "term. Lemma 1 itself has the open interval",
        corrected="α < … in both places, and min_i{…} ≥ (λ̄_min + σ²)/C_X²",
        fixed=replace(EDGE, test=_positive(0.999)),
    ),
    Statement(
        "3-appendix-c",
        3,
        "proof of corollary 1, (42) to (46)",
        "appendix C",
        "Δ_H … is non-negative; α_min < 1/2 for all γ > 1; α_max < γ for all γ > 2.5; α_max > 2γ/5 "
        "for all γ > 1",
        "γ > 1",
        test=Searched(
            _bound_of_root,
            _of_root,
            {**ROOTS, "which": choices("α_max > 2γ/5", "α_max < γ", "α_min < ½", "Δ_H ≥ 0")},
            quantity="left over right side",
            rounding=1e-9,
            tries=800,
        ),
        fault="the least of α_max/γ is 0.4123",
    ),
)
