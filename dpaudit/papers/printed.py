"""The formulas of the four papers exactly as printed, named after their statements.

No verdict relies on these formulas: audits refute them or measure how loose they are. ε is in nats,
and every function raises `InvalidInput` for an argument out of range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated

import numpy as np
from scipy.special import erf, erfi

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.readings import epsilon_at
from dpaudit.curves.renyi import RenyiCurve, gaussian_mixing
from dpaudit.exact import gaussian_sketch
from dpaudit.mechanisms.parameters import (
    BelowOne,
    Count,
    Finite,
    NonNegative,
    Positive,
    between,
    checked,
)

AboveOne = Annotated[float, between(1.0, math.inf)]
Above2_5 = Annotated[float, between(2.5, math.inf)]
BelowHalf = Annotated[float, between(0.0, 0.5)]
BelowInverseE = Annotated[float, between(0.0, 1.0 / math.e)]
SEARCHED = (-14.0, 40.0)  # the interval of ln(γ − 1), or ln(γ − 5/2), in which γ is searched
FIGURE_1_LABELS = {
    "exact": "exact",
    "lemma_1": "lemma 1 with proposition 1",
    "sheffet_2019": "Sheffet 2019, theorem 2",
}


# --- paper 1: privacy curves δ(ε), and the noise of its private least squares


@checked
def lemma_10(leverage: BelowOne, epsilon: ArrayLike) -> Array:
    """Paper 1, lemma 10: δ(ε) of a random linear combination when a row of leverage q is zeroed.

    The formulas of both directions are right, but for 0 ≤ ε < −½ln(1−q) the lemma selects
    zeroed → full, although full → zeroed is larger there: it claims too much privacy.

    epsilon : ε ≥ 0, scalar or (m,); the result has its shape.
    """
    epsilon = check.epsilon(epsilon)
    forward, backward = gaussian_sketch(leverage, 1, epsilon)
    return np.where(epsilon >= -0.5 * np.log1p(-leverage), forward, backward)


@checked
def lemma_11(leverage: BelowOne, rows: Count, epsilon: ArrayLike) -> Array:
    """Paper 1, lemma 11: δ(ε) of a random projection to r = `rows` rows, as printed.

    It has r times one squared normal variable instead of a χ²_r variable, and wrong constants, so
    that it does not even reduce to lemma 10 at r = 1. The exact curve is `gaussian_sketch`.

    epsilon : ε ≥ 0, scalar or (m,); the result has its shape, and is NaN where a printed root is
    not real.
    """
    epsilon, q, r = check.epsilon(epsilon), leverage, rows
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        c = epsilon - 0.5 * r * np.log1p(-q)  # full → zeroed
        factor = np.exp(c) * np.sqrt((1.0 - q) / (r * q + 1.0 - q))
        inner = erf(np.sqrt(c * (r * q + 1.0 - q) / (r * q)))
        forward = 0.5 - factor + factor * inner - 0.5 * erf(np.sqrt(c * (1.0 - q) / (r * q)))
        c = epsilon + 0.5 * r * np.log1p(-q)  # zeroed → full
        error = erf(np.sqrt(c * (r * q - 1.0) / (r * q)))
        if r * q >= 1.0:
            error = erfi(np.sqrt(c * (1.0 - r * q) / (r * q)))
        backward = 0.5 + 0.5 * erf(np.sqrt(-c / (r * q)))
        backward = backward - np.exp(c) / np.sqrt(abs(1.0 - r * q)) * error
    return np.where(epsilon >= -0.5 * np.log1p(-q), forward, backward)


@checked
def proposition_2_sigma(sensitivity: Positive, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 1, proposition 2: the noise σ = s√(2 ln(1.25/δ))/ε for a sensitivity s > 0."""
    return float(sensitivity * np.sqrt(2.0 * np.log(1.25 / delta)) / epsilon)


