"""The formulas of the four papers as they are printed, under the names of their statements.

No verdict rests on them: an audit refutes them, or measures how loose they are. The docstrings of
`paper_1` to `paper_4` say which statement is which function. ε is in nats, and every function
raises `InvalidInput` for an argument out of range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated

import numpy as np
from scipy.optimize import brentq
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
SEARCHED = (-14.0, 40.0)  # ln(γ − 1), or ln(γ − 5/2)
FIGURE_1_SEARCHED = (-12.0, 24.0)  # fixes the last digits of the published figure
FIGURE_1_LABELS = {
    "exact": "exact",
    "lemma_1": "lemma 1 with proposition 1",
    "sheffet_2019": "Sheffet 2019, theorem 2",
}


# --- paper 1: the curves and the noise of its private least squares


@checked
def lemma_10(leverage: BelowOne, epsilon: ArrayLike) -> Array:
    """Paper 1, lemma 10: δ of a random linear combination at leverage q, with its case split on ε.

    Both directions are printed rightly (an equality sign is missing in each). But for
    0 ≤ ε < −½ln(1−q) the split takes zeroed → full, although full → zeroed is larger there. At
    q = 0.2, ε = 0.1: printed 0.0020604, true 0.0321350. The printed line claims too much privacy.

    epsilon : ε ≥ 0, scalar or (m,), whose shape the result has.
    """
    epsilon = check.epsilon(epsilon)
    forward, backward = gaussian_sketch(leverage, 1, epsilon)
    return np.where(epsilon >= -0.5 * np.log1p(-leverage), forward, backward)


@checked
def lemma_11(leverage: BelowOne, rows: Count, epsilon: ArrayLike) -> Array:
    """Paper 1, lemma 11: δ of a random projection to r = `rows` rows, as printed.

    Wrong for r > 1: one squared normal scaled by r stands where a χ²_r belongs. Its constants (½
    where 1 belongs, and ½ before some error functions) do not reduce to lemma 10 at r = 1 either.
    The exact curve is `gaussian_sketch`.

    epsilon : ε ≥ 0, scalar or (m,), whose shape the result has; NaN where a printed root is not
    real.
    """
    epsilon = check.epsilon(epsilon)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        forward = _lemma_11_forward(leverage, rows, epsilon)
        backward = _lemma_11_backward(leverage, rows, epsilon)
    return np.where(epsilon >= -0.5 * np.log1p(-leverage), forward, backward)


def _lemma_11_forward(q: float, r: int, epsilon: Array) -> Array:
    c = epsilon - 0.5 * r * np.log1p(-q)
    factor = np.exp(c) * np.sqrt((1.0 - q) / (r * q + 1.0 - q))
    inner = erf(np.sqrt(c * (r * q + 1.0 - q) / (r * q)))
    return np.asarray(0.5 - factor + factor * inner - 0.5 * erf(np.sqrt(c * (1.0 - q) / (r * q))))


def _lemma_11_backward(q: float, r: int, epsilon: Array) -> Array:
    c = epsilon + 0.5 * r * np.log1p(-q)
    first = 0.5 + 0.5 * erf(np.sqrt(-c / (r * q)))
    if r * q < 1.0:
        error = erf(np.sqrt(c * (r * q - 1.0) / (r * q)))
        return np.asarray(first - np.exp(c) / np.sqrt(1.0 - r * q) * error)
    error = erfi(np.sqrt(c * (1.0 - r * q) / (r * q)))
    return np.asarray(first - np.exp(c) / np.sqrt(r * q - 1.0) * error)


@checked
def proposition_2_sigma(sensitivity: Positive, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 1, proposition 2: σ = s√(2 ln(1.25/δ))/ε of M_{ε,δ}.

    sensitivity : s > 0, by how much the solution moves.
    """
    return float(sensitivity * np.sqrt(2.0 * np.log(1.25 / delta)) / epsilon)


