"""Sums of whole numbers with noise that is a whole number itself."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpaudit import laws
from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.mechanisms.base import LawMechanism
from dpaudit.mechanisms.parameters import Positive


@value_class(show_numbers=True, eq=True)
class DiscreteLaplace(LawMechanism):
    """Release the column sums of whole numbers (n, k) with discrete Laplace noise.

    Each sum gets noise z with probability ∝ ``e^{−|z|/scale}``, so that sums that move by Δ in all
    lose Δ/scale (the geometric mechanism of Ghosh, Roughgarden & Sundararajan 2009). Output: (size,
    k).

    Examples
    --------
    >>> import dpaudit as dp
    >>> pair = dp.neighbours.remove_row([[1], [0], [1]], 0)
    >>> noisy = dp.mechanisms.DiscreteLaplace(scale=2.0)
    >>> print(dp.exact.spectrum(noisy, pair, [0.0, 0.25, 0.5]).delta)
    [0.24491866 0.13768752 0.        ]
    """

    scale: Positive
    summary: ClassVar[str] = "sums of whole numbers plus discrete Laplace noise"
    zero_rows_matter = False

    def law(self, data: Array) -> laws.DiscreteLaplace:
        sums = whole_sums(data)
        return laws.DiscreteLaplace(sums, np.full(len(sums), self.scale))


@value_class(show_numbers=True, eq=True)
class DiscreteGaussian(LawMechanism):
    """Release the column sums of whole numbers (n, k) with discrete Gaussian noise.

    Each sum gets noise z with probability ∝ ``e^{−z²/(2σ²)}`` (Canonne, Kamath & Steinke 2020).
    Output: (size, k).
    """

    sigma: Positive
    summary: ClassVar[str] = "sums of whole numbers plus discrete Gaussian noise"
    zero_rows_matter = False

    def law(self, data: Array) -> laws.DiscreteGaussian:
        sums = whole_sums(data)
        return laws.DiscreteGaussian(sums, np.full(len(sums), self.sigma))


def whole_sums(data: Array) -> Array:
    """Raises `InvalidInput` for other numbers."""
    data = check.matrix("data", data)
    if not (data == np.round(data)).all():
        fail("data", Words("fractions"), "whole numbers")
    return np.asarray(data.sum(axis=0))