@checked
def figure_4_padding(row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 1, figure 4: the padding c₂ = 2c₁√((2r + 1)ln(4/δ)/ε), c₁ = `row_bound`, r = `rows`.

    Its source, theorem 3.1 of paper 4, has √(2r ln(4/δ)) instead of 2r ln(4/δ).
    """
    log = np.log(4.0 / delta)
    return float(np.sqrt(4.0 * row_bound**2 * (2.0 * rows * log + log) / epsilon))


# --- paper 2: radii at which rows are cut, and the noise of μ-GDP releases
#
# There are n = `rows` private rows of d = `dim` features, and η = `eta` is in (0, 1). Neighbours
# have one private row REPLACED. If an algorithm releases two statistics, the paper claims μ-GDP for
# each and √2·μ-GDP for both together; if it takes T = `steps` updates, each gets the share μ/√T.
# Moments are averages over the n rows.


@checked
def algorithm_1_radius(dim: Count, rows: Count, eta: BelowOne) -> float:
    """Paper 2, algorithm 1: R = √(d(1 + ln(2n/η))), the norm to which whitened rows are cut."""
    return math.sqrt(dim * (1.0 + math.log(2.0 * rows / eta)))


@checked
def theorem_3_2_sigma(dim: Count, rows: Count, eta: BelowOne, mu: Positive) -> float:
    """Paper 2, theorem 3.2: the noise σ = 2R²/(μn) on the second moment of cut rows, for μ-GDP.

    R is `algorithm_1_radius`. The release is really μ/√2-GDP: see `dpaudit.papers.PMT`.
    """
    return 2.0 * algorithm_1_radius(dim, rows, eta) ** 2 / (mu * rows)


@checked
def theorem_3_2_norm(dim: Count, rows: Count, eta: BelowOne, mu: Positive) -> float:
    """Paper 2, theorem 3.2, inequality (1): a bound on the spectral norm ‖G‖₂ of the noise.

    The bound is √(d³ln(2d/η))(1 + ln(2n/η))/(μn), said to fail with probability O(η). The expected
    ‖G‖₂, about 2σ√d, exceeds it unless d/η is over 4 million.
    """
    square = algorithm_1_radius(dim, rows, eta) ** 2
    return square * math.sqrt(dim * math.log(2.0 * dim / eta)) / (mu * rows)


def algorithm_2_sigmas(dim: Count, rows: Count, eta: BelowOne, mu: Positive) -> tuple[float, float]:
    """Paper 2, algorithm 2: (σ₁, σ₂), the noise on the Gram matrix and on the cross moment.

    σ₁ is `theorem_3_2_sigma`, and σ₂ = 2√d(1 + ln(2n/η))/(μn).
    """
    first = theorem_3_2_sigma(dim, rows, eta, mu)
    return first, first / math.sqrt(dim)


@checked
def theorem_4_3_radius(trace: NonNegative, dim: Count, rows: Count, eta: BelowOne) -> float:
    """Paper 2, theorem 4.3 and algorithm 5: the norm √(Tr(Σ) + d·ln(n/η)) to which rows are cut.

    trace : Tr(Σ) ≥ 0, where Σ is the second moment of the rows.
    """
    return math.sqrt(trace + dim * math.log(rows / eta))


@checked
def theorem_4_3_sigmas(
    trace: NonNegative, coef_norm: Positive, dim: Count, rows: Count, eta: BelowOne, mu: Positive
) -> tuple[float, float]:
    """Paper 2, theorem 4.3: the noise (σ₁, σ₂) on the Gram matrix and on the cross moment.

    σ₁ = 2R²/(μn) and σ₂ = σ₁‖β‖, where R is `theorem_4_3_radius`. trace : Tr(Σ) ≥ 0. coef_norm :
    the norm ‖β‖ of the coefficient.
    """
    first = 2.0 * theorem_4_3_radius(trace, dim, rows, eta) ** 2 / (mu * rows)
    return first, first * coef_norm


@checked
def remark_4_4_label_radius(label_moment: NonNegative, rows: Count, eta: BelowOne) -> float:
    """Paper 2, remark 4.4: the radius √(σ̂² + ln(n/η)) for labels of second moment σ̂²."""
    return math.sqrt(label_moment + math.log(rows / eta))


@checked
def remark_4_4_sigmas(
    trace: NonNegative,
    label_moment: NonNegative,
    dim: Count,
    rows: Count,
    eta: BelowOne,
    mu: Positive,
) -> tuple[float, float]:
    """Paper 2, remark 4.4: the noise (σ₁, σ₂) on the Gram matrix and on the cross moment.

    σ₁ = 2R²/(μn) and σ₂ = R·R_y/n, where R is `theorem_4_3_radius` and R_y is
    `remark_4_4_label_radius`. σ₂ lacks the factor 2/μ of theorem 4.3.
    """
    radius = theorem_4_3_radius(trace, dim, rows, eta)
    label_radius = remark_4_4_label_radius(label_moment, rows, eta)
    return 2.0 * radius**2 / (mu * rows), radius * label_radius / rows


def algorithm_3_sigmas(
    dim: Count, rows: Count, eta: BelowOne, mu: Positive, steps: Count
) -> tuple[float, float]:
    """Paper 2, algorithm 3: the noise σ₁ = √T·R²/(2μn) on Hessians, σ₂ = 2√T·R²/(μn) on gradients.

    R is `algorithm_1_radius`. In the proof σ₂ has R instead of R².
    """
    return _logistic_sigmas(algorithm_1_radius(dim, rows, eta), rows, mu, steps)


def algorithm_5_sigmas(
    trace: NonNegative, dim: Count, rows: Count, eta: BelowOne, mu: Positive, steps: Count
) -> tuple[float, float]:
    """Paper 2, algorithm 5 (appendix C.5): (σ₁, σ₂) as in algorithm 3, with another radius R.

    R is `theorem_4_3_radius`. As in algorithm 3, σ₂ has R² where the proof has R.
    """
    return _logistic_sigmas(theorem_4_3_radius(trace, dim, rows, eta), rows, mu, steps)


@checked
def algorithm_4_sigmas(
    dim: Count,
    rows: Count,
    eta: BelowOne,
    mu: Positive,
    steps: Count,
    label_bound: Positive,
    slope: Finite,
    curvature: Positive,
) -> tuple[float, float]:
    """Paper 2, algorithm 4: the noise (σ₁, σ₂) on Hessians and on gradients.

    σ₁ = 2√T·R²M_{b''}/(μn) and σ₂ = 2√T·R(R_y + M_{b'})/(μn), where R is `algorithm_1_radius`.
    label_bound : R_y. slope : M_{b'}, the maximum of b'(z) (not of its absolute value) over
    ``|z|`` ≤ R_β·R. curvature : M_{b''}, the maximum of b''(z) over the same z.
    """
    radius = algorithm_1_radius(dim, rows, eta)
    scale = 2.0 * math.sqrt(steps) / (mu * rows)
    span = label_bound + slope
    if span <= 0.0:
        fail("slope", slope, f"more than -label_bound = {-label_bound:g}")
    return scale * radius**2 * curvature, scale * radius * span


@checked
def gradient_descent_sigma(clip: Positive, rows: Count, mu: Positive, steps: Count) -> float:
    """Paper 2, section 6 (Avella-Medina, Bradshaw & Loh 2023): the noise σ = 2c√T/(μn) of DP-GD.

    clip : the norm c to which gradients are cut.
    """
    return 2.0 * clip * math.sqrt(steps) / (mu * rows)


@checked
def _logistic_sigmas(radius: float, rows: Count, mu: Positive, steps: Count) -> tuple[float, float]:
    second = 2.0 * math.sqrt(steps) * radius**2 / (mu * rows)
    return 0.25 * second, second


# --- paper 3: the privacy of Gaussian mixing SX + σξ, and the noise of its algorithms
#
# k = `rows` is the number of mixtures, and γ = (σ² + λ_min)/C², where C is the largest row norm. A
# zeroed row v has the leverage q = vᵀΣ⁻¹v ≤ 1/γ, so the exact counterpart of a printed bound is
# `exact.gaussian_sketch(1/γ, k, ε)`.


@checked
def lemma_1_renyi(order: ArrayLike, rows: Count, gamma: AboveOne) -> Array:
    """Paper 3, lemma 1: the Rényi divergence φ(α; k, γ) of order α of Gaussian mixing.

    It is infinite for α ≥ γ, and equals D_α(full ‖ zeroed) at q = 1/γ, the larger of the two
    directions. order : α > 1, scalar or (m,); φ has its shape and is in nats.
    """
    expected = "a number > 1, or a 1-D array of them"
    alpha = np.asarray(check.array_of_numbers("order", order, expected), dtype=np.float64)
    if alpha.ndim > 1 or not np.all(alpha > 1.0):
        fail("order", order, expected)
    return gaussian_mixing(alpha, rows, gamma)


@checked
def corollary_1_tcdp(rows: Count, gamma: Above2_5) -> tuple[float, float]:
    """Paper 3, corollary 1: (ρ, ω)-tCDP with ρ = k/(2γ²) and ω = 2γ/5, for γ > 5/2."""
    return 0.5 * rows / gamma**2, 0.4 * gamma


@checked
def corollary_1_epsilon(rows: Count, gamma: Above2_5, delta: BelowOne) -> float:
    """Paper 3, below corollary 1: ε = k/(2γ²) + √(2k ln(1/δ))/γ for δ in (0, 1).

    Proposition 2 gives this ε only if ln(1/δ) ≤ (ω − 1)²ρ; the paper prints no such condition.
    """
    rho, _ = corollary_1_tcdp(rows, gamma)
    return float(rho + np.sqrt(2.0 * rows * np.log(1.0 / delta)) / gamma)


@checked
def sheffet_2019(rows: Count, gamma: AboveOne, delta: BelowOne) -> float:
    """Sheffet 2019, theorem 2, as paper 3 quotes it: ε = 2(√(2k ln(4/δ)) + ln(4/δ))/γ."""
    log = np.log(4.0 / delta)
    return float(2.0 * (np.sqrt(2.0 * rows * log) + log) / gamma)


@checked
def gaussmix_epsilon(rows: Count, gamma: AboveOne, delta: BelowOne) -> float:
    """Paper 3, lemma 1 with proposition 1: the ε ≥ 0 of Gaussian mixing at the given δ.

    ε is the minimum over α of φ + ln(1 − 1/α) − ln(αδ)/(α − 1), or 0 if the minimum is negative.
    """
    return float(epsilon_at(_mixing_curve(rows, gamma).by_moments, delta))


@checked
@lru_cache(maxsize=256)
def gaussmix_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, lemma 1 with proposition 1: the least γ > 1 for which they prove (ε, δ)-DP."""
    return _least_gamma(lambda gamma: mixing_delta(rows, gamma, epsilon), delta)


@checked
def theorem_1_epsilon(rows: Count, gamma: Above2_5, delta: BelowOne, eta: Positive) -> float:
    """Paper 3, theorem 1: ε̃(η, γ, k, δ) = √(2 ln(3.75/δ))/η + lemma 1's ε at δ/3; γ > 5/2.

    The first term is the ε of the textbook Gaussian mechanism, whose proof needs ε < 1.
    """
    first = math.sqrt(2.0 * math.log(3.75 / delta)) / eta
    return first + gaussmix_epsilon(rows, gamma, delta / 3.0)


@checked
def after_theorem_1_epsilon(rows: Count, gamma: Above2_5, delta: BelowOne) -> float:
    """Paper 3, below theorem 1, for η = γ/√k: ε = k/(2γ²) + 2√(2k ln(4/δ))/γ; γ > 5/2.

    The paper omits the condition of proposition 2, as it does in `corollary_1_epsilon`.
    """
    return 0.5 * rows / gamma**2 + 2.0 * math.sqrt(2.0 * rows * math.log(4.0 / delta)) / gamma


@checked
@lru_cache(maxsize=256)
def linear_mixing_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 2, line 2: the smallest γ > 5/2 with ε̃(γ/√k, γ, k, δ) ≤ ε."""
    # share/γ is the part of ε that the private λ_min takes: theorem 1's first term at η = γ/√k.
    share = math.sqrt(2.0 * rows * math.log(3.75 / delta))

    def mixing(gamma: float) -> float:
        left = epsilon - share / gamma
        return mixing_delta(rows, gamma, left) if left > 0.0 else 1.0

    return _least_gamma(mixing, delta / 3.0, low=2.5)


@checked
def ada_ssp_deviation(epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 3, AdaSSP (Wang 2018): noise over sensitivity, s = √ln(6/δ)/(ε/3)."""
    return math.sqrt(math.log(6.0 / delta)) / (epsilon / 3.0)


@checked
def sheffet_2017_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 4 (Sheffet 2017): γ/C² = 4(√(2k ln(8/δ)) + 2 ln(8/δ))/ε."""
    log = math.log(8.0 / delta)
    return 4.0 * (math.sqrt(2.0 * rows * log) + 2.0 * log) / epsilon


@checked
def sheffet_renyi_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 5, line 3: the least γ by lemma 1 and proposition 1 for (ε/2, δ)-DP."""
    return gaussmix_gamma(rows, 0.5 * epsilon, delta)


@checked
def objective_sigma(row_bound: Positive, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 6 (Kifer et al. 2012): the noise σ = C√(4ε + 8 ln(2/δ))/ε of the term."""
    return row_bound * math.sqrt(4.0 * epsilon + 8.0 * math.log(2.0 / delta)) / epsilon


@checked
def objective_ridge(row_bound: Positive, epsilon: Positive) -> float:
    """Paper 3, algorithm 6: the penalty Δ = C²/(2ε), 2/ε times the loss's curvature C²/4."""
    return 0.5 * row_bound**2 / epsilon


def figure_1_gammas(rows: int, epsilon: float, delta: float) -> dict[str, float]:
    """Paper 3, figure 1: the least γ for (ε, δ)-DP of k = `rows` mixtures, by each of 3 analyses.

    The keys are those of FIGURE_1_LABELS: "exact" takes the larger exact direction at q = 1/γ,
    "lemma_1" the Rényi curve of lemma 1, and "sheffet_2019" Sheffet's formula for γ.
    """

    def exact(gamma: float) -> float:
        return float(max(gaussian_sketch(1.0 / gamma, rows, epsilon)))

    def lemma_1(gamma: float) -> float:
        return mixing_delta(rows, gamma, epsilon)

    log = np.log(4.0 / delta)
    return {
        "exact": _least_gamma(exact, delta),
        "lemma_1": _least_gamma(lemma_1, delta),
        "sheffet_2019": float(2.0 * (np.sqrt(2.0 * rows * log) + log) / epsilon),
    }


def _least_gamma(delta_of: Callable[[float], float], delta: float, low: float = 1.0) -> float:
    """The least γ > `low` with delta_of(γ) ≤ `delta`, for a decreasing function `delta_of`."""

    def excess(place: float) -> float:
        return math.log(max(delta_of(low + math.exp(place)), 1e-300) / delta)

    if excess(SEARCHED[0]) <= 0.0:
        return low + math.exp(SEARCHED[0])
    from scipy.optimize import brentq  # here: slow to import

    return low + math.exp(brentq(excess, *SEARCHED, xtol=1e-11))


def mixing_delta(rows: int, gamma: float, epsilon: float) -> float:
    """δ(ε) of Gaussian mixing by lemma 1 and proposition 1 of paper 3."""
    return float(_mixing_curve(rows, gamma).by_moments(np.asarray(epsilon)))


def _mixing_curve(rows: int, gamma: float) -> RenyiCurve:
    return RenyiCurve(lambda order: lemma_1_renyi(order, rows, gamma), gamma)


# --- paper 4: the padding or noise of (ε, δ)-private second-moment matrices
#
# Rows have norm at most B = `row_bound`; L stands for ln(4/δ), and w for the padding. Suppose that
# w ≤ σ_min(A) and that a row v is zeroed. If both databases satisfy w ≤ σ_min, as in algorithms 1
# and 4, which append w·I, then v has the leverage q = vᵀ(AᵀA)⁻¹v ≤ B²/(B² + w²). If only the full
# database does, then only q ≤ min(1, B²/w²). The exact counterpart of the sketch (Wishart) and
# inverse-Wishart releases is `exact.gaussian_sketch(q, rows, ε)`. Every parameter may have all
# values that the printed statement allows, such as any ε > 0 and δ < 1/e.


@checked
def theorem_3_1_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Paper 4, theorem 3.1: the padding w for a sketch of r rows, w² = 4B²(√(2rL) + L)/ε."""
    log = _log(delta)
    return row_bound * math.sqrt(4.0 * (math.sqrt(2.0 * rows * log) + log) / epsilon)


@checked
def theorem_b_1_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowHalf
) -> float:
    """Paper 4, theorem B.1: w for a sketch of r rows, w² = B²(1 + (1 + ε/L)(2√(2rL) + 2L)/ε)."""
    log = _log(delta)
    return row_bound * math.sqrt(1.0 + (1.0 + epsilon / log) / epsilon * _spread(rows, log))


@checked
def corollary_b_2_padding(
    row_bound: Positive, rows: Count, epsilon: BelowOne, delta: BelowInverseE
) -> float:
    """Paper 4, corollary B.2: the padding w, w² = 8B²√(rL)/ε, for r ≥ 2L.

    The division by ε is what the corollary's own formula for r at a given w requires.
    """
    log = _log(delta)
    if rows < 2.0 * log:
        fail("rows", rows, f"at least 2 ln(4/delta) = {2.0 * log:g}")
    return row_bound * math.sqrt(8.0 * math.sqrt(rows * log) / epsilon)


@checked
def corollary_b_2_rows(
    row_bound: Positive, padding: Positive, epsilon: BelowOne, delta: BelowInverseE
) -> int:
    """Paper 4, corollary B.2: the rows r = ⌈(εw²/(8B²L))²⌉ > 2L for a public padding w.

    The corollary's own w² = 8B²√(rL)/ε gives (εw²/(8B²))²/L: the printed r is too small by L.
    """
    log = _log(delta)
    rows = math.ceil((epsilon * padding**2 / (8.0 * row_bound**2 * log)) ** 2)
    if rows <= 2.0 * log:
        needed = f"large enough for more than 2 ln(4/delta) = {2.0 * log:g} rows, here {rows}"
        fail("padding", padding, needed)
    return rows


@checked
def section_2_sigma(row_bound: Positive, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 4, section 2, Analyze Gauss: the noise σ, with σ² = 2Δ² ln(2/δ)/ε and Δ² = B⁴.

    ε stands where ε² belongs, and replacing a row of norm B changes AᵀA by up to Δ² = 2B⁴.
    """
    return row_bound**2 * math.sqrt(2.0 * math.log(2.0 / delta) / epsilon)


@checked
def algorithm_3_dof(dim: Count, epsilon: Positive, delta: BelowInverseE) -> int:
    """Paper 4, algorithm 3: the degrees of freedom k = ⌊d + (14/ε²)·2L⌋ for any ε > 0, δ < 1/e.

    Theorem 4.1, which is its proof, requires ε < 1.
    """
    return math.floor(dim + 28.0 / epsilon**2 * _log(delta))


@checked
def theorem_5_1_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Paper 4, theorem 5.1: w of an inverse-Wishart draw, w² = 2B²(2√(2νL) + 2L)/ε, ν = `rows`."""
    return row_bound * math.sqrt(2.0 * _spread(rows, _log(delta)) / epsilon)


@checked
def theorem_b_4_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Paper 4, theorem B.4: w of an inverse-Wishart draw, w² = B²(2√(2νL) + 2L)/(ε(1 − ε/(2L))).

    ν = `rows`. NaN for ε ≥ 2L, where the printed w² is negative or infinite.
    """
    log = _log(delta)
    room = 1.0 - 0.5 * epsilon / log
    return row_bound * math.sqrt(_spread(rows, log) / (epsilon * room)) if room > 0.0 else math.nan


@checked
def theorem_4_1_dof(dim: Count, epsilon: BelowOne, delta: BelowInverseE) -> int:
    """Paper 4, theorem 4.1: `algorithm_3_dof` for the noise Wishart_d(B²·I, k), ε < 1.

    Its exact counterpart is `exact.additive_wishart(1, k, d, ε)`.
    """
    return algorithm_3_dof(dim, epsilon, delta)


@checked
def theorem_b_5_sigma(rho: Positive, epsilon: BelowOne, delta: BelowInverseE) -> float:
    """Paper 4, theorem B.5: the noise σ on (AᵀA)⁻¹, with σ² = 8 ln(2/δ)/(ρ²ε²).

    It requires λ_min(AᵀA) ≥ (1 + ρ)B². σ does not depend on B, though the inverse scales as 1/B².
    """
    return math.sqrt(8.0 * math.log(2.0 / delta)) / (rho * epsilon)


def _log(delta: float) -> float:
    return math.log(4.0 / delta)


def _spread(rows: int, log: float) -> float:
    return 2.0 * math.sqrt(2.0 * rows * log) + 2.0 * log


__all__ = sorted(
    name
    for name, formula in globals().items()
    if getattr(formula, "__module__", "") == __name__
    and not name.startswith("_")
    and name not in ("figure_1_gammas", "mixing_delta")
)
