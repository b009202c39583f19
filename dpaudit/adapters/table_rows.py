"""Rows of numbers from tables whose records have no order: synthetic data.

Two databases that differ in a few records show it in what a table says of these records: copies of
them, records near them, and counts of their values. So a row holds these first, and then a little
about each column as a whole. No feature is a copy of another feature, and there are few, because a
score has to learn from the draws which of them matter. Any fixed function of an output is
post-processing (Dwork & Roth 2014, proposition 2.1): what holds of the rows holds of the tables.
"""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Self

import numpy as np

from dpaudit._core.text import with_article
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.outcomes.features import text_code
from dpaudit.outcomes.tables import REAL, NotOutcomes

RECORDS = 8  # differing records, at most, that rows describe
CATEGORIES = 20  # the largest whole number that counts as a category
PAIRED = 10  # columns of a record whose pairs of values are counted
DESCRIBED = 32  # columns, at most, that rows describe as a whole
LEVELS = np.array([0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0])  # the levels of a column's quantiles
LIMITS = 5  # records are counted that differ in at most 0, 1, …, LIMITS − 1 columns
RADII = np.array([0.05, 0.1, 0.25, 0.5, 1.0])  # mean distances over the columns, in spreads
HALF = 0.5  # the largest distance, in spreads, at which two numbers agree
FORMS = "an array, a data frame, a list of records or a dict of columns"


@value_class(show_numbers=True)
class RecordFeatures:
    """A function from a table (m, c), its records in any order, to a row (k,); c ≥ 1, m may be 0.

    targets : (t, c), the records in which the two databases differ.
    spread : (c,), as in `Vicinity`.
    vicinities : one for each target. A value, or pair of values, that several targets share is
        counted for the first of them.
    described : at most `DESCRIBED` columns, those in which the targets' values are the rarest.

    The row holds the number of records, the counts of each `Vicinity` and, for each described
    column, the number of its categories, or quantiles and mean of its numbers.
    """

    targets: Array
    spread: Array
    vicinities: tuple[Vicinity, ...]
    described: tuple[int, ...]

    @classmethod
    def of(cls, left: Array, right: Array, categories: Collection[int] | None = None) -> Self:
        """The features for two databases, (n, c) and (m, c).

        categories : the columns of categories; by default, those in which the common records hold
            only whole numbers from −1 to `CATEGORIES`. Of more than `RECORDS` differing records the
            first are used.
        """
        targets, common = differing(left, right)
        known = common if len(common) else targets
        spread = spreads(known, categories)
        targets = targets[:RECORDS]
        often = np.array([agree(known, target, spread).sum(axis=0) for target in targets])
        rarest = np.argsort(often, axis=1, kind="stable")
        columns = tuple(dict.fromkeys(rarest.T.ravel().tolist()))[:DESCRIBED]
        return cls(targets, spread, tuple(_vicinities(targets, spread, rarest)), columns)

    def __call__(self, table: Array) -> Array:
        """The row, (k,), that describes a table (m, c)."""
        table = np.ascontiguousarray(table, dtype=np.float64) + 0.0  # one zero, without sign
        parts = [np.array([float(len(table))])]
        for vicinity in self.vicinities:
            parts += vicinity(table)
        for j in self.described:
            if self.spread[j] == 0.0:
                parts.append(np.array([float(len(np.unique(table[:, j])))]))
            else:
                parts.append(_moments(np.sort(table[np.isfinite(table[:, j]), j])))
        return np.concatenate(parts)


def _vicinities(targets: Array, spread: Array, rarest: np.ndarray) -> Iterator[Vicinity]:
    """The vicinity of each target, without values and pairs of values of earlier targets.

    Agreement in a single column means a copy among categories, and a radius among numbers. So does
    agreement in two columns, unless both hold numbers. Such columns are not counted again.
    """
    width, seen = len(spread), set[tuple[tuple[int, str], ...]]()
    alone = list(range(width)) if width > 1 else []
    for target, order in zip(targets, rarest, strict=True):
        paired = sorted(order[:PAIRED].tolist()) if width > 2 or spread.all() else []
        singles, pairs = _unseen(target, alone, 1, seen), _unseen(target, paired, 2, seen)
        yield Vicinity(target, spread, singles[0], pairs)


