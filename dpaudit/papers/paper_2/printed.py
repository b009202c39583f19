"""Paper 2 as printed: radii at which rows are cut, and the noise of μ-GDP releases.

n = `rows` private rows of d = `dim` features, η = `eta` in (0, 1). Neighbours have one private row
REPLACED. Where an algorithm releases two statistics, each is printed as μ-GDP and both together as
√2·μ-GDP; where it takes T = `steps` updates, each has the share μ/√T. Moments are averages over
the n rows. Every function raises `InvalidInput` for an argument out of range.
"""

from __future__ import annotations

import math

from dpaudit._core.check import fail
from dpaudit.mechanisms.parameters import BelowOne, Count, Finite, NonNegative, Positive, checked


@checked
def algorithm_1_radius(dim: Count, rows: Count, eta: BelowOne) -> float:
    """Algorithm 1: R = √(d(1 + ln(2n/η))), the radius at which whitened rows are cut."""
    return math.sqrt(dim * (1.0 + math.log(2.0 * rows / eta)))


@checked
def theorem_3_2_sigma(dim: Count, rows: Count, eta: BelowOne, mu: Positive) -> float:
    """Theorem 3.2, the second moment of the cut rows: σ = 2R²/(μn), R of algorithm 1, for μ-GDP.

    A replaced row changes the upper triangle by at most √2·R²/n (R²/n in one dimension), so the
    release is really μ/√2-GDP (μ/2-GDP).
    """
    return 2.0 * algorithm_1_radius(dim, rows, eta) ** 2 / (mu * rows)


@checked
def theorem_3_2_norm(dim: Count, rows: Count, eta: BelowOne, mu: Positive) -> float:
    """Theorem 3.2, inequality (1): the bound √(d³ln(2d/η))(1 + ln(2n/η))/(μn) of the noise's ‖G‖₂.

    It is printed to hold except with probability O(η). Lemma A.1, σ√(2d ln(2d/η)), is 2√2 times
    that; the expected ‖G‖₂, near 2σ√d, exceeds the bound unless d/η is over 4 million.
    """
    square = algorithm_1_radius(dim, rows, eta) ** 2
    return square * math.sqrt(dim * math.log(2.0 * dim / eta)) / (mu * rows)


def algorithm_2_sigmas(dim: Count, rows: Count, eta: BelowOne, mu: Positive) -> tuple[float, float]:
    """Algorithm 2: σ₁ of theorem 3.2, and σ₂ = 2√d(1 + ln(2n/η))/(μn) for the cross moment.

    The cross moment is that of the cut features with the cut label.
    """
    first = theorem_3_2_sigma(dim, rows, eta, mu)
    return first, first / math.sqrt(dim)


@checked
def theorem_4_3_radius(trace: NonNegative, dim: Count, rows: Count, eta: BelowOne) -> float:
    """Theorem 4.3 and algorithm 5: rows are cut at √(Tr(Σ) + d·ln(n/η)), Σ their second moment.

    trace : Tr(Σ) ≥ 0.
    """
    return math.sqrt(trace + dim * math.log(rows / eta))


@checked
def theorem_4_3_sigmas(
    trace: NonNegative, coef_norm: Positive, dim: Count, rows: Count, eta: BelowOne, mu: Positive
) -> tuple[float, float]:
    """Theorem 4.3: σ₁ = 2R²/(μn) and σ₂ = σ₁‖β‖, R of `theorem_4_3_radius`.

    trace : Tr(Σ) ≥ 0. coef_norm : ‖β‖.
    """
    first = 2.0 * theorem_4_3_radius(trace, dim, rows, eta) ** 2 / (mu * rows)
    return first, first * coef_norm


@checked
def remark_4_4_label_radius(label_moment: NonNegative, rows: Count, eta: BelowOne) -> float:
    """Remark 4.4: labels are cut at √(σ̂² + ln(n/η)), where σ̂² = `label_moment` is their own."""
    return math.sqrt(label_moment + math.log(rows / eta))


@checked
def remark_4_4_sigmas(
    trace: NonNegative,
    label_moment: NonNegative,
    dim: Count,
    rows: Count,
    eta: BelowOne,
    mu: Positive,
) -> tuple[float, float]:
    """Remark 4.4: σ₁ = 2R²/(μn) and σ₂ = R·R_y/n, with the radii of theorem 4.3 and of the remark.

    σ₂ lacks the factor 2/μ of theorem 4.3. And both radii are computed from the private data.
    """
    radius = theorem_4_3_radius(trace, dim, rows, eta)
    label_radius = remark_4_4_label_radius(label_moment, rows, eta)
    return 2.0 * radius**2 / (mu * rows), radius * label_radius / rows


def algorithm_3_sigmas(
    dim: Count, rows: Count, eta: BelowOne, mu: Positive, steps: Count
) -> tuple[float, float]:
    """Algorithm 3, logistic: σ₁ = √T·R²/(2μn) for the Hessian, σ₂ = 2√T·R²/(μn) for the gradient.

    R is the radius of algorithm 1. The proof bounds the gradient's change by 2R/n: it has
    √(d(1 + ln(2n/η))) where the algorithm has d(1 + ln(2n/η)).
    """
    return _logistic(algorithm_1_radius(dim, rows, eta), rows, mu, steps)


def algorithm_5_sigmas(
    trace: NonNegative, dim: Count, rows: Count, eta: BelowOne, mu: Positive, steps: Count
) -> tuple[float, float]:
    """Algorithm 5 (appendix C.5): algorithm 3's σ₁ and σ₂ with R of `theorem_4_3_radius`.

    σ₂ has R² where the proof has R, as in algorithm 3.
    """
    return _logistic(theorem_4_3_radius(trace, dim, rows, eta), rows, mu, steps)


@checked
def algorithm_4_sigmas(
    dim: Count,
    rows: Count,
    eta: BelowOne,
    mu: Positive,
    steps: Count,
    label_bound: Positive,
    slope: Finite,
    curvature: Positive,
) -> tuple[float, float]:
    """Algorithm 4: σ₁ = 2√T·R²M_{b''}/(μn), σ₂ = 2√T·R(R_y + M_{b'})/(μn), R of algorithm 1.

    label_bound : R_y. slope : M_{b'}, the maximum of b' (not of its absolute value) where
    ``|z|`` ≤ R_β·R. curvature : M_{b''}, the maximum of b'' there.
    """
    radius = algorithm_1_radius(dim, rows, eta)
    scale = 2.0 * math.sqrt(steps) / (mu * rows)
    span = label_bound + slope
    if span <= 0.0:
        fail("slope", slope, f"more than -label_bound = {-label_bound:g}")
    return scale * radius**2 * curvature, scale * radius * span


@checked
def gradient_descent_sigma(clip: Positive, rows: Count, mu: Positive, steps: Count) -> float:
    """Noisy gradient descent, μ-GDP after T steps: σ = 2c√T/(μn) for averages of cut gradients.

    It is exact: gradients c and −c differ by 2c. clip : c, the norm at which gradients are cut.

    References
    ----------
    Avella-Medina, Bradshaw & Loh 2023, which paper 2 compares with.
    """
    return 2.0 * clip * math.sqrt(steps) / (mu * rows)


@checked
def _logistic(radius: float, rows: Count, mu: Positive, steps: Count) -> tuple[float, float]:
    """(σ₁, σ₂) of algorithms 3 and 5."""
    second = 2.0 * math.sqrt(steps) * radius**2 / (mu * rows)
    return 0.25 * second, second
