"""Paper 2, sections 2 to 4.2, appendix A: facts it quotes, truncation, the noisy second moment."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import chdtr, chdtrc, fdtr, ndtr, ndtri, stdtr, xlog1py
from scipy.stats import binomtest

from dpaudit._core.types import Array
from dpaudit.exact import PrivacyLoss, gaussian_pair
from dpaudit.mechanisms import AnalyzeGauss
from dpaudit.papers import PMT, printed
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import CERTIFIED, Evidence, claimed, stated
from reports.make.findings.measures import gaussian_mu
from reports.make.findings.statement import Searched, Swept, Tested

# Section 2: f-DP and Gaussian privacy, as the paper quotes them


def _tradeoff(mu: float, alpha: float) -> float:
    """Φ(Φ⁻¹(1 − α) − μ), the function of μ-GDP."""
    return float(ndtr(ndtri(1.0 - alpha) - mu))


def _lemma_2_1(mu: float, epsilon: float) -> float:
    below = math.exp(epsilon) * ndtr(-epsilon / mu - 0.5 * mu)
    return float(ndtr(-epsilon / mu + 0.5 * mu) - below)


def _shift(mu: float, epsilon: float) -> float:
    """δ(ε) of two normal laws μ apart, by the contour integral."""
    one = np.eye(1)
    return float(max(gaussian_pair([0.0], one, [mu], one, epsilon)))


def _together(mu: float, steps: int, epsilon: float) -> float:
    whole = steps * PrivacyLoss.gaussian_shift(mu)
    return float(whole.spectrum(epsilon).delta)


def _noisy_square(mu: float, row_bound: float) -> float:
    """h(X) = XᵀX of one column with |x_i| ≤ B, so Δ = B²: a row B replaced by 0."""
    noisy = AnalyzeGauss(row_bound**2 / mu)
    rows = row_bound * np.array([[1.0], [0.5]])
    return float(noisy.replaced_rows(rows, np.zeros((1, 1))).mu[0])


# Appendix A: Gaussian vectors and matrices, singular values and inverses

CHANCE = "P(the bound fails)"
TRIALS, LEVEL = 2_000, 1.0 - 1e-6
WIDER = 2.0 * math.sqrt(2.0)


def _norm_exceeds(
    bound: float, sigma: float, dim: int, eta: float, quantity: str, seed: int
) -> Evidence:
    """P(‖G‖₂ > bound) against η: exact for d = 1, else a certified lower bound from draws."""
    if dim == 1:
        return claimed(eta, 2.0 * float(ndtr(-bound / sigma)), quantity=quantity)
    noise = sigma * np.random.default_rng(seed).standard_normal((TRIALS, dim, dim))
    upper = np.triu(noise) + np.triu(noise, 1).transpose(0, 2, 1)
    outside = int((np.linalg.norm(upper, 2, axis=(1, 2)) > bound).sum())
    low = binomtest(outside, TRIALS, alternative="greater").proportion_ci(LEVEL).low
    return claimed(eta, float(low), kind=CERTIFIED, quantity=quantity)


def _lemma_a_1(dim: int, eta: float) -> Evidence:
    bound = math.sqrt(2.0 * dim * math.log(2.0 * dim / eta))
    return _norm_exceeds(bound, 1.0, dim, eta, CHANCE, 3)


def _inequality_1(dim: int, rows: int, eta: float, mu: float, wider: float = 1.0) -> Evidence:
    """Inequality (1) with `wider` times its bound."""
    bound = wider * printed.theorem_3_2_norm(dim, rows, eta, mu)
    sigma = printed.theorem_3_2_sigma(dim, rows, eta, mu)
    return _norm_exceeds(bound, sigma, dim, eta, "P(‖G‖₂ > …)", 2)


def _outside_a_2(dim: int, eta: float) -> float:
    log = math.log(1.0 / eta)
    return float(chdtrc(dim, dim + 2.0 * math.sqrt(dim * log) + 2.0 * log))


def _outside_used(dim: int, eta: float, factor: float = 1.0) -> float:
    """P(‖g‖ > √d + √(factor·log(1/η)))."""
    return float(chdtrc(dim, (math.sqrt(dim) + math.sqrt(factor * math.log(1.0 / eta))) ** 2))


def _bound(rows: float, dim: int, constant: float, eta: float) -> float:
    """√n − C√d − √(log(1/η)/c), C = 1/√c = `constant`."""
    return math.sqrt(rows) - constant * (math.sqrt(dim) + math.sqrt(math.log(1.0 / eta)))


def _column_zero(rows: float) -> float:
    """P(λ_min(X) = 0) where a column is ±1 with chance 1/n together, and else 0: λ_min(Σ) = 1/n."""
    return math.exp(rows * math.log1p(-1.0 / rows))


def _normal_below(rows: float, constant: float, eta: float) -> float:
    """P(‖X‖ < the bound times s) for n normal numbers of deviation s, d = 1."""
    return float(chdtr(rows, max(_bound(rows, 1, constant, eta), 0.0) ** 2))


def _below_a_3(law: str, rows: float, constant: float, eta: float) -> float:
    """P(λ_min(X) < the bound) with constants that depend on K, of which both laws have one."""
    if law == "normal":
        return _normal_below(rows, constant, eta)
    return _column_zero(rows) if _bound(rows, 2, constant, eta) > 0.0 else 0.0


def _below_whitened(law: str, rows: float, constant: float, eta: float) -> float:
    """The same with constants times K², K = ‖Σ^{−1/2}x_i‖_{ψ₂}.

    K² is n/log(n + 1) at least for the sparse rows, as E exp((√n·u)²/K²) = 2 there, and 8/3 for
    normal numbers.
    """
    square = rows / math.log(rows + 1.0) if law == "sparse" else 8.0 / 3.0
    return _below_a_3(law, rows, constant * square, eta)


def _has_room(law: str, rows: float, constant: float, eta: float) -> bool:
    """√n ≥ O(√d + √log(1/η)) with the constants of the bound."""
    return _bound(rows, 2 if law == "sparse" else 1, constant, eta) > 0.0


def _least_root(rows: int, eta: float) -> float:
    """√n − 1 − √(2 log(1/η)), d = 1."""
    return math.sqrt(rows) - 1.0 - math.sqrt(2.0 * math.log(1.0 / eta))


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


def _end(first: float, second: float, turn: float, least: float, end: int = -1) -> float:
    """λ_max(M + H), M = diag(first, least), H = second·(a reflection by `turn`); λ_min at 0."""
    _, other = _matrices(second, turn, 1.0)
    return float(np.linalg.eigvalsh(np.diag([first, least]) + other)[end])


MATRICES = {
    "share": reals(-1.0, 1.0),
    "angle": choices(0.0, math.pi, 0.5, 2.0),
    "condition": reals(1.0, 1e4),
}
WEYL = Searched(
    lambda first, second, least: max(first, least) + abs(second),
    _end,
    {
        "first": reals(-5.0, 5.0),
        "least": reals(-5.0, 5.0),
        "second": reals(-5.0, 5.0),
        "turn": reals(0.0, math.pi),
    },
    quantity="λ_max(M + H)",
    rounding=1e-12,
    tries=300,
)
USED = Searched(
    lambda eta: eta,
    _outside_used,
    {"dim": integers(1, 1000), "eta": reals(1e-12, 0.5)},
    quantity=CHANCE,
    rounding=0.0,
    tries=200,
    at={"dim": 1, "eta": 1e-9},
    fixed={"exact": partial(_outside_used, factor=2.0)},
)
SUM_INVERSE = Searched(
    lambda share: 1.0 / (1.0 - abs(share)) if abs(share) < 1.0 else math.nan,
    _inverse_norm,
    MATRICES,
    quantity="‖(Σ + G)⁻¹‖",
    tolerance=1e-6,
    tries=200,
)


# Sections 2.2, 3.1 and 4: which rows are cut, and whether the estimator changes


def _any_longer(rows: int, dim: int, square: float) -> float:
    """The chance that one of n standard normal rows has a squared norm above `square`."""
    return float(-np.expm1(xlog1py(rows, -chdtrc(dim, square))))


def _normal_square(rows: int, dim: int, eta: float) -> float:
    """Lemma A.2's bound on the squared norm of each of n standard normal rows."""
    log = math.log(rows / eta)
    return dim + 2.0 * math.sqrt(dim * log) + 2.0 * log


