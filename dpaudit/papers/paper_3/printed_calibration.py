"""Paper 3 as printed: how its algorithms 1 to 6 set their noise, and the ε of theorem 1.

C² stands for the square of the largest row norm; k = `rows`; γ is in units of C² unless said
otherwise. Compare a printed γ with `exact.gaussian_sketch(1/γ, k, ε)`. ε is in nats, and every
function raises `InvalidInput` for an argument out of range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from dpaudit._core import check
from dpaudit.curves.renyi import RenyiCurve
from dpaudit.papers.paper_3.printed import gaussmix_epsilon, lemma_1_renyi

SEARCHED = (-14.0, 40.0)  # ln(γ − 1), or ln(γ − 5/2)


def gaussmix_gamma(rows: int, epsilon: float, delta: float) -> float:
    """Lemma 1 with proposition 1: the least γ > 1 for which they give (ε, δ)."""
    return _gaussmix_gamma(*_budget(rows, epsilon, delta))


@lru_cache(maxsize=256)
def _gaussmix_gamma(rows: int, epsilon: float, delta: float) -> float:
    return least_gamma(lambda gamma: mixing_delta(rows, gamma, epsilon), delta)


def theorem_1_epsilon(rows: int, gamma: float, delta: float, eta: float) -> float:
    """Theorem 1: ε̃(η, γ, k, δ), the sum of √(2 ln(3.75/δ))/η and lemma 1's ε at δ/3; γ > 5/2.

    The first term is the ε of the Gaussian mechanism's textbook noise, whose proof needs ε < 1.
    The second uses proposition 1.
    """
    gamma = check.real("gamma", gamma, 2.5, open_=True)
    eta = check.real("eta", eta, 0.0, open_=True)
    first = math.sqrt(2.0 * math.log(3.75 / check.real("delta", delta, 0.0, 1.0, open_=True))) / eta
    return first + gaussmix_epsilon(rows, gamma, delta / 3.0)


def after_theorem_1_epsilon(rows: int, gamma: float, delta: float) -> float:
    """Below theorem 1, for η = γ/√k: ε = k/(2γ²) + 2√(2k ln(4/δ))/γ; γ > 5/2.

    As below corollary 1, the condition of proposition 2's first case is dropped.
    """
    rows, gamma = check.integer("rows", rows, 1), check.real("gamma", gamma, 2.5, open_=True)
    log = math.log(4.0 / check.real("delta", delta, 0.0, 1.0, open_=True))
    return 0.5 * rows / gamma**2 + 2.0 * math.sqrt(2.0 * rows * log) / gamma


def linear_mixing_gamma(rows: int, epsilon: float, delta: float) -> float:
    """Algorithm 2, line 2: the smallest γ > 5/2 with ε̃(γ/√k, γ, k, δ) ≤ ε."""
    return _linear_mixing_gamma(*_budget(rows, epsilon, delta))


@lru_cache(maxsize=256)
def _linear_mixing_gamma(rows: int, epsilon: float, delta: float) -> float:
    # The private λ_min takes share/γ of ε: theorem 1's first term at η = γ/√k.
    share = math.sqrt(2.0 * rows * math.log(3.75 / delta))

    def mixing(gamma: float) -> float:
        left = epsilon - share / gamma
        return mixing_delta(rows, gamma, left) if left > 0.0 else 1.0

    return least_gamma(mixing, delta / 3.0, low=2.5)


def ada_ssp_deviation(epsilon: float, delta: float) -> float:
    """Algorithm 3, AdaSSP (Wang 2018): s = √ln(6/δ)/(ε/3).

    Each of three releases gets N(0, s²Δ²), Δ its sensitivity.
    """
    _, epsilon, delta = _budget(1, epsilon, delta)
    return math.sqrt(math.log(6.0 / delta)) / (epsilon / 3.0)


def sheffet_2017_gamma(rows: int, epsilon: float, delta: float) -> float:
    """Algorithm 4 (Sheffet 2017, appendix H.2): γ = 4(√(2k ln(8/δ)) + 2 ln(8/δ))/ε.

    The algorithm multiplies it by C².
    """
    rows, epsilon, delta = _budget(rows, epsilon, delta)
    log = math.log(8.0 / delta)
    return 4.0 * (math.sqrt(2.0 * rows * log) + 2.0 * log) / epsilon


def sheffet_renyi_gamma(rows: int, epsilon: float, delta: float) -> float:
    """Algorithm 5, line 3: lemma 1 and proposition 1 at (ε/2, δ)."""
    rows, epsilon, delta = _budget(rows, epsilon, delta)
    return gaussmix_gamma(rows, 0.5 * epsilon, delta)


def objective_sigma(row_bound: float, epsilon: float, delta: float) -> float:
    """Algorithm 6, objective perturbation (Kifer et al. 2012): σ = C√(4ε + 8 ln(2/δ))/ε.

    Parameters
    ----------
    row_bound : float > 0
        Bound on the norm of a row, C.
    epsilon : float > 0, nats
        ε.
    delta : float in (0, 1)
        δ.

    Returns
    -------
    float
    """
    bound = check.real("row_bound", row_bound, 0.0, open_=True)
    _, epsilon, delta = _budget(1, epsilon, delta)
    return bound * math.sqrt(4.0 * epsilon + 8.0 * math.log(2.0 / delta)) / epsilon


def objective_ridge(row_bound: float, epsilon: float) -> float:
    """Algorithm 6, objective perturbation: Δ = C²/(2ε).

    That is twice the logistic loss's largest curvature C²/4, over ε.

    Parameters
    ----------
    row_bound : float > 0
        Bound on the norm of a row, C.
    epsilon : float > 0, nats
        ε.

    Returns
    -------
    float
    """
    bound = check.real("row_bound", row_bound, 0.0, open_=True)
    return 0.5 * bound**2 / check.real("epsilon", epsilon, 0.0, open_=True)


def gaussian_noise_epsilon(sigma: float, delta: float) -> float:
    """Section 3, for X + σξ: ε = √(2 ln(1.25/δ))/σ, printed whatever C and for any δ in (0, 1)."""
    sigma = check.real("sigma", sigma, 0.0, open_=True)
    delta = check.real("delta", delta, 0.0, 1.0, open_=True)
    return math.sqrt(2.0 * math.log(1.25 / delta)) / sigma


def least_gamma(
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


def _budget(rows: int, epsilon: float, delta: float) -> tuple[int, float, float]:
    """k, ε and δ, checked."""
    return (
        check.integer("rows", rows, 1),
        check.real("epsilon", epsilon, 0.0, open_=True),
        check.real("delta", delta, 0.0, 1.0, open_=True),
    )


def mixing_delta(rows: int, gamma: float, epsilon: float) -> float:
    """δ(ε) by lemma 1 and proposition 1."""
    curve = RenyiCurve(lambda order: lemma_1_renyi(order, rows, gamma), gamma)
    return float(curve.by_moments(np.asarray(epsilon)))
