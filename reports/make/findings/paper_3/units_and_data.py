"""Paper 3: algorithms 1, 2 and 4 at other units and budgets, and what precedes them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.auditing.api import audit
from dpaudit.exact import gaussian_shift, spectrum
from dpaudit.mechanisms import RPLS
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers import LinearMixing, LogisticMixing, ModifiedGaussMix, printed
from dpaudit.papers.paper_3.extreme_pairs import axis_pair
from reports.make.findings.finding import CERTIFIED, Evidence, Finding, asked, claimed
from reports.make.findings.measures import sketch

DRAWS, SEED = 10_000, 3


def _line_3(gamma: float, delta: float) -> Evidence:
    """The noise of line 3 against what lemma 1 asks for at λ_min = 0, both over C.

    γ ≤ τ, as line 2 has it.
    """
    limit = math.sqrt(2.0 * math.log(3.0 / delta))
    if gamma > limit:
        fail("gamma", gamma, f"at most tau = {limit:g}")
    return asked("w/C", gamma, math.sqrt(gamma))


def _together(variant: str) -> Callable[[int, float, float, float], Evidence]:
    """λ̃ and the output together, exactly, for XᵀX = 50·C²I of which the row (C, 0) is a part."""

    def test(mixtures: int, gamma: float, eta: float, delta: float) -> Evidence:
        mechanism = ModifiedGaussMix(mixtures, gamma, delta, eta, variant=variant)
        epsilon = mechanism.claim.epsilon
        assert epsilon is not None
        found = float(mechanism.joint_spectrum(axis_pair(1.0, 0.5 * gamma), epsilon).delta)
        return claimed(delta, found, at=f"so ε = {epsilon:.4g}")

    return test


def _estimate(exact: bool) -> Callable[[float, float], Evidence]:
    """λ̃ alone: a shift of 1/η, at the textbook's ε for δ/3 or at the exact one."""

    def test(eta: float, delta: float) -> Evidence:
        epsilon = math.sqrt(2.0 * math.log(3.75 / delta)) / eta
        if exact:
            epsilon += ModifiedGaussMix(1, 3.0, delta, eta).shortfall
        leak = float(gaussian_shift(1.0 / eta, epsilon)) * (1.0 - 1e-9)
        return claimed(delta / 3.0, leak, at=f"so ε = {epsilon:.4g}")

    return test


def _solution(row_bound: float, epsilon: float, delta: float) -> Evidence:
    """θ itself, audited on its own pair at level 1 − 10⁻⁶, at C_X = C_Y."""
    mechanism = LinearMixing(10_000, epsilon, delta, row_bound, row_bound)
    found = audit(
        mechanism,
        mechanism.pair(),
        epsilon=epsilon,
        samples=DRAWS,
        level=1.0 - 1e-6,
        classifier="qda",
        rng=SEED,
    )
    return claimed(delta, float(found.certified.delta_at(epsilon)), kind=CERTIFIED)


def _solution_scaled(row_bound: float, epsilon: float, delta: float) -> Evidence:
    """λ̃ and θ together, exactly, on the pair that breaks the printed algorithm."""
    pair = LinearMixing(10_000, epsilon, delta, row_bound, row_bound).pair()
    mechanism = LinearMixing(10_000, epsilon, delta, row_bound, row_bound, variant="corrected")
    return claimed(delta, float(mechanism.joint_spectrum(pair, epsilon).delta))


def _no_noise(floored: bool) -> Callable[[int, float, float], Evidence]:
    """The sketch without noise of algorithm 4 at the least λ_min, which is γ.

    A row of norm C, part of the data, has q = C²/γ, and nothing hides it where γ ≤ C².
    """

    def test(mixtures: int, epsilon: float, delta: float) -> Evidence:
        gamma = printed.sheffet_2017_gamma(mixtures, epsilon, delta)
        if floored:
            gamma = max(gamma, printed.sheffet_renyi_gamma(mixtures, epsilon, delta))
        leak = sketch(1.0 / gamma, mixtures, epsilon) if gamma > 1.0 else 1.0
        return claimed(delta, leak, at=f"so γ = {gamma:.3g} C²")

    return test


