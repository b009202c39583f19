"""What printed lines are held against: exact δ of a sketch, the least noise, the least padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.readings import gdp_mu
from dpaudit.exact import calibrate, gaussian_sketch, spectrum
from dpaudit.neighbours import NeighbourPair
from reports.make.findings.evidence import Evidence, claimed


def sketch(leverage: float, rows: int, epsilon: float) -> float:
    """δ(ε) of a Gaussian sketch of `rows` rows when a row of leverage q is zeroed.

    It is the larger direction.
    """
    return float(max(gaussian_sketch(leverage, rows, epsilon)))


def least_noise(epsilon: float, delta: float) -> float:
    """The least σ/Δ of Gaussian noise that keeps (ε, δ) for a shift of Δ."""
    return 1.0 / float(gdp_mu(np.array(epsilon), np.array(delta)))


def least(
    mechanism: Any, epsilon: float, delta: float, dim: int = 3, parameter: str | None = None
) -> float:
    """The value of a mechanism's parameter that just keeps (ε, δ) for rows of norm ≤ 1.

    It is for all such data, a row added or removed.
    """
    how: dict[str, Any] = {"relation": "add", "row_bound": 1.0, "parameter": parameter}
    return float(calibrate(mechanism, np.zeros((1, dim)), epsilon, delta, **how).value)


def outlying_line(outlier: float) -> Array:
    """Twelve rows about y = x, the first off it by `outlier`."""
    x = np.linspace(1.0, 2.0, 12)
    return np.column_stack([x, x + 0.1 * np.cos(7.0 * x) + np.r_[outlier, np.zeros(11)]])


def exact_claim(mechanism: Any, epsilon: float, pair: NeighbourPair | None = None) -> Evidence:
    """What a mechanism claims at ε against the exact δ on a pair, its own if none is named."""
    found = spectrum(mechanism, mechanism.pair() if pair is None else pair, epsilon)
    return claimed(float(mechanism.claim.delta_at(epsilon)), float(found.delta))


def gaussian_mu(mechanism: Any) -> float:
    """μ of the Gaussian shift between both sides of the mechanism's own pair."""
    pair = mechanism.pair()
    family = mechanism.replaced_rows(pair.left, pair.right[pair.index][None])
    return float(family.mu[pair.index])
