"""Paper 3, appendices D and E: the steps from λ̃ to theorem 1, and the sign of ε̃."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from dpaudit.exact import gaussian_shift
from dpaudit.papers import ModifiedGaussMix, printed
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import Evidence, claimed, stated
from reports.make.findings.statement import CORNER, MISPRINT, Searched, Statement, Swept


def _tau(delta: float) -> float:
    return math.sqrt(2.0 * math.log(3.0 / delta))


def _second(mixtures: int, gamma: float, delta: float) -> float:
    """The second term of ε̃: the least over 1 < α < γ, by search over ln(α − 1)."""

    def value(place: float) -> float:
        order = 1.0 + math.exp(place)
        renyi = float(printed.lemma_1_renyi(order, mixtures, gamma))
        return renyi + math.log1p(-1.0 / order) + math.log(3.0 / (order * delta)) / (order - 1.0)

    ends = math.log(1e-3), math.log((gamma - 1.0) * (1.0 - 1e-9))
    starts = np.linspace(*ends, 41)
    best = int(np.argmin([value(one) for one in starts]))
    bounds = starts[max(best - 1, 0)], starts[min(best + 1, 40)]
    return float(minimize_scalar(value, bounds=bounds, method="bounded").fun)


def _power(mixtures: int, gamma: float, delta: float) -> float:
    """e^ε̃ at η = γ/√k."""
    first = math.sqrt(2.0 * mixtures * math.log(3.75 / delta)) / gamma
    return math.exp(min(first + _second(mixtures, gamma, delta), 700.0))


def _at_two_fifths(mixtures: int, gamma: float, delta: float) -> float:
    return 0.2 * mixtures / gamma + math.log(3.0 / delta) / (0.4 * gamma - 1.0)


def _textbook(eta: float, delta: float) -> float:
    return math.sqrt(2.0 * math.log(3.75 / delta)) / eta


def _estimate(eta: float, delta: float) -> float:
    """δ of λ̃ alone, a shift of 1/η, at the textbook's ε."""
    return float(gaussian_shift(1.0 / eta, _textbook(eta, delta)))


def _estimate_scaled(eta: float, delta: float) -> float:
    """The same at the exact ε, where that is more."""
    epsilon = _textbook(eta, delta) + ModifiedGaussMix(1, 3.0, delta, eta).shortfall
    return float(gaussian_shift(1.0 / eta, epsilon)) * (1.0 - 1e-9)


def _below(above: bool) -> Callable[[float], Evidence]:
    """The probability that λ̃ ≥ λ_min fails, or λ̃ ≤ λ_min: where λ_min > 0, of z < τ or z > τ."""

    def test(delta: float) -> Evidence:
        fails = float(ndtr(_tau(delta) if above else -_tau(delta)))
        return claimed(delta / 3.0, fails, quantity="P(λ̃ < λ_min)" if above else "P(λ̃ > λ_min)")

    return test


def _event(sign: float) -> Callable[[float, float, float], Evidence]:
    """P(η̃² + λ_min ≥ γ) by lines 5 and 6 against P(z ≤ sign·τ), at C = 1 and λ_min = γ/2."""

    def test(gamma: float, eta: float, delta: float) -> Evidence:
        mechanism, z = ModifiedGaussMix(100, gamma, delta, eta), np.linspace(-9.0, 9.0, 180_001)
        noise = mechanism.noise_at(0.5 * gamma - eta * (mechanism.tau - z))
        largest = float(z[noise**2 + 0.5 * gamma >= gamma * (1.0 - 1e-12)].max())
        shown = float(ndtr(sign * _tau(delta)))
        return stated("P(η̃² + λ_min ≥ γ)", shown, float(ndtr(largest)), tolerance=1e-3)

    return test


def _missed(strict: bool) -> Callable[[float, float, float], float]:
    """P(η̃² + λ_min ≤ γ), or of < γ, at C = 1: at λ_min = 0 it is an equality unless z > τ."""

    def probability(gamma: float, delta: float, eigenvalue: float) -> float:
        beyond = float(ndtr(-_tau(delta)))
        if eigenvalue == 0.0 and not strict:
            return 1.0
        return beyond if eigenvalue <= gamma else 0.0

    return probability


