"""Special functions where SciPy's lose relative accuracy, shares that keep their digits, and the
error that is raised where digits are not checked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from scipy.special import gammaln

from dpaudit._core.types import Array
from dpaudit.errors import NoExactSpectrum

VANISHING = 1e-290  # a row with a smaller leverage has δ = 0 in floats


@dataclass(frozen=True)
class Share:
    """A leverage, or a share of a residual sum of squares, and 1 − it: neither loses its digits."""

    value: float
    rest: float

    @classmethod
    def of(cls, value: float, rest: float | None = None) -> Share:
        return cls(float(value), float(1.0 - value if rest is None else rest))

    @property
    def log_rest(self) -> float:
        with np.errstate(divide="ignore"):
            return float(np.log1p(-self.value) if self.value < 0.5 else np.log(self.rest))


def log_expm1(x: Array) -> Array:
    """ln(e^x − 1) for x ≥ 0, −∞ at 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(x + np.log(-np.expm1(-x)))


def log_beta(a: float, b: float) -> float:
    """log B(a, b) without the cancellation of two large log-gammas (1e-10 at a = 5e4 otherwise)."""
    a, b = max(a, b), min(a, b)
    if a < 100.0:
        return float(gammaln(a) + gammaln(b) - gammaln(a + b))
    ratio = (a + b - 0.5) * math.log1p(b / a) + b * math.log(a) - b + stirling(a + b) - stirling(a)
    if b < 100.0:
        return float(gammaln(b) - ratio)
    log_gamma = (b - 0.5) * math.log(b) - b + 0.5 * math.log(2.0 * math.pi) + stirling(b)
    return float(log_gamma - ratio)


def stirling(x: float) -> float:
    """log Γ(x) − [(x − ½)ln x − x + ½ln 2π], to 1e-17 for x ≥ 100."""
    return 1.0 / (12.0 * x) - 1.0 / (360.0 * x**3) + 1.0 / (1260.0 * x**5)


def unresolved(reason: str) -> NoReturn:
    """Raise `NoExactSpectrum`: a δ whose digits could not be checked is not returned."""
    raise NoExactSpectrum(
        f"δ(ε) could not be computed to checked accuracy: {reason}; use dpaudit.audit, which needs "
        "only draws"
    )
