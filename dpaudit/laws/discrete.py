"""Laws with finitely many outcomes, each a row of numbers; NaN is a number like any other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.check import Array, fail

ROUNDING = 1e-9  # by which probabilities may miss 1 in all


@dataclass(frozen=True, eq=False)
class Discrete:
    """Outcomes (m, k), no two alike, with log probabilities (m,); −∞ for one that never happens.

    Raises `InvalidInput` when the probabilities do not sum to 1.
    """

    outcomes: Array
    log_probability: Array

    def __post_init__(self) -> None:
        outcomes = np.asarray(self.outcomes, dtype=np.float64)
        object.__setattr__(self, "outcomes", outcomes[:, None] if outcomes.ndim == 1 else outcomes)
        if abs(logsumexp(self.log_probability)) > ROUNDING:
            fail(
                "log_probability",
                f"a sum of {np.exp(logsumexp(self.log_probability)):.12g}",
                "a sum of 1",
            )

    @property
    def dim(self) -> int:
        return int(self.outcomes.shape[1])

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        below = np.cumsum(np.exp(self.log_probability))
        picked = np.searchsorted(below, rng.random(size) * below[-1], side="right")
        return np.asarray(self.outcomes[np.minimum(picked, len(below) - 1)])

    def log_density(self, x: Array) -> Array:
        """Log probability of the rows of x, (m, k); −∞ for a row that is no outcome."""
        place = find(self.outcomes, x)
        return np.where(place >= 0, self.log_probability[place], -np.inf)


def find(table: Array, rows: Array) -> np.ndarray:
    """The place of each row in the table, −1 where it is not there; two NaNs are equal, and so are
    0 and −0.
    """
    known, inverse = np.unique(np.concatenate([keys(table), keys(rows)]), return_inverse=True)
    place = np.full(len(known), -1)
    place[inverse[: len(table)]] = np.arange(len(table))
    return np.asarray(place[inverse[len(table) :]])


def keys(rows: Array) -> np.ndarray:
    """Each row as one item of bytes, equal for equal rows."""
    plain = np.where(np.isnan(rows), np.nan, rows + 0.0)  # one NaN, one zero
    return np.ascontiguousarray(plain).view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()