def _mixed(mixtures: int, epsilon: float, delta: float, pair: NeighbourPair, sign: float) -> float:
    """δ(ε) of algorithm 2's θ for C_X = C_Y = 1 on a pair whose sides both have rank 1.

    It is exact to (1 + e^ε)·P(z > τ): λ_min = 0, so λ̃ = 0 except for z > τ, and θ is least squares
    on a sketch padded with w = C√γ. sign : −1 for a lower bound, 1 for an upper one.
    """
    mixing = LinearMixing(mixtures, epsilon, delta).mixing
    noise = (
        float(mixing.noise_at(0.0)) if mixing.reads_eigenvalue else mixing.gamma * mixing.row_bound
    )
    missed = float(ndtr(-mixing.tau)) if mixing.reads_eigenvalue else 0.0
    found = float(spectrum(RPLS(mixtures, padding=noise), pair, epsilon).delta)
    return found + sign * (1.0 + math.exp(epsilon)) * missed


def _labels(before: bool) -> Callable[[float, int, float, float], Evidence]:
    """A database of one row (1, y) and a row of zeros.

    y = −b₁/(2b₂) if `before`, else y = 1 and θ is scaled afterwards.
    """

    def test(radius: float, mixtures: int, epsilon: float, delta: float) -> Evidence:
        scale = LogisticMixing(mixtures, epsilon, delta, radius=radius).scale
        label = scale if before else 1.0
        pair = zero_row(np.array([[1.0, label], [0.0, 0.0]]), 0)
        found = _mixed(mixtures, epsilon, delta, pair, -1.0 if before else 1.0)
        return claimed(delta, found, kind=CERTIFIED, at=f"so labels are ±{scale:.3g}")

    return test


def _normalised(private: bool) -> Callable[[int, float, float, float, str], Evidence]:
    """1000 rows (1, 1) and one of `outlier` times that, which is zeroed.

    All are divided by their largest norm if `private`, else by a bound. Where the features alone
    are divided the labels are the same numbers over `outlier`, so that the rank stays 1.
    """

    def test(mixtures: int, epsilon: float, delta: float, outlier: float, divided: str) -> Evidence:
        long = np.append(outlier, np.ones(1000))
        left = _divided(long, outlier, outlier, divided)
        right = _divided(
            np.append(0.0, np.ones(1000)), 1.0 if private else outlier, outlier, divided
        )
        found = _mixed(
            mixtures, epsilon, delta, NeighbourPair(left, right), -1.0 if private else 1.0
        )
        return claimed(delta, found, kind=CERTIFIED)

    return test


def _divided(numbers: Array, norm: float, outlier: float, divided: str) -> Array:
    """Rows (x, y) of numbers, by what is taken for their largest norm."""
    return np.column_stack(
        [numbers / norm, numbers / (norm if divided == "whole rows" else outlier)]
    )


