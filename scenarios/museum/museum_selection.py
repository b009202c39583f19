"""Faults in what is selected, counted or encoded, re-enacted; `fixed` runs what replaced them.

Data are (n, d), draws (size, k).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class MarginalChoice:
    """mbi's JAM: which of two marginals is measured next, by the exponential mechanism. ε-DP.

    A score is the error of a model less the error of public data, both of which move by 2 when a
    row is replaced: its sensitivity is 4, and 2 was given. Data: (n, 2), zeros and ones.
    """

    epsilon: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        ones = data.sum(axis=0)
        counts, n = np.column_stack([len(data) - ones, ones]), len(data)
        model, public = np.array([[n, 0], [0, n]]), np.array([[0, n], [n, 0]])
        score = np.abs(counts - model).sum(axis=1) - np.abs(counts - public).sum(axis=1)
        weights = self.epsilon * score / (2 * (4 if self.fixed else 2))
        return rng.random((size, 1)) < 1 / (1 + math.exp(weights[0] - weights[1]))


@dataclass(frozen=True)
class UnaryEncoding:
    """sunPytools: optimised unary encoding of one of d values. ε-LDP.

    A bit that is not set is sent as set with probability 1/(e^ε + 1). In place of e^ε stood
    e^ε/(e^ε + 1), the value of a function of ε. Data: (1, d), one bit set.
    """

    epsilon: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        power = math.exp(self.epsilon)
        other = 1 / ((power if self.fixed else power / (power + 1)) + 1)
        return rng.random((size, data.shape[1])) < np.where(data[0] == 1, 0.5, other)


@dataclass(frozen=True)
class Cuts:
    """google/dpsynth: the domain of a numerical column: its ends, and a private median. ε-DP.

    The ends were the least and the largest value of the data. After, the caller gives them.
    """

    epsilon: float
    lower: float
    upper: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        values = data[:, 0]
        ends = (self.lower, self.upper) if self.fixed else (values.min(), values.max())
        cuts = np.linspace(*ends, 33)
        rank = np.abs((values[:, None] <= cuts).sum(axis=0) - len(values) / 2)
        weights = np.exp(-self.epsilon * rank / 2)
        median = rng.choice(cuts, size=size, p=weights / weights.sum())
        return np.column_stack([np.full(size, ends[0]), np.full(size, ends[1]), median])


@dataclass(frozen=True)
class DistinctValues:
    """Privacy on Beam's DistinctPerKey: the number of distinct values, one counted of a user. ε-DP.

    One user is kept of those who have a value, and one value of each user. A user with many values
    could take those of others before all but one of its own were dropped. After, users are bounded
    first. Data: (users, values), ones where a user has a value; a user's row is its contribution.
    """

    epsilon: float
    fixed: bool

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        has = np.broadcast_to(data > 0, (size, *data.shape))
        if self.fixed:
            counted = _one(has, 2, rng).any(axis=1).sum(axis=1)
        else:
            counted = _one(has, 1, rng).any(axis=2).sum(axis=1)
        return counted[:, None] + rng.laplace(scale=1 / self.epsilon, size=(size, 1))


def _one(has: Any, axis: int, rng: Any) -> Any:
    """One of those that are true along an axis, at random."""
    drawn = np.where(has, rng.random(has.shape), -1.0)
    return has & (drawn == drawn.max(axis=axis, keepdims=True))
