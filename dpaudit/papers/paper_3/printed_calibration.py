"""Paper 3 as printed: what its algorithms 1 to 6 set their noise by, and the ε that theorem 1
gives.

C² stands for the square of the largest row norm; k = `rows`; γ is in units of C² unless said
otherwise. What is printed for γ is to be held against `exact.gaussian_sketch(1/γ, k, ε)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq

from dpaudit._core import check
from dpaudit.curves.renyi import RenyiCurve
from dpaudit.papers.paper_3.printed import gaussmix_epsilon, lemma_1_renyi

SMALLEST, LARGEST = -14.0, 40.0  # ln(γ − 1), or ln(γ − 5/2), between which γ is looked for


def gaussmix_gamma(rows: int, epsilon: float, delta: float) -> float:
    """The least γ > 1 for which lemma 1 and proposition 1 give (ε, δ)."""
    return _gaussmix_gamma(*_budget(rows, epsilon, delta))


@lru_cache(maxsize=256)
def _gaussmix_gamma(rows: int, epsilon: float, delta: float) -> float:
    return _least(lambda gamma: _mixing_delta(rows, gamma, epsilon), delta, 1.0)


def theorem_1_epsilon(rows: int, gamma: float, delta: float, eta: float) -> float:
    """ε̃(η, γ, k, δ) of theorem 1, nats: √(2 ln(3.75/δ))/η, and lemma 1 with proposition 1 at δ/3;
    γ > 5/2.

    The first term is the Gaussian mechanism's textbook noise, which is proved for a first term
    below 1 only.
    """
    gamma = check.real("gamma", gamma, 2.5, open_=True)
    eta = check.real("eta", eta, 0.0, open_=True)
    first = math.sqrt(2.0 * math.log(3.75 / check.real("delta", delta, 0.0, 1.0, open_=True))) / eta
    return first + gaussmix_epsilon(rows, gamma, delta / 3.0)


def after_theorem_1_epsilon(rows: int, gamma: float, delta: float) -> float:
    """ε = k/(2γ²) + 2√(2k ln(4/δ))/γ printed below theorem 1 for η = γ/√k, nats; γ > 5/2.

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
    # of ε, times γ, that the private λ_min takes
    share = math.sqrt(2.0 * rows * math.log(3.75 / delta))

    def mixing(gamma: float) -> float:
        left = epsilon - share / gamma
        return _mixing_delta(rows, gamma, left) if left > 0.0 else 1.0

    return _least(mixing, delta / 3.0, 2.5)


def ada_ssp_deviation(epsilon: float, delta: float) -> float:
    """AdaSSP: each of three releases gets N(0, s²Δ²), Δ its sensitivity and s = √ln(6/δ)/(ε/3)
    (Wang 2018).
    """
    _, epsilon, delta = _budget(1, epsilon, delta)
    return math.sqrt(math.log(6.0 / delta)) / (epsilon / 3.0)


def sheffet_2017_gamma(rows: int, epsilon: float, delta: float) -> float:
    """Sheffet 2017 as in appendix H.2: γ = 4(√(2k ln(8/δ)) + 2 ln(8/δ))/ε; the box multiplies it by
    C².
    """
    rows, epsilon, delta = _budget(rows, epsilon, delta)
    log = math.log(8.0 / delta)
    return 4.0 * (math.sqrt(2.0 * rows * log) + 2.0 * log) / epsilon


def sheffet_renyi_gamma(rows: int, epsilon: float, delta: float) -> float:
    """Algorithm 5, line 3: lemma 1 and proposition 1 at (ε/2, δ)."""
    rows, epsilon, delta = _budget(rows, epsilon, delta)
    return gaussmix_gamma(rows, 0.5 * epsilon, delta)


def objective_sigma(row_bound: float, epsilon: float, delta: float) -> float:
    """Objective perturbation's noise, σ = C√(4ε + 8 ln(2/δ))/ε, C = `row_bound` (Kifer et al.
    2012).
    """
    bound = check.real("row_bound", row_bound, 0.0, open_=True)
    _, epsilon, delta = _budget(1, epsilon, delta)
    return bound * math.sqrt(4.0 * epsilon + 8.0 * math.log(2.0 / delta)) / epsilon


def objective_ridge(row_bound: float, epsilon: float) -> float:
    """Objective perturbation's Δ = C²/(2ε): twice the logistic loss's largest curvature C²/4, over
    ε.
    """
    bound = check.real("row_bound", row_bound, 0.0, open_=True)
    return 0.5 * bound**2 / check.real("epsilon", epsilon, 0.0, open_=True)


def gaussian_noise_epsilon(sigma: float, delta: float) -> float:
    """ε = √(2 ln(1.25/δ))/σ printed in section 3 for X + σξ, whatever C and for any δ in (0, 1),
    nats.
    """
    sigma = check.real("sigma", sigma, 0.0, open_=True)
    return (
        math.sqrt(2.0 * math.log(1.25 / check.real("delta", delta, 0.0, 1.0, open_=True))) / sigma
    )


def _budget(rows: Any, epsilon: Any, delta: Any) -> tuple[int, float, float]:
    return (
        check.integer("rows", rows, 1),
        check.real("epsilon", epsilon, 0.0, open_=True),
        check.real("delta", delta, 0.0, 1.0, open_=True),
    )


def _mixing_delta(rows: int, gamma: float, epsilon: float) -> float:
    curve = RenyiCurve(lambda order: lemma_1_renyi(order, rows, gamma), gamma)
    return float(curve(np.asarray(epsilon)))


def _least(delta_of: Callable[[float], float], delta: float, low: float) -> float:
    """The least γ > `low` with δ(γ) ≤ delta, of a decreasing function; on ln(γ − low)."""

    def excess(place: float) -> float:
        return math.log(max(delta_of(low + math.exp(place)), 1e-300) / delta)

    if excess(SMALLEST) <= 0.0:
        return low + math.exp(SMALLEST)
    return low + math.exp(brentq(excess, SMALLEST, LARGEST, xtol=1e-11))
