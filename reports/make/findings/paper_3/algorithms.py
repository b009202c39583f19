"""Paper 3: its algorithms, the units of what each of them adds, and the δ that results."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.special import ndtr

from dpaudit.auditing.api import audit
from dpaudit.exact import gaussian_shift
from dpaudit.papers import ObjectivePerturbation, printed
from reports.make.findings.finding import CERTIFIED, Evidence, Finding, claimed
from reports.make.findings.measures import least_noise, sketch

DRAWS, SEED = 30_000, 3


def _algorithm_1(row_bound: float, mixtures: int, gamma: float, delta: float) -> Evidence:
    return _scaled_release(row_bound, mixtures, gamma, delta, row_bound**2)


def _algorithm_1_scaled(row_bound: float, mixtures: int, gamma: float, delta: float) -> Evidence:
    return _scaled_release(row_bound, mixtures, gamma, delta, 1.0)


def _scaled_release(row_bound: float, k: int, gamma: float, delta: float, unit: float) -> Evidence:
    """Algorithm 1 on m rows of norm C of one feature, so λ_min = mC².

    m is large enough for no noise to be added. λ̃/C² = max(m − η(τ − z), 0), and the noise is η̃² =
    max(γ − unit·λ̃/C², 0) with unit = C² as printed (λ̃ itself) and 1 as it should be. Where η̃ = 0
    on both sides except for a probability p, the release is a sketch with q = 1/m, and δ ≥ δ_sketch
    − (1 + e^ε)p, which is what is found.
    """
    eta, tau = gamma / math.sqrt(k), math.sqrt(2.0 * math.log(3.0 / delta))
    epsilon = printed.theorem_1_epsilon(k, gamma, delta, eta)
    count = math.ceil(gamma / unit + eta * (tau + 9.0)) + 1
    unlikely = float(ndtr(tau - (count - 1 - gamma / unit) / eta))
    leak = sketch(1.0 / count, k, epsilon) - (1.0 + math.exp(epsilon)) * unlikely
    return claimed(
        delta, leak, kind="certified", at=f"so ε = {epsilon:.4g}, {count} rows of norm C"
    )


def _sheffet_noise(power: float) -> Callable[..., Evidence]:
    """Algorithm 4 (H.2) in its noisy branch on data of one row.

    It releases SX + noise·ξ with noise² = γ^(2·power).
    """

    def test(row_bound: float, mixtures: int, epsilon: float, delta: float) -> Evidence:
        gamma = row_bound**2 * printed.sheffet_2017_gamma(mixtures, epsilon, delta)
        square = gamma ** (2.0 * power)
        leak = sketch(row_bound**2 / (row_bound**2 + square), mixtures, epsilon)
        return claimed(delta, leak, at=f"so γ = {gamma:.3g}")

    return test


def _own_noise(scaled: bool) -> Callable[..., Evidence]:
    """Algorithm 5 (H.2) in its noisy branch on data of one row.

    γ is that of lemma 1 at ε/2, in units of C² if `scaled`.
    """

    def test(row_bound: float, mixtures: int, epsilon: float, delta: float) -> Evidence:
        gamma = _own_gamma(mixtures, epsilon, delta)
        square = row_bound**2 * gamma if scaled else gamma**2
        leak = sketch(row_bound**2 / (row_bound**2 + square), mixtures, epsilon)
        return claimed(delta, leak, at=f"so γ = {gamma:.4g}")

    return test


@lru_cache(maxsize=64)
def _own_gamma(mixtures: int, epsilon: float, delta: float) -> float:
    return printed.sheffet_renyi_gamma(mixtures, epsilon, delta)


def _ada_ssp(epsilon: float, delta: float) -> Evidence:
    """Three releases that all move by their sensitivity, each with noise of s sensitivities.

    Together they are a shift of √3/s.
    """
    spread = printed.ada_ssp_deviation(epsilon, delta)
    return claimed(
        delta, float(gaussian_shift(math.sqrt(3.0) / spread, epsilon)), at=f"so s = {spread:.4g}"
    )


def _ada_ssp_enough(epsilon: float, delta: float) -> Evidence:
    spread = max(
        printed.ada_ssp_deviation(epsilon, delta), math.sqrt(3.0) * least_noise(epsilon, delta)
    )
    return claimed(delta, float(gaussian_shift(math.sqrt(3.0) / spread * (1.0 - 1e-9), epsilon)))


def _objective(variant: str) -> Callable[[float, float], Evidence]:
    """An audit of the mechanism on its own pair; the band holds at level 1 − 10⁻⁶."""

    def test(epsilon: float, delta: float) -> Evidence:
        mechanism = ObjectivePerturbation(epsilon, delta, variant=variant)
        found = audit(
            mechanism, mechanism.pair(), epsilon=epsilon, samples=DRAWS, level=1.0 - 1e-6, rng=SEED
        )
        return claimed(delta, float(found.certified.delta_at(epsilon)), kind=CERTIFIED)

    return test


NOISE_GRID = {
    "row_bound": (0.01, 0.1, 1.0, 10.0, 100.0),
    "epsilon": (0.1, 1.0, 5.0),
    "mixtures": (10, 1000),
}

FINDINGS = (
    Finding(
        key="3-algorithm-1-scale",
        paper=3,
        place="algorithm 1, lines 5 and 6",
        claim="theorem 1: (ε̃, δ)-DP for any row bound C_X",
        formula="λ̃ = max(λ_min(XᵀX) − ηC²(τ − z), 0), noise C√max(γ − λ̃, 0)",
        fault="λ̃ is in the units of C², γ has none: for C > 1 too much noise is saved, for C < 1 "
        "too little",
        corrected="noise C√max(γ − λ̃/C², 0)",
        setting={"row_bound": 100.0, "mixtures": 10_000, "gamma": 100.0, "delta": 1e-5},
        test=_algorithm_1,
        grid={
            "row_bound": (1.0, 2.0, 10.0, 100.0),
            "mixtures": (100, 10_000),
            "gamma": (10.0, 100.0),
        },
        fixed=_algorithm_1_scaled,
    ),
    Finding(
        key="3-h2-algorithm-4",
        paper=3,
        place="H.2, algorithm 4, noise",
        claim="(ε, δ)-DP in the branch with noise",
        formula="SX + γξ with γ = 4C²(√(2k ln(8/δ)) + 2 ln(8/δ))/ε",
        fault="γ is what must be added to λ_min, a variance; as a standard deviation it is too "
        "little where γ < 1",
        corrected="SX + √γ ξ",
        setting={"row_bound": 0.01, "mixtures": 10, "epsilon": 1.0, "delta": 1e-5},
        test=_sheffet_noise(1.0),
        grid=NOISE_GRID,
        fixed=_sheffet_noise(0.5),
    ),
    Finding(
        key="3-h2-algorithm-5",
        paper=3,
        place="H.2, algorithm 5, noise",
        claim="(ε, δ)-DP in the branch with noise, by lemma 1",
        formula="SX + γξ with γ the least for which lemma 1 gives ε/2",
        fault="lemma 1's γ is in units of C², which the line leaves out: too little noise where C² "
        "> γ",
        corrected="SX + C√γ ξ, and λ_min held against C²γ",
        setting={"row_bound": 100.0, "mixtures": 10, "epsilon": 1.0, "delta": 1e-5},
        test=_own_noise(False),
        grid=NOISE_GRID,
        fixed=_own_noise(True),
    ),
    Finding(
        key="3-algorithm-3",
        paper=3,
        place="algorithm 3, AdaSSP at large ε",
        claim="(ε, δ)-DP at any ε",
        formula="noise of √ln(6/δ)/(ε/3) sensitivities on each of three statistics",
        fault="the noise of a Gaussian release may fall as 1/ε only up to about ε = 1; the three "
        "together pass the claim at large ε, of those swept from 20 on",
        corrected="no less than √3 times the exact noise of one Gaussian release at (ε, δ)",
        setting={"epsilon": 40.0, "delta": 1e-5},
        test=_ada_ssp,
        grid={"epsilon": (0.1, 1.0, 5.0, 10.0, 20.0, 40.0, 50.0), "delta": (1e-2, 1e-5, 1e-10)},
        fixed=_ada_ssp_enough,
    ),
    Finding(
        key="3-algorithm-6",
        paper=3,
        place="algorithm 6, the loss",
        claim="objective perturbation of logistic regression is (ε, δ)-DP",
        formula="argmin Σ −(1/n) ln(1 + exp(−y_i x_iᵀθ)) + bᵀθ/n + Δ‖θ‖²/(2n)",
        fault="the sign makes each term concave: the minimum jumps, and one row decides where to",
        corrected="argmin Σ (1/n) ln(1 + exp(−y_i x_iᵀθ)) + bᵀθ/n + Δ‖θ‖²/(2n)",
        setting={"epsilon": 1.0, "delta": 1e-5},
        test=_objective("printed"),
        fixed=_objective("corrected"),
    ),
)
