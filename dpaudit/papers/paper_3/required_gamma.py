"""γ = (λ_min + σ²)/C² that Gaussian mixing needs for (ε, δ): exactly, and by two printed bounds
(paper 3, figure 1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from dpaudit.curves.claims import Claim
from dpaudit.exact import gaussian_sketch

LABELS = {
    "exact": "exact",
    "lemma_1": "lemma 1 with proposition 1",
    "sheffet_2019": "Sheffet 2019, theorem 2",
}


def required(delta_of: Callable[[float], float], delta: float) -> float:
    """The least γ > 1 with δ(γ) ≤ delta, of a decreasing function; on ln(γ − 1), relative 1e-11."""

    def excess(place: float) -> float:
        return float(np.log(max(delta_of(1.0 + np.exp(place)), 1e-300) / delta))

    return float(1.0 + np.exp(brentq(excess, -12.0, 24.0, xtol=1e-11)))


def gammas(rows: int, epsilon: float, delta: float) -> dict[str, float]:
    """γ by each analysis: the larger exact direction at q = 1/γ, lemma 1's Rényi curve, Sheffet's
    formula for γ.
    """
    log = np.log(4.0 / delta)
    return {
        "exact": required(
            lambda gamma: float(max(gaussian_sketch(1.0 / gamma, rows, epsilon))), delta
        ),
        "lemma_1": required(
            lambda gamma: float(Claim.gaussmix(rows, gamma).delta_at(epsilon)), delta
        ),
        "sheffet_2019": float(2.0 * (np.sqrt(2.0 * rows * log) + log) / epsilon),
    }
