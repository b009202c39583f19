"""Noise added to answers: Laplace, Gaussian, several releases, geometric noise on a count."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit.curves import readings
from dpaudit.curves.claims import Claim
from dpaudit.laws import Discrete, GaussianNoise
from dpaudit.laws import Laplace as LaplaceLaw
from dpaudit.mechanisms.example import ExampleMechanism, PureExample, column, pair_of
from dpaudit.mechanisms.parameters import Count, Positive, UpToOne
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class Laplace(PureExample):
    """One answer of sensitivity 1 plus Laplace noise of scale 1/ε.

    Data: the answer, (1, 1). Output: (size, 1).
    """

    epsilon: Positive = 0.1
    sound = True
    source = "Dwork, McSherry, Nissim & Smith 2006"
    summary = "an answer plus Laplace noise"

    @property
    def scale(self) -> float:
        """The scale 1/ε of the noise."""
        return 1.0 / self.epsilon

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        answers = column(data)
        return answers + rng.laplace(0.0, self.scale, (size, len(answers)))

    def law(self, data: Array) -> LaplaceLaw:
        """The law of `view`: Laplace about the answers."""
        answers = column(data)
        return LaplaceLaw(answers, np.full(len(answers), self.scale))

    def pair(self) -> NeighbourPair:
        return pair_of([1.0], [2.0])


@dataclass(frozen=True)
class NoisyHistogram1(Laplace):
    """Counts plus Laplace noise of scale 1/ε; a neighbour differs by 1 in one count.

    Data: the counts, (n, 1). Output: (size, n).
    """

    source = "Ding et al. 2018, algorithm 9"
    summary = "a histogram plus Laplace noise"

    def pair(self) -> NeighbourPair:
        return pair_of([1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0, 1.0])


@dataclass(frozen=True)
class LaplaceParallel(ExampleMechanism):
    """The same answer released several times, each with Laplace noise of scale 1/ε: (copies·ε)-DP.

    Data: the answer, (1, 1). Output: (size, copies).
    """

    epsilon: Positive = 0.005
    copies: Count = 20
    sound = True
    source = "Bichsel et al. 2021, LaplaceParallel"
    summary = "one answer with Laplace noise, many times"

    @property
    def claim(self) -> Claim:
        """(copies·ε)-DP, by composition."""
        return Claim(self.copies * self.epsilon)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return column(data) + rng.laplace(0.0, 1.0 / self.epsilon, (size, self.copies))

    def law(self, data: Array) -> LaplaceLaw:
        return LaplaceLaw(
            np.repeat(column(data), self.copies), np.full(self.copies, 1.0 / self.epsilon)
        )

    def pair(self) -> NeighbourPair:
        return pair_of([1.0], [0.0])


@dataclass(frozen=True)
class PrefixSum(Laplace):
    """Running sums of noisy answers, each with Laplace noise of scale 1/ε.

    They determine the noisy answers and are determined by them. So the release is ε-DP where one
    answer may differ by 1, and n·ε-DP (claimed here) where all may.

    Data: the answers, (n, 1). Output: (size, n).
    """

    source = "Wang et al. 2019, PrefixSum; all answers may differ as in Bichsel et al. 2021"
    summary = "running sums of noisy answers"
    answers: Count = 10

    @property
    def claim(self) -> Claim:
        """(n·ε)-DP, since all answers may differ."""
        return Claim(self.answers * self.epsilon)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.cumsum(super().run(data, size, rng), axis=1)

    def view(self, x: Array) -> Array:
        """The noisy answers, from outputs (m, n): the differences of neighbouring sums."""
        return np.diff(x, axis=1, prepend=0.0)

    def pair(self) -> NeighbourPair:
        return pair_of([1.0] * self.answers, [0.0] * self.answers)


@dataclass(frozen=True)
class Gaussian(ExampleMechanism):
    """A sum plus N(0, σ²), with the least σ that is (ε, δ)-DP for the sensitivity.

    Source of σ: Balle & Wang 2018. Data: one column, whose rows differ by at most `sensitivity`.
    Output: (size, 1).
    """

    epsilon: Positive = 1.0
    delta: UpToOne = 1e-3
    sensitivity: Positive = 1.0
    sound = True
    source = "Balle & Wang 2018, the analytic Gaussian mechanism"
    summary = "a sum plus Gaussian noise, calibrated exactly"

    def calibrated_noise(self, sensitivity: float) -> float:
        """σ such that a shift by `sensitivity` is one by μ·σ, for the μ whose δ(ε) is δ."""
        return sensitivity / float(readings.gdp_mu(np.array(self.epsilon), np.array(self.delta)))

    def noise(self, data: Array) -> float:
        """The standard deviation used; broken variants use another."""
        return self.calibrated_noise(self.sensitivity)

    def answer(self, data: Array) -> float:
        """The sum of the rows."""
        return float(column(data).sum())

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.answer(data) + self.noise(data) * rng.standard_normal((size, 1))

    def law(self, data: Array) -> GaussianNoise:
        return GaussianNoise(np.array([self.answer(data)]), np.array([self.noise(data)]))

    def pair(self) -> NeighbourPair:
        """Sums that differ by the sensitivity."""
        rest = [0.0] * 9
        return pair_of([*rest, 0.0], [*rest, self.sensitivity])


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
        return pair_of([2.0], [1.0])
