"""Paper 1, sections 3.2 to 3.4, appendices B and D: normal laws, least squares, projections."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.integrate import quad
from scipy.special import erf, erfi, gammainc, gammaincc, ndtr
from scipy.stats import chi

from dpaudit.exact import als, gaussian_pair, gaussian_shift
from dpaudit.papers import printed
from dpaudit.testing import integers, reals
from reports.make.findings.measures import sketch
from reports.make.findings.statement import Searched, Tested

REACH = 40.0


# E max{0, 1 − exp(½aZ² + bZ + c)} for one normal Z


def _positive_part(a: float, b: float, c: float) -> float:
    """E max{0, 1 − exp(½aZ² + bZ + c)}, a < 1, by normal probabilities.

    On an interval where the exponent is below 0 it is P(Z in it) less the mass of exp(…)φ there,
    which is a normal density with 1 − a for the inverse variance.
    """
    return sum(_mass(0.0, 0.0, 0.0, *ends) - _mass(a, b, c, *ends) for ends in _below(a, b, c))


def _by_quadrature(exponent: Callable[[float], float], ends: tuple[float, float]) -> float:
    """∫ (1 − exp(exponent(z))) φ(z) dz between `ends`, where the exponent is at most 0."""
    low, high = max(ends[0], -REACH), min(ends[1], REACH)
    if low >= high:
        return 0.0

    def integrand(z: float) -> float:
        return -math.expm1(min(exponent(z), 0.0)) * math.exp(-0.5 * z * z)

    parts = sorted({low, high, *(cut for cut in (-6.0, 0.0, 6.0) if low < cut < high)})
    pieces = itertools.pairwise(parts)
    total = sum(quad(integrand, *piece, epsabs=0.0, epsrel=1e-10, limit=200)[0] for piece in pieces)
    return total / math.sqrt(2.0 * math.pi)


def _below(a: float, b: float, c: float) -> list[tuple[float, float]]:
    """Where ½az² + bz + c ≤ 0."""
    if a == 0.0:
        if b == 0.0:
            return [(-math.inf, math.inf)] if c <= 0.0 else []
        return [(-math.inf, -c / b)] if b > 0.0 else [(-c / b, math.inf)]
    square = b * b - 2.0 * a * c
    if square <= 0.0:
        return [(-math.inf, math.inf)] if a < 0.0 else []
    far = -b - math.copysign(math.sqrt(square), b)
    first, second = sorted((far / a, 2.0 * c / far))
    return [(first, second)] if a > 0.0 else [(-math.inf, first), (second, math.inf)]


def _mass(a: float, b: float, c: float, low: float, high: float) -> float:
    """∫ exp(½az² + bz + c) φ(z) dz from `low` to `high`."""
    inverse = 1.0 - a
    ends = [math.sqrt(inverse) * (end - b / inverse) for end in (low, high)]
    if ends[0] > 0.0:
        ends = [-ends[1], -ends[0]]
    share = float(ndtr(ends[1]) - ndtr(ends[0]))
    return math.exp(c + 0.5 * b * b / inverse) / math.sqrt(inverse) * share


ONE_ROW = {"leverage": reals(1e-3, 0.99), "residual_share": reals(1e-3, 0.99)}


# Sections 3.2 to 3.4: normal laws, ALS and Gaussian LS


def _line(
    sigma_1: float, sigma_2: float, shift: float, epsilon: float
) -> tuple[float, float, float]:
    """Lemma 2's A, b and c for N(0, σ₁²) and N(shift, σ₂²)."""
    ratio = (sigma_1 / sigma_2) ** 2
    c = epsilon + math.log(sigma_1 / sigma_2) - 0.5 * (shift / sigma_2) ** 2
    return 1.0 - ratio, sigma_1 * shift / sigma_2**2, c


def _lemma_2(sigma_1: float, sigma_2: float, shift: float, epsilon: float) -> float:
    return _positive_part(*_line(sigma_1, sigma_2, shift, epsilon))


