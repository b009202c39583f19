"""A count with truncated geometric noise, computed in whole numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.laws import Discrete
from dpaudit.mechanisms.example import ExampleMechanism, column, pair_of
from dpaudit.mechanisms.parameters import Count, Positive
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class TruncatedGeometric(ExampleMechanism):
    """GeoSample: a count c in 0, …, n, by inversion of the distribution function in whole numbers.

    Data: the count, (1, 1). Output: (size, 1).

    Parameters
    ----------
    epsilon : float > 0, nats
        ε. With k = ⌈log₂(2/ε)⌉ it is ln(1 + 2^{−k})-DP, as claimed here, hence ε-DP.
    limit : int
        The largest count, n.
    """

    epsilon: Positive = 0.1
    limit: Count = 5
    sound = True
    source = "Balcer & Vadhan 2018, algorithm 4.8"
    summary = "truncated geometric noise on a count, in whole numbers"

    @property
    def exponent(self) -> int:
        """k, with a logarithm to base 2."""
        return math.ceil(math.log2(2.0 / self.epsilon))

    @property
    def claim(self) -> Claim:
        """ln(1 + 2^{−k})-DP."""
        return Claim(math.log1p(2.0**-self.exponent))

    def below(self, data: Array) -> list[int]:
        """F(z) for z = 0, …, n: how many of the whole numbers 1, …, F(n) give at most z.

        Raises `InvalidInput` for a count outside 0, …, n.
        """
        count, n, k = int(column(data)[0]), self.limit, self.exponent
        if not 0 <= count <= n:
            fail("data", Words("another"), f"a count in 0, ..., {n}")
        total = (2 ** (k + 1) + 1) * (2**k + 1) ** (n - 1)
        down = [2 ** (k * (count - z)) * (2**k + 1) ** (n - (count - z)) for z in range(count)]
        up = [
            total - 2 ** (k * (z - count + 1)) * (2**k + 1) ** (n - 1 - (z - count))
            for z in range(count, n)
        ]
        return [*down, *up, total]

    def law(self, data: Array) -> Discrete:
        """Probabilities (F(z) − F(z − 1))/F(n)."""
        below = self.below(data)
        steps = [b - a for a, b in zip([0, *below[:-1]], below, strict=True)]
        return Discrete(
            np.arange(float(len(below))), np.log(np.array([step / below[-1] for step in steps]))
        )

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """A uniform whole number from 1 to F(n), and the least z with F(z) at least that."""
        below = self.below(data)
        u = rng.integers(1, below[-1] + 1, size)
        return np.searchsorted(np.array(below), u, side="left").astype(np.float64)[:, None]

    def pair(self) -> NeighbourPair:
        """Counts 2 and 1."""
        return pair_of([2.0], [1.0])
