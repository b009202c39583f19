"""G(y) = ∫_0^∞ (1 + x)^{m/2} x^{−½} e^{−yx} dx = √π U(½, (m + 3)/2, y), of Tricomi's function U.

For m ≤ SMALL by parts: y·G_{m+2} = (y + (m + 1)/2)·G_m − (m/2)·G_{m−2}, from G_0, or G_1 and
G_{−1}, on. Else with x = v² by the trapezoidal rule, which converges geometrically, since the
integrand is even and analytic for |Im v| < 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly, chebpts1, chebvander
from scipy.special import k0e, k1e

from dpaudit._core.types import Array

SMALL = 100  # m, up to which the recursion is short
NODES = 0.5 * np.arange(50.0)  # of the trapezoidal rule, in widths of the integrand
HALVED = np.where(NODES == 0.0, 0.5, 1.0)
TERMS = 9
PIECE = 0.25  # of √z, on which so many terms give log G to 1e-13
MANY = 64  # pieces by which a range is extended, so that curves share them
PLACES = chebpts1(TERMS)
POWERS = np.column_stack(
    [np.pad(cheb2poly(c), (0, TERMS - i - 1)) for i, c in enumerate(np.eye(TERMS))]
)
FIT = POWERS @ np.linalg.inv(chebvander(PLACES, TERMS - 1))


def log_g(y: Array, order: int) -> Array:
    """log G(y) of m = order ≥ 1, in the shape of y; for m > SMALL where m/2 − y ≤ 8√m."""
    return _by_recursion(y, order) if order <= SMALL else _by_trapezium(y, order)


def _by_recursion(y: Array, order: int) -> Array:
    if order % 2:
        first, second = k0e(0.5 * y), k1e(0.5 * y)
        last, now, at = first / np.sqrt(y), 0.5 * np.sqrt(y) * (first + second), 1
    else:
        last, now, at = np.zeros_like(y), np.sqrt(np.pi / y), 0
    for m in range(at, order, 2):
        last, now = now, (y + 0.5 * (m + 1)) * now - 0.5 * m * y * last
    return np.asarray(np.log(now) - 0.5 * order * np.log(y))


def _by_trapezium(y: Array, order: int) -> Array:
    excess = y - 0.5 * order
    width = (2.0 * np.abs(excess) + 4.0 * np.sqrt(order)) ** -0.5
    square = (width[..., None] * NODES) ** 2
    exponent = 0.5 * order * (np.log1p(square) - square) - excess[..., None] * square
    peak = exponent.max(axis=-1)
    total = np.exp(exponent - peak[..., None]) @ HALVED
    return np.asarray(np.log(2.0 * NODES[1] * width * total) + peak)


@dataclass(frozen=True, eq=False, repr=False)
class LogG:
    """z ↦ log G(z/2) by polynomials in √z on equal pieces, of log(z^c·G) with c = (m + 1)/2.

    c = 0 for m > SMALL; there z is never so small that G would be singular. first : pieces from 0.
    """

    first: int
    power: float
    terms: Array

    @classmethod
    def between(cls, low: float, high: float, order: int) -> LogG:
        """For low ≤ z ≤ high, at least; kept for the next curve of the same m."""
        first, last = (int(np.sqrt(z) / PIECE) for z in (low, high))
        return _fitted(first, MANY * (1 + (last - first) // MANY), order)

    def __call__(self, z: Array) -> Array:
        """In the shape of z; constant beyond the pieces."""
        count = self.terms.shape[1]
        place = np.clip(np.sqrt(z) / PIECE - self.first, 0.0, count)
        piece = np.minimum(place.astype(np.intp), count - 1)
        x = 2.0 * (place - piece) - 1.0
        value = self.terms[-1][piece]
        for term in self.terms[-2::-1]:
            value *= x
            value += term[piece]
        return np.asarray(value - self.power * np.log(z)) if self.power else value


@lru_cache(maxsize=16)
def _fitted(first: int, count: int, order: int) -> LogG:
    power = 0.5 * (order + 1) if order <= SMALL else 0.0
    z = (PIECE * (first + np.arange(count) + 0.5 * (1.0 + PLACES[:, None]))) ** 2
    return LogG(first, power, FIT @ (log_g(0.5 * z, order) + power * np.log(z)))
