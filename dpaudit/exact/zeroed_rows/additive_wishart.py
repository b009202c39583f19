"""Additive Wishart noise with one row zeroed (paper 4, algorithm 3).

The release is AᵀA + W, W ~ Wishart_d(V, k); v is the row of A that is zeroed. With q = vᵀV⁻¹v and
a = (k−d−1)/2, q/vᵀW⁻¹v = c ~ χ²_{k−d+1} and
    full → zeroed:  L = q/2 − a·ln(1 + q/c),
    zeroed → full:  L = −q/2 − a·ln(1 − q/c), infinite where c < q: the output cannot come from the
    full database.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammainc

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.exact.numerics import monotone_loss
from dpaudit.exact.numerics.sorted_epsilon import Accuracy, Curves, by_sorted_epsilon
from dpaudit.exact.zeroed_rows.gaussian_sketch import log_chi

FAR = 50.0  # beyond √dof, in units of √c: e^{−1250}
TAIL = 160.0  # of a logarithm beyond a threshold: densities fall at least as e^{−x/2}
LAST = 2000.0  # of a logarithm: δ from there on is 0 in floats


def additive_wishart(q: float, dof: int, dim: int, epsilon: ArrayLike) -> tuple[Array, Array]:
    """Exact δ(ε) of additive Wishart noise when one row is zeroed.

    Parameters
    ----------
    q : float ≥ 0
        vᵀV⁻¹v of the zeroed row.
    dof : int
        k ≥ dim, degrees of freedom of the noise.
    dim : int
        d ≥ 1.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0.

    Returns
    -------
    forward : array of the shape of `epsilon`
        Full → zeroed.
    backward : array of the shape of `epsilon`
        Zeroed → full. It never falls below P(χ²_{k−d+1} < q), the chance of an output that rules
        the full database out.

    Raises
    ------
    InvalidInput
        When an argument is not as described.

    References
    ----------
    Paper 4, algorithm 3.
    """
    q = check.real("q", q, 0.0)
    dim = check.integer("dim", dim, 1)
    if check.integer("dof", dof, 1) < dim:
        fail("dof", dof, f"at least dim = {dim}")
    return by_sorted_epsilon(
        epsilon,
        lambda sorted_: _both(q, dof - dim + 1, 0.5 * (dof - dim - 1), sorted_),
        accuracy=Accuracy.of_squares(dof),
    )


def _both(q: float, freedom: int, power: float, epsilon: Array) -> Curves:
    if q == 0.0:
        return np.zeros_like(epsilon), np.zeros_like(epsilon)
    floor = float(gammainc(0.5 * freedom, 0.5 * q))
    if power == 0.0:  # the loss has one finite value
        return -np.expm1(np.minimum(epsilon - 0.5 * q, 0.0)), np.full_like(epsilon, floor)
    if power < 0.0:  # and here its finite part is below 0 backward, above q/2 forward
        return _forward_steep(q, freedom, epsilon), np.full_like(epsilon, floor)
    return _forward(q, freedom, power, epsilon), np.minimum(
        floor + _backward(q, freedom, power, epsilon), 1.0
    )


def _forward(q: float, freedom: int, power: float, epsilon: Array) -> Array:
    """L rises with c to its limit q/2."""
    inside = epsilon < 0.5 * q
    delta = np.zeros_like(epsilon)
    if inside.any():
        with np.errstate(over="ignore"):
            edge = np.sqrt(q / np.expm1((0.5 * q - epsilon[inside]) / power))
        # or a mesh from 0 on would grow as √freedom
        edge = np.maximum(edge, np.sqrt(freedom) - FAR)
        delta[inside] = monotone_loss.hockey_stick(
            lambda x: log_chi(x, freedom),
            lambda x: 0.5 * q - power * np.log1p(q / np.maximum(x, 1e-150) ** 2),
            edge,
            epsilon[inside],
            width=0.7,
            end=np.sqrt(freedom) + FAR,
        )
    return delta


def _backward(q: float, freedom: int, power: float, epsilon: Array) -> Array:
    """The finite part, by x = −ln t with c = q(1 + t): L = −q/2 + a ln(1 + e^x) rises with x.

    At t → 0 the density of x falls as e^{−x}, whatever q is.
    """
    root = np.sqrt(q)
    first, last = (_minus_log(at**2 / q - 1.0) for at in _seen(freedom))
    if first == np.inf:  # all of c that is seen lies below q
        return np.zeros_like(epsilon)

    def log_density(x: Array) -> Array:
        r = root * np.sqrt(1.0 + np.exp(-x))
        return np.asarray(log_chi(r, freedom) + np.log(0.5 * q / r) - x)

    return _by_log_ratio(
        log_density,
        lambda x: -0.5 * q + power * np.logaddexp(0.0, x),
        _log_expm1((epsilon + 0.5 * q) / power),
        epsilon,
        (first, last, freedom),
    )


def _forward_steep(q: float, freedom: int, epsilon: Array) -> Array:
    """k = d: L = q/2 + ½ ln(1 + q/c), rising with x = ln(q/c) from q/2 to infinity."""
    root = np.sqrt(q)

    def log_density(x: Array) -> Array:
        r = root * np.exp(-0.5 * x)
        return np.asarray(log_chi(r, freedom) + np.log(0.5 * root) - 0.5 * x)

    first = _minus_log(_seen(freedom)[0] ** 2 / q)
    return _by_log_ratio(
        log_density,
        lambda x: 0.5 * q + 0.5 * np.logaddexp(0.0, x),
        _log_expm1(2.0 * np.maximum(epsilon - 0.5 * q, 0.0)),
        epsilon,
        (first, np.inf, freedom),
    )


def _by_log_ratio(
    log_density: Callable[[Array], Array],
    loss: Callable[[Array], Array],
    thresholds: Array,
    epsilon: Array,
    ends: tuple[float, float, int],
) -> Array:
    """δ where L rises with a logarithm x, from ends[0] to ends[1]; ends[2]: m.

    The density varies by a factor e over 1, or where c is a sum of many squares over √(2/m).
    """
    first, last, freedom = ends
    thresholds = np.maximum(thresholds, first)
    end = max(min(last, float(thresholds.max()) + TAIL, LAST), first)
    width = min(0.7, np.sqrt(2.0 / freedom))
    return monotone_loss.hockey_stick(log_density, loss, thresholds, epsilon, width, end)


def _seen(freedom: int) -> tuple[float, float]:
    """The largest and the smallest √c to look at: beyond, there is no mass."""
    return np.sqrt(freedom) + FAR, max(np.sqrt(freedom) - FAR, 0.0)


def _minus_log(t: float) -> float:
    """−ln t, infinite for t ≤ 0."""
    return float(-np.log(t)) if t > 0.0 else np.inf


def _log_expm1(y: Array) -> Array:
    """ln(e^y − 1) for y ≥ 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(y + np.log(-np.expm1(-y)))
