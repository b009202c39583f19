"""Paper 4, sections 3 and 5 and appendix B: sketches of padded data, inverse Wishart draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import invwishart

from dpaudit import mechanisms
from dpaudit._core.types import Array
from dpaudit.exact import spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import JLRidge, printed
from dpaudit.testing import integers, reals
from reports.make.findings.statement import Searched, Tested

Padding = Callable[[float, int, float, float], float]
Leak = Callable[..., float]
SWAP = NeighbourPair(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), "replace", 0)
LIMIT = 0.3678  # below 1/e


def _sketch_leak(size: float, rows: int, epsilon: float) -> float:
    """δ(ε) of a sketch with r rows of size·I below (B, 0), or below (0, B), B = 1.

    1 where `size` is NaN.
    """
    if math.isnan(size):
        return 1.0
    noisy = mechanisms.RandomProjection(rows, padding=size)
    return float(spectrum(noisy, SWAP, epsilon).delta)


def _padded(rows: int, epsilon: float, delta: float, padding: Padding) -> float:
    return _sketch_leak(padding(1.0, rows, epsilon, delta), rows, epsilon)


def _drawn(dof: int, epsilon: float, delta: float, padding: Padding) -> float:
    """`_padded` for an inverse Wishart draw of ν degrees of freedom."""
    size = padding(1.0, dof, epsilon, delta)
    if math.isnan(size):
        return 1.0
    noisy = mechanisms.InverseWishartDraw(dof, size)
    return float(spectrum(noisy, SWAP, epsilon).delta)


def _promised_for_one(rows: int, epsilon: float, delta: float, padding: Padding) -> float:
    """AᵀA = w²I alone keeps the promise: A′ᵀA′ = diag(w² − B², w² + B²), B = 1."""
    square = padding(1.0, rows, epsilon, delta) ** 2
    if square <= 1.0:
        return 1.0  # a row of A may be all of it along an axis on which A′ is 0
    rest = [[math.sqrt(square - 1.0), 0.0], [0.0, math.sqrt(square)]]
    left, right = np.array([[1.0, 0.0], *rest]), np.array([[0.0, 1.0], *rest])
    pair = NeighbourPair(left, right, "replace", 0)
    return float(spectrum(mechanisms.RandomProjection(rows), pair, epsilon).delta)


def _density_ratio(seed: int, rows: int, leverage: float) -> float:
    """ln PDF_X/PDF_X′ at r draws of N(0, AᵀA): AᵀA = I + q·e₁e₁ᵀ, A′ᵀA′ = I + q·e₂e₂ᵀ."""
    first, second = _drawn_squares(seed, rows, leverage)
    return float(np.sum(0.5 * leverage / (1.0 + leverage) * (first - second)))


def _product(seed: int, rows: int, leverage: float, factors: int | None = 2) -> float:
    """The logarithm of the proof's product over the first `factors` draws, all if None."""
    first, second = _drawn_squares(seed, rows, leverage)
    terms = leverage - leverage / (1.0 + leverage) * (1.0 + second - first)
    return 0.5 * float(np.sum(terms[:factors]))


def _drawn_squares(seed: int, rows: int, leverage: float) -> tuple[Array, Array]:
    draws = np.random.default_rng(seed).standard_normal((rows, 2))
    return (1.0 + leverage) * draws[:, 0] ** 2, draws[:, 1] ** 2


def _delta_of(
    leak: Leak, padding: Padding, limit: float = LIMIT, most: float = 400.0, **more: Any
) -> Searched:
    """δ against `leak` with a padding, ε up to `most`, δ up to `limit`.

    For sketches with r > d = 2 rows, or draws with ν ≥ d = 2 degrees of freedom.
    """
    draws = leak is _drawn
    domain = {
        **({"dof": integers(2, 10**7)} if draws else {"rows": integers(3, 10**7)}),
        "epsilon": reals(0.01, most),
        "delta": reals(1e-12, limit),
    }
    exact, tries = partial(leak, padding=padding), 500 if draws else 1000
    return Searched(lambda delta: delta, exact, domain, tries=tries, **more)


# Sections 3 and 5


