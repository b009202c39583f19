"""Noisy second moments of rows, and the ridge regression that is solved from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.triangular import symmetric_matrix, upper_triangle
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.laws import CHUNK, GaussianNoise, ShiftRows
from dpaudit.mechanisms.base import Sampler
from dpaudit.mechanisms.second_moment import SufficientStatistics
from dpaudit.papers.algorithm import ReplacementAlgorithm

RELEASES = ("coef", "statistics")


@dataclass(frozen=True, eq=False, repr=False)
class NoisyMoments:
    """AᵀA/n + G and Aᵀy/n + g, with A and y the columns of `rows`.

    rows : (n, d + 1) as they are cut, label last. sigmas : deviations of the entries of G and g.
    penalty : (d, d), added to AᵀA/n. back : (d, d); back times the solution is the coefficient.
    """

    rows: Array
    sigmas: tuple[float, float]
    penalty: Array
    back: Array

    @property
    def law(self) -> GaussianNoise:
        """The law of the upper triangle of AᵀA/n + G, and of Aᵀy/n + g."""
        features, label = self.rows[:, :-1], self.rows[:, -1]
        gram = upper_triangle((features.T @ features / len(label))[None])[0]
        cross = features.T @ label / len(label)
        deviation = np.repeat(self.sigmas, [len(gram), len(cross)])
        return GaussianNoise(np.concatenate([gram, cross]), deviation)

    def coef(self, statistics: Array) -> Array:
        """(size, d) from the noisy statistics (size, d(d + 1)/2 + d)."""
        dim = self.rows.shape[1] - 1
        gram = symmetric_matrix(statistics[:, :-dim], dim) + self.penalty
        return np.asarray(np.linalg.solve(gram, statistics[:, -dim:, None])[:, :, 0] @ self.back.T)


class RidgeAlgorithm(ReplacementAlgorithm):
    """An algorithm that releases noisy moments of cut rows, or what is solved from them.

    Subclasses give `moments`.
    """

    regression: ClassVar[bool] = True
    paper: ClassVar[int] = 2
    claimed: ClassVar[str] = "√2·μ-GDP"
    unknown: ClassVar[str] = (
        "the coefficient is worked out of noisy moments; "
        'release="statistics" has a spectrum, which bounds it'
    )

    mu: float
    ridge: float
    release: str

    def moments(self, data: Array) -> NoisyMoments:
        """The moments of these data with the noise that is added to them."""
        raise NotImplementedError

    @property
    def claim(self) -> Claim:
        """√2·μ-GDP: μ for each of two releases."""
        return Claim.gdp(math.sqrt(2.0) * self.mu)

    def check_ridge(self) -> None:
        """Raises `InvalidInput` for a wrong penalty or release."""
        check.real("ridge", self.ridge, 0.0)
        check.choice("release", self.release, RELEASES)

    def check_release(self) -> None:
        """Raises `NoExactSpectrum` where the coefficient is released."""
        if self.release != "statistics":
            raise self.no_exact_spectrum()

    def law(self, data: Array) -> GaussianNoise:
        """The law of the noisy moments. Raises `NoExactSpectrum` for the coefficient."""
        self.check_release()
        return self.moments(data).law

    def prepare(self, data: Array) -> Sampler:
        """The law of the noisy moments, or what is solved from them."""
        moments = self.moments(data)
        law = moments.law
        if self.release == "statistics":
            return law.sample

        def sample(size: int, rng: np.random.Generator) -> Array:
            steps = (min(CHUNK, size - start) for start in range(0, size, CHUNK))
            return np.concatenate([moments.coef(law.sample(step, rng)) for step in steps])

        return sample

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Coefficients (size, d), or the noisy moments (size, d(d + 1)/2 + d)."""
        return self.prepare(data)(size, rng)


def shift_rows(moments: NoisyMoments, candidates: Array) -> ShiftRows:
    """The pairs in which a candidate replaces a row; the candidates are already cut.

    The average of n rows with noise σ has the same privacy as their sum with noise n·σ.
    """
    count = len(moments.rows)
    noisy = SufficientStatistics(*(count * sigma for sigma in moments.sigmas))
    return noisy.replaced_rows(moments.rows, candidates)
