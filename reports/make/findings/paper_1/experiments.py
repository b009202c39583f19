"""Paper 1, section 5 and figure 4: data sets, error, the comparison on Flight, RP LS."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln

from dpaudit import datasets
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.curves.readings import gdp_mu
from dpaudit.exact import calibrate, spectrum, worst_case
from dpaudit.mechanisms import ALS, RPLS, RandomProjection
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers import printed
from dpaudit.testing import integers, reals
from dpaudit.verdict.numbers import number
from reports.make.findings.evidence import Evidence, claimed, stated
from reports.make.findings.statement import Searched, Swept, Tested


@lru_cache(maxsize=4)
def _flights(units: str) -> Array:
    """FLIGHT with a constant column, in other units; standardised: all but that one."""
    data = datasets.load("flight").database
    if units == "standardised":
        others = data[:, 1:]
        return np.column_stack([data[:, 0], (others - others.mean(axis=0)) / others.std(axis=0)])
    size = {
        "as they are": 1.0,
        "norm 1": np.linalg.norm(data, axis=0),
        "largest size 1": np.abs(data).max(axis=0),
    }[units]
    return np.asarray(data / size)


def _tradeoff(rows: int, epsilon: float, units: str) -> Evidence:
    """E‖M(D) − f(D)‖² of ALS over that of Gaussian LS with the same δ(ε), both over all rows.

    ‖w‖² tr M⁻¹/(r − p − 1) against pσ², σ = (largest move)/μ with μ the Gaussian shift of that δ.
    """
    data = _flights(units)
    fit, mechanism = least_squares(data), ALS(rows)
    delta = float(worst_case(mechanism, data, epsilon).delta)
    sigma = float(fit.displacement.max()) / float(gdp_mu(np.array(epsilon), np.array(delta)))
    inverse = solve_triangular(fit.factor.root, np.eye(len(fit.coef)))
    sketched = fit.norm**2 * float(np.sum(inverse**2)) / (rows - len(fit.coef) - 1)
    ratio = sketched / (len(fit.coef) * sigma**2)
    return claimed(1.0, ratio, quantity="error of ALS/Gaussian LS", at=f"so δ = {number(delta, 3)}")


def _size(of: str) -> Evidence:
    rows, columns = datasets.load("flight").database.shape
    shown, true = {"rows": (327_346, rows), "features": (2, columns - 1)}[of]
    return stated(f"{of} of Flight", shown, true)


def _norm_variance(features: int) -> float:
    """Var‖N(0, I_p)‖ = p − 2(Γ((p+1)/2)/Γ(p/2))²."""
    mean_square = 2.0 * math.exp(2.0 * (gammaln(0.5 * (features + 1)) - gammaln(0.5 * features)))
    return float(features - mean_square)


def _mean_square(features: int) -> float:
    """E‖N(0, I_p)‖² = 2Γ(p/2 + 1)/Γ(p/2)."""
    return 2.0 * math.exp(gammaln(0.5 * features + 1.0) - gammaln(0.5 * features))


def _outlying(outlier: float) -> NeighbourPair:
    """20,000 rows of norm 1, and one of norm `outlier`, which is zeroed."""
    angle = np.linspace(0.3, 1.2, 20_000)
    rows = np.column_stack([np.cos(angle), np.sin(angle)])
    return zero_row(np.vstack([[outlier, 0.0], rows]), 0)


def _figure_4(
    rows: int, epsilon: float, delta: float, outlier: float, public: bool = False
) -> Evidence:
    """RP LS with c₁ read off the rows, `outlier` for D and 1 without that row, or public."""
    mechanism = RPLS(rows, epsilon, delta, row_bound=outlier if public else None)
    return claimed(delta, float(spectrum(mechanism, _outlying(outlier), epsilon).delta))


def _least_padding(rows: int, epsilon: float, delta: float) -> float:
    """The padding that just keeps (ε, δ) for all data of norm ≤ 1, a row added or removed."""
    mechanism, nothing = RandomProjection(rows), np.zeros((1, 3))
    at = calibrate(mechanism, nothing, epsilon, delta, relation="add", row_bound=1.0)
    return float(at.value)


TESTS: dict[str, Tested] = {
    "1-data": Swept(_size, {"of": "rows"}, {"of": ("rows", "features")}),
    "1-figure-2": Swept(
        _tradeoff,
        {"rows": 1200, "epsilon": 0.1, "units": "norm 1"},
        {
            "rows": (1200, 10_000, 100_000),
            "units": ("as they are", "standardised", "norm 1", "largest size 1"),
        },
    ),
    "1-utility": Searched(
        lambda features: float(features),
        _norm_variance,
        {"features": integers(1, 100)},
        side="both",
        quantity="Var(‖M(D) − f(D)‖_F)/σ²",
        tries=100,
        fixed={"exact": _mean_square},
    ),
    "1-figure-4-c1": Swept(
        _figure_4,
        {"rows": 10, "epsilon": 1.0, "delta": 1e-2, "outlier": 2.0},
        {"rows": (2, 10, 100), "outlier": (2.0, 10.0, 1000.0), "delta": (1e-2, 1e-3, 1e-5)},
        fixed=partial(_figure_4, public=True),
    ),
    "1-figure-4-c2": Searched(
        lambda rows, epsilon, delta: printed.figure_4_padding(1.0, rows, epsilon, delta),
        _least_padding,
        {"rows": integers(1, 1000), "epsilon": reals(0.1, 5.0), "delta": reals(1e-10, 1e-2)},
        quantity="c₂/c₁",
        tolerance=1e-6,
        tries=200,
    ),
}
