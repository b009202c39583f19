"""Pairs to try first for mechanisms that release a table of records, such as synthetic data.

A synthesizer learns the domain, marginals and their combinations. So the records that it may
reveal are those that no other record resembles: outside the domain (Stadler, Oprisanu & Troncoso
2022, "Synthetic Data: Anonymisation Groundhog Day"), at its corner, or of a combination of values
that no record has. No order of them is known in general: audit each, with the level divided by
their number.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.neighbours.changes import add_row, remove_row, replace_row
from dpaudit.neighbours.pair import NeighbourPair

BINS = 8  # most groups of values of a column
SEARCHED = 32  # columns whose pairs of values are searched for a rare combination


def record_templates(data: ArrayLike, *, index: int | None = None) -> dict[str, NeighbourPair]:
    """Pairs of D and D with one unusual record, for mechanisms that release records.

    Parameters
    ----------
    data : array of shape (n, c)
        D with n ≥ 2, categories as whole numbers.
    index : int, optional
        The row that the record replaces; if not given, the record is added, and the number of
        records differs.

    Returns
    -------
    dict of str to NeighbourPair
        "outside": in each column a value beyond all others (of categories, one never seen).
        "extreme": in each column the value of D that is farthest from the median. "combination",
        from two columns on: frequent values of two columns that occur together least, and the
        medians of the others. "rarest": the row of D whose values are the rarest is left out, or is
        row `index`'s new value. A pair without a difference is left out.

    Examples
    --------
    >>> import dpaudit as dp
    >>> pairs = dp.neighbours.record_templates([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> {name: pair.right[-1].tolist() for name, pair in pairs.items() if name != "rarest"}
    {'outside': [2.0, 2.0], 'extreme': [1.0, 1.0], 'combination': [0.0, 0.0]}
    """
    data = check.matrix("data", data, min_rows=2)
    least, most, middle = data.min(axis=0), data.max(axis=0), np.median(data, axis=0)
    whole = np.all(data == np.rint(data), axis=0) | (least == most)
    records = {
        "outside": most + np.where(whole, 1.0, most - least),
        "extreme": np.where(most - middle >= middle - least, most, least),
    }
    if data.shape[1] > 1:
        records["combination"] = _combination(data)
    groups = [_groups(column) for column in data.T]
    # the least sum of the log frequencies of its values
    rarest = int(np.argmin(sum(np.log(np.bincount(group))[group] for group in groups)))
    if index is None:
        added = {name: add_row(data, record) for name, record in records.items()}
        return added | {"rarest": remove_row(data, rarest)}
    records["rarest"] = data[rarest]
    number = check.integer("index", index, 0)
    return {
        name: replace_row(data, number, record)
        for name, record in records.items()
        if not np.array_equal(data[number : number + 1], record[None])
    }


def _combination(data: Array) -> Array:
    """A record of medians, except for the two values that occur together least often relative to
    their own counts: at the least of all Pearson residuals, (seen − expected)/√expected.
    """
    groups = [_groups(column) for column in data.T[:SEARCHED]]
    record = np.array([_observed_median(column) for column in data.T])
    fewest = np.inf
    for (i, first), (j, second) in combinations(enumerate(groups), 2):
        seen = np.zeros((first.max() + 1, second.max() + 1))
        np.add.at(seen, (first, second), 1.0)
        expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / len(first)
        missing = (seen - expected) / np.sqrt(expected)
        at = np.unravel_index(np.argmin(missing), missing.shape)
        if missing[at] < fewest:
            fewest, chosen = missing[at], ((i, first, at[0]), (j, second, at[1]))
    for column, group, number in chosen:
        record[column] = _observed_median(data[group == number, column])
    return record


def _groups(column: Array) -> np.ndarray:
    """The group number of each value, (n,): a group for each value, or `BINS` groups by rank."""
    values, place = np.unique(column, return_inverse=True)
    if len(values) <= BINS:
        return np.asarray(place.ravel())
    edges = np.quantile(column, np.arange(1, BINS) / BINS)
    return np.asarray(np.unique(np.searchsorted(edges, column), return_inverse=True)[1].ravel())


def _observed_median(values: Array) -> float:
    """The median, or if that does not occur the largest value below it."""
    return float(np.sort(values)[(len(values) - 1) // 2])
