"""Trade-off curves of a certified bound: upper bounds of the least type II error β at each α.

A lower bound of δ(ε) at the ε of a grid gives a lower bound at every ε, and that gives an upper
bound of the trade-off curve f (`dpaudit.curves.readings.grid_tradeoff`, whose lines alone are on or
BELOW f).
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.readings import grid_tradeoff


def implied_corners(epsilon: Array, low: Array) -> tuple[Array, Array]:
    """The corners of a line that bounds δ from below at EVERY ε ≥ 0.

    epsilon, low : (m,) the grid, and lower bounds low ≤ δ there. Returns ε and δ of the corners,
    (2m + 1,) each.

    For ε_k ≤ ε ≤ ε_{k+1}, with low 0 beyond the grid and low_0 before it,

        δ(ε) ≥ low_{k+1}                         as δ does not increase
        δ(ε) ≥ 1 − (1 − low_k) e^{ε−ε_k}         as (1 − δ(ε)) e^{−ε} does not increase

    The second is concave and meets the first at e^ε = e^{ε_k} (1 − low_{k+1})/(1 − low_k): its
    chord up to there and the level line from there on are lower bounds too.
    """
    low = np.append(np.maximum.accumulate(low[::-1])[::-1], 0.0)
    room = np.maximum(1.0 - low, 1e-15)
    meet = np.minimum(epsilon + np.log(room[1:] / room[:-1]), np.append(epsilon[1:], np.inf))
    corners = np.column_stack([epsilon, meet]).ravel()
    return np.append(0.0, corners), np.repeat(low, 2)[:-1]


def tradeoff_above(epsilon: Array, low: Array, alpha: Array) -> Array:
    """β at each α, (a,), on or ABOVE the true curve.

    epsilon, low : (m,) the grid, and lower bounds low ≤ δ there. The lines of the grid alone would
    be too low: the supremum is over every ε, hence over the whole line of `implied_corners`, where
    it is taken at a corner.
    """
    return grid_tradeoff(*implied_corners(epsilon, low), alpha)
