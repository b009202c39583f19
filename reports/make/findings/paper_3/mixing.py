"""Paper 3: Lev, Srinivasan, Shenfeld, Ligett, Sekhari and Wilson, The Gaussian Mixing Mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.curves.readings import epsilon_at
from dpaudit.exact import gaussian_shift, gaussian_sketch
from dpaudit.papers import printed
from reports.make.findings.finding import Evidence, Finding, asked, claimed, stated
from reports.make.findings.measures import SMALL_DELTAS, sketch

MIXTURES, GAMMAS = (1, 10, 100, 1000), (2.6, 5.0, 10.0, 100.0, 1000.0)


def _mixture(
    printed_epsilon: Callable[[int, float, float], float],
) -> Callable[[int, float, float], Evidence]:
    """The exact δ at the ε that is printed for (k, γ, δ), with q = 1/γ."""

    def test(mixtures: int, gamma: float, delta: float) -> Evidence:
        epsilon = float(printed_epsilon(mixtures, gamma, delta))
        return claimed(delta, sketch(1.0 / gamma, mixtures, epsilon), at=f"so ε = {epsilon:.4g}")

    return test


def _needed(
    printed_epsilon: Callable[[int, float, float], float],
) -> Callable[[int, float, float], Evidence]:
    """The ε that is printed against the exact one at the same δ."""

    def test(mixtures: int, gamma: float, delta: float) -> Evidence:
        def curve(epsilon: Array) -> Array:
            return np.maximum(*gaussian_sketch(1.0 / gamma, mixtures, epsilon))

        return asked(
            "ε", float(printed_epsilon(mixtures, gamma, delta)), float(epsilon_at(curve, delta))
        )

    return test


def _tcdp(mixtures: int, gamma: float, delta: float) -> float:
    return float(Claim.tcdp(*printed.corollary_1_tcdp(mixtures, gamma)).epsilon_at(delta))


def _both_cases(mixtures: int, gamma: float, delta: float) -> float:
    """Proposition 2 with its two cases, of the tCDP of corollary 1."""
    rho, omega = printed.corollary_1_tcdp(mixtures, gamma)
    log = math.log(1.0 / delta)
    if log <= (omega - 1.0) ** 2 * rho:
        return rho + 2.0 * math.sqrt(rho * log)
    return rho * omega + log / (omega - 1.0) if omega > 1.0 else math.inf


def _capped_sheffet(mixtures: int, gamma: float, delta: float) -> float:
    """The quoted ε where that is at most ln(4/δ), else the ε of lemma 1."""
    quoted = printed.sheffet_2019(mixtures, gamma, delta)
    return (
        quoted
        if quoted <= math.log(4.0 / delta)
        else printed.gaussmix_epsilon(mixtures, gamma, delta)
    )


def _gaussian(epsilon: float, delta: float, row_bound: float) -> Evidence:
    """X + σξ with σ = √(2 ln(1.25/δ))/ε: a zeroed row of norm C moves it by C."""
    sigma = math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
    return claimed(
        delta, float(gaussian_shift(row_bound / sigma, epsilon)), at=f"so σ = {sigma:.4g}"
    )


def _gaussian_scaled(epsilon: float, delta: float, row_bound: float) -> Evidence:
    """σ in proportion to C, at ε ≤ 1 as its source states it, at the σ of ε = 1 beyond."""
    sigma = row_bound * math.sqrt(2.0 * math.log(1.25 / delta)) / min(epsilon, 1.0)
    return claimed(delta, float(gaussian_shift(row_bound / sigma, epsilon)))


def _tight(rows: int, order: float, gamma: float) -> Evidence:
    """XᵀX = C²I by n equal rows of norm C/√n in one dimension: q = 1/(nγ), not 1/γ."""
    bound, true = (float(printed.lemma_1_renyi(order, 1, scale)) for scale in (gamma, rows * gamma))
    return stated("D_α", bound, true)


MIXTURE_GRID = {"mixtures": MIXTURES, "gamma": GAMMAS, "delta": SMALL_DELTAS}

FINDINGS = (
    Finding(
        key="3-corollary-1-epsilon",
        paper=3,
        place="ε after corollary 1, without its condition",
        claim="GaussMix is (ε, δ)-DP with this ε, at any δ",
        formula="ε = k/(2γ²) + √(2k ln(1/δ))/γ",
        fault="the case of proposition 2 for ln(1/δ) ≤ (2γ/5 − 1)² k/(2γ²), printed without that "
        "condition",
        corrected="beyond it ε = ρω + ln(1/δ)/(ω − 1) with ρ = k/(2γ²), ω = 2γ/5",
        setting={"mixtures": 1, "gamma": 10.0, "delta": 1e-10},
        test=_mixture(printed.corollary_1_epsilon),
        grid=MIXTURE_GRID,
        fixed=_mixture(_both_cases),
    ),
    Finding(
        key="3-theorem-1-epsilon",
        paper=3,
        place="ε after theorem 1, η = γ/√k",
        claim="algorithm 1 is (ε, δ)-DP with this ε",
        formula="ε = k/(2γ²) + 2√(2k ln(4/δ))/γ",
        fault="the same condition is dropped: where no noise is saved the sketch alone leaks more",
        corrected="ε̃(γ/√k, γ, k, δ) of theorem 1 itself",
        setting={"mixtures": 1, "gamma": 10.0, "delta": 1e-10},
        test=_mixture(printed.after_theorem_1_epsilon),
        grid=MIXTURE_GRID | {"mixtures": (1, 100)},
        fixed=_mixture(
            lambda k, gamma, delta: printed.theorem_1_epsilon(k, gamma, delta, gamma / math.sqrt(k))
        ),
    ),
    Finding(
        key="3-sheffet-2019",
        paper=3,
        place="Sheffet 2019, theorem 2, as quoted",
        claim="GaussMix is (ε, δ)-DP with this ε, whatever it comes to",
        formula="ε = 2(√(2k ln(4/δ)) + ln(4/δ))/γ",
        fault="fails where the ε that it gives is large beside ln(4/δ)",
        corrected="only where ε ≤ ln(4/δ)",
        setting={"mixtures": 1000, "gamma": 2.0, "delta": 0.01},
        test=_mixture(printed.sheffet_2019),
        grid=MIXTURE_GRID | {"gamma": (1.2, 2.0, 10.0, 100.0)},
        fixed=_mixture(_capped_sheffet),
    ),
    Finding(
        key="3-gaussian-mechanism",
        paper=3,
        place="section 3, Gaussian mechanism",
        claim="X + σξ is (ε, δ)-DP with this ε, for any δ in (0, 1)",
        formula="ε = √(2 ln(1.25/δ))/σ",
        fault="the row bound C_X is left out, and the source's condition ε ≤ 1",
        corrected="ε = C_X √(2 ln(1.25/δ))/σ for ε ≤ 1",
        setting={"epsilon": 1.0, "delta": 1e-5, "row_bound": 10.0},
        test=_gaussian,
        grid={"epsilon": (0.1, 1.0, 10.0), "row_bound": (0.1, 1.0, 10.0), "delta": SMALL_DELTAS},
        fixed=_gaussian_scaled,
    ),
    Finding(
        key="3-lemma-1-tight",
        paper=3,
        place="tightness after lemma 1",
        claim="equality for any X with XᵀX = C²I",
        formula="D_α(M(X) ‖ M(X′)) = φ(α; k, γ) if XᵀX = C²I",
        fault="equality takes a row of norm C; n equal rows of norm C/√n have the same XᵀX and "
        "leak far less",
        corrected="for X with XᵀX = C²I of which one row has norm C (the others are then "
        "orthogonal to it)",
        setting={"rows": 100, "order": 2.0, "gamma": 10.0},
        test=_tight,
        grid={"rows": (1, 2, 10, 100), "order": (1.5, 2.0, 5.0)},
    ),
    *(
        Finding(
            key=f"3-loose-{key}",
            paper=3,
            place=place,
            claim="the ε that GaussMix keeps at δ",
            formula=formula,
            fault="more ε than there is",
            corrected="",
            setting={"mixtures": 1000, "gamma": 100.0, "delta": 1e-6},
            test=_needed(epsilon),
            grid={"mixtures": (100, 1000), "gamma": (30.0, 100.0, 1000.0), "delta": (1e-3, 1e-6)},
        )
        for key, place, formula, epsilon in (
            (
                "lemma-1",
                "lemma 1 with proposition 1",
                "min over α of φ + …",
                printed.gaussmix_epsilon,
            ),
            ("corollary-1", "corollary 1 (tCDP) with proposition 1", "(k/(2γ²), 2γ/5)-tCDP", _tcdp),
            (
                "after-corollary-1",
                "ε after corollary 1",
                "k/(2γ²) + √(2k ln(1/δ))/γ",
                printed.corollary_1_epsilon,
            ),
            (
                "sheffet-2019",
                "Sheffet 2019, theorem 2, as quoted",
                "2(√(2k ln(4/δ)) + ln(4/δ))/γ",
                printed.sheffet_2019,
            ),
        )
    ),
)