def _longer(scale: float, rows: int, dim: int, eta: float) -> float:
    """Rows of variance scale² in each direction, beyond √(Tr(Σ) + d ln(n/η))."""
    square = printed.theorem_4_3_radius(dim * scale**2, dim, rows, eta) ** 2
    return _any_longer(rows, dim, square / scale**2)


def _width(constant: float, eta: float) -> float:
    """C(√d + √log(1/η)) for d = 1."""
    return constant * (1.0 + math.sqrt(math.log(1.0 / eta)))


def _misses_one(rows: int, constant: float, eta: float) -> float:
    """P(Σ/Σ̂ < L or > U) for n normal numbers: ‖v‖² = nΣ̂/Σ is χ²_n."""
    root, width = math.sqrt(rows), _width(constant, eta)
    return float(chdtrc(rows, (root + width) ** 2) + chdtr(rows, (root - width) ** 2))


def _long_beside_public(moment_rows: int, constant: float, eta: float) -> float:
    """P(ξ²/Σ̂ > C(1 + log(2/η))) for normal numbers: ξ/√Σ̂ is Student t of n_w degrees."""
    return 2.0 * float(stdtr(moment_rows, -math.sqrt(constant * (1.0 + math.log(2.0 / eta)))))


def _less_convex(rows: int, constant: float, eta: float) -> float:
    """P(Σ̂_A/Σ < (1 − C(√(1/n) + √(log(1/η)/n)))²): nΣ̂_A/Σ is χ²_n."""
    return float(chdtr(rows, (math.sqrt(rows) - _width(constant, eta)) ** 2))


