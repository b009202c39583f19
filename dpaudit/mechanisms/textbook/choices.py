"""Choices: report noisy max, and a private quantile by the exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_softmax

from dpaudit._core.types import Array
from dpaudit.laws import Discrete, Law
from dpaudit.laws.density import EXPONENTIAL, LAPLACE, Noise, largest_index
from dpaudit.mechanisms.example import PureExample, column, pair_of
from dpaudit.mechanisms.parameters import Count, Finite, Positive
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class ReportNoisyMax1(PureExample):
    """The index of the largest answer after Laplace noise of scale 2/ε.

    Data: answers that differ by at most 1 between neighbours, (n, 1). Output: (size, 1).
    """

    epsilon: Positive = 0.1
    noise: ClassVar[Noise] = LAPLACE
    sound = True
    source = "Ding et al. 2018, algorithm 5"
    summary = "report noisy max, Laplace noise"

    def noisy(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The answers plus noise, (size, n)."""
        answers = column(data)
        return answers + self.noise.sample(rng, 2.0 / self.epsilon, (size, len(answers)))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.noisy(data, size, rng).argmax(axis=1, keepdims=True).astype(np.float64)

    def law(self, data: Array) -> Law:
        return largest_index(column(data), self.noise, 2.0 / self.epsilon)

    def pair(self) -> NeighbourPair:
        return pair_of([1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 2.0, 2.0, 2.0, 2.0])


@dataclass(frozen=True)
class ReportNoisyMax2(ReportNoisyMax1):
    """The index of the largest answer after exponential noise of scale 2/ε."""

    noise: ClassVar[Noise] = EXPONENTIAL
    source = "Ding et al. 2018, algorithm 6"
    summary = "report noisy max, exponential noise"


@dataclass(frozen=True)
class PrivateQuantile(PureExample):
    """A quantile on a grid of [0, 1] by the exponential mechanism.

    Point g has probability ∝ ``e^{εu(g)/2}``, ``u(g) = −|#{x ≤ g} − share·n|``. Data: (n, 1).
    Output: (size, 1).

    Parameters
    ----------
    epsilon : float > 0, nats
        ε.
    share : float in (0, 1)
        The share of the rows to lie below.
    points : int
        Number of grid points, which are the middles of as many cells.
    """

    epsilon: Positive = 2.0
    share: Finite = 0.5
    points: Count = 64
    sound = True
    source = "Smith 2011; McSherry & Talwar 2007, the exponential mechanism"
    summary = "a quantile on a grid by the exponential mechanism"

    @property
    def grid(self) -> Array:
        """The grid points, (points,)."""
        return (np.arange(self.points) + 0.5) / self.points

    def law(self, data: Array) -> Discrete:
        rows = np.sort(column(data))
        ranks = np.searchsorted(rows, self.grid, side="right")
        utility = -np.abs(ranks - self.share * len(rows))
        return Discrete(self.grid, np.asarray(log_softmax(0.5 * self.epsilon * utility)))

    def pair(self) -> NeighbourPair:
        """One row moves from 1 to 0, and so the part of the grid where utility is largest changes.

        Utility is largest at rank 10. The ranks are 9 on the first eighth of the grid and 10 on the
        others, against 10 and 11.
        """
        return pair_of([0.0] * 9 + [0.125] + [1.0] * 10, [0.0] * 10 + [0.125] + [1.0] * 9)
