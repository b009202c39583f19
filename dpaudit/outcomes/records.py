"""Rows of numbers from tables whose records have no order: synthetic data.

Two databases that differ in a few records show it in what a table says of these records: copies of
them, records near them, and counts of their values. So a row holds these first, and then a little
of each column as a whole. No feature is a copy of another one, and there are few, because a score
has to learn from the draws which of them matter. Any fixed function of an output is post-processing
(Dwork & Roth 2014, proposition 2.1): what holds of the rows holds of the tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations
from typing import Self

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.outcomes.vicinity import Vicinity, agree

RECORDS = 8  # differing records that are looked for
CATEGORIES = 20  # the largest whole number that is a category
PAIRED = 10  # columns of a record whose pairs of values are counted
DESCRIBED = 32  # columns that are described as a whole
LEVELS = np.array([0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0])  # of the quantiles of a column


@value_class(show_numbers=True)
class RecordFeatures:
    """The row (k,) of a table (m, c) in any order of its records; c ≥ 1, m may be 0.

    targets : (t, c), the records in which the two databases differ.
    spread : (c,), as in `Vicinity`.
    vicinities : of the targets. A value, or pair of values, of several is counted for the first.
    described : at most `DESCRIBED` columns, those in which the targets are the rarest.

    The row holds the number of records, what `Vicinity` counts of each target and, of the described
    columns, how many different categories there are, or quantiles and mean of the numbers.
    """

    targets: Array
    spread: Array
    vicinities: tuple[Vicinity, ...]
    described: tuple[int, ...]

    @classmethod
    def of(cls, left: Array, right: Array, categories: Collection[int] | None = None) -> Self:
        """The features for two databases, (n, c) and (m, c).

        categories : columns of categories; if not given, those whose common records hold whole
            numbers from −1 to `CATEGORIES` alone. Of more than `RECORDS` differing records the
            first ones are looked for.
        """
        targets, common = differing(left, right)
        known = common if len(common) else targets
        spread = spreads(known, categories)
        targets = targets[:RECORDS]
        often = np.array([agree(known, one, spread).sum(axis=0) for one in targets])
        rarest = np.argsort(often, axis=1, kind="stable")
        columns = tuple(dict.fromkeys(rarest.T.ravel().tolist()))[:DESCRIBED]
        return cls(targets, spread, tuple(_vicinities(targets, spread, rarest)), columns)

    def __call__(self, table: Array) -> Array:
        """The row, (k,), of a table (m, c)."""
        table = np.ascontiguousarray(table, dtype=np.float64) + 0.0  # one zero, without sign
        parts = [np.array([float(len(table))])]
        for vicinity in self.vicinities:
            parts += vicinity(table)
        parts += [self._description(table[:, j], j) for j in self.described]
        return np.concatenate(parts)

    def _description(self, column: Array, number: int) -> Array:
        if self.spread[number] == 0.0:
            return np.array([float(len(np.unique(column)))])
        return _moments(np.sort(column[np.isfinite(column)]))


def _vicinities(targets: Array, spread: Array, rarest: np.ndarray) -> Iterator[Vicinity]:
    """Of each target, without the values and pairs of values that an earlier one has.

    Agreement in a single column is a copy among categories, and a radius among numbers. So is
    agreement in two columns, unless both are of numbers. These are not counted again.
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
    """Sets of `size` columns, (size, p), of whose values only this target has all; now seen."""
    values = {
        chosen: tuple((j, float(target[j]).hex()) for j in chosen)  # a NaN is equal to itself
        for chosen in combinations(columns, size)
    }
    new = [chosen for chosen, value in values.items() if value not in seen]
    seen.update(values.values())
    return np.array(new, dtype=np.intp).reshape(-1, size).T


def _moments(numbers: Array) -> Array:
    """Quantiles and mean of sorted numbers; NaN of none."""
    if not len(numbers):
        return np.full(1 + len(LEVELS), np.nan)
    quantiles = np.interp(LEVELS * (len(numbers) - 1), np.arange(len(numbers)), numbers)
    return np.append(quantiles, numbers.mean())


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


def spreads(table: Array, categories: Collection[int] | None = None) -> Array:
    """The unit of distance in each column of a table (m, c), (c,), as in `Vicinity`.

    It is the standard deviation, 1 where that is 0, and 0 in a column of categories, which are as
    in `RecordFeatures.of`.
    """
    if categories is None:
        categories = [j for j, column in enumerate(table.T) if _are_codes(column)]
    deviation = table.std(axis=0)
    found = np.where(deviation > 0.0, deviation, 1.0)
    found[list(categories)] = 0.0
    return found


def _are_codes(column: Array) -> bool:
    return bool(np.all((column == np.rint(column)) & (column >= -1.0) & (column <= CATEGORIES)))
