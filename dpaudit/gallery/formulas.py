"""Each printed formula against the exact curve, at one setting where it fails or one where it holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpaudit import mechanisms
from dpaudit.claims import Claim
from dpaudit.exact import calibrate, gaussian_shift, gaussian_sketch, printed, spectrum
from dpaudit.inverse import epsilon_at, gdp_mu
from dpaudit.neighbours import zero_row
from dpaudit.report.text import number

WRONG, UNDEFINED, LOOSE = "claims too much privacy", "gives no value", "holds, loose"


@dataclass(frozen=True)
class Row:
    """One line: `quantity` printed and exact; the factor ≥ 1 by which it fails (in δ) or is loose."""

    formula: str
    source: str
    setting: str
    quantity: str
    printed: float | None
    exact: float
    factor: float | None
    verdict: str


def numbers() -> list[dict[str, Any]]:
    """All rows, those that fail first."""
    rows = [*_projections(), *_mixing_fails(), *_moments_fail(), *_gaussian_noise(), *_paddings(), *_mixing_holds()]
    order = (WRONG, UNDEFINED, LOOSE)
    return [asdict(row) for row in sorted(rows, key=lambda row: order.index(row.verdict))]


def claimed(formula: str, source: str, setting: str, delta: float, exact: float) -> Row:
    """A formula that comes to the claim of a δ at some ε."""
    wrong = exact > delta
    factor = exact / delta if wrong else delta / exact
    factor_or_none = factor if delta > 0.0 and math.isfinite(factor) else None
    return Row(formula, source, setting, "δ", delta, exact, factor_or_none, WRONG if wrong else LOOSE)


def asked(formula: str, source: str, setting: str, quantity: str, size: float, needed: float) -> Row:
    """A formula for a noise, padding or ε, against the least that keeps the same target."""
    if math.isnan(size):
        return Row(formula, source, setting, quantity, None, needed, None, UNDEFINED)
    ratio = size / needed
    return Row(formula, source, setting, quantity, size, needed, max(ratio, 1 / ratio), LOOSE if ratio >= 1 else WRONG)


def sketch(leverage: float, rows: int, epsilon: float) -> float:
    """The larger direction, exactly."""
    return float(max(gaussian_sketch(leverage, rows, epsilon)))


def _projections() -> list[Row]:
    """Paper 1, lemmas 10 and 11: δ itself."""
    rows = []
    for leverage, r, epsilon in ((0.2, 1, 0.1), (0.2, 3, 0.5), (0.5, 10, 0.5), (0.05, 60, 0.05)):
        lemma = "lemma 10" if r == 1 else "lemma 11"
        value = printed.lemma_10(leverage, epsilon) if r == 1 else printed.lemma_11(leverage, r, epsilon)
        setting = f"q = {leverage:g}, r = {r}, ε = {epsilon:g}"
        rows.append(claimed(lemma, "paper 1", setting, float(value), sketch(leverage, r, epsilon)))
    return rows


def _mixing_fails() -> list[Row]:
    rows = []
    for name, formula, (k, gamma, delta) in (
        ("ε after corollary 1, without its condition", printed.corollary_1_epsilon, (1, 10.0, 1e-10)),
        ("Sheffet 2019, theorem 2, as quoted", printed.sheffet_2019, (1000, 2.0, 0.01)),
    ):
        epsilon = formula(k, gamma, delta)
        setting = f"k = {k}, γ = {gamma:g}, so ε = {epsilon:.4g}"
        rows.append(claimed(name, "paper 3", setting, delta, sketch(1.0 / gamma, k, epsilon)))
    return rows


def _moments_fail() -> list[Row]:
    r, epsilon, delta = 100_000, 400.0, 0.3
    square = printed.theorem_3_1_padding(1.0, r, epsilon, delta) ** 2
    leak = sketch(1.0 / (1.0 + square), r, epsilon)
    return [
        claimed("theorem 3.1, padding", "paper 4", f"r = {r:,}, ε = {epsilon:g}", delta, leak),
        _b_4(10, 6.0, 0.35),
        _b_5(0.1, 0.1, 0.5, 1e-5),
    ]


def _b_4(dof: int, epsilon: float, delta: float) -> Row:
    setting = f"ν = {dof}, ε = {epsilon:g} > 2 ln(4/δ), δ = {number(delta)}; the printed w² is negative"
    size = printed.theorem_b_4_padding(1.0, dof, epsilon, delta)
    needed = _least(mechanisms.InverseWishartDraw(dof), epsilon, delta)
    return asked("theorem B.4, padding", "paper 4", setting, "w/B", size, needed)


def _b_5(bound: float, rho: float, epsilon: float, delta: float) -> Row:
    """AᵀA = diag((1 + ρ)B², 100B², 100B²), of which the row (B, 0, 0) is a part."""
    data = bound * np.array([[1.0, 0, 0], [math.sqrt(rho), 0, 0], [0, 10.0, 0], [0, 0, 10.0]])
    noisy = mechanisms.GaussianInverse(printed.theorem_b_5_sigma(rho, epsilon, delta))
    exact = float(spectrum(noisy, zero_row(data, 0), epsilon).delta)
    setting = f"B = {bound:g}, ρ = {rho:g}, ε = {epsilon:g}; the noise does not scale with B"
    return claimed("theorem B.5, noise on the inverse", "paper 4", setting, delta, exact)


def _gaussian_noise() -> list[Row]:
    """Formulas for σ/Δ: too little at one ε, more than needed at another."""
    delta = 1e-5

    def section_2(epsilon: float) -> float:
        return math.sqrt(2.0 * math.log(2.0 / delta) / epsilon)

    def proposition_2(epsilon: float) -> float:
        return printed.proposition_2_sigma(1.0, epsilon, delta)

    rows = []
    for name, source, formula, bad, good in (
        ("proposition 2, noise", "paper 1", proposition_2, 10.0, 1.0),
        ("Gaussian noise of section 2 (ε for ε²)", "paper 4", section_2, 0.1, 1.0),
    ):
        leak = float(gaussian_shift(1.0 / formula(bad), bad))
        rows.append(claimed(name, source, f"σ = {formula(bad):.4g} Δ, ε = {bad:g}", delta, leak))
        needed = 1.0 / float(gdp_mu(np.array(good), np.array(delta)))
        rows.append(asked(name, source, f"ε = {good:g}, δ = {number(delta)}", "σ/Δ", formula(good), needed))
    return rows


def _paddings() -> list[Row]:
    """Paddings and degrees of freedom against the least that hide any row of norm B."""
    r, delta = 1000, 1e-5
    rows = []
    for name, source, formula, epsilon in (
        ("theorem 3.1, padding", "paper 4", printed.theorem_3_1_padding, 1.0),
        ("theorem B.1, padding", "paper 4", printed.theorem_b_1_padding, 1.0),
        ("corollary B.2, padding", "paper 4", printed.corollary_b_2_padding, 0.5),
        ("theorem B.4, padding (r stands for ν)", "paper 4", printed.theorem_b_4_padding, 1.0),
        ("figure 4, padding c₂", "paper 1", printed.figure_4_padding, 1.0),
    ):
        needed = _least(mechanisms.RandomProjection(r), epsilon, delta)
        setting = f"r = {r}, ε = {epsilon:g}, δ = {number(delta)}"
        rows.append(asked(name, source, setting, "w/B", formula(1.0, r, epsilon, delta), needed))
    dim, epsilon = 3, 0.5
    needed = _least(mechanisms.AdditiveWishart(dim, 1.0), epsilon, delta, dim, "dof")
    size = float(printed.theorem_4_1_dof(dim, epsilon, delta))
    setting = f"d = {dim}, scale B², ε = {epsilon:g}, δ = {number(delta)}"
    return [*rows, asked("theorem 4.1, degrees of freedom", "paper 4", setting, "k", size, needed)]


def _least(mechanism: Any, epsilon: float, delta: float, dim: int = 3, parameter: str | None = None) -> float:
    """The exact calibration for all data whose rows have norm ≤ 1."""
    how: dict[str, Any] = {"relation": "add", "row_bound": 1.0, "parameter": parameter}
    return float(calibrate(mechanism, np.zeros((1, dim)), epsilon, delta, **how).value)


def _mixing_holds() -> list[Row]:
    k, gamma, delta = 1000, 100.0, 1e-6
    setting = f"k = {k}, γ = {gamma:g}, δ = {number(delta)}"

    def exact(epsilon: Any) -> Any:
        return np.maximum(*gaussian_sketch(1.0 / gamma, k, epsilon))

    needed = float(epsilon_at(exact, delta))
    values: dict[str, Callable[[], float]] = {
        "lemma 1 with proposition 1": lambda: printed.gaussmix_epsilon(k, gamma, delta),
        "corollary 1 (tCDP) with proposition 1": lambda: float(
            Claim.tcdp(*printed.corollary_1_tcdp(k, gamma)).epsilon_at(delta)
        ),
        "ε after corollary 1": lambda: printed.corollary_1_epsilon(k, gamma, delta),
        "Sheffet 2019, theorem 2, as quoted": lambda: printed.sheffet_2019(k, gamma, delta),
    }
    return [asked(name, "paper 3", setting, "ε", value(), needed) for name, value in values.items()]
