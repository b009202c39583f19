"""Additive Wishart noise with one row zeroed (paper 4, algorithm 3).

The release is AᵀA + W, W ~ Wishart_d(V, k); v is the row of A that is zeroed. With q = vᵀV⁻¹v and
a = (k−d−1)/2, q/vᵀW⁻¹v = c ~ χ²_{k−d+1} and
    full → zeroed:  L = q/2 − a·ln(1 + q/c),
    zeroed → full:  L = −q/2 − a·ln(1 − q/c), infinite where c < q: the output cannot come from the
    full database.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.exact.numerics import monotone_loss
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.zeroed_rows.gaussian_sketch import log_chi

FAR = 50.0  # beyond √dof, in units of √c: e^{−1250}
NEAR = 1e-9  # of 1 − q/c, below which the interval is too short for a mesh and one term is enough


def additive_wishart(q: float, dof: int, dim: int, epsilon: ArrayLike) -> tuple[Array, Array]:
    """Exact δ(ε) of additive Wishart noise when one row is zeroed.

    Parameters
    ----------
    q : vᵀV⁻¹v of the zeroed row, ≥ 0.
    dof : k ≥ dim, degrees of freedom of the noise. dim : d ≥ 1.
    epsilon : scalar or (m,), nats.

    Returns
    -------
    (forward, backward) : arrays of the shape of `epsilon`. Backward never falls below P(χ²_{k−d+1}
    < q), the chance of an output that rules the full database out.

    Raises `InvalidInput`. Source: paper 4, algorithm 3.
    """
    q = check.real("q", q, 0.0)
    dim = check.integer("dim", dim, 1)
    if check.integer("dof", dof, 1) < dim:
        fail("dof", dof, f"at least dim = {dim}")
    return by_sorted_epsilon(
        epsilon, lambda sorted_: _both(q, dof - dim + 1, 0.5 * (dof - dim - 1), sorted_)
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
    """The finite part: c from q, where L is infinite, to where it falls to ε."""
    root = np.sqrt(q)
    share = np.exp(-(epsilon + 0.5 * q) / power)  # 1 − q/c where L = ε
    edge = -np.sqrt(
        np.minimum(q / -np.expm1(-(epsilon + 0.5 * q) / power), (np.sqrt(freedom) + FAR) ** 2)
    )
    near = share < NEAR
    delta = np.where(near, _beside(q, freedom, power) * share, 0.0)
    # beyond it there is no mass, and a mesh up to q would grow as √freedom
    end = -max(root, np.sqrt(freedom) - FAR)
    inside = ~near & (edge < end)
    if not inside.any():
        return delta

    def loss(x: Array) -> Array:
        with np.errstate(divide="ignore"):
            # to full accuracy at c = q
            near = np.log(np.maximum((x + root) * (x - root) / x**2, 0.0))
            return -0.5 * q - power * np.where(
                x**2 < 2.0 * q, near, np.log1p(-np.minimum(q / x**2, 0.5))
            )

    delta[inside] = monotone_loss.hockey_stick(
        lambda x: log_chi(-x, freedom),
        loss,
        edge[inside],
        epsilon[inside],
        width=0.7,
        end=end,
        breaks=np.array([-root]) if end == -root else None,
    )
    return delta


def _beside(q: float, freedom: int, power: float) -> float:
    """The finite part over u = e^{−(ε+q/2)/a} as u → 0.

    There c = q/(1 − u) has the density f(q)·q in u, and ∫₀^u (1 − (v/u)^a) dv = u·a/(a + 1).
    """
    root = np.sqrt(q)
    return float(0.5 * root * np.exp(log_chi(root, freedom)) * power / (power + 1.0))


def _forward_steep(q: float, freedom: int, epsilon: Array) -> Array:
    """k = d: L = q/2 + ½ ln(1 + q/c), which falls with c from infinity to q/2."""
    reach = np.sqrt(freedom) + FAR
    above = 2.0 * np.maximum(epsilon - 0.5 * q, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        edge = -np.minimum(np.sqrt(q / np.expm1(above)), reach)
    return monotone_loss.hockey_stick(
        lambda x: log_chi(-x, freedom),
        lambda x: 0.5 * q + 0.5 * np.log1p(q / np.maximum(x**2, 1e-300)),
        edge,
        epsilon,
        width=0.7,
        end=0.0,
    )
