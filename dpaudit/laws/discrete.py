"""Laws with finitely many outcomes, and mixtures whose components differ visibly in form.

An outcome is a row of numbers, among which NaN may be.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import Law

ROUNDING = 1e-9  # tolerance: the probabilities must sum to 1 within it


@value_class
class Discrete(Law):
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
        return int(self.outcomes.shape[1])

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """Return independent draws (size, k), by inversion of the distribution function."""
        below = np.cumsum(np.exp(self.log_probability))
        picked = np.searchsorted(below, rng.random(size) * below[-1], side="right")
        return np.asarray(self.outcomes[np.minimum(picked, len(below) - 1)])

    def log_density(self, x: Array) -> Array:
        """The log probability of each row of x (m, k); −∞ for a row that is not an outcome."""
        place = row_positions(self.outcomes, x)
        return np.where(place >= 0, self.log_probability[place], -np.inf)


def row_positions(table: Array, rows: Array) -> np.ndarray:
    """Return the index of each row in `table`, or −1 where the table does not contain it.

    Two NaNs compare as equal, and so do 0 and −0.
    """
    known, inverse = np.unique(
        np.concatenate([_row_keys(table), _row_keys(rows)]), return_inverse=True
    )
    place = np.full(len(known), -1)
    place[inverse[: len(table)]] = np.arange(len(table))
    return np.asarray(place[inverse[len(table) :]])


def _row_keys(rows: Array) -> np.ndarray:
    """Return each row as one item of bytes, such that equal rows give equal bytes."""
    plain = np.where(np.isnan(rows), np.nan, rows + 0.0)  # one bit pattern of NaN, and no −0
    return np.ascontiguousarray(plain).view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()


@value_class
class Branches(Law):
    """A mixture: branch i has log probability `log_probability[i]` and fills row `templates[i]`.

    Parameters
    ----------
    templates : array of shape (m, k)
        The row of each branch, with NaN in the slots to be drawn; no two rows alike.
    log_probability : array of shape (m,)
        The logarithms of the probabilities of the branches.
    slots : tuple of tuple of int
        For each branch the columns that its law fills.
    parts : tuple of (Law or None)
        For each branch the law of these numbers, or None where there are none. No part draws NaN.
    """

    templates: Array
    log_probability: Array
    slots: tuple[tuple[int, ...], ...]
    parts: tuple[Law | None, ...]

    @property
    def dim(self) -> int:
        return int(self.templates.shape[1])

    @property
    def tags(self) -> Array:
        """Labels that tell the branches apart: the template, then 1 for a slot and 0 elsewhere.

        The shape is (m, 2k).
        """
        return np.hstack([self.templates, self._is_slot])

    @property
    def _is_slot(self) -> Array:
        """An array (m, k) that is 1 in the slots and 0 elsewhere."""
        marks = np.zeros(self.templates.shape)
        for mark, slots in zip(marks, self.slots, strict=True):
            mark[list(slots)] = 1.0
        return marks

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        number = Discrete(np.arange(float(len(self.templates))), self.log_probability)
        which = number.sample(size, rng)[:, 0].astype(int)
        out = self.templates[which]
        for i, (slots, part) in enumerate(zip(self.slots, self.parts, strict=True)):
            chosen = np.flatnonzero(which == i)
            if part is not None and len(chosen):
                out[chosen[:, None], list(slots)] = part.sample(len(chosen), rng)
        return np.asarray(out)

    def log_density(self, x: Array) -> Array:
        """Return the log probability of each row's branch plus the log density of its slots.

        The result is −∞ for a row of x (m, k) that fits no branch.
        """
        value = np.full(len(x), -np.inf)
        is_slot, missing = self._is_slot == 1.0, np.isnan(x)
        for i, (slots, part) in enumerate(zip(self.slots, self.parts, strict=True)):
            equal = (x == self.templates[i]) | (missing & np.isnan(self.templates[i]))
            fits = np.where(is_slot[i], ~missing, equal).all(axis=1)
            if fits.any():
                own = 0.0 if part is None else part.log_density(x[fits][:, list(slots)])
                value[fits] = self.log_probability[i] + own
        return value
