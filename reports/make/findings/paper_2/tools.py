"""Paper 2, appendix A: bounds of Gaussian vectors and matrices, singular values and inverses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import chdtr, chdtrc, ndtr
from scipy.stats import binomtest

from dpaudit._core.types import Array
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import CERTIFIED, Evidence, claimed
from reports.make.findings.statement import CORNER, MISPRINT, Searched, Statement, Swept

TRIALS, SEED, LEVEL = 2_000, 3, 1.0 - 1e-6

CHANCE = "P(the bound fails)"
ASYMPTOTIC = "the constants within O(·) are not given"
VECTORS = {"dim": integers(1, 1000), "eta": reals(1e-12, 0.5)}


def _matrix_norm(dim: int, eta: float) -> Evidence:
    """P(‖G‖₂ > √(2d log(2d/η))), σ = 1: exact for d = 1, else a certified bound from draws."""
    bound = math.sqrt(2.0 * dim * math.log(2.0 * dim / eta))
    if dim == 1:
        return claimed(eta, 2.0 * float(ndtr(-bound)), quantity=CHANCE)
    noise = np.random.default_rng(SEED).standard_normal((TRIALS, dim, dim))
    upper = np.triu(noise) + np.triu(noise, 1).transpose(0, 2, 1)
    outside = int((np.linalg.norm(upper, 2, axis=(1, 2)) > bound).sum())
    low = binomtest(outside, TRIALS, alternative="greater").proportion_ci(LEVEL).low
    return claimed(eta, float(low), kind=CERTIFIED, quantity=CHANCE)


def _outside_a_2(dim: int, eta: float) -> float:
    log = math.log(1.0 / eta)
    return float(chdtrc(dim, dim + 2.0 * math.sqrt(dim * log) + 2.0 * log))


def _outside_used(dim: int, eta: float) -> float:
    return float(chdtrc(dim, (math.sqrt(dim) + math.sqrt(math.log(1.0 / eta))) ** 2))


def _outside_wider(dim: int, eta: float) -> float:
    return float(chdtrc(dim, (math.sqrt(dim) + math.sqrt(2.0 * math.log(1.0 / eta))) ** 2))


def _bound(rows: float, dim: int, constant: float, eta: float) -> float:
    """√n − C√d − √(log(1/η)/c), C = 1/√c = `constant`."""
    return math.sqrt(rows) - constant * (math.sqrt(dim) + math.sqrt(math.log(1.0 / eta)))


def _column_zero(rows: float) -> float:
    """P(λ_min(X) = 0) where a column is ±1 with chance 1/n together, and else 0: λ_min(Σ) = 1/n."""
    return math.exp(rows * math.log1p(-1.0 / rows))


def _normal_below(rows: float, constant: float, eta: float) -> float:
    """P(‖X‖ < the bound times s) for n normal numbers of deviation s, d = 1."""
    return float(chdtr(rows, _bound(rows, 1, constant, eta) ** 2))


def _normal_above(rows: int, eta: float) -> float:
    """P(‖X‖²/n ≥ (1 + √(1/n) + √(2 log(1/η)/n))²) for normal numbers, the corollary's form."""
    root = math.sqrt(rows) + 1.0 + math.sqrt(2.0 * math.log(1.0 / eta))
    return float(chdtrc(rows, root**2))


def _matrices(share: float, angle: float, condition: float) -> tuple[Array, Array]:
    """Σ = diag(1, κ) and a symmetric G with ‖G‖ = |share|, so that ‖Σ⁻¹‖‖G‖ = |share|."""
    turn = np.array([[math.cos(angle), math.sin(angle)], [math.sin(angle), -math.cos(angle)]])
    return np.diag([1.0, condition]), share * turn


def _inverse_norm(share: float, angle: float, condition: float) -> float:
    sigma, noise = _matrices(share, angle, condition)
    least = float(np.linalg.svd(sigma + noise, compute_uv=False)[-1])
    return 1.0 / least if least > 1e-14 else math.inf


