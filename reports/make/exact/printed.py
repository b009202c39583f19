"""Printed formulas: lemmas 10 and 11 of paper 1 against the exact curve and against an audit of
draws; how much more noise others ask for than is needed on FLIGHT."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit import datasets, exact, mechanisms, neighbours
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.papers import printed
from reports.make.page import decimals, number

SHOWN = (  # name, leverage, rows
    ("lemma_10", 0.2, 1),
    ("lemma_11", 0.2, 3),
    ("lemma_11", 0.5, 10),
    ("lemma_11", 0.05, 60),
)
EPSILON = np.array([0.0, 0.02, 0.05, 0.1, 0.5, 1.0, 2.0])
TARGETS, DELTA, ROWS = (0.1, 0.5, 1.0, 2.0), 1e-5, 100_000  # of the noise; rows of a sketch
Asked = Callable[[float], float]  # ε ↦ what a line asks for


def formula(name: str, leverage: float, rows: int, epsilon: Array) -> Array:
    """The printed curve; NaN where it has no real value."""
    if name == "lemma_10":
        return exact.printed.lemma_10(leverage, epsilon)
    return exact.printed.lemma_11(leverage, rows, epsilon)


def database(leverage: float) -> Array:
    """Two orthogonal columns; row 0 has exactly this leverage and the others share the rest."""
    n = 40
    rest = np.sqrt((1.0 - leverage) / (n - 1))
    first = np.r_[np.sqrt(leverage), np.full(n - 1, rest)]
    second = np.r_[0.0, np.where(np.arange(n - 1) % 2 == 0, 1.0, -1.0)]
    return np.column_stack([first, second - np.r_[0.0, np.full(n - 1, second[1:].mean())]])


def refute(name: str, leverage: float, rows: int, samples: int = 400_000) -> dp.AuditResult:
    """Audit a random projection against the printed lemma as its claim."""
    mechanism = mechanisms.RandomProjection(rows, release="gram" if rows > 3 else "sketch")

    def allowed(epsilon: float) -> float:
        value = float(formula(name, leverage, rows, np.array([epsilon]))[0])
        return 1.0 if np.isnan(value) else min(max(value, 0.0), 1.0)

    claim = dp.Claim.from_function(allowed, f"paper 1, {name.replace('_', ' ')} as printed")
    pair = neighbours.zero_row(database(leverage), 0)
    return dp.audit(mechanism, pair, epsilon=EPSILON, draws=samples, claim=claim, rng=3)


def report() -> None:
    """Print each curve, the exact one, and the audit's verdict on it; then the ratios on FLIGHT."""
    for name, leverage, rows in SHOWN:
        forward, backward = exact.gaussian_sketch(leverage, rows, EPSILON)
        result = refute(name, leverage, rows)
        print(f"{name} as printed, q = {leverage}, r = {rows}")
        for label, values in (
            ("ε", EPSILON),
            ("printed δ", formula(name, leverage, rows, EPSILON)),
            ("exact δ", np.maximum(forward, backward)),
            ("certified δ", np.asarray(result.spectrum.low)),
        ):
            print(f"  {label:<12}" + "  ".join(decimals(values, 6, 9)))
        print(f"  {result.verdict}: {result.reason}")
    print(f"printed over exact on FLIGHT, δ = {DELTA:g}, ε = {', '.join(map(str, TARGETS))}")
    for name, ratios in looseness().items():
        print(f"  {name:<40}" + "  ".join(number(ratio, 3) for ratio in ratios))


def looseness() -> dict[str, list[float]]:
    """By line, what it asks for at each of `TARGETS` over the least that keeps (ε, DELTA).

    The least is for any data within the largest norm B of a row of FLIGHT, and for noise on the
    solution for FLIGHT itself. Theorem 4.1 is for ε < 1 alone.
    """
    data = datasets.load("flight").database
    bound, dim = float(np.linalg.norm(data, axis=1).max()), data.shape[1]
    move = float(least_squares(data).displacement.max())
    sketch, release = mechanisms.RandomProjection(ROWS, "gram"), mechanisms.GaussianLS(sigma=move)
    noise = mechanisms.AdditiveWishart(dim, bound)

    def within(mechanism: Any, parameter: str | None = None) -> Asked:
        at: dict[str, Any] = {"relation": "add", "row_bound": bound, "parameter": parameter}
        return lambda e: float(exact.calibrate(mechanism, np.zeros((1, dim)), e, DELTA, **at).value)

    def here(epsilon: float) -> float:
        return float(exact.calibrate(release, data, epsilon, DELTA).value)

    def padding(formula: Callable[..., float]) -> Asked:
        return lambda e: formula(bound, ROWS, e, DELTA)

    def mixing(name: str) -> Asked:
        return lambda e: bound * float(np.sqrt(printed.figure_1_gammas(ROWS, e, DELTA)[name]))

    proposition_2 = partial(printed.proposition_2_sigma, move, delta=DELTA)
    theorem_4_1 = partial(printed.theorem_4_1_dof, dim, delta=DELTA)
    lines: dict[str, tuple[Asked, Asked]] = {
        "paper 3, lemma 1": (mixing("lemma_1"), within(sketch)),
        "Sheffet 2019": (mixing("sheffet_2019"), within(sketch)),
        "paper 4, theorem B.1": (padding(printed.theorem_b_1_padding), within(sketch)),
        "paper 4, theorem 3.1": (padding(printed.theorem_3_1_padding), within(sketch)),
        "Dwork & Roth 2014 (paper 1, proposition 2)": (proposition_2, here),
        "paper 4, theorem 4.1": (theorem_4_1, within(noise, "dof")),
    }
    return {
        name: [asked(e) / least(e) for e in TARGETS if e < 1.0 or asked != theorem_4_1]
        for name, (asked, least) in lines.items()
    }
