"""Paper 3 as printed: the privacy of the Gaussian mixing mechanism SX + σξ.

k = `rows` is the number of mixtures and γ = (σ² + λ_min)/C². A zeroed row has q = vᵀΣ⁻¹v ≤ 1/γ, so
compare what is printed with `exact.gaussian_sketch(1/γ, k, ε)`. ε is in nats, and every function
raises `InvalidInput` for an argument out of range.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.readings import epsilon_at
from dpaudit.curves.renyi import RenyiCurve, gaussian_mixing


def lemma_1_renyi(order: ArrayLike, rows: int, gamma: float) -> Array:
    """Lemma 1: φ(α; k, γ) = [kα ln(1 − 1/γ) − k ln(1 − α/γ)]/(2(α − 1)), infinite for α ≥ γ.

    φ is exactly D_α(full ‖ zeroed) at q = 1/γ, the larger direction.

    Parameters
    ----------
    order : float or array of shape (m,)
        α > 1.
    rows : int
        Rows of the sketch, k.
    gamma : float
        γ.

    Returns
    -------
    array of the shape of `order`, nats
    """
    gamma = _gamma(gamma)
    rows = check.integer("rows", rows, 1)
    expected = "a number > 1, or a 1-D array of them"
    alpha = np.asarray(check.array_of_numbers("order", order, expected), dtype=np.float64)
    if alpha.ndim > 1 or not np.all(alpha > 1.0):
        fail("order", order, expected)
    return gaussian_mixing(alpha, rows, gamma)


def corollary_1_tcdp(rows: int, gamma: float) -> tuple[float, float]:
    """Corollary 1: (ρ, ω) = (k/(2γ²), 2γ/5) for γ > 5/2."""
    rows, gamma = check.integer("rows", rows, 1), _gamma(gamma, 2.5)
    return 0.5 * rows / gamma**2, 0.4 * gamma


def corollary_1_epsilon(rows: int, gamma: float, delta: float) -> float:
    """Below corollary 1: ε = k/(2γ²) + √(2k ln(1/δ))/γ for δ in (0, 1).

    It is the case of proposition 2 for ln(1/δ) ≤ (ω − 1)²ρ, printed without that condition.
    """
    rho, _ = corollary_1_tcdp(rows, gamma)
    delta = check.real("delta", delta, 0.0, 1.0, open_=True)
    return float(rho + np.sqrt(2.0 * rows * np.log(1.0 / delta)) / gamma)


def proposition_2(rho: float, omega: float, epsilon: ArrayLike) -> Array:
    """Proposition 2 (Bun et al. 2018, lemma 6) solved for δ: the δ(ε) of (ρ, ω)-tCDP.

    It is the minimum over 1 < α ≤ ω of exp((α − 1)(ρα − ε)): at α = (ε + ρ)/(2ρ) it is
    exp(−(ε − ρ)²/(4ρ)), and from ε = (2ω − 1)ρ on the best α is ω. `Claim.tcdp` is tighter.

    Parameters
    ----------
    rho : float, nats
        ρ.
    omega : float > 1
        ω.
    epsilon : float or array of shape (m,), nats
        ε.

    Returns
    -------
    array of the shape of `epsilon`
    """
    rho = check.real("rho", rho, 0.0, open_=True)
    omega = check.real("omega", omega, 1.0, open_=True)
    epsilon = check.epsilon(epsilon)
    near = -(np.maximum(epsilon - rho, 0.0) ** 2) / (4.0 * rho)
    far = (omega - 1.0) * (rho * omega - epsilon)
    return np.asarray(np.exp(np.where(epsilon < (2.0 * omega - 1.0) * rho, near, far)))


def sheffet_2019(rows: int, gamma: float, delta: float) -> float:
    """Sheffet 2019, theorem 2, as paper 3 quotes it: ε = 2(√(2k ln(4/δ)) + ln(4/δ))/γ."""
    rows, gamma = check.integer("rows", rows, 1), _gamma(gamma)
    log = np.log(4.0 / check.real("delta", delta, 0.0, 1.0, open_=True))
    return float(2.0 * (np.sqrt(2.0 * rows * log) + log) / gamma)


def gaussmix_epsilon(rows: int, gamma: float, delta: float) -> float:
    """Lemma 1 with proposition 1: ε = min over α of φ + ln(1 − 1/α) − ln(αδ)/(α − 1), or 0.

    The minimum is negative where δ is large and φ small, down to ln(1 − δ).
    """
    rows, gamma = check.integer("rows", rows, 1), _gamma(gamma)
    delta = check.real("delta", delta, 0.0, 1.0, open_=True)
    curve = RenyiCurve(lambda order: lemma_1_renyi(order, rows, gamma), gamma)
    return float(epsilon_at(curve.by_moments, delta))


def _gamma(value: float, low: float = 1.0) -> float:
    return check.real("gamma", value, low, open_=True)
