"""Paper 3, section 3: from Rényi divergences to (ε, δ), and the Gaussian mechanism."""

from __future__ import annotations

import math
from dataclasses import replace

from dpaudit._core.check import fail
from dpaudit.exact import gaussian_shift
from dpaudit.papers import printed
from dpaudit.testing import choices, integers, reals
from reports.make.findings.measures import sketch
from reports.make.findings.statement import CORNER, MISPRINT, Searched, Statement

NEIGHBOURS = "zero-out neighbours, rows of norm at most C"
LAWS = choices("sketch", "shift")
SMALL = {"delta": reals(1e-10, 0.5)}
MIXING = {"mixtures": integers(1, 1000), "gamma": reals(2.51, 1000.0)}


def _order(gamma: float, share: float) -> float:
    """α in (1, γ)."""
    return 1.0 + share * (gamma - 1.0)


def _by_order(mixtures: int, gamma: float, share: float, delta: float, law: str) -> float:
    """Proposition 1: ε_DP of a sketch at q = 1/γ, or of a shift of 1/√γ."""
    order = _order(gamma, share)
    renyi = (
        float(printed.lemma_1_renyi(order, mixtures, gamma))
        if law == "sketch"
        else 0.5 * order / gamma
    )
    epsilon = renyi + math.log1p(-1.0 / order) - math.log(order * delta) / (order - 1.0)
    if epsilon < 0.0:
        fail("delta", delta, "a delta with ε_DP of at least 0")
    return epsilon


def _delta_by_order(mixtures: int, gamma: float, share: float, delta: float, law: str) -> float:
    epsilon = _by_order(mixtures, gamma, share, delta, law)
    if law == "sketch":
        return sketch(1.0 / gamma, mixtures, epsilon)
    return float(gaussian_shift(gamma**-0.5, epsilon))


def truncated_epsilon(rho: float, omega: float, delta: float) -> float:
    """Proposition 2 with both of its cases."""
    log = math.log(1.0 / delta)
    if log <= (omega - 1.0) ** 2 * rho:
        return rho + 2.0 * math.sqrt(rho * log)
    return rho * omega + log / (omega - 1.0)


def _delta_truncated(mixtures: int, gamma: float, delta: float, law: str) -> float:
    """The exact δ of a sketch, or of a shift, that is (k/(2γ²), 2γ/5)-tCDP."""
    rho, omega = printed.corollary_1_tcdp(mixtures, gamma)
    epsilon = truncated_epsilon(rho, omega, delta)
    if law == "sketch":
        return sketch(1.0 / gamma, mixtures, epsilon)
    return float(gaussian_shift(math.sqrt(2.0 * rho), epsilon))


def _epsilon(sigma: float, delta: float) -> float:
    return math.sqrt(2.0 * math.log(1.25 / delta)) / sigma


def _delta_of_noise(sigma: float, delta: float, row_bound: float) -> float:
    """X + σξ at the printed ε: a zeroed row of norm C moves it by C."""
    return float(gaussian_shift(row_bound / sigma, _epsilon(sigma, delta)))


def _delta_of_scaled(sigma: float, delta: float, row_bound: float) -> float:
    epsilon = row_bound * _epsilon(sigma, delta)
    if epsilon > 1.0:
        fail("sigma", sigma, "a sigma with ε of at most 1")
    return float(gaussian_shift(row_bound / sigma, epsilon))


PROPOSITION_1 = Searched(
    lambda delta: delta,
    _delta_by_order,
    {**MIXING, "share": reals(0.001, 0.999), **SMALL, "law": LAWS},
    tries=600,
)
PROPOSITION_2 = Searched(
    lambda delta: delta, _delta_truncated, {**MIXING, **SMALL, "law": LAWS}, tries=600
)
GAUSSIAN = Searched(
    lambda delta: delta,
    _delta_of_noise,
    {"sigma": reals(0.05, 100.0), "delta": reals(1e-10, 0.99), "row_bound": 1.0},
    at={"sigma": 0.48, "delta": 1e-5, "row_bound": 1.0},
    also=lambda sigma, delta, **_: f"so ε = {_epsilon(sigma, delta):.4g}",
)
IN_UNITS = Searched(
    lambda delta: delta,
    _delta_of_noise,
    {"sigma": reals(0.05, 1e4), "delta": reals(1e-10, 0.99), "row_bound": reals(0.01, 100.0)},
    hypotheses=lambda sigma, delta: _epsilon(sigma, delta) <= 1.0,
    at={"sigma": 5.0, "delta": 1e-5, "row_bound": 10.0},
    also=lambda sigma, delta, **_: f"so ε = {_epsilon(sigma, delta):.4g}",
)
STATEMENTS = (
    Statement(
        "3-equation-1",
        3,
        "equation (1)",
        "section 1",
        "(1/k)SᵀS ≈ I_n with high probability; (1/k)(SA + σξ)ᵀ(SB + σξ) ≈ AᵀB + σ²I_d",
        "sufficiently large k; the same ξ in both factors",
        untested="a limit as k grows, by the law of large numbers; for k < n the first holds entry "
        "by entry only, as SᵀS has rank k",
    ),
    Statement(
        "3-proposition-1",
        3,
        "proposition 1",
        "section 3",
        "it also satisfies (ε_DP, δ)-DP for any 0 < δ < 1, where ε_DP = ε(α) + log(1 − 1/α) − "
        "log(αδ)/(α − 1)",
        "M satisfies (α, ε(α))-RDP",
        test=PROPOSITION_1,
        fault="tried on Gaussian sketches and on Gaussian shifts, where ε_DP ≥ 0",
    ),
    Statement(
        "3-proposition-2",
        3,
        "proposition 2",
        "section 3",
        "ε_DP = ρ + 2√(ρ log(1/δ)) if log(1/δ) ≤ (w − 1)²ρ, ρw + log(1/δ)/(w − 1) if "
        "log(1/δ) > (w − 1)²ρ",
        "M satisfies (ρ, w)-tCDP; δ > 0 (δ ≤ 1 for the root to exist)",
        test=PROPOSITION_2,
        fault="tried on sketches and shifts with ρ = k/(2γ²), w = 2γ/5",
    ),
    Statement(
        "3-gaussian-mechanism",
        3,
        "Gaussian mechanism",
        "section 3",
        "(ε, δ)-DP where ε = √(2 log(1.25/δ))/σ for any δ ∈ (0, 1) (Dwork et al., 2014, Appendix "
        "A)",
        f"X + σξ; {NEIGHBOURS}, here C = 1",
        test=GAUSSIAN,
        fails=CORNER,
        fault="the source states it for ε < 1, which is not quoted",
        corrected="… for any δ ∈ (0, 1) and σ with ε ≤ 1",
        fixed=replace(GAUSSIAN, exact=_delta_of_scaled, at=None, also=None),
    ),
    Statement(
        "3-gaussian-mechanism-units",
        3,
        "Gaussian mechanism, row bound",
        "section 3",
        "(C²/(2σ²), ∞)-tCDP …, and (ε, δ)-DP where ε = √(2 log(1.25/δ))/σ",
        f"X + σξ; {NEIGHBOURS}; here ε ≤ 1",
        test=IN_UNITS,
        fails=MISPRINT,
        fault="the row bound, which the first clause has, is missing in the second",
        corrected="ε = C√(2 log(1.25/δ))/σ",
        fixed=replace(IN_UNITS, exact=_delta_of_scaled, hypotheses=None, at=None, also=None),
    ),
)