def _unseen(
    target: Array, columns: list[int], size: int, seen: set[tuple[tuple[int, str], ...]]
) -> np.ndarray:
    """The sets of `size` columns, (size, p), whose values are not in `seen`; adds them to it."""
    values = {
        chosen: tuple((j, float(target[j]).hex()) for j in chosen)  # a NaN is equal to itself
        for chosen in combinations(columns, size)
    }
    new = [chosen for chosen, value in values.items() if value not in seen]
    seen.update(values.values())
    return np.array(new, dtype=np.intp).reshape(-1, size).T


def _moments(numbers: Array) -> Array:
    """The quantiles and the mean of sorted numbers; NaN if there are no numbers."""
    if not len(numbers):
        return np.full(1 + len(LEVELS), np.nan)
    quantiles = np.interp(LEVELS * (len(numbers) - 1), np.arange(len(numbers)), numbers)
    return np.append(quantiles, numbers.mean())


def differing(left: Array, right: Array) -> tuple[Array, Array]:
    """The distinct records whose numbers of copies differ, (t, c), and the common records, (m, c).

    Records with the largest difference come first. A common record occurs as often as in the
    database that has fewer copies of it.
    """
    records, place = np.unique(np.vstack([left, right]), axis=0, return_inverse=True)
    place = place.ravel()
    in_left = np.bincount(place[: len(left)], minlength=len(records))
    in_right = np.bincount(place[len(left) :], minlength=len(records))
    gap = np.abs(in_left - in_right)
    order = np.argsort(-gap, kind="stable")[: np.count_nonzero(gap)]
    return records[order], np.repeat(records, np.minimum(in_left, in_right), axis=0)


def spreads(table: Array, categories: Collection[int] | None = None) -> Array:
    """The unit of distance in each column of a table (m, c), (c,), as in `Vicinity`.

    It is the standard deviation, 1 where that is 0, and 0 in a column of categories; `categories`
    is as in `RecordFeatures.of`.
    """
    if categories is None:
        codes = (table == np.rint(table)) & (table >= -1.0) & (table <= CATEGORIES)
        categories = np.flatnonzero(codes.all(axis=0)).tolist()
    deviation = table.std(axis=0)
    spread = np.where(deviation > 0.0, deviation, 1.0)
    spread[list(categories)] = 0.0
    return spread


@value_class(show_numbers=True)
class Vicinity:
    """A function that counts how a table resembles one record, (c,).

    spread : (c,), the unit of distance in a column of numbers; 0 in a column of categories, where
        two values are at distance 0 or 1.
    singles : columns; records that agree in each are counted. pairs : (2, p), pairs of columns;
        records that agree in both are counted.

    The counts, in this order: how many records differ in at most 0, 1, … columns, below c (`LIMITS`
    numbers among categories, two if a column holds numbers); where these do not determine it, the
    nearest distance (the mean over the columns; NaN without records); if a column holds numbers,
    how many records are within `RADII`; and how many agree in the singles and pairs.
    """

    record: Array
    spread: Array
    singles: np.ndarray
    pairs: np.ndarray

    def __call__(self, table: Array) -> list[Array]:
        """The counts for a table (m, c), as a list of arrays."""
        same = _same(table, self.record)
        different = same.shape[1] - same.sum(axis=1)
        distance = _distance(table, self.record, same, self.spread)
        has_numbers = bool(self.spread.any())
        counts = [
            _within(different, np.arange(min(len(self.spread), 2 if has_numbers else LIMITS)))
        ]
        if has_numbers or len(self.spread) > LIMITS:
            near = distance.mean(axis=1)
            counts.append(np.array([near.min() if len(near) else np.nan]))
            if has_numbers:
                counts.append(_within(near, RADII))
        shared = (distance <= HALF).astype(np.float64)
        first, second = self.pairs
        # sums of zeros and ones are exact
        return [*counts, shared[:, self.singles].sum(axis=0), (shared.T @ shared)[first, second]]


def agree(table: Array, target: Array, spread: Array) -> np.ndarray:
    """A mask (m, c), True where a category equals the target's, or a number is near it."""
    return _distance(table, target, _same(table, target), spread) <= HALF