def _eigenvalue(sigma_1: float, sigma_2: float) -> float:
    """Lemma 2's A for d = 1, which is the matrix itself."""
    return 1.0 - (sigma_1 / sigma_2) ** 2


def _pair(sigma_1: float, sigma_2: float, shift: float, epsilon: float) -> float:
    one = np.eye(1)
    forward, _ = gaussian_pair([0.0], sigma_1**2 * one, [shift], sigma_2**2 * one, epsilon)
    return float(forward)


def _als(
    leverage: float, residual_share: float, features: int, rows: int, epsilon: float, law: str
) -> float:
    return float(max(als(leverage, residual_share, features, rows, epsilon, law)))


_asymptotic, _finite = (partial(_als, law=law) for law in ("asymptotic", "finite"))


def _lemma_8(
    leverage: float, residual_share: float, features: int, rows: int, epsilon: float
) -> float:
    """Both expectations, with b along one axis, on which A has an eigenvalue of its own."""
    h, t = leverage, residual_share
    scale, log = 1.0 - t, 0.5 * (features * math.log1p(-t) - math.log1p(-h))
    first = _expected(
        features,
        (1.0 - (1.0 - h) / scale, 1.0 - 1.0 / scale),
        math.sqrt(rows * t * h * (1.0 - h)) / scale,
        epsilon - log - 0.5 * rows * h * t / scale,
    )
    second = _expected(
        features,
        (1.0 - scale / (1.0 - h), 1.0 - scale),
        math.sqrt(rows * t * scale * h) / (1.0 - h),
        epsilon + log - 0.5 * rows * t * h / (1.0 - h),
    )
    return max(first, second)


def _expected(features: int, a: tuple[float, float], b: float, c: float) -> float:
    """E max{0, 1 − exp(…)}: one axis in closed form, the length of the others by quadrature."""
    if features == 1:
        return _positive_part(a[0], b, c)
    law = chi(features - 1)
    cuts = law.ppf([0.0, 0.05, 0.5, 0.95, 1.0 - 1e-14])

    def integrand(length: float) -> float:
        return _positive_part(a[0], b, c + 0.5 * a[1] * length**2) * float(law.pdf(length))

    pieces = itertools.pairwise(cuts)
    return sum(quad(integrand, *ends, epsabs=1e-11, limit=200)[0] for ends in pieces)


def _proposition_1(shift: float, epsilon: float) -> float:
    c, grown = shift, math.exp(epsilon)
    ends = [sign * c / math.sqrt(8.0) - epsilon / (math.sqrt(2.0) * c) for sign in (1.0, -1.0)]
    return 0.5 * (1.0 - grown) + 0.5 * float(erf(ends[0]) - grown * erf(ends[1]))


def _gaussian_ls(epsilon: float, delta: float, other_epsilon: float, move: float) -> float:
    sigma = printed.proposition_2_sigma(move, epsilon, delta)
    return float(gaussian_shift(move / sigma, other_epsilon))


def _proposition_11(norm: float, c: float) -> float:
    last = 0.5 + 0.5 * erf((-c / norm - norm) / math.sqrt(2.0))
    return float(0.5 + 0.5 * erf(-c / norm / math.sqrt(2.0)) - math.exp(c + 0.5 * norm**2) * last)


def _half_line(norm: float, c: float) -> float:
    return _by_quadrature(lambda z: norm * z + c, (-math.inf, -c / norm))


ALS = ONE_ROW | {
    "features": integers(1, 12),
    "rows": integers(13, 500),
    "epsilon": reals(0.0, 3.0),
}
LEMMA_8 = Searched(
    _lemma_8,
    _asymptotic,
    ALS,
    side="both",
    tolerance=1e-5,
    rounding=1e-8,
    tries=200,
)


# Section 3.4, appendices B.5 and D: random linear combinations and projections

SHARES = {"leverage": reals(0.01, 0.99), "epsilon": reals(1e-3, 5.0, log=True)}
ROWS = {"leverage": reals(0.01, 0.99), "rows": integers(1, 300), "epsilon": SHARES["epsilon"]}


