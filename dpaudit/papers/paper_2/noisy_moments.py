"""Gram matrix and cross moment of rows plus Gaussian noise, and the ridge regression that is solved
from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit.curves.claims import Claim
from dpaudit.errors import NoExactSpectrum
from dpaudit.laws import CHUNK, GaussianNoise, ShiftRows
from dpaudit.laws._root import symmetric, triangle
from dpaudit.mechanisms.base import Sampler
from dpaudit.mechanisms.second_moment import SufficientStatistics
from dpaudit.papers.algorithm import Algorithm

RELEASES = ("coef", "statistics")


@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """AᵀA/n + G and Aᵀy/n + g of `rows` (n, d + 1), label last, as they are cut; G and g have
    deviations `sigmas`.

    penalty (d, d) is added to the Gram matrix; the solution times `back` (d, d) is the coefficient.
    """

    rows: Array
    sigmas: tuple[float, float]
    penalty: Array
    back: Array

    @property
    def law(self) -> GaussianNoise:
        features, label = self.rows[:, :-1], self.rows[:, -1]
        gram = triangle((features.T @ features / len(label))[None])[0]
        cross = features.T @ label / len(label)
        deviation = np.repeat(self.sigmas, [len(gram), len(cross)])
        return GaussianNoise(np.concatenate([gram, cross]), deviation)

    def coef(self, statistics: Array) -> Array:
        """(size, d) from the noisy statistics (size, d(d + 1)/2 + d)."""
        dim = self.rows.shape[1] - 1
        gram = symmetric(statistics[:, :-dim], dim) + self.penalty
        return np.asarray(np.linalg.solve(gram, statistics[:, -dim:, None])[:, :, 0] @ self.back.T)


class TruncatedRidge(Algorithm):
    """A box that releases noisy moments of cut rows, and what is solved from them."""

    paper: ClassVar[int] = 2
    claimed: ClassVar[str] = "√2·μ-GDP"
    relation: ClassVar[str] = "replace"
    unknown: ClassVar[str] = (
        'the coefficient is worked out of noisy moments; release="statistics" has a spectrum, which bounds it'
    )

    mu: float
    ridge: float
    release: str

    def moments(self, data: Array) -> NoisyMoments:
        """What is released of these data, before the noise."""
        raise NotImplementedError

    @property
    def claim(self) -> Claim:
        return Claim.gdp(math.sqrt(2.0) * self.mu)

    def check_ridge(self) -> None:
        check.real("ridge", self.ridge, 0.0)
        check.choice("release", self.release, RELEASES)

    def law(self, data: Array) -> GaussianNoise:
        self._known()
        return self.moments(data).law

    def prepare(self, data: Array) -> Sampler:
        moments = self.moments(data)
        law = moments.law
        if self.release == "statistics":
            return law.sample

        def sample(size: int, rng: np.random.Generator) -> Array:
            steps = (min(CHUNK, size - start) for start in range(0, size, CHUNK))
            return np.concatenate([moments.coef(law.sample(step, rng)) for step in steps])

        return sample

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.prepare(data)(size, rng)

    def _known(self) -> None:
        if self.release != "statistics":
            raise NoExactSpectrum(f"{self.name} has no exact spectrum: {self.unknown}")


def shift_rows(moments: NoisyMoments, candidates: Array) -> ShiftRows:
    """Every row replaced by every candidate, cut already: sums of n rows with n times the noise
    shift as much.
    """
    count = len(moments.rows)
    noisy = SufficientStatistics(*(count * sigma for sigma in moments.sigmas))
    return noisy.replaced_rows(moments.rows, candidates)