def _less_convex_transformed(rows: int, public_rows: int, constant: float, eta: float) -> float:
    """P(Σ̂_A/Σ̂_B < L(1 − C(…))²): Σ̂_A/Σ̂_B is F with n_A and n_B degrees."""
    width = _width(constant, eta)
    low = public_rows / (math.sqrt(public_rows) + width) ** 2
    return float(fdtr(rows, public_rows, low * (1.0 - width / math.sqrt(rows)) ** 2))


def _enough(rows: int, constant: float, eta: float) -> bool:
    """√n ≥ C(√d + √log(1/η)) at d = 1."""
    return math.sqrt(rows) >= _width(constant, eta)


def _ridge(seed: int, ridge: float) -> Evidence:
    """β̂ and σ̂_B Σ̂_B^{−1/2} β̃ for rows that are not cut."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 3)), rng.standard_normal((9, 3))
    y, spread = rng.standard_normal(30), 1.7
    moment = B.T @ B / len(B)
    root = _inverse_root(moment)
    whitened = A @ root
    gram = whitened.T @ whitened / 30 + ridge * np.linalg.inv(moment)
    inner = np.linalg.solve(gram, whitened.T @ (y / spread) / 30)
    direct = np.linalg.solve(A.T @ A / 30 + ridge * np.eye(3), A.T @ y / 30)
    apart = np.linalg.norm(spread * root @ inner - direct) / np.linalg.norm(direct)
    return stated("β̂", 1.0, 1.0 + float(apart))


def _least(seed: int, dim: int) -> float:
    """λ_min(Σ̂^{−1/2}ΣΣ̂^{−1/2}) for two random second moments."""
    sigma, other = _moments(seed, dim)
    root = _inverse_root(other)
    return float(np.linalg.eigvalsh(root @ sigma @ root)[0])


def _over_largest(seed: int, dim: int) -> float:
    """1/λ_max(Σ^{−1/2}Σ̂Σ^{−1/2}) for the same."""
    sigma, other = _moments(seed, dim)
    root = _inverse_root(sigma)
    return 1.0 / float(np.linalg.eigvalsh(root @ other @ root)[-1])


def _moments(seed: int, dim: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    first, second = rng.standard_normal((2, 2 * dim, dim))
    return first.T @ first, second.T @ second


def _inverse_root(moment: Array) -> Array:
    values, vectors = np.linalg.eigh(moment)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


CONSTANTS = choices(1.5, 10.0, 1e3)  # for O(·) in the bounds on eigenvalues
BOUNDS = choices(3.0, 10.0, 1e3)  # and in those on norms, which take more than 2
LABELS = Searched(
    lambda eta: eta,
    lambda rows, dim, eta: _any_longer(rows, dim, printed.algorithm_1_radius(dim, rows, eta) ** 2),
    {"rows": integers(1, 10**7), "dim": integers(1, 20), "eta": reals(1e-6, 0.5)},
    quantity="P(a row is cut)",
    rounding=1e-12,
    tries=400,
    at={"rows": 1_000_000, "dim": 1, "eta": 0.05},
    fixed={"exact": lambda rows, dim, eta: _any_longer(rows, dim, _normal_square(rows, dim, eta))},
)


# Section 3.2: the noisy second moment and its inverse


def _beyond(bound: float, eta: float, factor: float = 1.0) -> float:
    """P(|1/(1 + g) − 1| > factor·bound) for g ~ N(0, σ²), σ = 2·bound/√log(2/η).

    bound : √(d³ log(2d/η))(1 + log(2n/η))/(μn) at d = 1.
    """
    sigma, far = 2.0 * bound / math.sqrt(math.log(2.0 / eta)), factor * bound
    below = float(ndtr(-far / (1.0 + far) / sigma))
    return below + (float(ndtr(-far / (1.0 - far) / sigma)) if far < 1.0 else 0.0)


def _wider_inverse_error(bound: float, eta: float) -> float:
    """The condition on n_ξ and the bound both with the constant of lemma A.1, and the 2."""
    return _beyond(bound / WIDER, eta, 2.0 * WIDER)


def _easier(scale: float, rows: int, eta: float) -> float:
    """The factor of the condition of theorem 3.4 for Σ = s²I: κ̄ + ‖Σ⁻¹‖ log(n/η)."""
    return 1.0 + math.log(rows / eta) / scale**2


INVERSE = Searched(
    lambda eta: eta,
    _beyond,
    {"bound": reals(1e-4, 0.5), "eta": reals(1e-6, 0.5)},
    quantity="P(the error exceeds the bound)",
    tries=200,
    at={"bound": 0.1, "eta": 0.05},
    fixed={"exact": _wider_inverse_error},
)


TESTS: dict[str, Tested] = {
    "2-definition-2-2": Searched(
        _tradeoff,
        lambda mu, alpha, step: _tradeoff(mu, alpha + step * (1.0 - alpha)),
        {"mu": reals(0.01, 5.0), "alpha": reals(0.01, 0.98), "step": reals(0.01, 0.99)},
        side="lower",
        quantity="f(α′), α′ > α",
        tries=200,
        fixed={"side": "upper"},
    ),
    "2-lemma-2-1": Searched(
        _lemma_2_1,
        _shift,
        {"mu": reals(0.05, 8.0), "epsilon": reals(0.0, 5.0)},
        side="both",
        rounding=1e-12,
        tolerance=1e-6,
        tries=150,
    ),
    "2-theorem-2-1": Searched(
        lambda mu, steps, epsilon: _lemma_2_1(math.sqrt(steps) * mu, epsilon),
        _together,
        {"mu": reals(0.05, 2.0), "steps": integers(1, 20), "epsilon": reals(0.0, 3.0)},
        side="both",
        rounding=1e-9,
        tolerance=1e-6,
        tries=200,
    ),
    "2-theorem-2-2": Searched(
        lambda mu: mu,
        _noisy_square,
        {"mu": reals(0.01, 10.0), "row_bound": reals(1e-3, 1e3)},
        side="both",
        quantity="μ",
        tolerance=1e-8,
        tries=200,
    ),
    "2-lemma-a-1": Swept(
        _lemma_a_1,
        {"dim": 10, "eta": 0.05},
        {"dim": (1, 2, 5, 10, 20), "eta": (0.5, 0.05, 1e-6)},
    ),
    "2-lemma-a-2": replace(USED, exact=_outside_a_2, at=None, fixed=None),
    "2-lemma-a-2-used": USED,
    "2-lemma-a-3": Searched(
        lambda eta: 2.0 * eta,
        _below_a_3,
        {
            "law": choices("sparse", "normal"),
            "rows": reals(10.0, 1e12),
            "constant": CONSTANTS,
            "eta": reals(1e-6, 0.5),
        },
        hypotheses=_has_room,
        quantity=CHANCE,
        tries=300,
        at={"law": "sparse", "rows": 1e6, "constant": 10.0, "eta": 0.05},
        fixed={"exact": _below_whitened},
    ),
    "2-corollary-a-1": Searched(
        lambda eta: eta,
        _normal_above,
        {"rows": integers(1, 10**6), "eta": reals(1e-6, 0.5)},
        quantity=CHANCE,
        tries=200,
    ),
    "2-corollary-a-1-least": Searched(
        lambda eta: eta,
        lambda rows, eta: float(chdtr(rows, _least_root(rows, eta) ** 2)),
        {"rows": integers(1, 10**6), "eta": reals(1e-6, 0.5)},
        hypotheses=lambda rows, eta: _least_root(rows, eta) >= 0.0,
        quantity=CHANCE,
        tries=200,
    ),
    "2-lemma-a-5-relative": replace(
        SUM_INVERSE,
        printed=lambda share: abs(share),
        exact=_relative_error,
        hypotheses=lambda share: 0.0 < abs(share) < 0.999,
        quantity="relative error",
    ),
    "2-lemma-a-5": replace(SUM_INVERSE, fixed={"hypotheses": lambda share: abs(share) < 0.999999}),
    "2-lemma-a-6": WEYL,
    "2-lemma-a-6-least": replace(
        WEYL,
        printed=lambda first, second, least: min(first, least) - abs(second),
        exact=partial(_end, end=0),
        side="lower",
        quantity="λ_min(M + H)",
    ),
    "2-theorem-3-1": Searched(
        lambda eta: 2.0 * eta,
        _misses_one,
        {"rows": integers(1, 10**6), "constant": CONSTANTS, "eta": reals(1e-6, 0.1)},
        quantity="P(Σ/Σ̂ outside [L, U])",
        rounding=1e-12,
        tries=300,
        at={"rows": 1, "constant": 10.0, "eta": 0.05},
        fixed={"hypotheses": lambda rows, constant, eta: math.sqrt(rows) > _width(constant, eta)},
    ),
    "2-corollary-3-1": Searched(
        lambda eta: 3.0 * eta,
        _long_beside_public,
        {"moment_rows": integers(1, 10**6), "constant": BOUNDS, "eta": reals(1e-6, 0.1)},
        quantity="P(‖ξ̃‖² above the bound)",
        rounding=1e-12,
        tries=300,
        at={"moment_rows": 1, "constant": 10.0, "eta": 0.01},
        fixed={
            "hypotheses": lambda moment_rows, constant, eta: _enough(moment_rows, constant, eta)
        },
    ),
    "2-lemma-5-1": Searched(
        lambda eta: eta,
        _less_convex,
        {"rows": integers(1, 10**6), "constant": CONSTANTS, "eta": reals(1e-6, 0.1)},
        quantity="P(the Hessian below γ_Σ)",
        rounding=1e-12,
        tries=300,
        at={"rows": 1, "constant": 10.0, "eta": 0.05},
        fixed={"hypotheses": _enough},
    ),
    "2-lemma-5-1-transformed": Searched(
        lambda eta: 2.0 * eta,
        _less_convex_transformed,
        {
            "rows": integers(1, 10**6),
            "public_rows": integers(1, 10**6),
            "constant": CONSTANTS,
            "eta": reals(1e-6, 0.1),
        },
        quantity="P(the Hessian below γ_L)",
        rounding=1e-12,
        tries=300,
        at={"rows": 1, "public_rows": 10**6, "constant": 10.0, "eta": 0.05},
        fixed={"hypotheses": _enough},
    ),
    "2-section-3-2": Searched(
        lambda ridge, condition: ridge,  # λ‖Σ̂_v⁻¹‖
        lambda ridge, condition: float(
            np.linalg.eigvalsh(ridge * np.linalg.inv(np.diag([1.0, condition])))[0]
        ),
        {"ridge": reals(1e-6, 10.0), "condition": reals(1.0, 1e6)},
        side="lower",
        quantity="λ_min(λΣ̂_v⁻¹)",
        tries=100,
        at={"ridge": 0.1, "condition": 100.0},
        fixed={"printed": lambda ridge, condition: ridge / condition},
    ),
    "2-equation-16": Searched(
        _over_largest,
        _least,
        {"seed": integers(0, 1000), "dim": integers(1, 10)},
        side="both",
        quantity="largest L",
        tolerance=1e-6,
        tries=60,
    ),
    "2-theorem-4-1": LABELS,
    "2-theorem-3-3-1": LABELS,
    "2-radius": replace(
        LABELS,
        exact=_longer,
        domain={**LABELS.domain, "scale": reals(0.1, 100.0)},
        at={"scale": 10.0, "rows": 100, "dim": 3, "eta": 0.05},
    ),
    "2-remark-4-2": Swept(
        _ridge, {"seed": 0, "ridge": 0.1}, {"seed": (0, 1, 2), "ridge": (0.0, 0.1, 10.0)}
    ),
    "2-theorem-3-2": Searched(
        lambda mu: mu,
        lambda mu, public_rows: gaussian_mu(PMT(mu, public_rows=public_rows)),
        {"mu": reals(0.01, 10.0), "public_rows": integers(1, 20)},
        quantity="μ",
        tries=60,
    ),
    "2-theorem-3-2-norm": Swept(
        _inequality_1,
        {"dim": 10, "rows": 1000, "eta": 0.05, "mu": 1.0},
        {"dim": (1, 3, 10, 20), "eta": (0.2, 0.05, 0.01, 1e-6)},
        fixed=partial(_inequality_1, wider=WIDER),
    ),
    "2-theorem-3-3-2": INVERSE,
    "2-theorem-3-4": INVERSE,
    "2-comparison": Searched(
        _easier,
        lambda rows, eta: math.log(rows / eta),
        {"scale": reals(0.1, 100.0), "rows": integers(10, 10**7), "eta": reals(1e-6, 0.5)},
        quantity="factor of the condition",
        tries=200,
        at={"scale": 2.0, "rows": 10_000, "eta": 0.05},
        fixed={"hypotheses": lambda scale: scale <= 1.0},
    ),
    "2-remark-5-1": Searched(
        lambda: 1.0,
        lambda scale: scale**2,
        {"scale": reals(0.1, 100.0)},
        quantity="λ_min(Σ)",
        tries=50,
        fixed={"hypotheses": lambda scale: scale < 1.0},
    ),
    "2-remark-5-2": Searched(
        lambda scale: scale**3 / (6.0 * math.sqrt(3.0)),
        lambda rows, eta: printed.algorithm_1_radius(1, rows, eta) ** 3 / (6.0 * math.sqrt(3.0)),
        {"scale": reals(0.1, 1000.0), "rows": integers(1, 10**6), "eta": reals(1e-6, 0.5)},
        quantity="constant",
        tries=100,
        fixed={
            "hypotheses": lambda scale, rows, eta: scale > printed.algorithm_1_radius(1, rows, eta)
        },
    ),
}
