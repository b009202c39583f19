"""Least squares on a noisy sketch in one feature: the median of what it loses."""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import stdtr


def ridge_and_spread(
    rows: float, mean_label: float, mixtures: int, square: float
) -> tuple[float, float]:
    """Location and scale of θ for rows x = 1, labels ±1 or 1 of mean m, noise variance `square`.

    θ is Student t with k degrees of freedom. The padded data have XᵀX = n + σ², XᵀY = nm and
    YᵀY = n + σ².
    """
    gram = rows + square
    center = rows * mean_label / gram
    residual = gram - (rows * mean_label) ** 2 / gram
    return center, math.sqrt(residual / gram / mixtures)


def middle_excess(rows: int, mixtures: int, square: float) -> float:
    """The median of n(1 − θ)² for n rows x = y = 1, noise of variance `square`."""
    center, scale = ridge_and_spread(rows, 1.0, mixtures, square)

    def beyond(half: float) -> float:
        ends = [(1.0 + sign * half - center) / scale for sign in (1.0, -1.0)]
        return float(stdtr(mixtures, ends[0]) - stdtr(mixtures, ends[1])) - 0.5

    return rows * float(brentq(beyond, 0.0, 1.0 + 100.0 * scale)) ** 2