FINDINGS = (
    Finding(
        key="3-loose-algorithm-1-line-3",
        paper=3,
        place="algorithm 1, line 3",
        claim="the noise where γ ≤ τ",
        formula="SX + γCξ",
        fault="lemma 1 asks for √γ·C: γ is in the units of λ_min/C², a square",
        corrected="",
        setting={"gamma": 5.0, "delta": 1e-6},
        test=_line_3,
        grid={"gamma": (2.6, 4.0, 6.5), "delta": (1e-2, 1e-6, 1e-10)},
    ),
    Finding(
        key="3-theorem-1-eta",
        paper=3,
        place="proof of theorem 1, release of λ̃",
        claim="λ̃ is (√(2 ln(3.75/δ))/η, δ/3)-DP at any η > 0",
        formula="ε = √(2 ln(3.75/δ))/η",
        fault="the textbook's noise, which is proved for ε ≤ 1, so for large η",
        corrected="the exact ε of a shift of 1/η at δ/3, where that is more",
        setting={"eta": 0.2, "delta": 1e-5},
        test=_estimate(False),
        grid={"eta": (0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 50.0), "delta": (1e-2, 1e-5, 1e-10)},
        fixed=_estimate(True),
    ),
    Finding(
        key="3-theorem-1-small-eta",
        paper=3,
        place="theorem 1 at small η",
        claim="λ̃ and the output together, which the proof composes, are (ε̃, δ)-DP",
        formula="ε̃ = √(2 ln(3.75/δ))/η + min over α of φ + …",
        fault="the first term is too small where η is (the output alone tells less than both)",
        corrected="ε̃ with the exact ε of λ̃ for its first term",
        setting={"mixtures": 100, "gamma": 100.0, "eta": 0.2, "delta": 1e-5},
        test=_together("printed"),
        fixed=_together("corrected"),
    ),
    Finding(
        key="3-algorithm-2",
        paper=3,
        place="algorithm 2, line 3",
        claim="theorem 2: θ is (ε, δ)-DP at any C_X and C_Y (here C_X = C_Y, k = 10,000)",
        formula="ModifiedGaussMix([X, Y], √(C_X² + C_Y²), k, γ, √(2 ln(3/δ)), η)",
        fault="the units of algorithm 1: where rows are long no noise is added, and θ shows it",
        corrected="noise C√max(γ − λ̃/C², 0) in algorithm 1",
        setting={"row_bound": 10.0, "epsilon": 1.0, "delta": 0.01},
        test=_solution,
        fixed=_solution_scaled,
    ),
    Finding(
        key="3-h2-algorithm-4-floor",
        paper=3,
        place="H.2, algorithm 4, γ at large ε",
        claim="a sketch without noise hides a row where λ_min > γ, at any ε",
        formula="γ = 4C²(√(2k ln(8/δ)) + 2 ln(8/δ))/ε",
        fault="γ falls below C² as ε grows, and then a row may be all of λ_min",
        corrected="γ no less than algorithm 5's, which is above C²",
        setting={"mixtures": 2, "epsilon": 100.0, "delta": 0.01},
        test=_no_noise(False),
        grid={
            "mixtures": (2, 10, 100, 10_000),
            "epsilon": (1.0, 10.0, 50.0, 100.0, 200.0),
            "delta": (1e-2, 1e-5),
        },
        fixed=_no_noise(True),
    ),
    Finding(
        key="3-section-5-2",
        paper=3,
        place="section 5.2, labels of the surrogate",
        claim="algorithm 2 on the labels −b₁/(2b₂)·y, with C_Y = 1 as in corollary 2, is (ε, δ)-DP",
        formula="Ỹ = −(b₁/(2b₂))Y, C_Y = 1",
        fault="|b₁/(2b₂)| is 2 for short intervals [−Q, Q] and more for long ones: the labels pass "
        "their bound",
        corrected="θ scaled after algorithm 2 has run on Y itself, as appendix G has it; or C_Y = "
        "|b₁/(2b₂)|",
        setting={"radius": 10.0, "mixtures": 100, "epsilon": 1.0, "delta": 0.01},
        test=_labels(True),
        grid={"radius": (1.0, 4.0, 10.0, 20.0), "mixtures": (10, 1000), "delta": (1e-2, 1e-5)},
        fixed=_labels(False),
    ),
    Finding(
        key="3-section-j",
        paper=3,
        place="appendix J, normalised data",
        claim="the experiments are (ε, δ)-DP for training data divided by their largest norm",
        formula="x_i/max_j ‖x_j‖",
        fault="the largest norm is read off the private rows: without the longest one all others "
        "grow",
        corrected="divided by a public bound, longer rows shrunk to it",
        setting={
            "mixtures": 50,
            "epsilon": 1.0,
            "delta": 1e-5,
            "outlier": 10.0,
            "divided": "features alone",
        },
        test=_normalised(True),
        grid={
            "mixtures": (10, 50, 1000),
            "epsilon": (0.1, 1.0),
            "outlier": (3.0, 10.0, 100.0),
            "divided": ("features alone", "whole rows"),
        },
        fixed=_normalised(False),
    ),
)
