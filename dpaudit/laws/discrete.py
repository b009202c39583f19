"""Laws with finitely many outcomes, each a row of numbers. NaN may be one of these numbers."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class

ROUNDING = 1e-9  # by which the sum of the probabilities may differ from 1


@value_class
class Discrete:
    """A law with finitely many outcomes.

    Parameters
    ----------
    outcomes : array of shape (m, k) or (m,)
        (m,) for outcomes of one number; no two alike.
    log_probability : array of shape (m,)
        −∞ for an outcome of probability 0.

    Raises
    ------
    InvalidInput
        When the probabilities do not sum to 1.
    """

    outcomes: Array
    log_probability: Array

    def __post_init__(self) -> None:
        outcomes = np.asarray(self.outcomes, dtype=np.float64)
        object.__setattr__(self, "outcomes", outcomes[:, None] if outcomes.ndim == 1 else outcomes)
        log_sum = logsumexp(self.log_probability)
        if abs(log_sum) > ROUNDING:
            fail("log_probability", Words(f"a sum of {np.exp(log_sum):.12g}"), "a sum of 1")

    @property
    def dim(self) -> int:
        """Dimension of an output, k."""
        return int(self.outcomes.shape[1])

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """(size, k) independent draws, by inversion of the distribution function."""
        below = np.cumsum(np.exp(self.log_probability))
        picked = np.searchsorted(below, rng.random(size) * below[-1], side="right")
        return np.asarray(self.outcomes[np.minimum(picked, len(below) - 1)])

    def log_density(self, x: Array) -> Array:
        """Log probability of the rows of x (m, k); −∞ for a row that is no outcome."""
        place = row_positions(self.outcomes, x)
        return np.where(place >= 0, self.log_probability[place], -np.inf)


def row_positions(table: Array, rows: Array) -> np.ndarray:
    """For each row its position in the table, −1 where the table does not have it.

    Two NaNs are equal, and so are 0 and −0.
    """
    known, inverse = np.unique(
        np.concatenate([_row_keys(table), _row_keys(rows)]), return_inverse=True
    )
    place = np.full(len(known), -1)
    place[inverse[: len(table)]] = np.arange(len(table))
    return np.asarray(place[inverse[len(table) :]])


def _row_keys(rows: Array) -> np.ndarray:
    """Each row as one item of bytes, the same for equal rows."""
    plain = np.where(np.isnan(rows), np.nan, rows + 0.0)  # one bit pattern of NaN, and no −0
    return np.ascontiguousarray(plain).view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()
