"""Paper 3: signs and norms in its formulas and proofs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from dpaudit.papers import ModifiedGaussMix
from reports.make.findings.finding import Evidence, Finding, claimed, stated

Z = np.linspace(-9.0, 9.0, 180_001)
FARTHEST = 500.0


def _tau(delta: float) -> float:
    return math.sqrt(2.0 * math.log(3.0 / delta))


def _beyond(above: bool) -> Callable[[float], Evidence]:
    """The probability that λ̃ ≥ λ_min fails, or λ̃ ≤ λ_min.

    Where λ_min > 0, λ̃ ≥ λ_min is z ≥ τ.
    """

    def test(delta: float) -> Evidence:
        tau = _tau(delta)
        fails = float(ndtr(tau if above else -tau))
        return claimed(delta / 3.0, fails, quantity="P(λ̃ < λ_min)" if above else "P(λ̃ > λ_min)")

    return test


def _event(sign: float) -> Callable[[float, float, float], Evidence]:
    """P(η̃² + λ_min ≥ γ) by lines 5 and 6 against P(z ≤ sign·τ).

    It is at C = 1 and λ_min = γ/2, over a fine grid of z.
    """

    def test(gamma: float, eta: float, delta: float) -> Evidence:
        mechanism = ModifiedGaussMix(100, gamma, delta, eta)
        noise = mechanism.noise_at(0.5 * gamma - eta * (mechanism.tau - Z))
        largest = float(Z[noise**2 + 0.5 * gamma >= gamma * (1.0 - 1e-12)].max())
        shown = float(ndtr(sign * _tau(delta)))
        return stated("P(η̃² + λ_min ≥ γ)", shown, float(ndtr(largest)), tolerance=1e-3)

    return test


def _length(power: float) -> Callable[[int], Evidence]:
    """‖Y‖ of n labels ±1 against n^power."""

    def test(rows: int) -> Evidence:
        label = np.where(np.arange(rows) % 3 == 0, -1.0, 1.0)
        return stated("‖Y‖", float(rows) ** power, float(np.linalg.norm(label)))

    return test


def _fit(sign: float) -> Callable[[int], Evidence]:
    """argmin of sign·Σ ln(1 + exp(−y_iθ)) for `ones` labels 1 and one label −1.

    The logistic fit of these is θ = ln(ones).
    """

    def test(ones: int) -> Evidence:
        def objective(theta: float) -> float:
            return sign * (
                ones * float(np.logaddexp(0.0, -theta)) + float(np.logaddexp(0.0, theta))
            )

        ends = [objective(-FARTHEST), objective(FARTHEST)]
        inside = minimize_scalar(
            objective, bounds=(-FARTHEST, FARTHEST), method="bounded", options={"xatol": 1e-10}
        )
        lowest = (
            math.copysign(math.inf, ends[0] - ends[1])
            if min(ends) < inside.fun
            else float(inside.x)
        )
        return stated("θ∗", lowest, math.log(ones), tolerance=1e-6)

    return test


FINDINGS = (
    Finding(
        key="3-theorem-1-sketch",
        paper=3,
        place="theorem 1, sketch of the proof",
        claim="with probability at least 1 − δ/3",
        formula="λ̃ ≥ λ_min(XᵀX)",
        fault="the wrong way round: this has probability δ/3 at most",
        corrected="λ̃ ≤ λ_min(XᵀX)",
        setting={"delta": 1e-5},
        test=_beyond(True),
        grid={"delta": (0.1, 1e-2, 1e-5, 1e-10)},
        fixed=_beyond(False),
    ),
    Finding(
        key="3-equation-48",
        paper=3,
        place="proof of theorem 1, below equation (48)",
        claim="the event η̃² + λ_min(XᵀX) ≥ γ, on which lemma 1 is used, “corresponds to” this",
        formula="z ≥ τ",
        fault="the wrong way round; (49), the probability of its complement, is right",
        corrected="z ≤ τ",
        setting={"gamma": 50.0, "eta": 5.0, "delta": 1e-5},
        test=_event(-1.0),
        grid={"gamma": (10.0, 50.0, 1000.0), "eta": (0.1, 5.0), "delta": (1e-2, 1e-5)},
        fixed=_event(1.0),
    ),
    Finding(
        key="3-corollary-2",
        paper=3,
        place="proof of corollary 2, last line",
        claim="the norm of n labels ±1",
        formula="‖Y‖ = n",
        fault="that is ‖Y‖², which is what (71e) needs",
        corrected="‖Y‖ = √n",
        setting={"rows": 1000},
        test=_length(1.0),
        grid={"rows": (2, 10, 1000)},
        fixed=_length(0.5),
    ),
    Finding(
        key="3-equation-10",
        paper=3,
        place="section 5.2, equation (10)",
        claim="the problem of logistic regression",
        formula="argmin Σ −ln(1 + exp(−y_iθᵀx_i))",
        fault="the sign, as in algorithm 6: this has no minimum",
        corrected="argmin Σ ln(1 + exp(−y_iθᵀx_i))",
        setting={"ones": 2},
        test=_fit(-1.0),
        grid={"ones": (2, 5, 100)},
        fixed=_fit(1.0),
    ),
)
