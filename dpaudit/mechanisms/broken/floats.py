"""Laplace noise in floats by inversion: low bits of the sum reveal the answer (Mironov 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core.types import Array
from dpaudit.errors import NoExactSpectrum
from dpaudit.laws import Law
from dpaudit.mechanisms.example import PureExample, column, pair_of
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class FloatLaplace(PureExample):
    """answer ± ln(u)/ε in float64, u a multiple of 2⁻⁵³.

    Data: one whole number, (1, 1). Output: (size, 1).

    The noise has at most 2⁵⁴ values, with gaps between them. About 65 % of the outputs for the
    answer 0 are no output for the answer 1, and the reverse, so the pure ε is infinite and δ(ε) is
    that large at every ε. Some of them show it by their last bits: the sum of noise and a whole
    number other than 0 is a multiple of 2⁻⁵³, as noise of size ½ or more is one, and smaller noise
    is rounded to one by the addition; noise alone of size below ½ has finer bits.
    """

    epsilon: float = 0.1
    sound: ClassVar[bool] = False
    source: ClassVar[str] = "Mironov 2012"
    summary: ClassVar[str] = "Laplace noise in floats, whose low bits leak"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The answer plus noise by inversion of the distribution function."""
        sign = 1.0 - 2.0 * rng.integers(0, 2, (size, 1))
        return column(data)[0] + sign * np.log(1.0 - rng.random((size, 1))) / self.epsilon

    def law(self, data: Array) -> Law:
        """Always raises `NoExactSpectrum`: which floats two answers share has no closed form."""
        raise NoExactSpectrum(
            f"{self.name} has no exact spectrum: which floats two answers have in common is not "
            "known in closed form, and the law over the real numbers, that of textbook.Laplace, "
            "leaks less; use dpaudit.audit with bits=True"
        )

    def pair(self) -> NeighbourPair:
        """The answers 0 and 1."""
        return pair_of([0.0], [1.0])