ETA = Searched(
    lambda delta: delta / 3.0,
    _estimate,
    {"eta": reals(0.05, 50.0), "delta": reals(1e-10, 0.5)},
    at={"eta": 0.2, "delta": 1e-5},
    also=lambda eta, delta: f"so ε = {_textbook(eta, delta):.4g}",
)
SIGN = Searched(
    lambda: 1.0,
    _power,
    {"mixtures": integers(1, 100), "gamma": reals(2.6, 1e5), "delta": reals(1e-4, 0.99)},
    side="lower",
    quantity="exp(ε̃)",
    tries=300,
    at={"mixtures": 1, "gamma": 100.0, "delta": 0.5},
)
MISSED = Searched(
    lambda delta: delta / 3.0,
    _missed(strict=False),
    {
        "gamma": reals(2.6, 1000.0),
        "delta": reals(1e-10, 0.5),
        "eigenvalue": choices(0.0, 1.0, 10.0),
    },
    quantity="P(η̃² + λ_min ≤ γ)",
    tries=200,
)
SKETCH = Swept(_below(True), {"delta": 1e-5}, {"delta": (0.1, 1e-2, 1e-5, 1e-10)})
EVENT = Swept(
    _event(-1.0),
    {"gamma": 50.0, "eta": 5.0, "delta": 1e-5},
    {"gamma": (10.0, 50.0, 1000.0), "eta": (0.1, 5.0), "delta": (1e-2, 1e-5)},
)
STATEMENTS = (
    Statement(
        "3-theorem-1-eta",
        3,
        "proof of theorem 1, release of λ̃",
        "appendix D",
        "by using the standard formula of the Gaussian mechanism we get that λ̃ is "
        "(√(2 log(3.75/δ))/η, δ/3) release of λ_min(XᵀX)",
        "any η > 0",
        test=ETA,
        fails=CORNER,
        fault="the formula of Dwork et al. is for ε ≤ 1; it was right for η ≥ 1, and fails for "
        "small η",
        corrected="the exact ε of a shift of 1/η at δ/3, where that is more",
        fixed=replace(ETA, exact=_estimate_scaled, at=None, also=None),
    ),
    Statement(
        "3-theorem-1-sketch",
        3,
        "theorem 1, sketch of the proof",
        "section 4",
        "w.p. ≥ 1 − δ/3 we have λ̃ ≥ λ_min(XᵀX), so the conditions of Lemma 1 are met",
        "the case γ > τ",
        test=SKETCH,
        fails=MISPRINT,
        fault="the wrong way round",
        corrected="λ̃ ≤ λ_min(XᵀX)",
        fixed=replace(SKETCH, test=_below(False)),
    ),
    Statement(
        "3-equation-48",
        3,
        "below equation (48)",
        "appendix D",
        "η̃² + λ_min(XᵀX) ≥ γ, which … corresponds to having z ≥ τ",
        "C = 1",
        test=EVENT,
        fails=MISPRINT,
        fault="the wrong way round, as in the sketch; (49) goes on rightly",
        cause="3-theorem-1-sketch",
        corrected="z ≤ τ",
        fixed=replace(EVENT, test=_event(1.0)),
    ),
    Statement(
        "3-equation-49",
        3,
        "equation (49)",
        "appendix D",
        "P(η̃² + λ_min(XᵀX) ≤ γ) = P(z ≥ τ) ≤ exp{−τ²/2} = δ/3",
        "C = 1; λ_min(XᵀX) may be 0",
        test=MISSED,
        fails=MISPRINT,
        fault="where λ_min = 0 the first event is an equality, with probability near 1",
        corrected="P(η̃² + λ_min(XᵀX) < γ) ≤ P(z > τ)",
        fixed=replace(MISSED, exact=_missed(strict=True)),
    ),
    Statement(
        "3-appendix-e-sign",
        3,
        "sign of ε̃",
        "section 4 and appendix E",
        "the second term in ε̃ provides an upper bound on the privacy parameter ε, and thus is "
        "non-negative. … we get that the entire expression is non-negative",
        "δ ∈ (0, 1), γ > 5/2; here η = γ/√k",
        test=SIGN,
        fails=CORNER,
        fault="proposition 1 gives a negative ε_DP for large α and δ not small; the second term "
        "tends to log(1 − δ/3) as γ grows. No loss of privacy follows",
        corrected="ε̃ ≥ log(1 − δ/3), and max{ε̃, 0} serves",
        fixed=replace(SIGN, printed=lambda delta: 1.0 - delta / 3.0, at=None),
    ),
    Statement(
        "3-equation-50",
        3,
        "equation (50)",
        "appendix E",
        "min over 1 < α < 2γ/5 of {kα/(2γ²) + log(3/δ)/(α − 1)} ≤ k/(5γ) + "
        "log(3/δ)/(2γ/5 − 1), … can be made arbitrarily small by increasing γ",
        "γ > 5/2; it bounds the minimum in ε̃",
        test=Searched(
            _at_two_fifths,
            _second,
            {
                "mixtures": integers(1, 10_000),
                "gamma": reals(2.51, 1e5),
                "delta": reals(1e-10, 0.9),
            },
            quantity="ε",
            tries=200,
        ),
    ),
)
