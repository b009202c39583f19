"""Seconds of the exact worst case of ALS over all rows of FLIGHT and of cancer, 50 ε."""

from __future__ import annotations

import numpy as np

from dpaudit import datasets, exact, mechanisms
from dpaudit._core.types import Array
from reports.make.timing import least_seconds

CURVE = np.linspace(0.0, 2.0, 50)
CASES = (("flight", 1200), ("flight", 1_000_000), ("cancer", 50), ("cancer", 200))
LAWS = ("finite", "asymptotic")
PICKED = 20  # rows that are evaluated one by one, to extrapolate


def report() -> None:
    """Seconds after the factorisation, against evaluating row by row (extrapolated)."""
    for name, rows in CASES:
        data = datasets.load(name).database
        mechanism = mechanisms.ALS(rows=rows)
        factor = least_seconds(lambda: mechanism.zeroed_rows(data))  # noqa: B023
        for law in LAWS:
            total = least_seconds(lambda: exact.worst_case(mechanism, data, CURVE, law=law))  # noqa: B023
            by_row = len(data) * _seconds_a_row(mechanism, data, law)
            print(
                f"worst_case {name:<7} r = {rows:<8} {law:<10} {len(data):,} rows x {len(CURVE)} "
                f"ε: {max(total - factor, 0):.3f} s after the QR ({factor:.3f} s); row by row "
                f"{by_row:.0f} s, ratio {by_row / max(total - factor, 1e-9):.2g}"
            )


def _seconds_a_row(mechanism: mechanisms.ALS, data: Array, law: str) -> float:
    family = mechanism.zeroed_rows(data)
    picked = np.linspace(0, len(data) - 1, PICKED).astype(int)
    statistics = [(float(family.leverage[i]), float(family.residual_share[i])) for i in picked]

    def each() -> None:
        for pair in statistics:
            exact.als(*pair, family.features, family.rows, CURVE, law)

    return least_seconds(each) / PICKED
