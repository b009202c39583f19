"""Printed formulas of the papers against the exact curve and against an audit that knows neither."""

from __future__ import annotations

import numpy as np

from dpaudit import exact, mechanisms, neighbours
from dpaudit._core.check import Array
from dpaudit.auditing import api
from dpaudit.curves.claims import Claim
from reports.make.findings import FINDINGS

SHOWN = tuple(
    (name, float(setting["leverage"]), int(setting["rows"]))
    for name in ("lemma_10", "lemma_11")
    for finding in [FINDINGS[f"1-{name.replace('_', '-')}"]]
    for setting in (finding.setting, *finding.more)
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


def refute(name: str, leverage: float, rows: int, samples: int = 400_000) -> api.AuditResult:
    """Audit a random projection against the printed lemma as its claim."""
    mechanism = mechanisms.RandomProjection(rows, release="gram" if rows > 3 else "sketch")

    def allowed(epsilon: float) -> float:
        return float(
            np.clip(
                np.nan_to_num(formula(name, leverage, rows, np.array([epsilon]))[0], nan=1.0),
                0.0,
                1.0,
            )
        )

    claim = Claim.from_function(allowed, f"paper 1, {name.replace('_', ' ')} as printed")
    pair = neighbours.zero_row(database(leverage), 0)
    return api.audit(mechanism, pair, epsilon=EPSILON, samples=samples, claim=claim, rng=3)


def report() -> None:
    """Print, for each setting, the printed and the exact curve and the audit's verdict on the
    printed one.
    """
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
            print(f"  {label:<12}" + "  ".join(f"{value:9.6f}" for value in values))
        print(f"  {result.verdict}: {result.reason}")
