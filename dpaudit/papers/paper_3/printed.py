"""Paper 3 as printed: the privacy of Gaussian mixing SX + σξ, and the noise of its algorithms.

k = `rows` is the number of mixtures and γ = (σ² + λ_min)/C², C² the square of the largest row norm.
A zeroed row has q = vᵀΣ⁻¹v ≤ 1/γ, so compare what is printed with
`exact.gaussian_sketch(1/γ, k, ε)`. ε is in nats, and every function raises `InvalidInput` for an
argument out of range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated

import numpy as np
from scipy.optimize import brentq

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.readings import epsilon_at
from dpaudit.curves.renyi import RenyiCurve, gaussian_mixing
from dpaudit.exact import gaussian_sketch
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive, between, checked

AboveOne = Annotated[float, between(1.0, math.inf)]
Above2_5 = Annotated[float, between(2.5, math.inf)]
SEARCHED = (-14.0, 40.0)  # ln(γ − 1), or ln(γ − 5/2)
FIGURE_1_SEARCHED = (-12.0, 24.0)  # fixes the last digits of the published figure
FIGURE_1_LABELS = {
    "exact": "exact",
    "lemma_1": "lemma 1 with proposition 1",
    "sheffet_2019": "Sheffet 2019, theorem 2",
}


@checked
def lemma_1_renyi(order: ArrayLike, rows: Count, gamma: AboveOne) -> Array:
    """Lemma 1: φ(α; k, γ) = [kα ln(1 − 1/γ) − k ln(1 − α/γ)]/(2(α − 1)), infinite for α ≥ γ.

    φ is exactly D_α(full ‖ zeroed) at q = 1/γ, the larger direction. order : α > 1, scalar or (m,);
    φ has its shape and is in nats.
    """
    expected = "a number > 1, or a 1-D array of them"
    alpha = np.asarray(check.array_of_numbers("order", order, expected), dtype=np.float64)
    if alpha.ndim > 1 or not np.all(alpha > 1.0):
        fail("order", order, expected)
    return gaussian_mixing(alpha, rows, gamma)


@checked
def corollary_1_tcdp(rows: Count, gamma: Above2_5) -> tuple[float, float]:
    """Corollary 1: (ρ, ω) = (k/(2γ²), 2γ/5) for γ > 5/2."""
    return 0.5 * rows / gamma**2, 0.4 * gamma


@checked
def corollary_1_epsilon(rows: Count, gamma: Above2_5, delta: BelowOne) -> float:
    """Below corollary 1: ε = k/(2γ²) + √(2k ln(1/δ))/γ for δ in (0, 1).

    It is the case of proposition 2 for ln(1/δ) ≤ (ω − 1)²ρ, printed without that condition.
    """
    rho, _ = corollary_1_tcdp(rows, gamma)
    return float(rho + np.sqrt(2.0 * rows * np.log(1.0 / delta)) / gamma)


@checked
def proposition_2(rho: Positive, omega: AboveOne, epsilon: ArrayLike) -> Array:
    """Proposition 2 (Bun et al. 2018, lemma 6) solved for δ: the δ(ε) of (ρ, ω)-tCDP.

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
    """Lemma 1 with proposition 1: ε = min over α of φ + ln(1 − 1/α) − ln(αδ)/(α − 1), or 0.

    The minimum is negative where δ is large and φ small, down to ln(1 − δ).
    """
    return float(epsilon_at(_mixing_curve(rows, gamma).by_moments, delta))


