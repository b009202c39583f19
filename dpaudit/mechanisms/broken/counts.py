"""Noise on counts and bits with a wrong constant."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.laws import Product
from dpaudit.mechanisms.example import PureExample, column, pair_of
from dpaudit.mechanisms.parameters import Positive, UpToOne
from dpaudit.mechanisms.textbook.additive import NoisyHistogram1
from dpaudit.mechanisms.textbook.counts import TruncatedGeometric
from dpaudit.mechanisms.textbook.responses import bits_law
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class NoisyHistogram2(NoisyHistogram1):
    """Counts plus Laplace noise of scale ε where 1/ε is right: it is (1/ε)-DP.

    Data: the counts, (n, 1). Output: (size, n).
    """

    sound = False
    source = "Ding et al. 2018, algorithm 10"
    summary = "a histogram plus Laplace noise of the inverse scale"

    @property
    def scale(self) -> float:
        """ε."""
        return self.epsilon


@dataclass(frozen=True)
class NaturalLogGeometric(TruncatedGeometric):
    """GeoSample with k = ⌈ln(2/ε)⌉ where log₂ is meant.

    It is ln(1 + 2^{−k})-DP, which is 0.118 for ε = 0.1. Output: (size, 1).
    """

    sound = False
    source = "Balcer & Vadhan 2018, algorithm 4.8, as coded by Bichsel et al. 2021"
    summary = "truncated geometric noise with the wrong logarithm"

    @property
    def claim(self) -> Claim:
        """ε-DP."""
        return Claim(self.epsilon)

    @property
    def exponent(self) -> int:
        """k, with the natural logarithm."""
        return math.ceil(math.log(2.0 / self.epsilon))


@dataclass(frozen=True)
class UnequalCoin(PureExample):
    """Randomised response that keeps a 1 as it should, but flips a 0 with probability `flip`.

    A 1 is kept with probability e^ε/(1 + e^ε). Data: bits, (n, 1). Output: (size, n).
    """

    epsilon: Positive = 1.0
    flip: UpToOne = 0.1
    sound = False
    source = "Warner 1965 with two coins"
    summary = "randomised response with an unequal coin"

    def _one(self, bits: Array) -> Array:
        """P(1 is reported)."""
        return np.where(bits == 1.0, 1.0 / (1.0 + np.exp(-self.epsilon)), self.flip)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Each bit drawn anew."""
        bits = column(data)
        return (rng.random((size, len(bits))) < self._one(bits)).astype(np.float64)

    def law(self, data: Array) -> Product:
        """Independent bits."""
        return bits_law(self._one(column(data)))

    def pair(self) -> NeighbourPair:
        """Three bits, of which the first differs."""
        return pair_of([1.0, 0.0, 1.0], [0.0, 0.0, 1.0])