def _posterior(n: int, k: int, prior: float, square: float, variance: float) -> float:
    """ln of the posterior's density at `variance` less that at 1, AᵀA = `square`, Ψ = `prior`."""
    law = invwishart(df=n + k, scale=square + prior)
    return float(law.logpdf(variance) - law.logpdf(1.0))


def _updated_prior(n: int, k: int, prior: float, square: float, variance: float) -> float:
    """The same difference by the prior's density and the likelihood of n rows."""
    law = invwishart(df=k, scale=prior)
    likelihood = -0.5 * n * math.log(variance) - 0.5 * square * (1.0 / variance - 1.0)
    return float(law.logpdf(variance) - law.logpdf(1.0)) + likelihood


def _by_epsilon(row_bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Theorem 3.1's w up to ε = ½ ln(4/δ), theorem B.1's beyond."""
    small = epsilon <= 0.5 * math.log(4.0 / delta)
    padding = printed.theorem_3_1_padding if small else printed.theorem_b_1_padding
    return padding(row_bound, rows, epsilon, delta)


def _algorithm_1(rows: int, row_bound: float, epsilon: float, delta: float) -> float:
    """δ(ε) of the algorithm's output on its own pair."""
    noisy = JLRidge(rows, epsilon, delta, row_bound)
    return float(spectrum(noisy, noisy.pair(), epsilon).delta)


def _corrected_algorithm_1(rows: int, row_bound: float, epsilon: float, delta: float) -> float:
    """δ(ε) on the same pair with theorem B.1's w."""
    pair = JLRidge(rows, epsilon, delta, row_bound).pair()
    size = printed.theorem_b_1_padding(row_bound, rows, epsilon, delta)
    noisy = mechanisms.RandomProjection(rows, padding=size)
    return float(spectrum(noisy, pair, epsilon).delta)


THEOREM_5_1 = _delta_of(
    _drawn,
    printed.theorem_5_1_padding,
    at={"dof": 100_000, "epsilon": 400.0, "delta": 0.01},
    fixed={"exact": partial(_drawn, padding=printed.theorem_b_1_padding)},
)


# Appendix B: the proofs


def _sherman_morrison(dof: int, leverage: float) -> float:
    """vᵀ(ν(MᵀM)⁻¹)v for one column, where AᵀA = MᵀM + vvᵀ and vᵀ(AᵀA)⁻¹v = `leverage`."""
    square = 1.0
    moment = square / leverage
    return dof * square / (moment - square)


def _by_update(dof: int, leverage: float, sign: float = -1.0) -> float:
    return dof * leverage + sign * dof * leverage**2 / (1.0 - leverage)


def _density(dof: int, low: float, high: float) -> float:
    """ln of the density of W⁻¹₁(1, ν) at `high` less that at `low`."""
    law = invwishart(df=dof, scale=1.0)
    return float(law.logpdf(high) - law.logpdf(low))


def _by_power(power: float, low: float, high: float) -> float:
    return power * math.log(high / low) - 0.5 / high + 0.5 / low


def _without_epsilon(row_bound: float, rows: int, epsilon: float, delta: float) -> float:
    """Corollary B.2's w as printed, w² = 8B²√(rL)."""
    return printed.corollary_b_2_padding(row_bound, rows, epsilon, delta) * math.sqrt(epsilon)


def _b_4_target(dof: int, epsilon: float, delta: float) -> float:
    """δ where the printed w has a value."""
    size = printed.theorem_b_4_padding(1.0, dof, epsilon, delta)
    return math.nan if math.isnan(size) else delta


TESTS: dict[str, Tested] = {
    "4-theorem-3-1": _delta_of(
        _padded,
        printed.theorem_3_1_padding,
        at={"rows": 100_000, "epsilon": 400.0, "delta": 0.01},
        fixed={"exact": partial(_padded, padding=_by_epsilon)},
    ),
    "4-theorem-3-1-given": _delta_of(
        _promised_for_one,
        printed.theorem_3_1_padding,
        at={"rows": 3, "epsilon": 30.0, "delta": 0.3},
        fixed={"exact": partial(_promised_for_one, padding=printed.theorem_b_1_padding)},
    ),
    "4-algorithm-1": Searched(
        printed=lambda delta: delta,
        exact=_algorithm_1,
        domain={
            "rows": integers(3, 10**7),
            "row_bound": reals(0.01, 100.0),
            "epsilon": reals(0.01, 400.0),
            "delta": reals(1e-12, LIMIT),
        },
        tries=500,
        fixed={"exact": _corrected_algorithm_1},
    ),
    "4-posterior": Searched(
        printed=_posterior,
        exact=_updated_prior,
        domain={
            "n": integers(1, 1000),
            "k": integers(1, 50),
            "prior": reals(0.1, 100.0),
            "square": reals(0.1, 1000.0),
            "variance": reals(0.1, 100.0),
        },
        side="both",
        quantity="log density ratio",
        tolerance=1e-6,
        rounding=1e-8,
        tries=300,
    ),
    "4-algorithm-4": THEOREM_5_1,
    "4-theorem-5-1": THEOREM_5_1,
    "4-theorem-b-1": _delta_of(_padded, printed.theorem_b_1_padding, limit=0.4999),
    "4-proof-b-1": Searched(
        printed=lambda x, y: math.exp(min(x - y / (1.0 - y), 700.0)),
        exact=lambda x, y: (1.0 + x) / (1.0 + y),
        domain={"x": reals(0.0, 5.0), "y": reals(0.0, 5.0)},
        hypotheses=lambda x, y: x != 1.0 and y != 1.0,
        quantity="(1 + x)/(1 + y)",
        fixed={"printed": lambda x, y: math.exp(x - y / (1.0 + y))},
    ),
    "4-proof-b-1-product": Searched(
        printed=_product,  # to d = 2
        exact=_density_ratio,
        domain={"seed": integers(0, 1000), "rows": integers(3, 50), "leverage": reals(0.01, 0.9)},
        quantity="ln(PDF_X/PDF_X′)",
        rounding=1e-12,
        tries=300,
        fixed={"printed": partial(_product, factors=None)},
    ),
    "4-corollary-b-2": _delta_of(
        _padded,
        _without_epsilon,
        most=0.999,
        at={"rows": 100, "epsilon": 0.01, "delta": 1e-5},
        fixed={"exact": partial(_padded, padding=printed.corollary_b_2_padding)},
    ),
    "4-corollary-b-2-rows": Searched(
        printed=lambda delta: delta,
        # corollary B.2's r at a public w/B = `padding`
        exact=lambda padding, epsilon, delta: _sketch_leak(
            padding, printed.corollary_b_2_rows(1.0, padding, epsilon, delta), epsilon
        ),
        domain={
            "padding": reals(1.0, 1e4),
            "epsilon": reals(0.01, 0.999),
            "delta": reals(1e-12, 0.3678),
        },
    ),
    "4-theorem-b-4": replace(
        _delta_of(
            _drawn,
            printed.theorem_b_4_padding,
            most=100.0,
            at={"dof": 10, "epsilon": 6.0, "delta": 0.35},
            fixed={"hypotheses": lambda epsilon, delta: epsilon < 2.0 * math.log(4.0 / delta)},
        ),
        printed=_b_4_target,
    ),
    "4-proof-b-4": Searched(
        printed=lambda dof, low, high: _by_power(0.5 * (dof + 1), low, high),  # p + 1 = d = 1
        exact=_density,
        domain={"dof": integers(1, 50), "low": reals(0.1, 10.0), "high": reals(0.1, 10.0)},
        hypotheses=lambda low, high: high > 1.01 * low,
        side="both",
        quantity="log density ratio",
        tolerance=1e-6,
        rounding=1e-9,
        tries=300,
        fixed={"printed": lambda dof, low, high: _by_power(-0.5 * (dof + 2), low, high)},
    ),
    "4-proof-b-4-sign": Searched(
        printed=_by_update,
        exact=_sherman_morrison,
        domain={"dof": integers(1, 1000), "leverage": reals(1e-3, 0.5)},
        side="both",
        quantity="νvᵀ(MᵀM)⁻¹v",
        fixed={"printed": partial(_by_update, sign=1.0)},
    ),
}
