"""Special functions where SciPy's lose relative accuracy."""

from __future__ import annotations

import math

from scipy.special import gammaln

VANISHING = 1e-290  # δ of a row that weighs less is 0 in floats


def log_beta(a: float, b: float) -> float:
    """log B(a, b) without the cancellation of two large log-gammas (1e-10 at a = 5e4 otherwise)."""
    a, b = max(a, b), min(a, b)
    if a < 100.0:
        return float(gammaln(a) + gammaln(b) - gammaln(a + b))
    ratio = (a + b - 0.5) * math.log1p(b / a) + b * math.log(a) - b + stirling(a + b) - stirling(a)
    return float(gammaln(b) - ratio) if b < 100.0 else float(_log_gamma_large(b) - ratio)


def _log_gamma_large(x: float) -> float:
    return (x - 0.5) * math.log(x) - x + 0.5 * math.log(2.0 * math.pi) + stirling(x)


def stirling(x: float) -> float:
    """log Γ(x) − [(x − ½)ln x − x + ½ln 2π], to 1e-17 for x ≥ 100."""
    return 1.0 / (12.0 * x) - 1.0 / (360.0 * x**3) + 1.0 / (1260.0 * x**5)
