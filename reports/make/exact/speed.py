"""Seconds of the exact worst case over all rows of a data set."""

from __future__ import annotations

import numpy as np

from dpaudit import datasets, exact, mechanisms
from reports.make.timing import least_seconds

CURVE = np.linspace(0.0, 2.0, 50)  # ε of a worst case
REPEATS = 3
CASES = (("flight", 1200), ("flight", 1_000_000), ("cancer", 50), ("cancer", 200))
MECHANISMS: tuple[mechanisms.LawMechanism, ...] = (
    mechanisms.ALS(rows=1200),
    mechanisms.RPLS(rows=1200, padding=1e4),
    mechanisms.GaussianLS(sigma=0.01),
    mechanisms.RandomProjection(rows=1200, release="gram"),
    mechanisms.RandomProjection(rows=1200, release="gram", padding=1e4),
    mechanisms.GaussMix(rows=1200, sigma=1e4, release="gram"),
    mechanisms.WishartDraw(dof=1200, padding=1e4),
    mechanisms.InverseWishartDraw(dof=1200, padding=1e4),
    mechanisms.AdditiveWishart(dof=1200, scale=2e3),
    mechanisms.AnalyzeGauss(sigma=1e7),
    mechanisms.GaussianInverse(sigma=1e-9),
    mechanisms.SufficientStatistics(sigma_gram=1e7, sigma_cross=1e7),
    mechanisms.Composition(
        (mechanisms.GaussianLS(sigma=0.02), mechanisms.RandomProjection(rows=100))
    ),
)


def worst_case() -> None:
    """ALS over FLIGHT and cancer: seconds after the factorisation."""
    for name, rows in CASES:
        data, mechanism = datasets.load(name).database, mechanisms.ALS(rows=rows)
        factor = least_seconds(lambda: mechanism.zeroed_rows(data))  # noqa: B023
        for law in ("finite", "asymptotic"):
            total = least_seconds(lambda: exact.worst_case(mechanism, data, CURVE, law=law))  # noqa: B023
            print(
                f"worst_case {name:<7} r = {rows:<8} {law:<10} {len(data):,} rows x {len(CURVE)} "
                f"ε: {max(total - factor, 0):.3f} s after the QR ({factor:.3f} s)"
            )


def every_law() -> None:
    """Every row-separable law over all rows of FLIGHT, factorisation included.

    Seconds, and the row that is worst at ε = 0.
    """
    data = datasets.load("flight").database
    print(
        f"worst_case over {len(data):,} rows of FLIGHT x {len(CURVE)} ε, both directions, least "
        f"of {REPEATS} calls"
    )
    for mechanism in MECHANISMS:
        spent = least_seconds(lambda: exact.worst_case(mechanism, data, CURVE), REPEATS)  # noqa: B023
        worst = exact.worst_case(mechanism, data, CURVE)
        assert worst.index is not None
        print(
            f"  {mechanism.name:<24} {spent:6.3f} s   δ(0) = {worst.delta[0]:.4g}, δ(1) = "
            f"{worst.delta_at(1.0):.3g}, row {worst.index[0]}: {worst.law}"
        )