def _by_lemma_2(leverage: float, rows: int, epsilon: float) -> float:
    """Block diagonal covariances for D with DᵀD = I₂, by the integral of any normal pair."""
    less = np.kron(np.eye(rows), np.diag([1.0 - leverage, 1.0]))
    none = np.zeros(len(less))
    return float(max(gaussian_pair(none, np.eye(len(less)), none, less, epsilon)))


def _chi_square(leverage: float, rows: int, epsilon: float) -> float:
    """The corrected line, by the incomplete gamma functions."""
    room, half = (1.0 - leverage) / leverage, 0.5 * rows
    log, scale = half * math.log1p(-leverage), 1.0 / (1.0 - leverage)
    s, other = (epsilon - log) * room, max(0.0, -epsilon - log) * room
    forward = gammaincc(half, s) - math.exp(epsilon) * gammaincc(half, s * scale)
    backward = gammainc(half, other * scale) - math.exp(epsilon) * gammainc(half, other)
    return float(max(forward, backward))


def _first_direction(leverage: float, epsilon: float) -> float:
    """Lemma 10's δ(0, 0, DᵀD, D′ᵀD′) as printed."""
    c, grown = epsilon - 0.5 * math.log1p(-leverage), math.exp(epsilon)
    inner, outer = (math.sqrt(c * share / leverage) for share in (1.0, 1.0 - leverage))
    return float(1.0 - grown + grown * erf(inner) - erf(outer))


def _proposition_12(norm: float, c: float) -> float:
    if c < 0.0:
        return math.nan
    square = 2.0 * norm**2 + 1.0
    share = math.exp(c) / math.sqrt(square)
    inner = erf(math.sqrt(0.5 * c * square) / norm)
    return float(1.0 - share + share * inner - erf(math.sqrt(0.5 * c) / norm))


def _proposition_12_all(norm: float, c: float) -> float:
    below = 1.0 - math.exp(c) / math.sqrt(2.0 * norm**2 + 1.0)
    return below if c < 0.0 else _proposition_12(norm, c)


def _outside(norm: float, c: float) -> float:
    edge = math.sqrt(max(c, 0.0)) / norm
    return 2.0 * _by_quadrature(lambda z: c - (norm * z) ** 2, (edge, math.inf))


def _proposition_13(norm: float, c: float) -> float:
    inner = erfi(math.sqrt((0.5 - norm**2) * c) / norm)
    share = math.exp(c) / math.sqrt(2.0 * norm**2 - 1.0)
    return float(erf(math.sqrt(-0.5 * c) / norm) - share * inner)


def _proposition_14(norm: float, c: float) -> float:
    inner = erf(math.sqrt(0.5 * (2.0 * norm**2 - 1.0) * c) / norm)
    share = math.exp(c) / math.sqrt(1.0 - 2.0 * norm**2)
    return float(erf(math.sqrt(-0.5 * c) / norm) - share * inner)


def _inside(norm: float, c: float) -> float:
    return 2.0 * _by_quadrature(lambda z: c + (norm * z) ** 2, (0.0, math.sqrt(-c) / norm))


def _half(c: float) -> float:
    """The value at ‖a‖² = ½."""
    return float(erf(math.sqrt(-c))) - 2.0 * math.exp(c) * math.sqrt(-c / math.pi)


def _expectation(
    proved: Callable[..., float], true: Callable[..., float], norm: tuple[float, float], top: float
) -> Searched:
    """An expectation in closed form against quadrature."""
    return Searched(
        proved,
        true,
        {"norm": reals(*norm, log=True), "c": reals(-5.0, top, closed=top != 0.0)},
        side="both",
        quantity="E max{0, …}",
        rounding=1e-11,
        tolerance=1e-6,
        tries=300,
    )


LEMMA_5 = Searched(
    _by_lemma_2,
    sketch,
    {"leverage": reals(0.01, 0.9), "rows": integers(1, 12), "epsilon": reals(1e-3, 3.0)},
    side="both",
    rounding=1e-10,
    tolerance=1e-6,
    tries=300,
)


