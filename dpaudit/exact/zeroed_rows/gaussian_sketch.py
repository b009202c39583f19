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
from dpaudit.exact.numerics.gaussian_axes import Axes
from dpaudit.exact.numerics.sorted_epsilon import Accuracy, Curves, by_sorted_epsilon
from dpaudit.exact.numerics.special import VANISHING, stirling

FAR = 50.0  # beyond √rows, in units of √χ²: e^{−1250}


def gaussian_sketch(leverage: float, rows: int, epsilon: ArrayLike) -> tuple[Array, Array]:
    """Exact δ(ε) of r Gaussian rows with covariance DᵀD against the same with one row of D zeroed.

    Parameters
    ----------
    leverage : q = vᵀ(DᵀD)⁻¹v of the zeroed row, label included, in [0, 1]; 1 loses rank, so δ = 1.
    rows : number of sketch rows r ≥ 1.
    epsilon : scalar or (m,), nats.

    Returns
    -------
    (forward, backward) : arrays of the shape of `epsilon`; full → zeroed and zeroed → full.

    Raises `InvalidInput`. Source: paper 1, lemmas 4 and 5, whose printed simplifications (lemmas 10
    and 11) are wrong in part: see `dpaudit.papers.printed`.

    >>> import dpaudit as dp
    >>> forward, backward = dp.exact.gaussian_sketch(leverage=0.2, rows=10, epsilon=[0.0, 1.0])
    >>> print(forward, backward)
    [0.19376085 0.02159294] [1.93760853e-01 6.80469940e-06]
    """
    leverage = check.real("leverage", leverage, 0.0, 1.0)
    rows = check.integer("rows", rows, 1)
    return by_sorted_epsilon(
        epsilon,
        lambda sorted_: _both(leverage, rows, sorted_),
        lambda sorted_: _by_contour(leverage, rows, sorted_),
        accuracy=Accuracy.of_squares(rows),
    )


def _both(q: float, rows: int, epsilon: Array) -> Curves:
    if q < VANISHING or q == 1.0:
        flat = np.full_like(epsilon, float(q == 1.0))
        return flat, flat
    return _forward(q, rows, epsilon), _backward(q, rows, epsilon)


def _by_contour(q: float, rows: int, epsilon: Array) -> Curves:
    """From the moment functions of the loss."""
    return Axes.of_excess(np.zeros(1), np.array([-q]), np.array([float(rows)])).delta(epsilon)


def _forward(q: float, rows: int, epsilon: Array) -> Array:
    offset, odds = -0.5 * rows * np.log1p(-q), q / (1.0 - q)
    # or a mesh would grow as √rows; likewise below
    thresholds = np.maximum(np.sqrt(2.0 * (epsilon + offset) / odds), np.sqrt(rows) - FAR)
    return monotone_loss.hockey_stick(
        lambda x: log_chi(x, rows),
        lambda x: 0.5 * odds * x**2 - offset,
        thresholds,
        epsilon,
        width=0.7,
        end=np.sqrt(rows) + FAR,
    )


def _backward(q: float, rows: int, epsilon: Array) -> Array:
    limit = -0.5 * rows * np.log1p(-q)
    return monotone_loss.hockey_stick(
        lambda x: log_chi(-x, rows),
        lambda x: limit - 0.5 * q * x**2,
        np.maximum(-np.sqrt(2.0 * np.maximum(limit - epsilon, 0.0) / q), -np.sqrt(rows) - FAR),
        epsilon,
        width=0.7,
        end=-max(np.sqrt(rows) - FAR, 0.0),
    )


def log_chi(x: Array, rows: int) -> Array:
    """Log density of √χ²_r at x ≥ 0.

    For many rows about its mode, where x^{r−1} and Γ(r/2) would cancel.
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
