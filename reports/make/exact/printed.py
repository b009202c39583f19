"""Printed formulas of paper 1 against the exact curve, and against an audit of draws."""

from __future__ import annotations

import numpy as np

import dpaudit as dp
from dpaudit import exact, mechanisms, neighbours
from dpaudit._core.types import Array
from reports.make.page import decimals

SHOWN = (  # name, leverage, rows
    ("lemma_10", 0.2, 1),
    ("lemma_11", 0.2, 3),
    ("lemma_11", 0.5, 10),
    ("lemma_11", 0.05, 60),
)
EPSILON = np.array([0.0, 0.02, 0.05, 0.1, 0.5, 1.0, 2.0])


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
    """Print each printed curve, the exact one, and the audit's verdict on the printed one."""
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