TESTS: dict[str, Tested] = {
    "1-lemma-2": Searched(
        _lemma_2,
        _pair,
        {
            "sigma_1": reals(0.2, 5.0, log=True),
            "sigma_2": reals(0.2, 5.0, log=True),
            "shift": reals(0.0, 3.0),
            "epsilon": reals(0.0, 3.0),
        },
        side="both",
        tolerance=1e-6,
        rounding=1e-10,
        tries=300,
    ),
    "1-lemma-2-svd": Searched(
        lambda sigma_1, sigma_2: abs(_eigenvalue(sigma_1, sigma_2)),
        _eigenvalue,
        {"sigma_1": reals(0.2, 5.0, log=True), "sigma_2": reals(0.2, 5.0, log=True)},
        side="both",
        quantity="A",
        tries=100,
        at={"sigma_1": 2.0, "sigma_2": 1.0},
        fixed={"printed": _eigenvalue},
    ),
    "1-lemma-3": replace(
        LEMMA_8,
        printed=_asymptotic,
        exact=_finite,
        side="upper",
        rounding=1e-12,
        tolerance=1e-6,
        tries=600,
    ),
    "1-lemma-8": LEMMA_8,
    "1-proposition-1": Searched(
        _proposition_1,
        lambda shift, epsilon: float(gaussian_shift(shift, epsilon)),
        {"shift": reals(1e-2, 10.0), "epsilon": reals(0.0, 5.0)},
        side="both",
        rounding=1e-12,
    ),
    "1-proposition-2": Searched(
        lambda epsilon, delta, other_epsilon: _proposition_1(
            epsilon / math.sqrt(2.0 * math.log(1.25 / delta)), other_epsilon
        ),
        _gaussian_ls,
        {
            "epsilon": reals(0.01, 10.0),
            "delta": reals(1e-8, 0.5),
            "other_epsilon": reals(0.0, 5.0),
            "move": reals(1e-3, 1e3),
        },
        side="both",
        rounding=1e-12,
    ),
    "1-proposition-11": Searched(
        _proposition_11,
        _half_line,
        {"norm": reals(1e-2, 5.0), "c": reals(-5.0, 5.0)},
        side="both",
        rounding=1e-12,
        tolerance=1e-8,
        tries=400,
    ),
    "1-lemma-4": replace(LEMMA_5, domain=dict(LEMMA_5.domain) | {"rows": 1}),
    "1-lemma-5": LEMMA_5,
    "1-simplifying": Searched(
        lambda c: _half(-1.0),
        lambda c: _inside(math.sqrt(0.5), c),
        {"c": reals(-5.0, -0.01)},
        side="both",
        quantity="E max{0, …}",
        tries=100,
        fixed={"printed": _half, "tolerance": 1e-7},
    ),
    "1-proposition-12": replace(
        _expectation(_proposition_12, _outside, (0.05, 5.0), 5.0),
        fixed={"printed": _proposition_12_all},
    ),
    "1-proposition-13": _expectation(_proposition_13, _inside, (0.7072, 3.0), 0.0),
    "1-proposition-14": _expectation(_proposition_14, _inside, (0.05, 0.707), 0.0),
    "1-lemma-10": Searched(
        lambda leverage, epsilon: float(printed.lemma_10(leverage, epsilon)),
        lambda leverage, epsilon: sketch(leverage, 1, epsilon),
        SHARES,
        rounding=1e-12,
        at={"leverage": 0.2, "epsilon": 0.1},
        fixed={"printed": _first_direction, "rounding": 1e-11},
    ),
    "1-lemma-11": Searched(
        lambda leverage, rows, epsilon: float(printed.lemma_11(leverage, rows, epsilon)),
        sketch,
        ROWS,
        rounding=1e-12,
        at={"leverage": 0.5, "rows": 10, "epsilon": 0.5},
        fixed={"printed": _chi_square, "rounding": 1e-10},
    ),
}
