"""E max{0, 1 − exp(½aZ² + bZ + c)} for one normal Z: in closed form, and by quadrature."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from scipy.integrate import quad
from scipy.special import ndtr

REACH = 40.0


def positive_part(a: float, b: float, c: float) -> float:
    """E max{0, 1 − exp(½aZ² + bZ + c)}, a < 1, by normal probabilities.

    On an interval where the exponent is below 0 it is P(Z in it) less the mass of exp(…)φ there,
    which is a normal density with 1 − a for the inverse variance.
    """
    return sum(_mass(0.0, 0.0, 0.0, *ends) - _mass(a, b, c, *ends) for ends in _below(a, b, c))


def by_quadrature(exponent: Callable[[float], float], ends: tuple[float, float]) -> float:
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
