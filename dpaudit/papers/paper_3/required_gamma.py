"""Paper 3, figure 1: the γ = (λ_min + σ²)/C² that Gaussian mixing needs for (ε, δ).

By the exact curve, and by two printed bounds.
"""

from __future__ import annotations

import numpy as np

from dpaudit.exact import gaussian_sketch
from dpaudit.papers.paper_3.printed_calibration import least_gamma, mixing_delta

SEARCHED = (-12.0, 24.0)  # ln(γ − 1); fixes the last digits of the published figure
LABELS = {
    "exact": "exact",
    "lemma_1": "lemma 1 with proposition 1",
    "sheffet_2019": "Sheffet 2019, theorem 2",
}


def gammas(rows: int, epsilon: float, delta: float) -> dict[str, float]:
    """The least γ by each analysis, by the names of LABELS; rows : k, epsilon in nats.

    The larger exact direction at q = 1/γ, lemma 1's Rényi curve, and Sheffet's formula for γ.
    """

    def exact(gamma: float) -> float:
        return float(max(gaussian_sketch(1.0 / gamma, rows, epsilon)))

    def lemma_1(gamma: float) -> float:
        return mixing_delta(rows, gamma, epsilon)

    log = np.log(4.0 / delta)
    return {
        "exact": least_gamma(exact, delta, searched=SEARCHED),
        "lemma_1": least_gamma(lemma_1, delta, searched=SEARCHED),
        "sheffet_2019": float(2.0 * (np.sqrt(2.0 * rows * log) + log) / epsilon),
    }
