"""Rows of numbers from tables whose records have no order: synthetic data.

Two databases that differ in a few records show it in what a table says of these records: copies of
them, records near them, and counts of their values. So a row holds these first, and then what is
usual of each column. Any fixed function of an output is post-processing (Dwork & Roth 2014,
proposition 2.1): what holds of the rows holds of the tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array

RECORDS = 8  # differing records that are looked for
CATEGORIES = 20  # the largest whole number that is a category; values that are counted
PAIRED = 10  # columns of a record whose pairs of values are counted
DESCRIBED = 32  # columns that are described as a whole
RADII = np.array([0.05, 0.1, 0.25, 0.5, 1.0])  # mean distances by column
HALF = 0.5  # spreads within which two numbers agree
LEVELS = np.array([0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0])  # of the quantiles of a column


@dataclass(frozen=True, eq=False)
class RecordFeatures:
    """The row (k,) of a table (m, c) in any order of its records; c ≥ 1, m may be 0.

    targets : (t, c), the records in which the two databases differ.
    spread : (c,), the unit of distance in a column of numbers; 0 in a column of categories, where
        two values are at distance 0 or 1.
    rarest : (t, c), the columns of each target, that with the rarest value first.
    categories : the values of each column that are counted; empty for a column of numbers.

    The row holds the number of records and, for each target: exact copies, records that agree in
    all columns but one, the nearest distance (the mean over the columns; NaN without records),
    records within `RADII`, records that agree in each column, and in each pair of the columns whose
    values are the rarest. At last, of at most `DESCRIBED` columns: counts of categories, or mean
    and quantiles.
    """

    targets: Array
    spread: Array
    rarest: np.ndarray
    categories: tuple[Array, ...]

    __repr__ = short_repr

    @classmethod
    def of(cls, left: Array, right: Array, labelled: tuple[int, ...] = ()) -> Self:
        """The features for two databases, (n, c) and (m, c).

        labelled : columns of categories. So are columns whose common records hold whole numbers
            from −1 to `CATEGORIES` alone. Of more than `RECORDS` differing records the first ones
            are looked for.
        """
        targets, common = differing(left, right)
        known = common if len(common) else targets
        coded = [j in labelled or _are_codes(column) for j, column in enumerate(known.T)]
        spread = np.where(coded, 0.0, _spread(known))
        targets = targets[:RECORDS]
        often = np.array([_agree(known, one, spread).sum(axis=0) for one in targets])
        counted = tuple(
            _most_frequent(column) if code else np.empty(0)
            for column, code in zip(np.vstack([known, targets]).T, coded, strict=True)
        )
        return cls(targets, spread, np.argsort(often, axis=1, kind="stable"), counted)

    def __call__(self, table: Array) -> Array:
        """The row, (k,), of a table (m, c)."""
        table = np.ascontiguousarray(table, dtype=np.float64) + 0.0  # one zero, without sign
        table = table[np.lexsort(table.T)]  # sums of floats in one order
        parts = [np.array([float(len(table))])]
        for target, rarest in zip(self.targets, self.rarest, strict=True):
            parts += self._about(table, target, rarest[:PAIRED])
        parts += [self._described(table[:, j], j) for j in self._columns]
        return np.concatenate(parts)

    @cached_property
    def _columns(self) -> list[int]:
        """The columns that are described: those in which the targets are the rarest."""
        return list(dict.fromkeys(self.rarest.T.ravel().tolist()))[:DESCRIBED]

    def _about(self, table: Array, target: Array, paired: np.ndarray) -> list[Array]:
        """What the table says of one record."""
        same = _same(table, target)
        different = same.shape[1] - same.sum(axis=1)
        near = _distance(table, target, same, self.spread).mean(axis=1)
        agree = _agree(table, target, self.spread).astype(np.float64)
        both = agree[:, paired].T @ agree[:, paired]  # sums of zeros and ones are exact
        copies = [np.sum(different == 0), np.sum(different == 1)]
        nearest = near.min() if len(near) else np.nan
        return [
            np.array([*copies, nearest], dtype=np.float64),
            np.sum(near[:, None] <= RADII, axis=0).astype(np.float64),
            agree.sum(axis=0),
            both[np.triu_indices(len(paired), 1)],
        ]

    def _described(self, column: Array, number: int) -> Array:
        """Counts of the categories of a column, or mean and quantiles of its numbers."""
        if self.spread[number] == 0.0:
            return np.sum(column[:, None] == self.categories[number], axis=0, dtype=np.float64)
        numbers = np.sort(column[np.isfinite(column)])
        if not len(numbers):
            return np.full(1 + len(LEVELS), np.nan)
        return np.append(np.quantile(numbers, LEVELS), numbers.mean())


def differing(left: Array, right: Array) -> tuple[Array, Array]:
    """The distinct records whose numbers of copies differ, (t, c), and the other ones, (m, c).

    Those with the largest difference come first. The other ones are those of `left` or, where it
    has none, of `right`.
    """
    found, place = np.unique(np.vstack([left, right]), axis=0, return_inverse=True)
    place = place.ravel()
    more = np.bincount(place[: len(left)], minlength=len(found))
    less = np.bincount(place[len(left) :], minlength=len(found))
    gap = np.abs(more - less)
    order = np.argsort(-gap, kind="stable")[: np.count_nonzero(gap)]
    kept = np.minimum(more, less)
    return found[order], np.repeat(found, kept, axis=0)


def _are_codes(column: Array) -> bool:
    return bool(np.all((column == np.rint(column)) & (column >= -1.0) & (column <= CATEGORIES)))


def _spread(table: Array) -> Array:
    """The standard deviation of each column, 1 where it is 0."""
    found = table.std(axis=0)
    return np.where(found > 0.0, found, 1.0)


def _most_frequent(column: Array) -> Array:
    """The `CATEGORIES` most frequent values of a column; the last record's is among them."""
    values, counts = np.unique(column, return_counts=True)
    counts[values == column[-1]] = len(column) + 1
    return np.asarray(values[np.argsort(-counts, kind="stable")[:CATEGORIES]])


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


def _agree(table: Array, target: Array, spread: Array) -> np.ndarray:
    """Where the table (m, c) has the target's category, or a number within half a spread."""
    return _distance(table, target, _same(table, target), spread) <= HALF
