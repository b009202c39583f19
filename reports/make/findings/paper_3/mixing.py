"""Paper 3, sections 3 and 4, appendices B and C: conversions, GaussMix, lemma 1 and corollary 1."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.curves.readings import epsilon_at
from dpaudit.exact import gaussian_shift, gaussian_sketch
from dpaudit.papers import printed
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import Evidence, stated
from reports.make.findings.measures import sketch
from reports.make.findings.statement import Searched, Swept, Tested

# Section 3: from Rényi divergences to (ε, δ), and the Gaussian mechanism

MIXING = {
    "mixtures": integers(1, 1000),
    "gamma": reals(2.51, 1000.0),
    "delta": reals(1e-10, 0.5),
    "law": choices("sketch", "shift"),
}


def _delta_by_order(mixtures: int, gamma: float, share: float, delta: float, law: str) -> float:
    """δ at proposition 1's ε_DP, for a sketch at q = 1/γ or for a shift of 1/√γ."""
    order, is_sketch = 1.0 + share * (gamma - 1.0), law == "sketch"
    lemma_1 = float(printed.lemma_1_renyi(order, mixtures, gamma))
    renyi = lemma_1 if is_sketch else 0.5 * order / gamma
    epsilon = renyi + math.log1p(-1.0 / order) - math.log(order * delta) / (order - 1.0)
    if epsilon < 0.0:
        fail("delta", delta, "a delta with ε_DP of at least 0")
    if is_sketch:
        return sketch(1.0 / gamma, mixtures, epsilon)
    return float(gaussian_shift(gamma**-0.5, epsilon))


def _truncated_epsilon(rho: float, omega: float, delta: float) -> float:
    """Proposition 2 with both of its cases."""
    log = math.log(1.0 / delta)
    if log <= (omega - 1.0) ** 2 * rho:
        return rho + 2.0 * math.sqrt(rho * log)
    return rho * omega + log / (omega - 1.0)


def _delta_truncated(mixtures: int, gamma: float, delta: float, law: str) -> float:
    """The exact δ of a sketch, or of a shift, that is (k/(2γ²), 2γ/5)-tCDP."""
    rho, omega = printed.corollary_1_tcdp(mixtures, gamma)
    epsilon = _truncated_epsilon(rho, omega, delta)
    if law == "sketch":
        return sketch(1.0 / gamma, mixtures, epsilon)
    return float(gaussian_shift(math.sqrt(2.0 * rho), epsilon))


def _epsilon(sigma: float, delta: float) -> float:
    return math.sqrt(2.0 * math.log(1.25 / delta)) / sigma


def _delta_of_noise(sigma: float, delta: float, row_bound: float) -> float:
    """X + σξ at the printed ε: a zeroed row of norm C moves it by C."""
    return float(gaussian_shift(row_bound / sigma, _epsilon(sigma, delta)))


def _delta_of_scaled(sigma: float, delta: float, row_bound: float) -> float:
    epsilon = row_bound * _epsilon(sigma, delta)
    if epsilon > 1.0:
        fail("sigma", sigma, "a sigma with ε of at most 1")
    return float(gaussian_shift(row_bound / sigma, epsilon))


# Section 4: lemma 1, corollary 1 and what follows them

AT_DELTA = {
    "mixtures": integers(1, 1000),
    "gamma": reals(2.51, 1000.0),
    "delta": reals(1e-10, 0.1),
}


@lru_cache(maxsize=512)
def _matrix(seed: int, rows: int, columns: int) -> Array:
    return np.random.default_rng(seed).standard_normal((rows, columns))


def _largest_renyi(seed: int, rows: int, columns: int, sigma: float, share: float) -> float:
    """The larger D_α of both directions over all rows, for k = 1, by lemma 2's determinants."""
    data = _matrix(seed, rows, columns)
    full = data.T @ data + sigma**2 * np.eye(columns)
    order = _order(seed, rows, columns, sigma, share)
    pairs = [(full, full - np.outer(row, row)) for row in data]
    both = [*pairs, *((less, more) for more, less in pairs)]
    return max(_normal_renyi(order, *pair) for pair in both)


