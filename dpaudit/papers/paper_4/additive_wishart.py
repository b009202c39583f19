"""Additive Wishart noise, with and without section 4's shifts: paper 4, algorithm 3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.triangular import upper_triangle
from dpaudit._core.types import Array
from dpaudit.laws import ShiftedWishart
from dpaudit.mechanisms.wishart import AdditiveWishart
from dpaudit.papers.algorithm import KnownAddedRow
from dpaudit.papers.data import within
from dpaudit.papers.paper_4 import random_moments
from dpaudit.papers.paper_4.matrix_release import MatrixRelease, Moments, order
from dpaudit.papers.paper_4.printed import algorithm_3_dof


@dataclass(frozen=True)
class AdditiveWishartNoise(KnownAddedRow, MatrixRelease):
    """M = AᵀA + Σvᵢvᵢᵀ with k random rows vᵢ ~ N(0, B²I) (paper 4, algorithm 3).

    k = ⌊d + (14/ε²)·2 ln(4/δ)⌋. Output: (size, d(d+1)/2), upper triangles.

    Parameters
    ----------
    epsilon : float > 0, nats
        ε of the claim.
    delta : float in (0, 1/e)
        δ of the claim.
    row_bound : float > 0, default 1
        B, a public bound on the row norms, label included.
    shift : bool, default False
        Release `shifted` matrices instead, as section 4 does for its experiments. This is
        post-processing of M.
    variant : {"printed", "corrected"}, default "printed"
        "corrected": k as for ε = 1 where ε is larger. Theorem 4.1 requires ε < 1, but the algorithm
        takes any ε.
    sampler : {"sufficient", "literal"}, default "sufficient"
        "sufficient" (Bartlett factors) or "literal" (k rows a draw).

    Raises
    ------
    InvalidInput
        When a parameter is not as described, or a row is beyond the bound.
    """

    epsilon: float
    delta: float
    row_bound: float = 1.0
    shift: bool = False
    variant: str = "printed"
    sampler: str = "sufficient"
    statement: ClassVar[str] = "algorithm 3, additive Wishart noise"
    summary: ClassVar[str] = (
        "the second moments plus those of some random rows (paper 4, algorithm 3)"
    )
    unknown: ClassVar[str] = (
        "how far M is shifted depends on M; M's own spectrum (shift=False) is an upper bound"
    )
    correction: ClassVar[str] = "k as for ε = 1 where ε is more"

    def __post_init__(self) -> None:
        self.check_budget(math.exp(-1.0))
        check.boolean("shift", self.shift)

    def dof(self, dim: int) -> int:
        """k, for d columns."""
        epsilon = min(self.epsilon, 1.0) if self.variant == "corrected" else self.epsilon
        return algorithm_3_dof(dim, epsilon, self.delta)

    def known(self, data: Array) -> AdditiveWishart:
        """M. Raises `NoExactSpectrum` for the shifted form."""
        if self.shift:
            raise self.no_exact_spectrum()
        return self._noise(data)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Upper triangles, (size, d(d + 1)/2)."""
        law, dim = self._noise(data).law(data), data.shape[1]
        if self.sampler == "sufficient":
            draws = law.sample(size, rng)
        else:
            scale, k = self.row_bound * np.eye(dim), self.dof(dim)
            noise = [random_moments.literal_gram(scale, k, rng) for _ in range(size)]
            draws = upper_triangle(law.shift + np.array(noise))
        return self.shifted(draws) if self.shift else draws

    def of_moments(self, moments: Moments, size: int, rng: np.random.Generator) -> Array:
        """Upper triangles for data with these moments."""
        dim = len(moments.gram)
        law = ShiftedWishart(moments.gram, self.row_bound * np.eye(dim), self.dof(dim))
        draws = law.sample(size, rng)
        return self.shifted(draws) if self.shift else draws

    def shifted(self, draws: Array) -> Array:
        """M − kB²·I where that is positive definite, else M − B²(√k − √d − √(2 ln(4/δ)))²·I.

        Section 4.
        """
        dim = order(draws)
        k, square = self.dof(dim), self.row_bound**2
        margin = math.sqrt(dim) + math.sqrt(2.0 * math.log(4.0 / self.delta))
        least = square * (math.sqrt(k) - margin) ** 2
        amount = np.where(random_moments.smallest(draws, dim) > k * square, k * square, least)
        return random_moments.raised(draws, dim, -amount)

    def _noise(self, data: Array) -> AdditiveWishart:
        within(data, self.row_bound)
        return AdditiveWishart(self.dof(data.shape[1]), self.row_bound)
