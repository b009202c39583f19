"""Gaussian outputs: a shift (equal covariances) in closed form, any other pair by contour inversion."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.special import erfcx

from dpaudit import _check
from dpaudit._check import Array, fail
from dpaudit.exact import contour
from dpaudit.exact._shape import Curves, by_sorted_epsilon

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def gaussian_shift(mu: float, epsilon: Any) -> Array:
    """Exact δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) of N(0, 1) against N(μ, 1), either way round.

    Parameters
    ----------
    mu : distance of the means in standard deviations, ≥ 0 (c in paper 1, proposition 1).
    epsilon : scalar or (m,), nats.

    Returns
    -------
    Array of the shape of `epsilon`. Raises `InvalidInput`.

    Since e^ε φ(b) = φ(a) for a = μ/2 − ε/μ, b = a − μ, δ = φ(a)(m(a) − m(b)) with m = Φ/φ, and the difference is
    ∫_b^a (1 + x m(x)) dx where it would cancel: relative accuracy holds in the tail and as μ → 0.
    """
    mu = _check.real("mu", mu, 0.0)
    epsilon = _check.epsilon(epsilon)
    if mu == 0.0:
        return np.zeros_like(epsilon)
    with np.errstate(over="ignore"):
        upper = 0.5 * mu - epsilon / mu
        delta = _density(upper) * _mills_difference(upper, mu) if mu < 1.0 else _far(upper, mu, epsilon)
    return np.clip(np.where(np.isfinite(upper), delta, 0.0), 0.0, 1.0)


def _density(x: Array) -> Array:
    return np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi)


def _mills_difference(upper: Array, mu: float) -> Array:
    x = (upper - 0.5 * mu)[..., None] + 0.5 * mu * NODES
    x = np.maximum(x, -1e8)
    return np.asarray(0.5 * mu * (_mills_slope(x) @ WEIGHTS))


def _mills_slope(x: Array) -> Array:
    """1 + x·Φ(x)/φ(x) = E[(x + Z)₊]-like and positive; for x ≪ 0 its asymptotic series 1/x² − 3/x⁴ + …"""
    near = 1.0 + x * np.sqrt(0.5 * np.pi) * erfcx(-np.maximum(x, -50.0) / np.sqrt(2.0))
    y = 1.0 / np.minimum(x, -50.0) ** 2
    return np.where(x > -50.0, near, y * (1.0 - y * (3.0 - y * (15.0 - 105.0 * y))))


def _far(upper: Array, mu: float, epsilon: Array) -> Array:
    from scipy.special import log_ndtr

    with np.errstate(under="ignore", over="ignore"):
        first = log_ndtr(upper)
        return np.asarray(np.exp(first) * -np.expm1(np.minimum(epsilon + log_ndtr(upper - mu) - first, 0.0)))


def gaussian_pair(mean1: Any, cov1: Any, mean2: Any, cov2: Any, epsilon: Any) -> tuple[Array, Array]:
    """Exact δ(ε) of N(mean1, cov1) against N(mean2, cov2).

    Parameters
    ----------
    mean1, mean2 : (d,). cov1, cov2 : (d, d), symmetric positive definite.
    epsilon : scalar or (m,), nats.

    Returns
    -------
    (forward, backward) : 1 → 2 and 2 → 1, arrays of the shape of `epsilon`. Raises `InvalidInput`.

    Source: paper 1, lemma 2 (there as a Monte Carlo average).
    """
    mean1, mean2 = (np.atleast_1d(np.asarray(m, dtype=np.float64)) for m in (mean1, mean2))
    cov1, cov2 = (_covariance(name, c, len(mean1)) for name, c in (("cov1", cov1), ("cov2", cov2)))
    if mean1.shape != mean2.shape or mean1.ndim != 1:
        fail("mean2", f"shape {mean2.shape}", f"an array of the shape of mean1, {mean1.shape}")
    root = _cholesky("cov1", cov1)
    _cholesky("cov2", cov2)
    white = solve_triangular(root, solve_triangular(root, cov2, lower=True).T, lower=True)
    variance, axes = eigh(0.5 * (white + white.T))
    shift = axes.T @ solve_triangular(root, mean2 - mean1, lower=True)
    return axes_pair(shift, variance - 1.0, np.ones_like(variance), epsilon)


def _covariance(name: str, value: Any, size: int) -> Array:
    array = np.atleast_2d(np.asarray(value, dtype=np.float64))
    if array.shape != (size, size) or not np.all(np.isfinite(array)):
        fail(name, f"shape {array.shape}", f"a finite ({size}, {size}) matrix")
    if not np.allclose(array, array.T, rtol=1e-8, atol=1e-300):
        fail(name, "an asymmetric matrix", "symmetric")
    return array


def _cholesky(name: str, cov: Array) -> Array:
    try:
        return np.asarray(np.linalg.cholesky(cov), dtype=np.float64)
    except np.linalg.LinAlgError:
        fail(name, "a matrix that is not positive definite", "a positive definite covariance matrix")


def axes_pair(shift: Array, excess: Array, count: Array, epsilon: Any) -> tuple[Array, Array]:
    """N(0, 1) against N(shift, 1 + excess) on independent axes; axis i stands `count[i]` times.

    shift, excess, count : (k,); the variance comes as its excess over 1, so nearly equal laws keep their digits.
    Returns (forward, backward) in the shape of `epsilon`.
    """
    shift, excess, count = shift[count > 0], excess[count > 0], count[count > 0]

    def both(sorted_: Array) -> Curves:
        if np.all(excess == 0.0):
            delta = gaussian_shift(float(np.sqrt(np.sum(count * shift**2))), sorted_)
            return delta, delta
        forward = _transform(shift, excess, count)
        backward = _transform(-shift / np.sqrt(1.0 + excess), -excess / (1.0 + excess), count)
        return contour.hockey_stick(forward, sorted_), contour.hockey_stick(backward, sorted_)

    return by_sorted_epsilon(epsilon, both)


def _transform(shift: Array, excess: Array, count: Array) -> contour.LossTransform:
    """On one axis L(z) = a z² + b z + c under z ~ N(0, 1), so M(s) = (1 − 2as)^{−½} exp(cs + b²s²/(2(1 − 2as)))."""
    a = -0.5 * excess / (1.0 + excess)
    b = -shift / (1.0 + excess)
    c = float(np.sum(count * (0.5 * shift**2 / (1.0 + excess) + 0.5 * np.log1p(excess))))

    def log_m(s: np.ndarray) -> np.ndarray:
        total = c * s
        for a_i, b_i, n_i in zip(a, b, count, strict=True):
            total = total + n_i * (0.5 * (b_i * s) ** 2 / (1.0 - 2.0 * a_i * s) - 0.5 * np.log1p(-2.0 * a_i * s))
        return np.asarray(total)

    def slope(s: Array) -> Array:
        room = 1.0 - 2.0 * a * s[:, None]
        return np.asarray(c + (a / room + b**2 * s[:, None] * (1.0 - a * s[:, None]) / room**2) @ count)

    def curvature(s: Array) -> Array:
        room = 1.0 - 2.0 * a * s[:, None]
        return np.asarray((2.0 * a**2 / room**2 + b**2 / room**3) @ count)

    end = float(1.0 / (2.0 * a.max())) if a.max() > 0 else np.inf
    curved = a != 0.0
    with np.errstate(divide="ignore"):
        bend_at = c - float(np.sum(count[curved] * b[curved] ** 2 / (4.0 * a[curved])))
    bounded = np.all(a <= 0.0) and np.all(b[~curved] == 0.0)
    return contour.LossTransform(log_m, slope, curvature, end, bend_at, bend_at if bounded else np.inf)