@checked
def gaussmix_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Lemma 1 with proposition 1: the least γ > 1 for which they give (ε, δ)."""
    return _gaussmix_gamma(rows, epsilon, delta)


@lru_cache(maxsize=256)
def _gaussmix_gamma(rows: int, epsilon: float, delta: float) -> float:
    return _least_gamma(lambda gamma: mixing_delta(rows, gamma, epsilon), delta)


@checked
def theorem_1_epsilon(rows: Count, gamma: Above2_5, delta: BelowOne, eta: Positive) -> float:
    """Theorem 1: ε̃(η, γ, k, δ), the sum of √(2 ln(3.75/δ))/η and lemma 1's ε at δ/3; γ > 5/2.

    The first term is the ε of the Gaussian mechanism's textbook noise, whose proof needs ε < 1.
    The second uses proposition 1.
    """
    first = math.sqrt(2.0 * math.log(3.75 / delta)) / eta
    return first + gaussmix_epsilon(rows, gamma, delta / 3.0)


@checked
def after_theorem_1_epsilon(rows: Count, gamma: Above2_5, delta: BelowOne) -> float:
    """Below theorem 1, for η = γ/√k: ε = k/(2γ²) + 2√(2k ln(4/δ))/γ; γ > 5/2.

    As below corollary 1, the condition of proposition 2's first case is dropped.
    """
    return 0.5 * rows / gamma**2 + 2.0 * math.sqrt(2.0 * rows * math.log(4.0 / delta)) / gamma


@checked
def linear_mixing_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Algorithm 2, line 2: the smallest γ > 5/2 with ε̃(γ/√k, γ, k, δ) ≤ ε."""
    return _linear_mixing_gamma(rows, epsilon, delta)


@lru_cache(maxsize=256)
def _linear_mixing_gamma(rows: int, epsilon: float, delta: float) -> float:
    # The private λ_min takes share/γ of ε: theorem 1's first term at η = γ/√k.
    share = math.sqrt(2.0 * rows * math.log(3.75 / delta))

    def mixing(gamma: float) -> float:
        left = epsilon - share / gamma
        return mixing_delta(rows, gamma, left) if left > 0.0 else 1.0

    return _least_gamma(mixing, delta / 3.0, low=2.5)


@checked
def ada_ssp_deviation(epsilon: Positive, delta: BelowOne) -> float:
    """Algorithm 3, AdaSSP (Wang 2018): s = √ln(6/δ)/(ε/3).

    Each of three releases gets N(0, s²Δ²), Δ its sensitivity.
    """
    return math.sqrt(math.log(6.0 / delta)) / (epsilon / 3.0)


@checked
def sheffet_2017_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Algorithm 4 (Sheffet 2017, appendix H.2): γ = 4(√(2k ln(8/δ)) + 2 ln(8/δ))/ε.

    The algorithm multiplies it by C².
    """
    log = math.log(8.0 / delta)
    return 4.0 * (math.sqrt(2.0 * rows * log) + 2.0 * log) / epsilon


@checked
def sheffet_renyi_gamma(rows: Count, epsilon: Positive, delta: BelowOne) -> float:
    """Algorithm 5, line 3: lemma 1 and proposition 1 at (ε/2, δ)."""
    return gaussmix_gamma(rows, 0.5 * epsilon, delta)


@checked
def objective_sigma(row_bound: Positive, epsilon: Positive, delta: BelowOne) -> float:
    """Algorithm 6, objective perturbation (Kifer et al. 2012): σ = C√(4ε + 8 ln(2/δ))/ε.

    row_bound : C, the bound on the norm of a row.
    """
    return row_bound * math.sqrt(4.0 * epsilon + 8.0 * math.log(2.0 / delta)) / epsilon


@checked
def objective_ridge(row_bound: Positive, epsilon: Positive) -> float:
    """Algorithm 6, objective perturbation: Δ = C²/(2ε), with C = `row_bound`.

    It is twice the logistic loss's largest curvature C²/4, over ε.
    """
    return 0.5 * row_bound**2 / epsilon


@checked
def gaussian_noise_epsilon(sigma: Positive, delta: BelowOne) -> float:
    """Section 3, for X + σξ: ε = √(2 ln(1.25/δ))/σ, printed whatever C and for any δ in (0, 1)."""
    return math.sqrt(2.0 * math.log(1.25 / delta)) / sigma


def figure_1_gammas(rows: int, epsilon: float, delta: float) -> dict[str, float]:
    """Figure 1: the least γ for (ε, δ) by each analysis, by the names of FIGURE_1_LABELS.

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
