"""Correct noise that is wrongly handled.

It is used twice, kept between calls, clipped in place of the rows, added to NaN, or released where
only its effect on a choice may be.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.laws import Branches, Density, Discrete, Law, SharedLaplace
from dpaudit.laws.density import EXPONENTIAL, Noise, largest_value, panel_edges
from dpaudit.laws.vectors import laplace_log_cdf, laplace_log_density
from dpaudit.mechanisms.example import PureExample, column, pair_of
from dpaudit.mechanisms.parameters import Positive, UpToOne
from dpaudit.mechanisms.textbook.choices import ReportNoisyMax1
from dpaudit.neighbours import NeighbourPair

MOST_ROWS = 16  # the law has a term for each subset of the rows


@dataclass(frozen=True)
class ReusedNoise(PureExample):
    """Sums of the columns, with ONE draw of Laplace noise of scale k/ε added to each of them.

    Their differences are released without noise. Data: (n, k), entries in [0, 1]. Output: (size,
    k).
    """

    epsilon: Positive = 1.0
    sound = False
    source = "a common slip: one draw of noise for two queries"
    summary = "two sums with the same Laplace noise"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(
            data.sum(axis=0) + rng.laplace(0.0, data.shape[1] / self.epsilon, (size, 1))
        )

    def law(self, data: Array) -> SharedLaplace:
        return SharedLaplace(data.sum(axis=0), data.shape[1] / self.epsilon)

    def pair(self) -> NeighbourPair:
        """A row that changes one of two sums."""
        rest = [[1.0, 0.0], [1.0, 1.0]]
        return pair_of([[0.0, 1.0], *rest], [[0.0, 0.0], *rest])


@dataclass(frozen=True)
class CachedNoise(PureExample):
    """A sum plus Laplace noise of scale 1/ε, from a seed computed from the data.

    For the same data the output is always the same. Data: one column. Output: (size, 1).
    """

    epsilon: Positive = 1.0
    sound = False
    source = "a common slip: answers cached by a hash of the data"
    summary = "Laplace noise that is the same for the same data"

    def _answer(self, data: Array) -> float:
        digest = hashlib.sha256(np.ascontiguousarray(data).tobytes()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "little"))
        return float(column(data).sum() + rng.laplace(0.0, 1.0 / self.epsilon))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.full((size, 1), self._answer(data))

    def law(self, data: Array) -> Discrete:
        return Discrete(np.array([self._answer(data)]), np.zeros(1))

    def pair(self) -> NeighbourPair:
        return pair_of([1.0, 0.0, 1.0], [0.0, 0.0, 1.0])


@dataclass(frozen=True)
class LateClipping(PureExample):
    """The noisy sum is clipped to [0, nC], where the rows should be clipped to [0, C] before it.

    Laplace noise of scale C/ε. Data: one column. Output: (size, 1).
    """

    epsilon: Positive = 1.0
    bound: Positive = 1.0
    sound = False
    source = "a common slip: clipping after use"
    summary = "a noisy sum that is clipped instead of its rows"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = column(data)
        return np.clip(
            rows.sum() + rng.laplace(0.0, self.bound / self.epsilon, (size, 1)),
            0.0,
            len(rows) * self.bound,
        )

    def law(self, data: Array) -> Density:
        """Laplace about the sum, with atoms at the two ends."""
        total, high = float(column(data).sum()), len(data) * self.bound
        scale = self.bound / self.epsilon

        def log_p(x: Array) -> Array:
            return laplace_log_density((x - total) / scale) - np.log(scale)

        ends = panel_edges(np.clip(np.array([total]), 0.0, high), scale, low=0.0, high=high)
        atoms = laplace_log_cdf(np.array([-total, total - high]) / scale)
        return Density(log_p, ends, np.array([0.0, high]), atoms)

    def pair(self) -> NeighbourPair:
        """One row of 0, against 4, which is above C."""
        return pair_of([0.0, 0.0, 1.0, 1.0, 0.0], [4.0, 0.0, 1.0, 1.0, 0.0])


@dataclass(frozen=True)
class MissingPassed(PureExample):
    """A sum of ratios clipped to [0, 1] plus Laplace noise of scale 1/ε, through which NaN passes.

    A row 0/0 is NaN, and clipping does not change it. Data: (n, 2), numerators and denominators,
    n ≤ 16. Output: (size, 1), NaN when a NaN was kept.

    Parameters
    ----------
    epsilon : float > 0, nats
        ε.
    rate : float in (0, 1]
        Each row is kept with this probability, which amplifies the claim to ln(1 + rate·(e^ε − 1)).
    """

    epsilon: Positive = 1.0
    rate: UpToOne = 1.0
    sound = False
    source = "a common slip: a missing value passed through"
    summary = "a noisy sum of ratios through which NaN passes"

    @property
    def claim(self) -> Claim:
        """ε-DP, amplified by sampling."""
        return Claim(float(np.log1p(self.rate * np.expm1(self.epsilon))))

    def _ratios(self, data: Array) -> Array:
        data = check.matrix("data", data, 1, 2)
        if data.shape[1] != 2 or len(data) > MOST_ROWS:
            fail("data", Words(f"shape {data.shape}"), f"two columns and at most {MOST_ROWS} rows")
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.clip(data[:, 0] / data[:, 1], 0.0, 1.0)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        sampled = rng.random((size, len(data))) < self.rate
        sums = np.where(sampled, self._ratios(data), 0.0).sum(axis=1, keepdims=True)
        return np.asarray(sums + rng.laplace(0.0, 1.0 / self.epsilon, (size, 1)))

    def law(self, data: Array) -> Branches:
        """NaN, or Laplace noise about the sum of a random subset of the ratios."""
        ratios = self._ratios(data)
        missing = int(np.isnan(ratios).sum())
        with np.errstate(divide="ignore"):
            no_nan = missing * np.log1p(-self.rate) if missing else 0.0
            log_probability = np.array([no_nan, np.log(-np.expm1(no_nan))])
        parts = (self._kept(ratios[~np.isnan(ratios)]), None)
        return Branches(np.full((2, 1), np.nan), log_probability, ((0,), ()), parts)

    def _kept(self, ratios: Array) -> Density:
        """The law of the noisy sum when no NaN was kept."""
        sums = self._subset_sums(ratios)
        at, log_weight = np.array(list(sums)), np.log(list(sums.values()))
        log_scale = float(np.log(self.epsilon))

        def log_p(x: Array) -> Array:
            noise = laplace_log_density((x[:, None] - at) * self.epsilon)
            return np.asarray(logsumexp(noise + log_weight, axis=1) + log_scale)

        return Density(log_p, panel_edges(at, 1.0 / self.epsilon))

    def _subset_sums(self, ratios: Array) -> dict[float, float]:
        """The sums that a random subset of the ratios can have, with their probabilities."""
        sums = {0.0: 1.0}
        for ratio in ratios:
            moved: dict[float, float] = {}
            for total, chance in sums.items():
                moved[total] = moved.get(total, 0.0) + chance * (1.0 - self.rate)
                moved[total + ratio] = moved.get(total + ratio, 0.0) + chance * self.rate
            sums = {total: chance for total, chance in moved.items() if chance > 0.0}
        return sums

    def pair(self) -> NeighbourPair:
        return pair_of([[1.0, 2.0], [0.0, 4.0]], [[1.0, 2.0], [0.0, 0.0]])


@dataclass(frozen=True)
class ReportNoisyMax3(ReportNoisyMax1):
    """The value, not the index, of the largest answer after Laplace noise of scale 2/ε.

    The privacy loss reaches n·ε/2 in the lower tail of the output. Data: answers, (n, 1). Output:
    (size, 1).
    """

    sound = False
    source = "Ding et al. 2018, algorithm 7"
    summary = "noisy max released as a number, Laplace noise"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(self.noisy(data, size, rng).max(axis=1)[:, None])

    def law(self, data: Array) -> Law:
        return largest_value(column(data), self.noise, 2.0 / self.epsilon)

    def pair(self) -> NeighbourPair:
        return pair_of([0.0] * 5, [1.0] * 5)


@dataclass(frozen=True)
class ReportNoisyMax4(ReportNoisyMax3):
    """The value, not the index, of the largest answer after exponential noise of scale 2/ε.

    No output lies below the largest true answer, so the privacy loss can be infinite.
    """

    noise: ClassVar[Noise] = EXPONENTIAL
    source = "Ding et al. 2018, algorithm 8"
    summary = "noisy max released as a number, exponential noise"

    def pair(self) -> NeighbourPair:
        return pair_of([1.0] * 5, [2.0] * 5)
