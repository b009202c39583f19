"""Trade-off curves from δ(ε): the least type II error β that any test reaches at type I error α.

`f(α) = sup_{ε≥0} max(0, 1 − δ(ε) − e^ε α, e^{−ε}(1 − δ(ε) − α))` (Dong, Roth and Su, "Gaussian
differential privacy", 2022, Proposition 6), symmetric because δ is the larger of the two
directions. Each ε of a grid gives supporting lines of a convex curve, so on a grid the formula
gives a curve on or BELOW f.
"""

from __future__ import annotations

import numpy as np

from dpaudit.curves.readings import grid_tradeoff as tradeoff
from dpaudit.report.data import Array

__all__ = ["implied", "tradeoff", "tradeoff_above"]


def implied(epsilon: Array, low: Array) -> tuple[Array, Array]:
    """What lower bounds `low` ≤ δ at the ε of a grid, (m,) each, imply at EVERY ε ≥ 0, as corners
    of a line.

    For ε_k ≤ ε ≤ ε_{k+1}, with low 0 beyond the grid and low_0 before it,

        δ(ε) ≥ low_{k+1}                         as δ does not increase
        δ(ε) ≥ 1 − (1 − low_k) e^{ε−ε_k}         as (1 − δ(ε)) e^{−ε} does not increase

    The second is concave and meets the first at e^ε = e^{ε_k} (1 − low_{k+1})/(1 − low_k): its
    chord up to there and the level line from there on are certified too. Returns ε and δ of the
    corners, (2m + 1,) each.
    """
    low = np.append(np.maximum.accumulate(low[::-1])[::-1], 0.0)
    room = np.maximum(1.0 - low, 1e-15)
    meet = np.minimum(epsilon + np.log(room[1:] / room[:-1]), np.append(epsilon[1:], np.inf))
    corners = np.column_stack([epsilon, meet]).ravel()
    return np.append(0.0, corners), np.repeat(low, 2)[:-1]


def tradeoff_above(epsilon: Array, low: Array, alpha: Array) -> Array:
    """β at each α, (a,), on or ABOVE the true curve, from lower bounds low ≤ δ at the ε of a grid,
    (m,) each.

    The lines of the grid alone would be too low: the supremum runs over every ε, hence over all of
    `implied`, and is taken at its corners.
    """
    return tradeoff(*implied(epsilon, low), alpha)
