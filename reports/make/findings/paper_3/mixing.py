"""Paper 3, section 4: GaussMix, lemma 1, corollary 1, and the comparisons that follow them."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.curves.readings import epsilon_at
from dpaudit.exact import gaussian_shift, gaussian_sketch
from dpaudit.papers import printed
from dpaudit.testing import integers, reals
from reports.make.findings.measures import sketch
from reports.make.findings.paper_3.conversions import truncated_epsilon
from reports.make.findings.statement import CORNER, PRIVACY, Searched, Statement

SETUP = (
    "the setup of lemma 1: rows of norm at most C, λ_min(XᵀX) ≥ λ̄, γ = (σ² + λ̄)/C² > 1, zero-out "
    "neighbours"
)
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
    full, order = (
        data.T @ data + sigma**2 * np.eye(columns),
        _order(seed, rows, columns, sigma, share),
    )
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


def exact_epsilon(mixtures: int, gamma: float, delta: float) -> float:
    """The exact ε of a sketch with q = 1/γ at δ."""

    def curve(epsilon: Array) -> Array:
        return np.maximum(*gaussian_sketch(1.0 / gamma, mixtures, epsilon))

    return float(epsilon_at(curve, delta))


def _by_tcdp(mixtures: int, gamma: float, delta: float) -> float:
    return float(Claim.tcdp(*printed.corollary_1_tcdp(mixtures, gamma)).epsilon_at(delta))


def _linear(gamma: float, share: float) -> float:
    """kα/(2γ²) for k = 1, α in (1, 2γ/5)."""
    return 0.5 * (1.0 + share * (0.4 * gamma - 1.0)) / gamma**2


def _renyi(gamma: float, share: float) -> float:
    return float(printed.lemma_1_renyi(1.0 + share * (0.4 * gamma - 1.0), 1, gamma))


def _after_corollary(mixtures: int, gamma: float, delta: float) -> float:
    epsilon = printed.corollary_1_epsilon(mixtures, gamma, delta)
    return sketch(1.0 / gamma, mixtures, epsilon)


def _both_cases(mixtures: int, gamma: float, delta: float) -> float:
    epsilon = truncated_epsilon(*printed.corollary_1_tcdp(mixtures, gamma), delta)
    return sketch(1.0 / gamma, mixtures, epsilon)


def _quoted(mixtures: int, gamma: float, delta: float) -> float:
    """δ at the quoted ε where X and X′ both meet the scale bound, so that q = 1/(1 + γ)."""
    return sketch(1.0 / (1.0 + gamma), mixtures, printed.sheffet_2019(mixtures, gamma, delta))


def _quoted_small(mixtures: int, gamma: float, delta: float) -> float:
    """The same where one of both meets it, and ε ≤ ln(4/δ)."""
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
    return exact_epsilon(mixtures, 1.0 + ratio**2 * mixtures, delta)


TIGHT = Searched(
    lambda order, gamma: float(printed.lemma_1_renyi(order, 1, gamma)),
    lambda rows, order, gamma: float(printed.lemma_1_renyi(order, 1, rows * gamma)),
    {"rows": integers(1, 100), "order": reals(1.1, 5.0), "gamma": reals(6.0, 100.0)},
    side="both",
    quantity="D_α",
    at={"rows": 100, "order": 2.0, "gamma": 10.0},
)
AFTER = Searched(
    lambda delta: delta,
    _after_corollary,
    AT_DELTA,
    at={"mixtures": 10, "gamma": 5.0, "delta": 1e-6},
    also=lambda mixtures, gamma, delta: (
        f"so ε = {printed.corollary_1_epsilon(mixtures, gamma, delta):.4g}"
    ),
)
QUOTED = Searched(
    lambda delta: delta,
    _quoted,
    {"mixtures": integers(1, 100_000), "gamma": reals(1.01, 1000.0), "delta": reals(1e-10, 0.5)},
    at={"mixtures": 10_000, "gamma": 2.0, "delta": 0.01},
    also=lambda mixtures, gamma, delta: (
        f"so ε = {printed.sheffet_2019(mixtures, gamma, delta):.4g}"
    ),
)
AGAINST_NOISE = Searched(
    _epsilon_of_noise,
    _epsilon_of_mixing,
    {"mixtures": integers(1, 1000), "ratio": reals(1.001, 10.0), "delta": reals(1e-12, 0.5)},
    quantity="ε",
    tolerance=1e-6,
    hypotheses=lambda mixtures, delta: math.log(1.0 / delta) <= 0.25 * mixtures,
    tries=300,
)
STATEMENTS = (
    Statement(
        "3-lemma-1",
        3,
        "lemma 1",
        "section 4, appendix B",
        "GaussMix … satisfies (α, φ(α; k, γ))-RDP for any α ∈ (1, γ), where φ(α; k, ζ) = "
        "kα/(2(α − 1))·log(1 − 1/ζ) − k/(2(α − 1))·log(1 − α/ζ)",
        SETUP,
        test=Searched(
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
        fault="it is enough that one of X and X′ meets the scale bound; the other direction is the "
        "smaller one of each pair, too",
    ),
    Statement(
        "3-lemma-1-conversion",
        3,
        "lemma 1 with proposition 1",
        "section 4",
        "the exact RDP guarantee (derived by using the conversion from RDP to DP of Proposition 1)",
        SETUP,
        test=Searched(
            lambda mixtures, gamma, delta: printed.gaussmix_epsilon(mixtures, gamma, delta),
            exact_epsilon,
            {**AT_DELTA, "delta": reals(1e-10, 0.01)},
            quantity="ε",
            tries=300,
        ),
    ),
    Statement(
        "3-corollary-1",
        3,
        "corollary 1",
        "section 4, appendix C",
        "If γ > 5/2, then GaussMix satisfies (k/2γ², 2γ/5)-tCDP",
        SETUP,
        test=Searched(
            _linear,
            _renyi,
            {"gamma": reals(2.5001, 1e5), "share": reals(1e-3, 1.0)},
            quantity="D_α/k",
            tolerance=1e-6,
            rounding=1e-13,
        ),
    ),
    Statement(
        "3-lemma-1-tight",
        3,
        "tightness of bound",
        "section 4",
        "our bound is achieved with equality for any X such that XᵀX = C²I_d",
        "n ≥ d, rows of norm at most C; here d = 1 and n equal rows of norm C/√n",
        test=TIGHT,
        fails=CORNER,
        fault="equality takes a row of norm C; n equal rows have the same XᵀX and leak far less",
        corrected="… for any X such that XᵀX = C²I_d, one row of which has norm C",
        fixed=replace(TIGHT, hypotheses=lambda rows: rows == 1, at=None),
    ),
    Statement(
        "3-corollary-1-epsilon",
        3,
        "ε after corollary 1",
        "section 4",
        "Combining Corollary 1 with the conversion from RDP to DP we get that GaussMix is "
        "(ε, δ)-DP where ε ≤ k/(2γ²) + √(2k log(1/δ))/γ",
        f"{SETUP}; γ > 5/2, and none on k and δ",
        test=AFTER,
        fails=PRIVACY,
        fault="this is the first case of proposition 2, printed without its condition, which is "
        "not met by few mixtures",
        corrected="only where log(1/δ) ≤ (2γ/5 − 1)²·k/(2γ²); else ε = k/(5γ) + "
        "log(1/δ)/(2γ/5 − 1)",
        fixed=replace(AFTER, exact=_both_cases, at=None, also=None),
        code="figure 1’s notebook and the experiments minimise over α, and do not use this ε",
    ),
    Statement(
        "3-sheffet-2019",
        3,
        "Sheffet 2019, theorem 2, as quoted",
        "section 4",
        "(Sheffet, 2019, Theorem 2) which states that GaussMix is (ε, δ)-DP where ε ≔ "
        "2√(2k log(4/δ))/γ + 2 log(4/δ)/γ",
        "the setup of lemma 1, read so that X and X′ both meet the scale bound",
        test=QUOTED,
        fails=CORNER,
        fault="quoted without a condition on ε; it fails where ε is many times log(4/δ), beyond "
        "what anyone would use, under the reading that is kindest to it",
        corrected="… where that is at most log(4/δ), and then it is enough that one of X and X′ "
        "meets the scale bound",
        fixed=replace(QUOTED, exact=_quoted_small, at=None, also=None),
    ),
    Statement(
        "3-figure-1",
        3,
        "figure 1",
        "section 4",
        "Our improved RDP analysis reduces the final ε_DP",
        "k = 150 and δ = 10⁻⁸ as in the public notebook; γ ≥ 1.9",
        test=Searched(
            lambda gamma: printed.sheffet_2019(150, gamma, 1e-8),
            lambda gamma: printed.gaussmix_epsilon(150, gamma, 1e-8),
            {"gamma": reals(1.9, 1e7)},
            quantity="ε",
            tries=150,
        ),
        fault="at γ = 16/9, where the notebook starts, the quoted ε is the smaller one: 109 "
        "against 116",
        code="AnalyticalAnalysis_GaussMix_Renyi.ipynb computes both as printed",
    ),
    Statement(
        "3-without-scale-bound",
        3,
        "usage without λ̄_min",
        "section 4",
        "a quadratic dependence of ε on σ in the leading term (rather than the linear one in the "
        "Gaussian mechanism), balanced by √k, which implies improved privacy results when σ > √k",
        "λ̄_min = 0, so γ = σ²/C² (printed for C = 1), GaussMix against X + σξ; for the leading "
        "term to lead, here log(1/δ) ≤ k/4",
        test=AGAINST_NOISE,
        fault="the exact ε of both are compared; at smaller δ the longer tail of a sketch can "
        "cost more ε than the Gaussian mechanism has",
    ),
)
