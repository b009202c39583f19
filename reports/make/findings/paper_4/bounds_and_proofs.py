"""Paper 4: bounds that it quotes, its lemmas and proofs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import chdtr, chdtrc, ndtr
from scipy.stats import binomtest, invwishart, t

from reports.make.findings.finding import CERTIFIED, Evidence, Finding, claimed, stated

TRIALS, SEED = 2_000, 4


def _tail(factor: float) -> Callable[[float], Evidence]:
    """P(x > μ + σ√(factor·ln(1/ν))) for a normal x."""

    def test(nu: float) -> Evidence:
        return claimed(
            nu, float(ndtr(-math.sqrt(factor * math.log(1.0 / nu)))), quantity="P(x > …)"
        )

    return test


def _spread(dim: int, delta: float) -> float:
    return math.sqrt(dim) + math.sqrt(2.0 * math.log(2.0 / delta))


def _norm(sign: float) -> Callable[[int, float], Evidence]:
    """P(‖αV − X‖ > |α − (√m ± s)²|‖V‖) for d = 1, V = 1 and α = (√m − s)², where X is χ²_m."""

    def test(m: int, delta: float) -> Evidence:
        spread = _spread(1, delta)
        alpha = (math.sqrt(m) - spread) ** 2
        radius = abs(alpha - (math.sqrt(m) + sign * spread) ** 2)
        outside = float(chdtr(m, max(alpha - radius, 0.0)) + chdtrc(m, alpha + radius))
        return claimed(delta, outside, quantity="P(outside)")

    return test


def _inverse_norm(sign: float) -> Callable[[int, int, float], Evidence]:
    """The same of ‖(αV)⁻¹ − X⁻¹‖ with α = m and V = I, by draws of X.

    What is found is a Clopper–Pearson limit of the share outside, at level 1 − 10⁻⁶.
    """

    def test(m: int, dim: int, delta: float) -> Evidence:
        spread = _spread(dim, delta)
        radius = abs(1.0 / m - (math.sqrt(m) + sign * spread) ** -2)
        draws = np.random.default_rng(SEED).standard_normal((TRIALS, m, dim))
        gaps = np.abs(1.0 / m - 1.0 / np.linalg.eigvalsh(draws.transpose(0, 2, 1) @ draws)).max(
            axis=1
        )
        low = (
            binomtest(int(np.sum(gaps > radius)), TRIALS, alternative="greater")
            .proportion_ci(1.0 - 1e-6)
            .low
        )
        return claimed(delta, float(low), kind=CERTIFIED, quantity="P(outside)")

    return test


def _ratio(sign: float) -> Callable[[float, float], Evidence]:
    """(1 + x)/(1 + y) ≤ exp(x − y/(1 ± y))."""

    def test(x: float, y: float) -> Evidence:
        bound = math.exp(x - y / (1.0 + sign * y))
        return claimed(bound, (1.0 + x) / (1.0 + y), quantity="(1+x)/(1+y)")

    return test


def _density(dof: int, low: float, high: float) -> Evidence:
    """Log density of W⁻¹₁(1, ν) at `low` less that at `high`.

    It is computed with the printed power of X (p + 1 = d = 1) and with the true one.
    """
    printed = 0.5 * (dof + 1) * math.log(low / high) - 0.5 / low + 0.5 / high
    law = invwishart(df=dof, scale=1.0)
    return stated("log density ratio", printed, float(law.logpdf(low) - law.logpdf(high)))


def _right_density(dof: int, low: float, high: float) -> Evidence:
    fixed = -0.5 * (dof + 2) * math.log(low / high) - 0.5 / low + 0.5 / high
    law = invwishart(df=dof, scale=1.0)
    return stated("log density ratio", fixed, float(law.logpdf(low) - law.logpdf(high)))


def _ridge(power: float) -> Callable[[float, float], Evidence]:
    """β^R of one feature, x = (1, 2), y = (1, 3), against the penalised least squares.

    β^R = (xᵀx + w²)^power xᵀy.
    """

    def test(padding: float, scale: float) -> Evidence:
        x, y = scale * np.array([1.0, 2.0]), scale * np.array([1.0, 3.0])
        rows, label = np.append(x, padding)[:, None], np.append(y, 0.0)
        true = float(np.linalg.lstsq(rows, label, rcond=None)[0][0])
        return stated("β^R", float((x @ x + padding**2) ** power * (x @ y)), true)

    return test


def _sarlos(power: float) -> Callable[[float, int, float, float], Evidence]:
    """The share of runs outside η f^power/√(w² + λ_min(XᵀX)).

    A = `scale`·A₀ and w = `scale`, r rows, p = 1. x̃ − β^R is ‖w‖M^{−½}/√ν times a Student t of ν =
    r degrees of freedom, with f = ‖w‖² and M = x′ᵀx′.
    """

    def test(scale: float, rows: int, eta: float, nu: float) -> Evidence:
        x, y = scale * np.array([1.0, 2.0, 0.0, 1.0]), scale * np.array([1.0, 3.0, 1.0, 0.0])
        moment = float(x @ x) + scale**2
        loss = float(y @ y) + scale**2 - float(x @ y) ** 2 / moment
        radius = eta * loss**power / math.sqrt(moment)
        outside = 2.0 * float(t.sf(radius * math.sqrt(rows * moment / loss), rows))
        return claimed(nu, outside, quantity="P(outside)")

    return test


def _sketch_rows(padding: float, epsilon: float, delta: float) -> Evidence:
    """r of corollary B.2 for a known w against what its own w² = 8B²√(rL)/ε comes to."""
    log = math.log(4.0 / delta)
    return stated(
        "r", (epsilon * padding**2 / (8.0 * log)) ** 2, (epsilon * padding**2 / 8.0) ** 2 / log
    )


FINDINGS = (
    Finding(
        key="4-gaussian-tail",
        paper=4,
        place="section 2, Gaussian tail",
        claim="a standard concentration bound on Gaussians",
        formula="P(x > μ + σ√ln(1/ν)) < ν",
        fault="a factor 2 is missing under the root: false from about ν = 0.03 down",
        corrected="P(x > μ + σ√(2 ln(1/ν))) < ν",
        setting={"nu": 1e-5},
        test=_tail(1.0),
        grid={"nu": (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5, 1e-10)},
        fixed=_tail(2.0),
    ),
    Finding(
        key="4-lemma-a-3",
        paper=4,
        place="lemma A.3, ‖αV − X‖",
        claim="with probability 1 − δ, for any 0 < α ≤ m",
        formula="‖αV − X‖ ≤ ‖V‖·|α − (√m − s)²|, s = √d + √(2 ln(2/δ))",
        fault="the wrong end: at α = (√m − s)² it says that X = αV",
        corrected="‖αV − X‖ ≤ ‖V‖·|α − (√m + s)²|",
        setting={"m": 100, "delta": 0.05},
        test=_norm(-1.0),
        grid={"m": (50, 100, 1000), "delta": (0.3, 0.05, 1e-3)},
        fixed=_norm(1.0),
    ),
    Finding(
        key="4-lemma-a-3-inverse",
        paper=4,
        place="lemma A.3, ‖(αV)⁻¹ − X⁻¹‖",
        claim="with probability 1 − δ, for any 0 < α ≤ m (here α = m)",
        formula="‖(αV)⁻¹ − X⁻¹‖ ≤ |1/α − (√m + s)⁻²|/σ_min(V), s = √d + √(2 ln(2/δ))",
        fault="the wrong end: the inverse is large where X is small",
        corrected="≤ max(|1/α − (√m − s)⁻²|, |1/α − (√m + s)⁻²|)/σ_min(V)",
        setting={"m": 100, "dim": 10, "delta": 0.05},
        test=_inverse_norm(1.0),
        fixed=_inverse_norm(-1.0),
    ),
    Finding(
        key="4-proof-b-1",
        paper=4,
        place="proof of theorem B.1, the inequality",
        claim="for any x, y ≠ 1",
        formula="(1 + x)/(1 + y) ≤ exp(x − y/(1 − y))",
        fault="a sign: false for every y in (0, 1) at small x",
        corrected="(1 + x)/(1 + y) ≤ exp(x − y/(1 + y)), for y > −1",
        setting={"x": 0.0, "y": 0.5},
        test=_ratio(-1.0),
        grid={"x": (0.0, 0.1, 0.5), "y": (0.01, 0.1, 0.5, 0.9)},
        fixed=_ratio(1.0),
    ),
    Finding(
        key="4-proof-b-4",
        paper=4,
        place="proof of theorem B.4, the density",
        claim="the density of W⁻¹_d(Ψ, ν)",
        formula="det(Ψ)^{ν/2} det(X)^{(ν+p+1)/2} exp(−½ tr(ΨX⁻¹))",
        fault="the power of det X has the wrong sign, and p = d − 1 for d; it cancels in the ratio "
        "that is used",
        corrected="det(Ψ)^{ν/2} det(X)^{−(ν+d+1)/2} exp(−½ tr(ΨX⁻¹))",
        setting={"dof": 5, "low": 0.5, "high": 2.0},
        test=_density,
        fixed=_right_density,
    ),
    Finding(
        key="4-ridge",
        paper=4,
        place="section 3, closed form of ridge regression",
        claim="the solution of ridge regression",
        formula="β^R = (XᵀX + w²I)Xᵀy",
        fault="the inverse is missing",
        corrected="β^R = (XᵀX + w²I)⁻¹Xᵀy",
        setting={"padding": 2.0, "scale": 1.0},
        test=_ridge(1.0),
        grid={"padding": (0.5, 2.0, 10.0), "scale": (0.1, 1.0, 10.0)},
        fixed=_ridge(-1.0),
    ),
    Finding(
        key="4-theorem-3-2",
        paper=4,
        place="theorem 3.2, accuracy",
        claim="with probability 1 − ν, from [Sar06]",
        formula="‖β^R − β̃^R‖ ≤ η f(β^R)/√(w² + σ_min(AᵀA))",
        fault="f is a square: in other units of A and w the left side stays, the right side "
        "changes, so no r is enough",
        corrected="‖β^R − β̃^R‖ ≤ η √f(β^R)/√(w² + σ_min(AᵀA))",
        setting={"scale": 1e-3, "rows": 10_000, "eta": 0.1, "nu": 0.1},
        test=_sarlos(1.0),
        grid={"scale": (1e-3, 0.1, 1.0, 10.0), "rows": (1000, 10_000)},
        fixed=_sarlos(0.5),
    ),
    Finding(
        key="4-corollary-b-2-rows",
        paper=4,
        place="corollary B.2, number of rows",
        claim="the r that keeps (ε, δ) at a known w",
        formula="r = ⌈(εw²/(8B² ln(4/δ)))²⌉",
        fault="ln(4/δ) is squared with the rest: fewer rows than its own w² allows (safe, and less "
        "useful)",
        corrected="r = ⌊(εw²/(8B²))²/ln(4/δ)⌋",
        setting={"padding": 100.0, "epsilon": 0.5, "delta": 1e-5},
        test=_sketch_rows,
        grid={"delta": (1e-2, 1e-5, 1e-10)},
    ),
)
