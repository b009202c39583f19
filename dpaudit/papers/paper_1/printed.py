"""Paper 1 as printed: the curves and the noise of its private least squares.

ε is in nats, and every function raises `InvalidInput` for an argument out of range.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf, erfi

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.exact import gaussian_sketch
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive, checked


@checked
def lemma_10(leverage: BelowOne, epsilon: ArrayLike) -> Array:
    """Paper 1, lemma 10: δ of a random linear combination, with its case split on ε.

    Both directions are printed rightly (an equality sign is missing in each). But for
    0 ≤ ε < −½ln(1−q), q = `leverage`, the split takes zeroed → full, although full → zeroed is
    larger there. At q = 0.2, ε = 0.1: printed 0.0020604, true 0.0321350. The printed line claims
    too much privacy.

    Parameters
    ----------
    leverage : float in (0, 1)
        The leverage q of the row.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0.

    Returns
    -------
    array of the shape of `epsilon`
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

    Parameters
    ----------
    leverage : float in (0, 1)
        The leverage q of the row.
    rows : int ≥ 1
        The number r of rows of the sketch.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0.

    Returns
    -------
    array of the shape of `epsilon`
        NaN where a printed root is not real.
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
