"""What a table says of one record: its copies, the records near it, those that share its values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class

LIMITS = 5  # numbers of differing columns, from 0, up to which records are counted
RADII = np.array([0.05, 0.1, 0.25, 0.5, 1.0])  # mean distances by column
HALF = 0.5  # spreads within which two numbers agree


@value_class(show_numbers=True)
class Vicinity:
    """What a table says of one record, (c,).

    spread : (c,), the unit of distance in a column of numbers; 0 in a column of categories, where
        two values are at distance 0 or 1.
    singles : columns; the records that agree in each are counted. pairs : (2, p), pairs of columns;
        the records that agree in both are counted.

    In this order: how many records differ in at most 0, 1, … columns, below c (`LIMITS` numbers
    among categories, two if a column is of numbers); where these do not tell it, the nearest
    distance (the mean over the columns; NaN without records); if a column is of numbers, how many
    records are within `RADII`; and how many agree in the singles and pairs.
    """

    record: Array
    spread: Array
    singles: np.ndarray
    pairs: np.ndarray

    def __call__(self, table: Array) -> list[Array]:
        """The numbers, of a table (m, c)."""
        same = _same(table, self.record)
        different = same.shape[1] - same.sum(axis=1)
        distance = _distance(table, self.record, same, self.spread)
        shared = (distance <= HALF).astype(np.float64)
        first, second = self.pairs
        return [
            _within(different, np.arange(self._limits)),
            *self._near(distance),
            shared[:, self.singles].sum(axis=0),
            (shared.T @ shared)[first, second],  # sums of zeros and ones are exact
        ]

    @property
    def _limits(self) -> int:
        return min(len(self.spread), 2 if self.spread.any() else LIMITS)

    def _near(self, distance: Array) -> Iterator[Array]:
        if not self.spread.any() and len(self.spread) <= LIMITS:
            return
        near = distance.mean(axis=1)
        yield np.array([near.min() if len(near) else np.nan])
        if self.spread.any():
            yield _within(near, RADII)


def agree(table: Array, target: Array, spread: Array) -> np.ndarray:
    """Where the table (m, c) has the target's category, or a number within half a spread."""
    return _distance(table, target, _same(table, target), spread) <= HALF


def distances(table: Array, target: Array, spread: Array) -> Array:
    """The distance of each record of the table (m, c) from the target, (m,): a mean of columns."""
    found = _distance(table, target, _same(table, target), spread).mean(axis=1)
    return np.asarray(found)


def _within(values: np.ndarray, limits: np.ndarray) -> Array:
    """How many of the values (m,) are at most each limit (l,), (l,)."""
    return np.searchsorted(np.sort(values), limits, side="right").astype(np.float64)


def _same(table: Array, target: Array) -> np.ndarray:
    """Where the table (m, c) has the target's values; NaN is a value."""
    return (table == target) | (np.isnan(table) & np.isnan(target))


def _distance(table: Array, target: Array, same: np.ndarray, spread: Array) -> Array:
    """The distance in each column, (m, c): of numbers in spreads, of all else 0 or 1."""
    unit = np.where(spread > 0.0, spread, np.inf)
    with np.errstate(invalid="ignore"):
        far = np.abs(table - target) / unit
    plain = (spread > 0.0) & ~np.isnan(far)
    return np.where(same, 0.0, np.where(plain, far, 1.0))
