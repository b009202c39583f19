"""Paper 4 as printed: the padding or noise of (ε, δ)-private second-moment matrices.

Rows have norm at most B = `row_bound`; L stands for ln(4/δ); ε is in nats. Suppose that
w ≤ σ_min(A), and one row is zeroed. If this holds of both databases, as in algorithms 1 and 4,
which append w·I, then q = vᵀ(AᵀA)⁻¹v ≤ B²/(B² + w²). If it holds of the full database alone, only
q ≤ min(1, B²/w²). Compare the sketch (Wishart) and inverse-Wishart releases with
`exact.gaussian_sketch(q, rows, ε)`. Every function raises `InvalidInput` for an argument out of
range.
"""

from __future__ import annotations

import math
from typing import Annotated

from dpaudit._core.check import fail
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive, between, checked

BelowHalf = Annotated[float, between(0.0, 0.5)]
BelowInverseE = Annotated[float, between(0.0, 1.0 / math.e)]
AboveOne = Annotated[float, between(1.0, math.inf)]


@checked
def theorem_3_1_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Theorem 3.1, the sketch RA of r = `rows` rows: w with w² = 4B²(√(2rL) + L)/ε.

    Printed for any ε > 0 and δ < 1/e.
    """
    log = _log(delta)
    return row_bound * math.sqrt(4.0 * (math.sqrt(2.0 * rows * log) + log) / epsilon)


@checked
def theorem_b_1_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowHalf
) -> float:
    """Theorem B.1, the same sketch: w with w² = B²(1 + (1 + ε/L)(2√(2rL) + 2L)/ε).

    Printed for any ε > 0 and δ < 1/2.
    """
    log = _log(delta)
    return row_bound * math.sqrt(1.0 + (1.0 + epsilon / log) / epsilon * _spread(rows, log))


@checked
def corollary_b_2_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Corollary B.2: w with w² = 8B²√(rL)/ε, for ε < 1, δ < 1/e and r ≥ 2L.

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
    """Corollary B.2, for a public w: r = ⌈(εw²/(8B²L))²⌉, for ε < 1, δ < 1/e and r > 2L.

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
    """Section 2, Analyze Gauss: σ with σ² = 2Δ² ln(2/δ)/ε, Δ² = ‖AᵀA − A′ᵀA′‖_F² = B⁴.

    Printed for any ε > 0 and δ in (0, 1). ε stands where ε² belongs, and replacing a row of norm B
    by another changes AᵀA by up to Δ² = 2B⁴.
    """
    return row_bound**2 * math.sqrt(2.0 * math.log(2.0 / delta) / epsilon)


@checked
def algorithm_3_dof(dim: Count, epsilon: Positive, delta: BelowInverseE) -> int:
    """Algorithm 3: k = ⌊d + (14/ε²)·2L⌋ for any ε > 0 and δ < 1/e.

    Theorem 4.1, on which the algorithm rests, has ε < 1.
    """
    return math.floor(dim + 28.0 / epsilon**2 * _log(delta))


@checked
def theorem_5_1_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Theorem 5.1, inverse Wishart with ν = `rows` degrees of freedom: w² = 2B²(2√(2νL) + 2L)/ε.

    Printed for any ε > 0 and δ < 1/e; returns w.
    """
    return row_bound * math.sqrt(2.0 * _spread(rows, _log(delta)) / epsilon)


@checked
def theorem_b_4_padding(
    row_bound: Positive, rows: Count, epsilon: Positive, delta: BelowInverseE
) -> float:
    """Theorem B.4, the same release: w with w² = B²(2√(2νL) + 2L)/(ε(1 − ε/(2L))).

    Printed for any ε > 0 and δ < 1/e. NaN from ε = 2L on, where the printed w² is negative or
    infinite.
    """
    log = _log(delta)
    room = 1.0 - 0.5 * epsilon / log
    return row_bound * math.sqrt(_spread(rows, log) / (epsilon * room)) if room > 0.0 else math.nan


@checked
def theorem_4_1_dof(dim: Count, epsilon: BelowOne, delta: BelowInverseE) -> int:
    """Theorem 4.1, additive noise Wishart_d(`theorem_4_1_scale`·I, k): k = ⌊d + 28L/ε²⌋.

    Printed for ε < 1 and δ < 1/e. Compare with `exact.additive_wishart(1, k, d, ε)`.
    """
    return theorem_b_3_dof(dim, 14.0 / epsilon**2, delta)


@checked
def theorem_4_1_scale(row_bound: Positive) -> float:
    """Theorem 4.1: the scale matrix of the noise is B²·I."""
    return row_bound**2


@checked
def theorem_b_3_dof(dim: Count, spread: AboveOne, delta: BelowInverseE) -> int:
    """Theorem B.3: ν = ⌊d + 2C₂L⌋, C₂ = `spread` > 1, δ < 1/e (C₂ = 14/ε² in theorem 4.1).

    The theorem does not ask for C₂ > 1, and does not hold without it.
    """
    return math.floor(dim + 2.0 * spread * _log(delta))


@checked
def theorem_b_3_scale(row_bound: Positive, spread: AboveOne, epsilon: BelowOne) -> float:
    """Theorem B.3: the least C₁ ≤ σ_min(V) allowed, 2B²√C₂/(ε(√C₂ − 1)²).

    C₂ = `spread` > 1, ε < 1.
    """
    root = math.sqrt(spread)
    return 2.0 * row_bound**2 * root / (epsilon * (root - 1.0) ** 2)


@checked
def theorem_b_5_sigma(rho: Positive, epsilon: BelowOne, delta: BelowInverseE) -> float:
    """Theorem B.5, Gaussian noise on (AᵀA)⁻¹: σ with σ² = 8 ln(2/δ)/(ρ²ε²).

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