@checked
def figure_4_padding(row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 1, figure 4: c₂ = 2c₁√((2r + 1)ln(4/δ)/ε), c₁ = `row_bound`, r = `rows`.

    Paper 4's theorem 3.1 has √(2r ln(4/δ)) where this has 2r ln(4/δ).
    """
    log = np.log(4.0 / delta)
    return float(np.sqrt(4.0 * row_bound**2 * (2.0 * rows * log + log) / epsilon))


# --- paper 2: radii at which rows are cut, and the noise of μ-GDP releases
#
# There are n = `rows` private rows of d = `dim` features, and η = `eta` is in (0, 1). Neighbours
# have one private row REPLACED. Where an algorithm releases two statistics, each is printed as
# μ-GDP and both together as √2·μ-GDP; where it takes T = `steps` updates, each has the share μ/√T.
# Moments are averages over the n rows.


@checked
def algorithm_1_radius(dim: Count, rows: Count, eta: BelowOne) -> float:
    """Paper 2, algorithm 1: R = √(d(1 + ln(2n/η))), the radius at which whitened rows are cut."""
    return math.sqrt(dim * (1.0 + math.log(2.0 * rows / eta)))


@checked
def theorem_3_2_sigma(dim: Count, rows: Count, eta: BelowOne, mu: Positive) -> float:
    """Paper 2, theorem 3.2, a moment of cut rows: σ = 2R²/(μn), R of algorithm 1, for μ-GDP.

    A replaced row changes the upper triangle by at most √2·R²/n (R²/n in one dimension), so the
    release is really μ/√2-GDP (μ/2-GDP).
    """
    return 2.0 * algorithm_1_radius(dim, rows, eta) ** 2 / (mu * rows)


@checked
def theorem_3_2_norm(dim: Count, rows: Count, eta: BelowOne, mu: Positive) -> float:
    """Paper 2, theorem 3.2, inequality (1): a bound of the noise's spectral norm ‖G‖₂.

    The bound is √(d³ln(2d/η))(1 + ln(2n/η))/(μn). It is printed to hold except with probability
    O(η). Lemma A.1, σ√(2d ln(2d/η)), is 2√2 times that; the expected ‖G‖₂, near 2σ√d, exceeds the
    bound unless d/η is over 4 million.
    """
    square = algorithm_1_radius(dim, rows, eta) ** 2
    return square * math.sqrt(dim * math.log(2.0 * dim / eta)) / (mu * rows)


def algorithm_2_sigmas(dim: Count, rows: Count, eta: BelowOne, mu: Positive) -> tuple[float, float]:
    """Paper 2, algorithm 2: σ₁ of theorem 3.2, and σ₂ = 2√d(1 + ln(2n/η))/(μn).

    σ₂ is for the cross moment of the cut features with the cut label.
    """
    first = theorem_3_2_sigma(dim, rows, eta, mu)
    return first, first / math.sqrt(dim)


@checked
def theorem_4_3_radius(trace: NonNegative, dim: Count, rows: Count, eta: BelowOne) -> float:
    """Paper 2, theorem 4.3 and algorithm 5: rows are cut at √(Tr(Σ) + d·ln(n/η)).

    trace : Tr(Σ) ≥ 0, Σ the second moment of the rows.
    """
    return math.sqrt(trace + dim * math.log(rows / eta))


@checked
def theorem_4_3_sigmas(
    trace: NonNegative, coef_norm: Positive, dim: Count, rows: Count, eta: BelowOne, mu: Positive
) -> tuple[float, float]:
    """Paper 2, theorem 4.3: σ₁ = 2R²/(μn) and σ₂ = σ₁‖β‖, R of `theorem_4_3_radius`.

    trace : Tr(Σ) ≥ 0. coef_norm : ‖β‖.
    """
    first = 2.0 * theorem_4_3_radius(trace, dim, rows, eta) ** 2 / (mu * rows)
    return first, first * coef_norm


@checked
def remark_4_4_label_radius(label_moment: NonNegative, rows: Count, eta: BelowOne) -> float:
    """Paper 2, remark 4.4: labels with the second moment σ̂² are cut at √(σ̂² + ln(n/η))."""
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
    """Paper 2, remark 4.4: σ₁ = 2R²/(μn) and σ₂ = R·R_y/n.

    R is the radius of theorem 4.3, and R_y that of the remark. σ₂ lacks the factor 2/μ of theorem
    4.3. And both radii are computed from the private data.
    """
    radius = theorem_4_3_radius(trace, dim, rows, eta)
    label_radius = remark_4_4_label_radius(label_moment, rows, eta)
    return 2.0 * radius**2 / (mu * rows), radius * label_radius / rows


def algorithm_3_sigmas(
    dim: Count, rows: Count, eta: BelowOne, mu: Positive, steps: Count
) -> tuple[float, float]:
    """Paper 2, algorithm 3: σ₁ = √T·R²/(2μn) for Hessians, σ₂ = 2√T·R²/(μn) for gradients.

    R is the radius of algorithm 1. The proof bounds the gradient's change by 2R/n: it has
    √(d(1 + ln(2n/η))) where the algorithm has d(1 + ln(2n/η)).
    """
    return _logistic_sigmas(algorithm_1_radius(dim, rows, eta), rows, mu, steps)


def algorithm_5_sigmas(
    trace: NonNegative, dim: Count, rows: Count, eta: BelowOne, mu: Positive, steps: Count
) -> tuple[float, float]:
    """Paper 2, algorithm 5 (appendix C.5): algorithm 3's σ₁ and σ₂ with R of `theorem_4_3_radius`.

    σ₂ has R² where the proof has R, as in algorithm 3.
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
    """Paper 2, algorithm 4: σ₁ = 2√T·R²M_{b''}/(μn) and σ₂ = 2√T·R(R_y + M_{b'})/(μn).

    R is the radius of algorithm 1. label_bound : R_y. slope : M_{b'}, the maximum of b' (not of its
    absolute value) where ``|z|`` ≤ R_β·R. curvature : M_{b''}, the maximum of b'' there.
    """
    radius = algorithm_1_radius(dim, rows, eta)
    scale = 2.0 * math.sqrt(steps) / (mu * rows)
    span = label_bound + slope
    if span <= 0.0:
        fail("slope", slope, f"more than -label_bound = {-label_bound:g}")
    return scale * radius**2 * curvature, scale * radius * span


@checked
def gradient_descent_sigma(clip: Positive, rows: Count, mu: Positive, steps: Count) -> float:
    """Paper 2, section 6 (Avella-Medina, Bradshaw & Loh 2023), DP-GD: σ = 2c√T/(μn).

    The averages of cut gradients are μ-GDP after T steps. It is exact: gradients c and −c differ by
    2c. clip : c, the norm at which gradients are cut.
    """
    return 2.0 * clip * math.sqrt(steps) / (mu * rows)


@checked
def _logistic_sigmas(radius: float, rows: Count, mu: Positive, steps: Count) -> tuple[float, float]:
    """(σ₁, σ₂) of algorithms 3 and 5."""
    second = 2.0 * math.sqrt(steps) * radius**2 / (mu * rows)
    return 0.25 * second, second


# --- paper 3: the privacy of Gaussian mixing SX + σξ, and the noise of its algorithms
#
# k = `rows` is the number of mixtures and γ = (σ² + λ_min)/C², C the largest row norm. A zeroed row
# has q = vᵀΣ⁻¹v ≤ 1/γ, so compare what is printed with `exact.gaussian_sketch(1/γ, k, ε)`.


@checked
def lemma_1_renyi(order: ArrayLike, rows: Count, gamma: AboveOne) -> Array:
    """Paper 3, lemma 1: φ(α; k, γ) = [kα ln(1 − 1/γ) − k ln(1 − α/γ)]/(2(α − 1)).

    φ is infinite for α ≥ γ. It is exactly D_α(full ‖ zeroed) at q = 1/γ, the larger direction.
    order : α > 1, scalar or (m,); φ has its shape and is in nats.
    """
    expected = "a number > 1, or a 1-D array of them"
    alpha = np.asarray(check.array_of_numbers("order", order, expected), dtype=np.float64)
    if alpha.ndim > 1 or not np.all(alpha > 1.0):
        fail("order", order, expected)
    return gaussian_mixing(alpha, rows, gamma)


@checked
def corollary_1_tcdp(rows: Count, gamma: Above2_5) -> tuple[float, float]:
    """Paper 3, corollary 1: (ρ, ω) = (k/(2γ²), 2γ/5) for γ > 5/2."""
    return 0.5 * rows / gamma**2, 0.4 * gamma


@checked
def corollary_1_epsilon(rows: Count, gamma: Above2_5, delta: BelowOne) -> float:
    """Paper 3, below corollary 1: ε = k/(2γ²) + √(2k ln(1/δ))/γ for δ in (0, 1).

    It is the case of proposition 2 for ln(1/δ) ≤ (ω − 1)²ρ, printed without that condition.
    """
    rho, _ = corollary_1_tcdp(rows, gamma)
    return float(rho + np.sqrt(2.0 * rows * np.log(1.0 / delta)) / gamma)


@checked
def proposition_2(rho: Positive, omega: AboveOne, epsilon: ArrayLike) -> Array:
    """Paper 3, proposition 2 (Bun et al. 2018, lemma 6) solved for δ: the δ(ε) of (ρ, ω)-tCDP.

    It is the minimum over 1 < α ≤ ω of exp((α − 1)(ρα − ε)): at α = (ε + ρ)/(2ρ) it is
    exp(−(ε − ρ)²/(4ρ)), and from ε = (2ω − 1)ρ on the best α is ω. `Claim.tcdp` is tighter.
    epsilon : scalar or (m,), whose shape the result has.
    """
    epsilon = check.epsilon(epsilon)
    near = -(np.maximum(epsilon - rho, 0.0) ** 2) / (4.0 * rho)
    far = (omega - 1.0) * (rho * omega - epsilon)
    return np.asarray(np.exp(np.where(epsilon < (2.0 * omega - 1.0) * rho, near, far)))


@checked
def sheffet_2019(rows: Count, gamma: AboveOne, delta: BelowOne) -> float:
    """Sheffet 2019, theorem 2, as paper 3 quotes it: ε = 2(√(2k ln(4/δ)) + ln(4/δ))/γ."""
    log = np.log(4.0 / delta)
    return float(2.0 * (np.sqrt(2.0 * rows * log) + log) / gamma)


@checked
def gaussmix_epsilon(rows: Count, gamma: AboveOne, delta: BelowOne) -> float:
    """Paper 3, lemma 1 with proposition 1: ε, at least 0.

    ε is the minimum over α of φ + ln(1 − 1/α) − ln(αδ)/(α − 1), or 0: the minimum is negative where
    δ is large and φ small, down to ln(1 − δ).
    """
    return float(epsilon_at(_mixing_curve(rows, gamma).by_moments, delta))


@checked
@lru_cache(maxsize=256)
def gaussmix_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, lemma 1 with proposition 1: the least γ > 1 for which they give (ε, δ)."""
    return _least_gamma(lambda gamma: mixing_delta(rows, gamma, epsilon), delta)


@checked
def theorem_1_epsilon(rows: Count, gamma: Above2_5, delta: BelowOne, eta: Positive) -> float:
    """Paper 3, theorem 1: ε̃(η, γ, k, δ) = √(2 ln(3.75/δ))/η + lemma 1's ε at δ/3; γ > 5/2.

    The first term is the ε of the Gaussian mechanism's textbook noise, whose proof needs ε < 1.
    The second uses proposition 1.
    """
    first = math.sqrt(2.0 * math.log(3.75 / delta)) / eta
    return first + gaussmix_epsilon(rows, gamma, delta / 3.0)


@checked
def after_theorem_1_epsilon(rows: Count, gamma: Above2_5, delta: BelowOne) -> float:
    """Paper 3, below theorem 1, for η = γ/√k: ε = k/(2γ²) + 2√(2k ln(4/δ))/γ; γ > 5/2.

    As below corollary 1, the condition of proposition 2's first case is dropped.
    """
    return 0.5 * rows / gamma**2 + 2.0 * math.sqrt(2.0 * rows * math.log(4.0 / delta)) / gamma


@checked
@lru_cache(maxsize=256)
def linear_mixing_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 2, line 2: the smallest γ > 5/2 with ε̃(γ/√k, γ, k, δ) ≤ ε."""
    # The private λ_min takes share/γ of ε: theorem 1's first term at η = γ/√k.
    share = math.sqrt(2.0 * rows * math.log(3.75 / delta))

    def mixing(gamma: float) -> float:
        left = epsilon - share / gamma
        return mixing_delta(rows, gamma, left) if left > 0.0 else 1.0

    return _least_gamma(mixing, delta / 3.0, low=2.5)


@checked
def ada_ssp_deviation(epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 3, AdaSSP (Wang 2018): s = √ln(6/δ)/(ε/3).

    Each of three releases gets N(0, s²Δ²), Δ its sensitivity.
    """
    return math.sqrt(math.log(6.0 / delta)) / (epsilon / 3.0)


@checked
def sheffet_2017_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 4 (Sheffet 2017, appendix H.2): γ = 4(√(2k ln(8/δ)) + 2 ln(8/δ))/ε.

    The algorithm multiplies it by C².
    """
    log = math.log(8.0 / delta)
    return 4.0 * (math.sqrt(2.0 * rows * log) + 2.0 * log) / epsilon


@checked
def sheffet_renyi_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 5, line 3: lemma 1 and proposition 1 at (ε/2, δ)."""
    return gaussmix_gamma(rows, 0.5 * epsilon, delta)


@checked
def objective_sigma(row_bound: Positive, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 3, algorithm 6, objective perturbation (Kifer et al. 2012): σ = C√(4ε + 8 ln(2/δ))/ε.

    row_bound : C, the bound on the norm of a row.
    """
    return row_bound * math.sqrt(4.0 * epsilon + 8.0 * math.log(2.0 / delta)) / epsilon


@checked
def objective_ridge(row_bound: Positive, epsilon: Positive) -> float:
    """Paper 3, algorithm 6, objective perturbation: Δ = C²/(2ε), with C = `row_bound`.

    It is twice the logistic loss's largest curvature C²/4, over ε.
    """
    return 0.5 * row_bound**2 / epsilon


@checked
def gaussian_noise_epsilon(sigma: Positive, delta: BelowOne) -> float:
    """Paper 3, section 3, for X + σξ: ε = √(2 ln(1.25/δ))/σ, whatever C and δ in (0, 1)."""
    return math.sqrt(2.0 * math.log(1.25 / delta)) / sigma


def figure_1_gammas(rows: int, epsilon: float, delta: float) -> dict[str, float]:
    """Paper 3, figure 1: the least γ for (ε, δ) by each analysis, by the names of FIGURE_1_LABELS.

    They are the larger exact direction at q = 1/γ, lemma 1's Rényi curve, and Sheffet's formula for
    γ. rows : k.
    """

    def exact(gamma: float) -> float:
        return float(max(gaussian_sketch(1.0 / gamma, rows, epsilon)))

    def lemma_1(gamma: float) -> float:
        return mixing_delta(rows, gamma, epsilon)

    log = np.log(4.0 / delta)
    return {
        "exact": _least_gamma(exact, delta, searched=FIGURE_1_SEARCHED),
        "lemma_1": _least_gamma(lemma_1, delta, searched=FIGURE_1_SEARCHED),
        "sheffet_2019": float(2.0 * (np.sqrt(2.0 * rows * log) + log) / epsilon),
    }


def _least_gamma(
    delta_of: Callable[[float], float],
    delta: float,
    low: float = 1.0,
    searched: tuple[float, float] = SEARCHED,
) -> float:
    """The least γ > `low` with δ(γ) ≤ `delta`, for a decreasing δ(γ).

    Solved for ln(γ − low) in the interval `searched`, to an error of 1e-11.
    """

    def excess(place: float) -> float:
        return math.log(max(delta_of(low + math.exp(place)), 1e-300) / delta)

    if excess(searched[0]) <= 0.0:
        return low + math.exp(searched[0])
    return low + math.exp(brentq(excess, *searched, xtol=1e-11))


def mixing_delta(rows: int, gamma: float, epsilon: float) -> float:
    """δ(ε) by lemma 1 and proposition 1."""
    return float(_mixing_curve(rows, gamma).by_moments(np.asarray(epsilon)))


def _mixing_curve(rows: int, gamma: float) -> RenyiCurve:
    return RenyiCurve(lambda order: lemma_1_renyi(order, rows, gamma), gamma)


# --- paper 4: the padding or noise of (ε, δ)-private second-moment matrices
#
# Rows have norm at most B = `row_bound`; L stands for ln(4/δ). Suppose that w ≤ σ_min(A), and one
# row is zeroed. If this holds of both databases, as in algorithms 1 and 4, which append w·I, then
# q = vᵀ(AᵀA)⁻¹v ≤ B²/(B² + w²). If it holds of the full database alone, only q ≤ min(1, B²/w²).
# Compare the sketch (Wishart) and inverse-Wishart releases with
# `exact.gaussian_sketch(q, rows, ε)`. The parameters may be what the statements print, such as any
# ε > 0 and δ < 1/e.


@checked
def theorem_3_1_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Paper 4, theorem 3.1, the sketch RA of r = `rows` rows: w with w² = 4B²(√(2rL) + L)/ε."""
    log = _log(delta)
    return row_bound * math.sqrt(4.0 * (math.sqrt(2.0 * rows * log) + log) / epsilon)


@checked
def theorem_b_1_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowHalf
) -> float:
    """Paper 4, theorem B.1, the same sketch: w with w² = B²(1 + (1 + ε/L)(2√(2rL) + 2L)/ε)."""
    log = _log(delta)
    return row_bound * math.sqrt(1.0 + (1.0 + epsilon / log) / epsilon * _spread(rows, log))


@checked
def corollary_b_2_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Paper 4, corollary B.2: w with w² = 8B²√(rL)/ε, for ε < 1, δ < 1/e and r ≥ 2L.

    The corollary's own formula for r at a given w needs the division by ε.
    """
    log = _log(delta)
    if epsilon >= 1.0:
        fail("epsilon", epsilon, "a number in (0, 1)")
    if rows < 2.0 * log:
        fail("rows", rows, f"at least 2 ln(4/delta) = {2.0 * log:g}")
    return row_bound * math.sqrt(8.0 * math.sqrt(rows * log) / epsilon)


@checked
def corollary_b_2_rows(
    row_bound: Positive, padding: Positive, epsilon: Positive, delta: BelowInverseE
) -> int:
    """Paper 4, corollary B.2, for a public w: r = ⌈(εw²/(8B²L))²⌉, for ε < 1, δ < 1/e and r > 2L.

    The corollary's own w² = 8B²√(rL)/ε gives (εw²/(8B²))²/L: the printed r is smaller by a factor
    of L.
    """
    log = _log(delta)
    if epsilon >= 1.0:
        fail("epsilon", epsilon, "a number in (0, 1)")
    rows = math.ceil((epsilon * padding**2 / (8.0 * row_bound**2 * log)) ** 2)
    if rows <= 2.0 * log:
        needed = f"large enough for more than 2 ln(4/delta) = {2.0 * log:g} rows, here {rows}"
        fail("padding", padding, needed)
    return rows


@checked
def section_2_sigma(row_bound: Positive, epsilon: Positive, delta: BelowOne) -> float:
    """Paper 4, section 2, Analyze Gauss: σ with σ² = 2Δ² ln(2/δ)/ε, Δ² = ‖AᵀA − A′ᵀA′‖_F² = B⁴.

    ε stands where ε² belongs, and replacing a row of norm B changes AᵀA by up to Δ² = 2B⁴.
    """
    return row_bound**2 * math.sqrt(2.0 * math.log(2.0 / delta) / epsilon)


@checked
def algorithm_3_dof(dim: Count, epsilon: Positive, delta: BelowInverseE) -> int:
    """Paper 4, algorithm 3: k = ⌊d + (14/ε²)·2L⌋ for any ε > 0 and δ < 1/e.

    Theorem 4.1, on which the algorithm rests, has ε < 1.
    """
    return math.floor(dim + 28.0 / epsilon**2 * _log(delta))


@checked
def theorem_5_1_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Paper 4, theorem 5.1, inverse Wishart with ν = `rows`: w with w² = 2B²(2√(2νL) + 2L)/ε."""
    return row_bound * math.sqrt(2.0 * _spread(rows, _log(delta)) / epsilon)


@checked
def theorem_b_4_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Paper 4, theorem B.4, the same release: w with w² = B²(2√(2νL) + 2L)/(ε(1 − ε/(2L))).

    NaN from ε = 2L on, where the printed w² is negative or infinite.
    """
    log = _log(delta)
    room = 1.0 - 0.5 * epsilon / log
    return row_bound * math.sqrt(_spread(rows, log) / (epsilon * room)) if room > 0.0 else math.nan


@checked
def theorem_4_1_dof(dim: Count, epsilon: BelowOne, delta: BelowInverseE) -> int:
    """Paper 4, theorem 4.1, additive noise Wishart_d(`theorem_4_1_scale`·I, k): k = ⌊d + 28L/ε²⌋.

    Compare with `exact.additive_wishart(1, k, d, ε)`.
    """
    return theorem_b_3_dof(dim, 14.0 / epsilon**2, delta)


@checked
def theorem_4_1_scale(row_bound: Positive) -> float:
    """Paper 4, theorem 4.1: the scale matrix of the noise is B²·I."""
    return row_bound**2


@checked
def theorem_b_3_dof(dim: Count, spread: AboveOne, delta: BelowInverseE) -> int:
    """Paper 4, theorem B.3: ν = ⌊d + 2C₂L⌋, C₂ = `spread` > 1, δ < 1/e (C₂ = 14/ε² in theorem 4.1).

    The theorem does not ask for C₂ > 1, and does not hold without it.
    """
    return math.floor(dim + 2.0 * spread * _log(delta))


@checked
def theorem_b_3_scale(row_bound: Positive, spread: AboveOne, epsilon: BelowOne) -> float:
    """Paper 4, theorem B.3: the least C₁ ≤ σ_min(V) allowed, 2B²√C₂/(ε(√C₂ − 1)²).

    C₂ = `spread` > 1, ε < 1.
    """
    root = math.sqrt(spread)
    return 2.0 * row_bound**2 * root / (epsilon * (root - 1.0) ** 2)


@checked
def theorem_b_5_sigma(rho: Positive, epsilon: BelowOne, delta: BelowInverseE) -> float:
    """Paper 4, theorem B.5, Gaussian noise on (AᵀA)⁻¹: σ with σ² = 8 ln(2/δ)/(ρ²ε²).

    For λ_min(AᵀA) ≥ (1 + ρ)B², ε < 1 and δ < 1/e. σ does not depend on B, though the inverse scales
    as 1/B²: the last step of the proof takes (ρB²)² for (ρB²)⁴.
    """
    return math.sqrt(8.0 * math.log(2.0 / delta)) / (rho * epsilon)


def _log(delta: float) -> float:
    """L = ln(4/δ)."""
    return math.log(4.0 / delta)


def _spread(rows: int, log: float) -> float:
    """2√(2rL) + 2L."""
    return 2.0 * math.sqrt(2.0 * rows * log) + 2.0 * log


__all__ = sorted(
    name
    for name, formula in globals().items()
    if getattr(formula, "__module__", "") == __name__
    and not name.startswith("_")
    and name not in ("figure_1_gammas", "mixing_delta")
)