def _relative_error(share: float, angle: float, condition: float) -> float:
    """‖(Σ + G)⁻¹ − Σ⁻¹‖/‖(Σ + G)⁻¹‖."""
    sigma, noise = _matrices(share, angle, condition)
    inverse = np.linalg.inv(sigma + noise)
    error = np.linalg.norm(inverse - np.linalg.inv(sigma), 2)
    return float(error / np.linalg.norm(inverse, 2))


def _top(first: float, second: float, turn: float, least: float) -> float:
    """λ_max(M + H), M = diag(first, least), H = second·(a reflection by `turn`)."""
    _, other = _matrices(second, turn, 1.0)
    return float(np.linalg.eigvalsh(np.diag([first, least]) + other)[-1])


MATRICES = {
    "share": reals(-1.0, 1.0),
    "angle": choices(0.0, math.pi, 0.5, 2.0),
    "condition": reals(1.0, 1e4),
}
USED = Searched(
    lambda eta: eta,
    _outside_used,
    VECTORS,
    quantity=CHANCE,
    rounding=0.0,
    tries=200,
    at={"dim": 1, "eta": 1e-9},
)
SINGULAR = Searched(
    lambda eta: 2.0 * eta,
    _column_zero,
    {"rows": reals(10.0, 1e12), "constant": choices(1.5, 10.0, 1e3), "eta": reals(1e-6, 0.5)},
    hypotheses=lambda rows, constant, eta: _bound(rows, 2, constant, eta) > 0.0,
    quantity=CHANCE,
    tries=300,
    at={"rows": 1e6, "constant": 10.0, "eta": 0.05},
)
INVERSE = Searched(
    lambda share: 1.0 / (1.0 - abs(share)) if abs(share) < 1.0 else math.nan,
    _inverse_norm,
    MATRICES,
    quantity="‖(Σ + G)⁻¹‖",
    tolerance=1e-6,
    tries=200,
)
STATEMENTS = (
    Statement(
        "2-lemma-a-1",
        2,
        "lemma A.1",
        "appendix A",
        "with probability 1 − η, ‖G‖₂ ≤ σ√(2d log(2d/η))",
        "G ~ SG_d(σ²), symmetric",
        test=Swept(
            _matrix_norm,
            {"dim": 10, "eta": 0.05},
            {"dim": (1, 2, 5, 10, 20), "eta": (0.5, 0.05, 1e-6)},
        ),
        fault="exact chances for d = 1, else draws, of which none contradicts it",
    ),
    Statement(
        "2-lemma-a-2",
        2,
        "lemma A.2",
        "appendix A",
        "P[‖g‖₂² ≥ σ²(2√(d log(1/η)) + 2 log(1/η) + d)] ≤ η",
        "g_i ~ N(0, σ²)",
        test=replace(USED, exact=_outside_a_2, at=None),
    ),
    Statement(
        "2-lemma-a-2-used",
        2,
        "theorems 4.2 and 4.3, use of lemma A.2",
        "appendix B.6",
        "by applying Lemma A.2, we obtain ‖g‖ ≤ σ₂(√d + √log(1/η))",
        "probability 1 − η",
        reading="a 2 under the second root may have been lost",
        test=USED,
        fails=MISPRINT,
        fault="the lemma has 2 log(1/η): for small η the chance of more is above η. What follows "
        "from it is within O(·)",
        corrected="‖g‖ ≤ σ₂(√d + √(2 log(1/η)))",
        fixed=replace(USED, exact=_outside_wider),
    ),
    Statement(
        "2-lemma-a-3",
        2,
        "lemma A.3",
        "appendix A",
        "with at least 1 − 2η, one has √λ_min(Σ)(√n − C√d − √((1/c) log(1/η))) ≤ λ_min(X), where C "
        "= C_K, c = c_K > 0 depend on the sub-gaussian norm K = max_i ‖x_i‖_{ψ₂}",
        "rows independent, non-isotropic, √n ≥ O(√d + √log(1/η)). Here x_i = (±1, u), fair signs, "
        "u = ±1 with chance 1/n together and else 0, so that K = 1/√log 2 at any n ≥ 10; several "
        "constants. The corrected line: normal rows of any variance, d = 1",
        test=SINGULAR,
        fails=CORNER,
        fault="every u is 0 with chance 1/e, and λ_min(X) with them, whatever C and c: the "
        "constants have to depend on the norm of Σ^{−1/2}x_i, as in Vershynin, where rows are "
        "isotropic",
        corrected="K = max_i ‖Σ^{−1/2}x_i‖_{ψ₂}",
        fixed=replace(SINGULAR, exact=_normal_below),
    ),
    Statement(
        "2-corollary-a-1",
        2,
        "corollary A.1",
        "appendix A",
        "P[λ_max(XᵀX)/n ≥ (1 + O(√(d/n) + √(log(1/η)/n)))²] ≤ η",
        "isotropic rows; here normal ones, d = 1, with the constants 1 and √2",
        test=Searched(
            lambda eta: eta,
            _normal_above,
            {"rows": integers(1, 10**6), "eta": reals(1e-6, 0.5)},
            quantity=CHANCE,
            tries=200,
        ),
    ),
    Statement(
        "2-lemma-a-4",
        2,
        "lemma A.4",
        "appendix A",
        "P[|‖x‖₂² − Σλ_i| ≥ t] ≤ 2 exp(−ct/(dK²))",
        "x sub-Gaussian, K = max_i ‖x_i‖_{ψ₂}, c absolute",
        untested="c is not given. K² is in the units of x and is hidden by the last bound of the "
        "lemma, O(d(Tr̄(Σ) + log(2/η))): see the radius of private rows",
    ),
    Statement(
        "2-lemma-a-5-relative",
        2,
        "lemma A.5, first inequality",
        "appendix A",
        "‖(Σ + G)⁻¹ − Σ⁻¹‖/‖(Σ + G)⁻¹‖ ≤ κ(Σ)‖G‖/‖Σ‖",
        "both inverses exist; here 2 × 2",
        test=replace(
            INVERSE,
            printed=lambda share: abs(share),
            exact=_relative_error,
            hypotheses=lambda share: 0.0 < abs(share) < 0.999,
            quantity="relative error",
        ),
    ),
    Statement(
        "2-lemma-a-5",
        2,
        "lemma A.5, second and third inequality",
        "appendix A",
        "if κ(Σ)‖G‖/‖Σ‖ = ‖Σ⁻¹‖‖G‖ ≤ 1, then ‖(Σ + G)⁻¹‖ ≤ ‖Σ⁻¹‖/(1 − κ(Σ)‖G‖/‖Σ‖)",
        "Σ a square matrix with an inverse; here 2 × 2",
        test=INVERSE,
        fails=MISPRINT,
        fault="≤ for <: at equality, as for Σ = I and G = −I, neither side need have a value. It "
        "is used with ≤ ½",
        corrected="‖Σ⁻¹‖‖G‖ < 1",
        fixed=replace(INVERSE, hypotheses=lambda share: abs(share) < 0.999999),
    ),
    Statement(
        "2-lemma-a-6",
        2,
        "lemma A.6",
        "appendix A",
        "λ_max(M + H) ≤ λ_max(M) + λ_max(H)",
        "real symmetric matrices; here 2 × 2",
        test=Searched(
            lambda first, second, least: max(first, least) + abs(second),
            _top,
            {
                "first": reals(-5.0, 5.0),
                "least": reals(-5.0, 5.0),
                "second": reals(-5.0, 5.0),
                "turn": reals(0.0, math.pi),
            },
            quantity="λ_max(M + H)",
            rounding=1e-12,
            tries=300,
        ),
    ),
)
