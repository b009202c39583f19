"""Noise added to answers: Laplace, Gaussian, a histogram, several releases, prefix sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core.check import Array
from dpaudit.curves import readings
from dpaudit.curves.claims import Claim
from dpaudit.laws import GaussianNoise
from dpaudit.laws import Laplace as LaplaceLaw
from dpaudit.mechanisms.specimen import PureClaim, Specimen, column, pair_of
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class Laplace(PureClaim):
    """One answer plus Laplace noise of scale 1/ε; data: the answer, (1, 1), of sensitivity 1.
    Output: (size, 1).
    """

    epsilon: float = 0.1
    sound: ClassVar[bool] = True
    source: ClassVar[str] = "Dwork, McSherry, Nissim & Smith 2006"
    summary: ClassVar[str] = "an answer plus Laplace noise"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        answers = column(data)
        return answers + rng.laplace(0.0, 1.0 / self.epsilon, (size, len(answers)))

    def law(self, data: Array) -> LaplaceLaw:
        answers = column(data)
        return LaplaceLaw(answers, np.full(len(answers), 1.0 / self.epsilon))

    def pair(self) -> NeighbourPair:
        return pair_of([1.0], [2.0])


@dataclass(frozen=True)
class NoisyHistogram1(Laplace):
    """Counts plus Laplace noise of scale 1/ε; one count differs by 1. Output: (size, n)."""

    source: ClassVar[str] = "Ding et al. 2018, algorithm 9"
    summary: ClassVar[str] = "a histogram plus Laplace noise"

    def pair(self) -> NeighbourPair:
        return pair_of([1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0, 1.0])


@dataclass(frozen=True)
class LaplaceParallel(Specimen):
    """The same answer released several times, each with Laplace noise of scale 1/ε: (copies·ε)-DP.
    (size, copies).
    """

    epsilon: float = 0.005
    copies: int = 20
    sound: ClassVar[bool] = True
    source: ClassVar[str] = "Bichsel et al. 2021, LaplaceParallel"
    summary: ClassVar[str] = "one answer with Laplace noise, many times"

    @property
    def claim(self) -> Claim:
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
class PrefixSum(Specimen):
    """Running sums of noisy answers, each with Laplace noise of scale 1/ε. Output: (size, n).

    It tells as much as the noisy answers do: ε where one of them differs, n·ε (claimed here) where
    all may, by 1.
    """

    epsilon: float = 0.1
    sound: ClassVar[bool] = True
    source: ClassVar[str] = (
        "Wang et al. 2019, PrefixSum; all answers may differ as in Bichsel et al. 2021"
    )
    summary: ClassVar[str] = "running sums of noisy answers"
    answers: int = 10

    @property
    def claim(self) -> Claim:
        return Claim(self.answers * self.epsilon)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        answers = column(data)
        return np.cumsum(
            answers + rng.laplace(0.0, 1.0 / self.epsilon, (size, len(answers))), axis=1
        )

    def law(self, data: Array) -> LaplaceLaw:
        """Of the differences of the output, which are as many numbers and tell the same (`view`)."""
        answers = column(data)
        return LaplaceLaw(answers, np.full(len(answers), 1.0 / self.epsilon))

    def view(self, x: Array) -> Array:
        """The numbers of which `law` is the law, from outputs (m, n)."""
        return np.diff(x, axis=1, prepend=0.0)

    def pair(self) -> NeighbourPair:
        return pair_of([1.0] * self.answers, [0.0] * self.answers)


@dataclass(frozen=True)
class Gaussian(Specimen):
    """A sum plus N(0, σ²), σ the least that is (ε, δ)-DP for that sensitivity (Balle & Wang 2018).
    Output: (size, 1).

    Data: one column; rows differ by at most `sensitivity`.
    """

    epsilon: float = 1.0
    delta: float = 1e-3
    sensitivity: float = 1.0
    sound: ClassVar[bool] = True
    source: ClassVar[str] = "Balle & Wang 2018, the analytic Gaussian mechanism"
    summary: ClassVar[str] = "a sum plus Gaussian noise, calibrated exactly"

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon, self.delta)

    def right_noise(self, sensitivity: float) -> float:
        """σ: a shift by `sensitivity` is one by the μ whose δ(ε) is δ."""
        return sensitivity / float(readings.gdp_mu(np.array(self.epsilon), np.array(self.delta)))

    def noise(self, data: Array) -> float:
        """The standard deviation used."""
        return self.right_noise(self.sensitivity)

    def answer(self, data: Array) -> float:
        return float(column(data).sum())

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.answer(data) + self.noise(data) * rng.standard_normal((size, 1))

    def law(self, data: Array) -> GaussianNoise:
        return GaussianNoise(np.array([self.answer(data)]), np.array([self.noise(data)]))

    def pair(self) -> NeighbourPair:
        rest = [0.0] * 9
        return pair_of([*rest, 0.0], [*rest, self.sensitivity])
