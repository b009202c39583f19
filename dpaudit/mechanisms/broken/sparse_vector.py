"""Broken sparse vector techniques, numbered as by Lyu, Su & Li 2017: 3 to 6, and 3 beside 4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.laws import Product, ReleasedAnswers
from dpaudit.laws.base import Law
from dpaudit.laws.sparse_vector import noiseless_law, unlimited_law
from dpaudit.mechanisms.example import column, swapped_halves
from dpaudit.mechanisms.parameters import Count
from dpaudit.mechanisms.textbook.sparse_vector import SparseVector
from dpaudit.neighbours import NeighbourPair


@dataclass(frozen=True)
class SparseVector3(SparseVector):
    """Releases the noisy answer that reached the threshold, which bounds the noisy threshold.

    Threshold noise 1/ε₁, query noise c/ε₂, ε₁ = ε₂ = ε/2.

    Output: (size, n + 1), the number of queries answered, then the answer of each one above, NaN
    elsewhere.
    """

    sound = False
    source = "Lyu, Su & Li 2017, algorithm 3 (Roth's lecture notes 2011)"
    summary = "sparse vector technique 3: the tested answer is released"

    @property
    def scales(self) -> tuple[float, float]:
        """1/ε₁ and c/ε₂ with ε₁ = ε₂ = ε/2."""
        return 2.0 / self.epsilon, 2.0 * self.most / self.epsilon

    def law(self, data: Array) -> Law:
        return ReleasedAnswers(self.comparison(data), self.most)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Query by query for all draws at once."""
        queries = column(data)
        out = np.full((size, len(queries) + 1), np.nan)
        count, done = np.zeros(size), np.zeros(size)
        rho = rng.laplace(0.0, self.threshold_noise, size)
        for i, query in enumerate(queries):
            running, answer = count < self.most, query + rng.laplace(0.0, self.query_noise, size)
            above = running & (answer >= self.threshold + rho)
            out[above, i + 1] = answer[above]
            count, done = count + above, done + running
        out[:, 0] = done
        return out


@dataclass(frozen=True)
class SparseVector4(SparseVector):
    """ε₁ = ε/4 and query noise 1/ε₂ whatever c is: ((1 + 6c)/4·ε)-DP (Lee & Clifton 2014)."""

    sound = False
    source = "Lyu, Su & Li 2017, algorithm 4 (Lee & Clifton 2014)"
    summary = "sparse vector technique 4: query noise that forgets how many are released"

    @property
    def scales(self) -> tuple[float, float]:
        """1/ε₁ and 1/ε₂ with ε₁ = ε/4 and ε₂ = 3ε/4."""
        return 4.0 / self.epsilon, 4.0 / (3.0 * self.epsilon)


@dataclass(frozen=True)
class SparseVector5(SparseVector):
    """No noise on the queries, and no halt.

    If two answers are in opposite order on the two databases, the output that one database gives
    when the noisy threshold falls between them is impossible on the other. Output: (size, n).
    """

    sound = False
    source = "Lyu, Su & Li 2017, algorithm 5 (Stoddard, Chen & Machanavajjhala 2014)"
    summary = "sparse vector technique 5: queries without noise"

    @property
    def scales(self) -> tuple[float, float]:
        """1/ε₁ with ε₁ = ε/2; the queries have no noise."""
        return 2.0 / self.epsilon, 0.0

    def law(self, data: Array) -> Law:
        """The threshold falls between two of the sorted answers."""
        return noiseless_law(column(data), self.threshold, self.threshold_noise)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rho = rng.laplace(0.0, self.threshold_noise, (size, 1))
        return (column(data) >= self.threshold + rho).astype(np.float64)


@dataclass(frozen=True)
class SparseVector6(SparseVector):
    """Query noise 1/ε₂ and no halt: every answer costs privacy. Output: (size, n)."""

    sound = False
    source = "Lyu, Su & Li 2017, algorithm 6 (Chen et al. 2015)"
    summary = "sparse vector technique 6: any number of answers"

    @property
    def scales(self) -> tuple[float, float]:
        """1/ε₁ and 1/ε₂ with ε₁ = ε₂ = ε/2."""
        return 2.0 / self.epsilon, 2.0 / self.epsilon

    def law(self, data: Array) -> Law:
        return unlimited_law(self.comparison(data))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        queries = column(data)
        rho = rng.laplace(0.0, self.threshold_noise, (size, 1))
        noisy = queries + rng.laplace(0.0, self.query_noise, (size, len(queries)))
        return (noisy >= self.threshold + rho).astype(np.float64)

    def pair(self) -> NeighbourPair:
        return swapped_halves()


@dataclass(frozen=True)
class SVT34Parallel(SparseVector):
    """Techniques 3 and 4 on the same queries, side by side. Output: (size, 2n + 2)."""

    most: Count = 2
    sound = False
    source = "Bichsel et al. 2021, SVT34Parallel"
    summary = "sparse vector techniques 3 and 4 side by side"

    @property
    def _both(self) -> tuple[SparseVector3, SparseVector4]:
        parameters = (self.epsilon, self.most, self.threshold)
        return SparseVector3(*parameters), SparseVector4(*parameters)

    def law(self, data: Array) -> Product:
        return Product(tuple(part.law(data) for part in self._both))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.hstack([part.run(data, size, rng) for part in self._both])
