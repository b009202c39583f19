"""Faults in noise and in its scale, re-enacted line by line; `fixed` runs what replaced them.

Data are (n, d), draws (size, k). The scenarios say where each fault was, and docs/museum.md what
was wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm


@dataclass(frozen=True)
class BiasedCoin:
    """smartnoise-core: a count with geometric noise, made of flips of a biased coin. ε-DP.

    A coin of probability p is read off the bits of p: the number of heads before the first tail of
    a fair coin says which bit. The leading zeros of p were added to that number, not taken off.
    """

    epsilon: float
    fixed: bool
    trials = 200  # largest count less the smallest: noise is censored there

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        alpha = math.exp(-self.epsilon)
        sign = 2 * rng.integers(0, 2, size) - 1
        noise = np.where(
            rng.random(size) < (1 - alpha) / (1 + alpha),
            0,
            sign * self._waiting(1 - alpha, size, rng),
        )
        return len(data) + noise

    def _waiting(self, probability: float, size: int, rng: Any) -> Any:
        """Flips until the first success."""
        flips, pending = np.ones(size, dtype=int), np.ones(size, dtype=bool)
        for _ in range(self.trials - 1):
            pending &= ~self._coin(probability, size, rng)
            flips += pending
        return flips

    def _coin(self, probability: float, size: int, rng: Any) -> Any:
        fraction, exponent = math.frexp(probability)  # 0.1xxx times 2^exponent
        bits = np.array([int(fraction * 2.0 ** (place + 1)) % 2 for place in range(53)], dtype=bool)
        zeros, heads = -exponent, rng.geometric(0.5, size) - 1
        place = heads - zeros if self.fixed else heads + zeros
        return (heads >= zeros) & bits[np.clip(place, 0, 52)]


@dataclass(frozen=True)
class LaplaceBits:
    """smartnoise-core: a number in [0, 1] with Laplace noise. ε-DP.

    Before, a uniform double went through the inverse distribution function. After, the snapping
    mechanism of Mironov 2012.
    """

    epsilon: float
    fixed: bool
    bound = 100.0

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        value, scale = float(data[0, 0]), 1 / self.epsilon
        if not self.fixed:
            centred = rng.random((size, 1)) - 0.5
            return value - scale * np.sign(centred) * np.log(1 - 2 * np.abs(centred))
        sign = 2 * rng.integers(0, 2, (size, 1)) - 1
        uniform = 1 - rng.random((size, 1))
        noisy = np.clip(value, -self.bound, self.bound) + sign * scale * np.log(uniform)
        step = 2.0 ** math.ceil(math.log2(scale))
        return np.clip(step * np.round(noisy / step), -self.bound, self.bound)


@dataclass(frozen=True)
class GaussianSum:
    """smartnoise-sql: a sum of values in [0, `upper`] with Gaussian noise. (ε, δ)-DP.

    Where `upper` was above 1,000, σ = upper √(2 ln(1.25/δ)) / ε for any ε, which holds for ε < 1
    alone. After, the smallest σ that is right (Balle & Wang 2018).
    """

    epsilon: float
    delta: float
    upper: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        total = np.clip(data[:, 0], 0, self.upper).sum()
        return total + rng.normal(scale=self.upper * self._multiplier, size=(size, 1))

    @property
    def _multiplier(self) -> float:
        if not self.fixed:
            return math.sqrt(2 * math.log(1.25 / self.delta)) / self.epsilon
        return float(brentq(lambda sigma: self._delta_of(sigma) - self.delta, 1e-3, 1e3))

    def _delta_of(self, sigma: float) -> float:
        away = self.epsilon * sigma
        return float(
            norm.cdf(0.5 / sigma - away) - math.exp(self.epsilon + norm.logcdf(-0.5 / sigma - away))
        )


@dataclass(frozen=True)
class Covariance:
    """smartnoise-synth: the covariances of two columns with public ranges, n public. ε-DP.

    The columns were clipped into a new table, and the covariances taken of the old one.
    """

    epsilon: float
    lower: float
    upper: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        clipped = np.clip(data, self.lower, self.upper)
        covariance = np.cov((clipped if self.fixed else data).T)[np.tril_indices(2)]
        sensitivity = 2 / len(data) * (self.upper - self.lower) ** 2
        return covariance + rng.laplace(scale=3 * sensitivity / self.epsilon, size=(size, 3))


@dataclass(frozen=True)
class ApproximateBounds:
    """smartnoise-sql: bounds of a column, the outermost noisy bins of a histogram. ε-DP.

    Bins are powers of two up to 2⁶³ on both sides. A value outside of them raised an error, which
    the caller saw: drawn as NaN. After, such values go into the outermost bins.
    """

    epsilon: float
    fixed: bool
    edges = 2.0 ** np.arange(64)

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        values, least = data[:, 0], np.concatenate([-self.edges[::-1], [0], self.edges])
        outside = np.abs(values) >= self.edges[-1]
        if not self.fixed and outside.any():
            return np.full((size, 2), np.nan)  # ValueError
        counts = np.histogram(np.clip(values, least[0], np.nextafter(least[-1], 0)), least)[0]
        noisy = counts + rng.laplace(scale=1 / self.epsilon, size=(size, len(counts)))
        exceeds = noisy > math.log(len(counts) / 0.01) / self.epsilon
        first, last = exceeds.argmax(axis=1), len(counts) - 1 - exceeds[:, ::-1].argmax(axis=1)
        found = np.column_stack([least[first], least[last + 1]])
        return np.where(exceeds.any(axis=1)[:, None], found, np.inf)


@dataclass(frozen=True)
class RangeQuery:
    """smartnoise-synth's MWEM: the answer to one query on a histogram, half of ε. ε-DP in all.

    The scale was divided by the number of dimensions of the histogram. Data: (n, d), zeros and
    ones; asked is how many have a 1 first.
    """

    epsilon: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        dimensions = 1 if self.fixed else data.shape[1]
        noise = rng.laplace(scale=2 / (self.epsilon * dimensions), size=(size, 1))
        return data[:, 0].sum() + noise


@dataclass(frozen=True)
class Counter:
    """PrivCount: a counter of a relay, blinded by shares that cancel in the sum. μ-Gaussian DP.

    The weight of the relay's noise was read, and no noise was added.
    """

    sigma: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        share = rng.integers(0, 2**32, size=(size, 1))
        blinded = len(data) + share
        if self.fixed:
            blinded = blinded + np.round(rng.normal(scale=self.sigma, size=(size, 1)))
        return blinded - share
