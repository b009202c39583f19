"""Right noise, wrongly handled: used twice, kept, clipped too late, or beside a number that is
none.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit.curves.claims import Claim
from dpaudit.laws import Branches, Density, Discrete, SharedLaplace
from dpaudit.laws import density as panels
from dpaudit.laws.noise import log_below, log_laplace
from dpaudit.mechanisms.specimen import PureClaim, column, pair_of
from dpaudit.neighbours import NeighbourPair

MOST_ROWS = 16  # whose subsets are all looked at


@dataclass(frozen=True)
class ReusedNoise(PureClaim):
    """The sums of the columns, ONE draw of Laplace noise of scale k/ε added to each: differences
    are exact. (size, k).

    Data: (n, k), of entries in [0, 1].
    """

    epsilon: float = 1.0
    sound: ClassVar[bool] = False
    source: ClassVar[str] = "a common slip: one draw of noise for two queries"
    summary: ClassVar[str] = "two sums with the same Laplace noise"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(
            data.sum(axis=0) + rng.laplace(0.0, data.shape[1] / self.epsilon, (size, 1))
        )

    def law(self, data: Array) -> SharedLaplace:
        return SharedLaplace(data.sum(axis=0), data.shape[1] / self.epsilon)

    def pair(self) -> NeighbourPair:
        rest = [[1.0, 0.0], [1.0, 1.0]]
        return pair_of([[0.0, 1.0], *rest], [[0.0, 0.0], *rest])


@dataclass(frozen=True)
class CachedNoise(PureClaim):
    """A sum plus Laplace noise of scale 1/ε drawn with a seed made of the data: always the same.
    Output: (size, 1).
    """

    epsilon: float = 1.0
    sound: ClassVar[bool] = False
    source: ClassVar[str] = "a common slip: answers cached by a hash of the data"
    summary: ClassVar[str] = "Laplace noise that is the same for the same data"

    def _answer(self, data: Array) -> float:
        seed = int.from_bytes(
            hashlib.sha256(np.ascontiguousarray(data).tobytes()).digest()[:8], "little"
        )
        return float(
            column(data).sum() + np.random.default_rng(seed).laplace(0.0, 1.0 / self.epsilon)
        )

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.full((size, 1), self._answer(data))

    def law(self, data: Array) -> Discrete:
        return Discrete(np.array([self._answer(data)]), np.zeros(1))

    def pair(self) -> NeighbourPair:
        return pair_of([1.0, 0.0, 1.0], [0.0, 0.0, 1.0])


@dataclass(frozen=True)
class LateClipping(PureClaim):
    """Rows should be clipped to [0, C] before they are summed; here the noisy sum is clipped to [0,
    nC]. (size, 1).

    Laplace noise of scale C/ε.
    """

    epsilon: float = 1.0
    bound: float = 1.0
    sound: ClassVar[bool] = False
    source: ClassVar[str] = "a common slip: clipping after use"
    summary: ClassVar[str] = "a noisy sum that is clipped instead of its rows"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        rows = column(data)
        return np.clip(
            rows.sum() + rng.laplace(0.0, self.bound / self.epsilon, (size, 1)),
            0.0,
            len(rows) * self.bound,
        )

    def law(self, data: Array) -> Density:
        total, high, scale = (
            float(column(data).sum()),
            len(data) * self.bound,
            self.bound / self.epsilon,
        )

        def log_p(x: Array) -> Array:
            return log_laplace((x - total) / scale) - np.log(scale)

        ends = panels.edges(np.clip(np.array([total]), 0.0, high), scale, low=0.0, high=high)
        atoms = log_below(np.array([-total, total - high]) / scale)
        return Density(log_p, ends, np.array([0.0, high]), atoms)

    def pair(self) -> NeighbourPair:
        return pair_of([0.0, 0.0, 1.0, 1.0, 0.0], [4.0, 0.0, 1.0, 1.0, 0.0])


@dataclass(frozen=True)
class MissingPassed(PureClaim):
    """A sum of ratios clipped to [0, 1] plus Laplace noise of scale 1/ε; a row 0/0 is NaN, which
    passes every clip.

    Parameters
    ----------
    epsilon : ε. rate : each row is kept with this probability, which amplifies the claim to ln(1 +
        rate·(e^ε − 1)).

    Data: (n, 2), numerators and denominators. Output: (size, 1), NaN when a NaN was kept.
    """

    epsilon: float = 1.0
    rate: float = 1.0
    sound: ClassVar[bool] = False
    source: ClassVar[str] = "a common slip: a missing value passed through"
    summary: ClassVar[str] = "a noisy sum of ratios through which NaN passes"

    @property
    def claim(self) -> Claim:
        return Claim(float(np.log1p(self.rate * np.expm1(self.epsilon))))

    def _ratios(self, data: Array) -> Array:
        data = check.matrix("data", data, 1, 2)
        if data.shape[1] != 2 or len(data) > MOST_ROWS:
            fail("data", f"shape {data.shape}", f"two columns and at most {MOST_ROWS} rows")
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.clip(data[:, 0] / data[:, 1], 0.0, 1.0)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        kept = rng.random((size, len(data))) < self.rate
        sums = np.where(kept, self._ratios(data), 0.0).sum(axis=1, keepdims=True)
        return np.asarray(sums + rng.laplace(0.0, 1.0 / self.epsilon, (size, 1)))

    def law(self, data: Array) -> Branches:
        ratios = self._ratios(data)
        missing = int(np.isnan(ratios).sum())
        with np.errstate(divide="ignore"):
            whole = missing * np.log1p(-self.rate) if missing else 0.0
            odds = np.array([whole, np.log(-np.expm1(whole))])
        return Branches(
            np.full((2, 1), np.nan), odds, ((0,), ()), (self._kept(ratios[~np.isnan(ratios)]), None)
        )

    def _kept(self, ratios: Array) -> Density:
        """Laplace noise about each sum that a subset of the rows can have."""
        sums = {0.0: 1.0}
        for ratio in ratios:
            moved: dict[float, float] = {}
            for total, share in sums.items():
                moved[total] = moved.get(total, 0.0) + share * (1.0 - self.rate)
                moved[total + ratio] = moved.get(total + ratio, 0.0) + share * self.rate
            sums = {total: share for total, share in moved.items() if share > 0.0}
        at, odds = np.array(list(sums)), np.log(list(sums.values()))

        def log_p(x: Array) -> Array:
            return np.asarray(
                logsumexp(log_laplace((x[:, None] - at) * self.epsilon) + odds, axis=1) + log_scale
            )

        log_scale = float(np.log(self.epsilon))
        return Density(log_p, panels.edges(at, 1.0 / self.epsilon))

    def pair(self) -> NeighbourPair:
        return pair_of([[1.0, 2.0], [0.0, 4.0]], [[1.0, 2.0], [0.0, 0.0]])
