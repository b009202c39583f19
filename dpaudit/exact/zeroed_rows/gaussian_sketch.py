"""Gaussian sketches: r i.i.d. rows N(0, Σ) against N(0, Σ − vvᵀ).

Random linear combination and random projection release such rows. Along v, the squares of the
rows' standardised coordinates sum to a χ²_r; with q = vᵀΣ⁻¹v the loss is linear in it:
    full → zeroed:  L = (r/2)ln(1−q) + c·q/(2(1−q)),  c ~ χ²_r,
    zeroed → full:  L = −(r/2)ln(1−q) − c·q/2,        c ~ χ²_r, so at most −(r/2)ln(1−q).
A Wishart or inverse-Wishart draw with the same Σ and r has the same likelihood ratio, hence the
same spectrum.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.exact.numerics import monotone_loss
from dpaudit.exact.numerics.sorted_epsilon import Accuracy, Curves, by_sorted_epsilon
from dpaudit.exact.numerics.special import VANISHING, Share, stirling
from dpaudit.exact.pairs.gaussian import Axes

FAR = 50.0  # how far beyond √rows √c is looked at: the mass beyond is below e^{−1250}


def gaussian_sketch(leverage: float, rows: int, epsilon: ArrayLike) -> tuple[Array, Array]:
    """Exact δ(ε) of r Gaussian rows with covariance DᵀD, one row of D zeroed.

    Returns (full → zeroed, zeroed → full).

    Parameters
    ----------
    leverage : float in [0, 1]
        q = vᵀ(DᵀD)⁻¹v of the zeroed row, label included; 1 loses rank, so δ = 1.
    rows : int
        Number of sketch rows r ≥ 1.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0; the results have its shape.

    References
    ----------
    Paper 1, lemmas 4 and 5, whose printed simplifications (lemmas 10 and 11) are wrong in part: see
    `dpaudit.papers.printed`.

    Examples
    --------
    >>> import dpaudit as dp
    >>> forward, backward = dp.exact.gaussian_sketch(leverage=0.2, rows=10, epsilon=[0.0, 1.0])
    >>> print(forward, backward)
    [0.19376085 0.02159294] [1.93760853e-01 6.80469940e-06]
    """
    leverage = check.real("leverage", leverage, 0.0, 1.0)
    rows = check.integer("rows", rows, 1)
    return sketch_curves(Share.of(leverage), rows, epsilon)


def sketch_curves(q: Share, rows: int, epsilon: ArrayLike) -> Curves:
    """`gaussian_sketch` for a leverage q stored together with 1 − q."""
    return by_sorted_epsilon(
        epsilon, lambda ascending: _both(q, rows, ascending), Accuracy.of_squares(rows)
    )


def sketch_axes(q: Share, rows: int) -> Axes:
    """N(0, 1) against N(0, 1 − q) on as many axes as there are rows."""
    return Axes(np.zeros(1), np.array([-q.value]), np.array([q.rest]), np.array([float(rows)]))


def _both(q: Share, rows: int, epsilon: Array) -> Curves:
    if q.value < VANISHING or q.rest == 0.0:
        flat = np.full_like(epsilon, float(q.rest == 0.0))
        return flat, flat
    limit, odds = -0.5 * rows * q.log_rest, q.value / q.rest
    # √c is looked at in (first, last); a mesh of all values would grow as √rows
    first, last = np.sqrt(rows) - FAR, np.sqrt(rows) + FAR
    forward = monotone_loss.hockey_stick(
        lambda x: log_chi(x, rows),
        lambda x: 0.5 * odds * x**2 - limit,
        np.maximum(np.sqrt(2.0 * (epsilon + limit) / odds), first),
        epsilon,
        width=0.7,
        end=last,
    )
    backward = monotone_loss.hockey_stick(
        lambda x: log_chi(-x, rows),
        lambda x: limit - 0.5 * q.value * x**2,
        np.maximum(-np.sqrt(2.0 * np.maximum(limit - epsilon, 0.0) / q.value), -last),
        epsilon,
        width=0.7,
        end=-max(first, 0.0),
    )
    return forward, backward


def log_chi(x: Array, rows: int) -> Array:
    """Return the log density of √χ²_r at x ≥ 0, r = `rows`.

    For many rows it is expanded about the mode, where x^{r−1} and Γ(r/2) would cancel.
    """
    if rows < 100:
        with np.errstate(divide="ignore"):
            power = (rows - 1) * np.log(x) if rows > 1 else np.zeros_like(x)
        return np.asarray(
            power - 0.5 * x**2 - (0.5 * rows - 1.0) * np.log(2.0) - gammaln(0.5 * rows)
        )
    with np.errstate(divide="ignore"):
        u = np.maximum(x, 1e-150) ** 2 / rows - 1.0
        shape = 0.5 * rows * (np.log1p(u) - u) - np.log(np.maximum(x, 1e-150))
    return np.asarray(shape + 0.5 * np.log(rows / np.pi) - stirling(0.5 * rows))