def _normal_renyi(order: float, first: Array, second: Array) -> float:
    """D_α of two normal laws of mean 0."""
    mixed = np.linalg.eigvalsh(first + order * (second - first))
    if mixed[0] <= 0.0:
        return math.inf
    logs = [np.linalg.slogdet(one)[1] for one in (first, second)]
    log = float(np.sum(np.log(mixed))) - (1.0 - order) * logs[0] - order * logs[1]
    return float(-0.5 * log / (order - 1.0))


def _gamma(seed: int, rows: int, columns: int, sigma: float) -> float:
    data = _matrix(seed, rows, columns)
    lowest = max(float(np.linalg.eigvalsh(data.T @ data)[0]), 0.0)
    gamma = (sigma**2 + lowest) / float(np.max(np.sum(data**2, axis=1)))
    if gamma <= 1.0 + 1e-9:
        fail("sigma", sigma, "a sigma with γ > 1")
    return gamma


def _order(seed: int, rows: int, columns: int, sigma: float, share: float) -> float:
    return 1.0 + share * (_gamma(seed, rows, columns, sigma) - 1.0)


def _lemma_1(seed: int, rows: int, columns: int, sigma: float, share: float) -> float:
    gamma = _gamma(seed, rows, columns, sigma)
    return float(printed.lemma_1_renyi(_order(seed, rows, columns, sigma, share), 1, gamma))


def _exact_epsilon(mixtures: int, gamma: float, delta: float) -> float:
    """The exact ε of a sketch with q = 1/γ at δ."""
    return float(
        epsilon_at(lambda e: np.maximum(*gaussian_sketch(1.0 / gamma, mixtures, e)), delta)
    )


def _order_to_two_fifths(gamma: float, share: float) -> float:
    """α in (1, 2γ/5)."""
    return 1.0 + share * (0.4 * gamma - 1.0)


def _both_cases(mixtures: int, gamma: float, delta: float) -> float:
    epsilon = _truncated_epsilon(*printed.corollary_1_tcdp(mixtures, gamma), delta)
    return sketch(1.0 / gamma, mixtures, epsilon)


def _quoted_small(mixtures: int, gamma: float, delta: float) -> float:
    """δ at the quoted ε where X or X′ meets the scale bound, and ε ≤ ln(4/δ)."""
    epsilon = printed.sheffet_2019(mixtures, gamma, delta)
    if epsilon > math.log(4.0 / delta):
        fail("gamma", gamma, "a gamma with ε of at most ln(4/δ)")
    return sketch(1.0 / gamma, mixtures, epsilon)


def _epsilon_of_noise(mixtures: int, ratio: float, delta: float) -> float:
    """The exact ε of X + σξ for C = 1, σ = ratio·√k."""
    sigma = ratio * math.sqrt(mixtures)
    return float(epsilon_at(lambda epsilon: gaussian_shift(1.0 / sigma, epsilon), delta))


def _epsilon_of_mixing(mixtures: int, ratio: float, delta: float) -> float:
    """The exact ε of SX + σξ: without a scale bound q is at most 1/(1 + σ²)."""
    return _exact_epsilon(mixtures, 1.0 + ratio**2 * mixtures, delta)


# Appendices B and C: the proofs


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


def _positive(seed: int, factor: float = 1.0) -> Evidence:
    """Whether (41) is positive at α = `factor`/xᵀΣ₁⁻¹x: 1 for yes."""
    lowest = _lowest(seed, factor / _share(seed))
    return stated("positive (1 = yes)", 1.0, float(lowest > 1e-9))


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