def distances(table: Array, target: Array, spread: Array) -> Array:
    """The distance of each record of a table (m, c) to the target, (m,): the columns' mean."""
    return np.asarray(_distance(table, target, _same(table, target), spread).mean(axis=1))


def _within(values: np.ndarray, limits: np.ndarray) -> Array:
    """For each limit, (l,), how many of the values (m,) are at most this limit, (l,)."""
    return np.searchsorted(np.sort(values), limits, side="right").astype(np.float64)


def _same(table: Array, target: Array) -> np.ndarray:
    """A mask (m, c), True where the table has the target's values; two NaN count as equal."""
    return (table == target) | (np.isnan(table) & np.isnan(target))


def _distance(table: Array, target: Array, same: np.ndarray, spread: Array) -> Array:
    """The distance in each column, (m, c): in spreads between numbers, else 0 or 1."""
    unit = np.where(spread > 0.0, spread, np.inf)
    with np.errstate(invalid="ignore"):
        far = np.abs(table - target) / unit
    plain = (spread > 0.0) & ~np.isnan(far)
    return np.where(same, 0.0, np.where(plain, far, 1.0))


@value_class(show_numbers=True)
class TableForm:
    """A function that reads a table as a float64 array (m, c).

    width : c. names : the columns in the order of the database, where tables have names; None to
        take the order in the table. labels : for a column, its texts in the order of their codes 0,
        1, … in the database.
    """

    width: int
    names: tuple[str, ...] | None
    labels: Mapping[int, Sequence[str]]

    def __call__(self, table: Any) -> Array:
        """The table as numbers: a text without label becomes a hash, None and missing values NaN.

        Raises `NotOutcomes`.
        """
        if isinstance(table, np.ndarray) and not table.dtype.names and table.dtype.kind in REAL:
            plain = table[:, None] if table.ndim == 1 else table
            return self._checked(np.asarray(plain, dtype=np.float64))
        columns = self._columns(table)
        if len({len(column) for column in columns}) > 1:
            raise NotOutcomes("columns of one length", "columns of different lengths")
        coded = [self._numbers(column, number) for number, column in enumerate(columns)]
        return self._checked(np.array(coded, dtype=np.float64).T)

    def _checked(self, table: Array) -> Array:
        if table.size == 0:
            return np.empty((0, self.width))
        if table.ndim != 2 or table.shape[1] != self.width:
            raise NotOutcomes(f"a table of {self.width} columns", f"shape {table.shape}")
        return table

    def _columns(self, table: Any) -> list[Any]:
        """The columns of any table other than an array of numbers."""
        structured = isinstance(table, np.ndarray) and table.dtype.names
        is_frame = hasattr(table, "columns") and hasattr(table, "__getitem__")
        if isinstance(table, Mapping) or structured or is_frame:
            there = structured or (tuple(table) if isinstance(table, Mapping) else table.columns)
            for name in self.names or ():
                if name not in there:
                    raise NotOutcomes(f"a table with the column {name!r}", "a table without it")
            return [np.asarray(table[name]) for name in self.names or there]
        if not isinstance(table, (list, tuple, np.ndarray)):
            raise NotOutcomes(FORMS, with_article(type(table).__name__))
        if len(table) and all(isinstance(record, Mapping) for record in table):
            return [[record.get(name) for record in table] for name in self.names or table[0]]
        rows = [row if isinstance(row, (tuple, list, np.ndarray)) else (row,) for row in table]
        if any(len(row) != self.width for row in rows):
            raise NotOutcomes(f"records of {self.width} values", "records of other lengths")
        return [list(column) for column in zip(*rows, strict=True)]

    def _numbers(self, column: Any, number: int) -> list[float] | Array:
        array = np.asarray(column)
        if array.dtype.kind in REAL and array.ndim == 1:
            return array.astype(np.float64)
        codes = {label: float(code) for code, label in enumerate(self.labels.get(number, ()))}
        values = []
        for value in column:
            if isinstance(value, str):
                values.append(codes[value] if value in codes else text_code(str(value)))
            elif value is None or isinstance(value, (numbers.Real, np.bool_)):
                values.append(np.nan if value is None else float(value))
            else:
                expected = "a number, a text or None in each place"
                raise NotOutcomes(expected, with_article(type(value).__name__))
        return values
