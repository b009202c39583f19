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

from dpaudit._core import check
from dpaudit._core.check import fail


def theorem_3_1_padding(row_bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Theorem 3.1, the sketch RA of r = `rows` rows: w with w² = 4B²(√(2rL) + L)/ε.

    Printed for any ε > 0 and δ < 1/e.
    """
    b, r, epsilon, log = _padding(row_bound, rows, epsilon, delta, 1.0 / math.e)
    return b * math.sqrt(4.0 * (math.sqrt(2.0 * r * log) + log) / epsilon)


def theorem_b_1_padding(row_bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Theorem B.1, the same sketch: w with w² = B²(1 + (1 + ε/L)(2√(2rL) + 2L)/ε).

    Printed for any ε > 0 and δ < 1/2.
    """
    b, r, epsilon, log = _padding(row_bound, rows, epsilon, delta, 0.5)
    return b * math.sqrt(1.0 + (1.0 + epsilon / log) / epsilon * _spread(r, log))


def corollary_b_2_padding(row_bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Corollary B.2: w with w² = 8B²√(rL)/ε, for ε < 1, δ < 1/e and r ≥ 2L.

    The corollary's own formula for r at a given w needs the division by ε.
    """
    b, r, epsilon, log = _padding(row_bound, rows, epsilon, delta, 1.0 / math.e)
    if epsilon >= 1.0:
        fail("epsilon", epsilon, "a number in (0, 1)")
    if r < 2.0 * log:
        fail("rows", rows, f"at least 2 ln(4/delta) = {2.0 * log:g}")
    return b * math.sqrt(8.0 * math.sqrt(r * log) / epsilon)


def corollary_b_2_rows(row_bound: float, padding: float, epsilon: float, delta: float) -> int:
    """Corollary B.2, for a public w: r = ⌈(εw²/(8B²L))²⌉, for ε < 1, δ < 1/e and r > 2L.

    The corollary's own w² = 8B²√(rL)/ε gives (εw²/(8B²))²/L: the printed r is smaller by a factor
    of L.
    """
    b, _, epsilon, log = _padding(row_bound, 1, epsilon, delta, 1.0 / math.e)
    padding = check.real("padding", padding, 0.0, open_=True)
    if epsilon >= 1.0:
        fail("epsilon", epsilon, "a number in (0, 1)")
    rows = math.ceil((epsilon * padding**2 / (8.0 * b**2 * log)) ** 2)
    if rows <= 2.0 * log:
        needed = f"large enough for more than 2 ln(4/delta) = {2.0 * log:g} rows, here {rows}"
        fail("padding", padding, needed)
    return rows


def section_2_sigma(row_bound: float, epsilon: float, delta: float) -> float:
    """Section 2, Analyze Gauss: σ with σ² = 2Δ² ln(2/δ)/ε, Δ² = ‖AᵀA − A′ᵀA′‖_F² = B⁴.

    Printed for any ε > 0 and δ in (0, 1). ε stands where ε² belongs, and replacing a row of norm B
    by another changes AᵀA by up to Δ² = 2B⁴.
    """
    b = check.real("row_bound", row_bound, 0.0, open_=True)
    epsilon = check.real("epsilon", epsilon, 0.0, open_=True)
    delta = check.real("delta", delta, 0.0, 1.0, open_=True)
    return b**2 * math.sqrt(2.0 * math.log(2.0 / delta) / epsilon)


def algorithm_3_dof(dim: int, epsilon: float, delta: float) -> int:
    """Algorithm 3: k = ⌊d + (14/ε²)·2L⌋ for any ε > 0 and δ < 1/e.

    Theorem 4.1, on which the algorithm rests, has ε < 1.
    """
    dim, epsilon = check.integer("dim", dim, 1), check.real("epsilon", epsilon, 0.0, open_=True)
    return math.floor(dim + 28.0 / epsilon**2 * _log(delta, 1.0 / math.e))


def theorem_5_1_padding(row_bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Theorem 5.1, inverse Wishart with ν = `rows` degrees of freedom: w² = 2B²(2√(2νL) + 2L)/ε.

    Printed for any ε > 0 and δ < 1/e; returns w.
    """
    b, nu, epsilon, log = _padding(row_bound, rows, epsilon, delta, 1.0 / math.e)
    return b * math.sqrt(2.0 * _spread(nu, log) / epsilon)


def theorem_b_4_padding(row_bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Theorem B.4, the same release: w with w² = B²(2√(2νL) + 2L)/(ε(1 − ε/(2L))).

    Printed for any ε > 0 and δ < 1/e. NaN from ε = 2L on, where the printed w² is negative or
    infinite.
    """
    b, nu, epsilon, log = _padding(row_bound, rows, epsilon, delta, 1.0 / math.e)
    room = 1.0 - 0.5 * epsilon / log
    return b * math.sqrt(_spread(nu, log) / (epsilon * room)) if room > 0.0 else math.nan


def theorem_4_1_dof(dim: int, epsilon: float, delta: float) -> int:
    """Theorem 4.1, additive noise Wishart_d(`theorem_4_1_scale`·I, k): k = ⌊d + 28L/ε²⌋.

    Printed for ε < 1 and δ < 1/e. Compare with `exact.additive_wishart(1, k, d, ε)`.
    """
    epsilon = check.real("epsilon", epsilon, 0.0, 1.0, open_=True)
    return theorem_b_3_dof(dim, 14.0 / epsilon**2, delta)


def theorem_4_1_scale(row_bound: float) -> float:
    """Theorem 4.1: the scale matrix of the noise is B²·I."""
    return check.real("row_bound", row_bound, 0.0, open_=True) ** 2


def theorem_b_3_dof(dim: int, spread: float, delta: float) -> int:
    """Theorem B.3: ν = ⌊d + 2C₂L⌋, C₂ = `spread` > 1, δ < 1/e (C₂ = 14/ε² in theorem 4.1).

    The theorem does not ask for C₂ > 1, and does not hold without it.
    """
    dim, spread = check.integer("dim", dim, 1), check.real("spread", spread, 1.0, open_=True)
    return math.floor(dim + 2.0 * spread * _log(delta, 1.0 / math.e))


def theorem_b_3_scale(row_bound: float, spread: float, epsilon: float) -> float:
    """Theorem B.3: the least C₁ ≤ σ_min(V) allowed, 2B²√C₂/(ε(√C₂ − 1)²).

    C₂ = `spread` > 1, ε < 1.
    """
    b = check.real("row_bound", row_bound, 0.0, open_=True)
    root = math.sqrt(check.real("spread", spread, 1.0, open_=True))
    epsilon = check.real("epsilon", epsilon, 0.0, 1.0, open_=True)
    return 2.0 * b**2 * root / (epsilon * (root - 1.0) ** 2)


def theorem_b_5_sigma(rho: float, epsilon: float, delta: float) -> float:
    """Theorem B.5, Gaussian noise on (AᵀA)⁻¹: σ with σ² = 8 ln(2/δ)/(ρ²ε²).

    For λ_min(AᵀA) ≥ (1 + ρ)B², ε < 1 and δ < 1/e. σ does not depend on B, though the inverse scales
    as 1/B²: the last step of the proof takes (ρB²)² for (ρB²)⁴.
    """
    rho = check.real("rho", rho, 0.0, open_=True)
    epsilon = check.real("epsilon", epsilon, 0.0, 1.0, open_=True)
    delta = check.real("delta", delta, 0.0, 1.0 / math.e, open_=True)
    return math.sqrt(8.0 * math.log(2.0 / delta)) / (rho * epsilon)


def _padding(
    row_bound: float, rows: int, epsilon: float, delta: float, limit: float
) -> tuple[float, int, float, float]:
    """B, r, ε and L, checked; δ in (0, `limit`)."""
    return (
        check.real("row_bound", row_bound, 0.0, open_=True),
        check.integer("rows", rows, 1),
        check.real("epsilon", epsilon, 0.0, open_=True),
        _log(delta, limit),
    )


def _log(delta: float, limit: float) -> float:
    """L, for δ in (0, `limit`)."""
    return math.log(4.0 / check.real("delta", delta, 0.0, limit, open_=True))


def _spread(rows: int, log: float) -> float:
    """2√(2rL) + 2L."""
    return 2.0 * math.sqrt(2.0 * rows * log) + 2.0 * log