def _root_over_bound(gamma: float, which: str) -> float:
    """What has to be at most 1 for the inequality."""
    discriminant, low, high = _roots(gamma)
    return {
        "α_max > 2γ/5": 0.4 * gamma / high,
        "α_max < γ": high / gamma,
        "α_min < ½": math.exp(low - 0.5),
        "Δ_H ≥ 0": math.exp(min(-discriminant, 700.0)),
    }[which]


TESTS: dict[str, Tested] = {
    "3-proposition-1": Searched(
        lambda delta: delta,
        _delta_by_order,
        {
            "mixtures": MIXING["mixtures"],
            "gamma": MIXING["gamma"],
            "share": reals(0.001, 0.999),
            "delta": MIXING["delta"],
            "law": MIXING["law"],
        },
        tries=600,
    ),
    "3-proposition-2": Searched(lambda delta: delta, _delta_truncated, MIXING, tries=600),
    "3-gaussian-mechanism": Searched(
        lambda delta: delta,
        _delta_of_noise,
        {"sigma": reals(0.05, 100.0), "delta": reals(1e-10, 0.99), "row_bound": 1.0},
        at={"sigma": 0.48, "delta": 1e-5, "row_bound": 1.0},
        also=lambda sigma, delta, **_: f"so ε = {_epsilon(sigma, delta):.4g}",
        fixed={"exact": _delta_of_scaled},
    ),
    "3-gaussian-mechanism-units": Searched(
        lambda delta: delta,
        _delta_of_noise,
        {"sigma": reals(0.05, 1e4), "delta": reals(1e-10, 0.99), "row_bound": reals(0.01, 100.0)},
        hypotheses=lambda sigma, delta: _epsilon(sigma, delta) <= 1.0,
        at={"sigma": 5.0, "delta": 1e-5, "row_bound": 10.0},
        also=lambda sigma, delta, **_: f"so ε = {_epsilon(sigma, delta):.4g}",
        fixed={"exact": _delta_of_scaled, "hypotheses": None},
    ),
    "3-lemma-1": Searched(
        _lemma_1,
        _largest_renyi,
        {
            "seed": integers(1, 50),
            "rows": integers(1, 12),
            "columns": integers(1, 4),
            "sigma": reals(0.01, 30.0),
            "share": reals(0.01, 0.99),
        },
        quantity="D_α",
        tolerance=1e-7,
        rounding=1e-11,
        tries=400,
    ),
    "3-lemma-1-conversion": Searched(
        lambda mixtures, gamma, delta: printed.gaussmix_epsilon(mixtures, gamma, delta),
        _exact_epsilon,
        {**AT_DELTA, "delta": reals(1e-10, 0.01)},
        quantity="ε",
        tries=300,
    ),
    "3-corollary-1": Searched(
        lambda gamma, share: 0.5 * _order_to_two_fifths(gamma, share) / gamma**2,
        lambda gamma, share: float(
            printed.lemma_1_renyi(_order_to_two_fifths(gamma, share), 1, gamma)
        ),
        {"gamma": reals(2.5001, 1e5), "share": reals(1e-3, 1.0)},
        quantity="D_α/k",
        tolerance=1e-6,
        rounding=1e-13,
    ),
    "3-lemma-1-tight": Searched(
        lambda order, gamma: float(printed.lemma_1_renyi(order, 1, gamma)),
        lambda rows, order, gamma: float(printed.lemma_1_renyi(order, 1, rows * gamma)),
        {"rows": integers(1, 100), "order": reals(1.1, 5.0), "gamma": reals(6.0, 100.0)},
        side="both",
        quantity="D_α",
        at={"rows": 100, "order": 2.0, "gamma": 10.0},
        fixed={"hypotheses": lambda rows: rows == 1},
    ),
    "3-corollary-1-epsilon": Searched(
        lambda delta: delta,
        lambda mixtures, gamma, delta: sketch(
            1.0 / gamma, mixtures, printed.corollary_1_epsilon(mixtures, gamma, delta)
        ),
        AT_DELTA,
        at={"mixtures": 10, "gamma": 5.0, "delta": 1e-6},
        also=lambda mixtures, gamma, delta: (
            f"so ε = {printed.corollary_1_epsilon(mixtures, gamma, delta):.4g}"
        ),
        fixed={"exact": _both_cases},
    ),
    "3-sheffet-2019": Searched(
        lambda delta: delta,
        # X and X′ both meet the scale bound, so that q = 1/(1 + γ)
        lambda mixtures, gamma, delta: sketch(
            1.0 / (1.0 + gamma), mixtures, printed.sheffet_2019(mixtures, gamma, delta)
        ),
        {
            "mixtures": integers(1, 100_000),
            "gamma": reals(1.01, 1000.0),
            "delta": reals(1e-10, 0.5),
        },
        at={"mixtures": 10_000, "gamma": 2.0, "delta": 0.01},
        also=lambda mixtures, gamma, delta: (
            f"so ε = {printed.sheffet_2019(mixtures, gamma, delta):.4g}"
        ),
        fixed={"exact": _quoted_small},
    ),
    "3-figure-1": Searched(
        lambda gamma: printed.sheffet_2019(150, gamma, 1e-8),
        lambda gamma: printed.gaussmix_epsilon(150, gamma, 1e-8),
        {"gamma": reals(1.9, 1e7)},
        quantity="ε",
        tries=150,
    ),
    "3-without-scale-bound": Searched(
        _epsilon_of_noise,
        _epsilon_of_mixing,
        {"mixtures": integers(1, 1000), "ratio": reals(1.001, 10.0), "delta": reals(1e-12, 0.5)},
        quantity="ε",
        tolerance=1e-6,
        hypotheses=lambda mixtures, delta: math.log(1.0 / delta) <= 0.25 * mixtures,
        tries=300,
    ),
    "3-lemma-2": Searched(
        _lemma_2,
        _by_quadrature,
        {
            "first": reals(0.2, 5.0),
            "second": reals(0.2, 5.0),
            "shift": reals(-2.0, 2.0),
            "order": reals(1.05, 4.0),
        },
        side="both",
        quantity="D_α",
        tolerance=1e-6,
        rounding=1e-8,
        tries=300,
    ),
    "3-equations-15-to-30": Searched(
        lambda seed, order: 1.0 - order * _share(seed),
        _determinant,
        {"seed": integers(1, 100), "order": reals(1.0, 5.0)},
        side="both",
        quantity="ratio of determinants",
        tolerance=1e-7,
        rounding=1e-11,
        tries=300,
    ),
    "3-equation-31": Searched(
        lambda: 1.0,
        _ratio,
        {"order": reals(1.001, 100.0), "share": reals(1e-3, 0.999)},
        side="lower",
        quantity="ratio of two values",
        rounding=1e-12,
        tries=500,
    ),
    "3-equation-39": Searched(
        lambda: 1.0,
        _directions,
        {"order": reals(1.001, 100.0), "share": reals(1e-3, 0.999)},
        side="lower",
        quantity="exp f(t; α)",
        rounding=1e-12,
        tries=500,
    ),
    "3-equations-40-and-41": Searched(
        lambda seed, order: math.exp(_of_41(seed, order)),
        lambda seed, order: math.exp(_lowest(seed, order)),
        {"seed": integers(1, 100), "order": reals(1.0, 5.0)},
        side="both",
        quantity="exp of the least eigenvalue",
        tolerance=1e-6,
        rounding=1e-10,
        tries=300,
    ),
    "3-equation-41-edge": Swept(
        _positive, {"seed": 1}, {"seed": (1, 2, 3, 4, 5)}, fixed=partial(_positive, factor=0.999)
    ),
    "3-appendix-c": Searched(
        lambda: 1.0,
        _root_over_bound,
        {
            "gamma": reals(1.0001, 1e6),
            "which": choices("α_max > 2γ/5", "α_max < γ", "α_min < ½", "Δ_H ≥ 0"),
        },
        quantity="left over right side",
        rounding=1e-9,
        tries=800,
    ),
}
