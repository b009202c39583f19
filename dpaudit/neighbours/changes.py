"""Pairs of databases that differ in one row, or in all rows of one user."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import InvalidInput
from dpaudit.neighbours.pair import NeighbourPair
from dpaudit.neighbours.source import RowSource


def zero_row(data: ArrayLike, index: int) -> NeighbourPair:
    """D and D with one row set to zero.

    Parameters
    ----------
    data : array of shape (n, d)
        The database D.
    index : int
        Number of the row.

    Returns
    -------
    NeighbourPair

    Raises
    ------
    InvalidInput
        When there is no such row, or it is zero already.

    References
    ----------
    Paper 1, definition 1.

    Examples
    --------
    >>> import dpaudit as dp
    >>> pair = dp.neighbours.zero_row([[1.0, 2.0], [3.0, 4.0]], 1)
    >>> pair.left.tolist(), pair.right.tolist(), pair.index
    ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [0.0, 0.0]], 1)
    """
    data = check.matrix("data", data)
    return replace_row(data, index, np.zeros(data.shape[1]), relation="zero-out")


def replace_row(
    data: ArrayLike,
    index: int,
    row: ArrayLike,
    *,
    relation: str = "replace",
    source: RowSource | None = None,
) -> NeighbourPair:
    """D and D with one row replaced: bounded DP.

    Parameters
    ----------
    data : array of shape (n, d)
        The database D.
    index : int
        Number of the row.
    row : array of shape (d,)
        The row that takes its place.
    relation : str, default "replace"
        As in `NeighbourPair`.
    source : RowSource, optional
        Where the row is from, if not given by hand.

    Returns
    -------
    NeighbourPair

    Raises
    ------
    InvalidInput
        When there is no such row, or it stays the same.

    References
    ----------
    Dwork et al. 2006.
    """
    data = check.matrix("data", data)
    index = _row_number("index", index, len(data))
    new = _checked_rows("row", row, 1, data.shape[1])
    if np.array_equal(data[index], new[0]):
        state = "already zero" if relation == "zero-out" else "unchanged"
        raise InvalidInput(f"row {index} is {state}: no neighbour")
    return NeighbourPair(data, _with(data, [index], new), relation, index, source=source)


def remove_row(data: ArrayLike, index: int) -> NeighbourPair:
    """D and D without one row: add/remove adjacency.

    Of the two directions, forward is D against D' with one row less.

    Parameters
    ----------
    data : array of shape (n, d)
        The database D.
    index : int
        Number of the row.

    Returns
    -------
    NeighbourPair

    Raises
    ------
    InvalidInput
        When there is no such row, also for a database of one row.

    References
    ----------
    Dwork & Roth 2014, definition 2.4.

    Examples
    --------
    >>> import dpaudit as dp
    >>> dp.neighbours.remove_row([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], 1)
    NeighbourPair(remove, row 1; 3 × 2 against 2 × 2)
    """
    data = check.matrix("data", data, min_rows=2)
    index = _row_number("index", index, len(data))
    return NeighbourPair(data, _owned(np.delete(data, index, axis=0)), "remove", index)


def add_row(data: ArrayLike, row: ArrayLike, *, source: RowSource | None = None) -> NeighbourPair:
    """D and D with one row more, in the last place: `index` n of D'.

    Parameters
    ----------
    data : array of shape (n, d)
        The database D.
    row : array of shape (d,)
        The new row.
    source : RowSource, optional
        Where the row is from, if not given by hand.

    Returns
    -------
    NeighbourPair

    Raises
    ------
    InvalidInput
        When the row has another number of columns.

    Examples
    --------
    >>> import dpaudit as dp
    >>> pair = dp.neighbours.add_row([[1.0, 2.0], [3.0, 4.0]], [0.0, 9.0])
    >>> pair.relation, pair.index, pair.right.shape
    ('add', 2, (3, 2))
    """
    data = check.matrix("data", data)
    right = np.vstack([data, _checked_rows("row", row, 1, data.shape[1])])
    return NeighbourPair(data, _owned(right), "add", len(data), source=source)


def remove_group(data: ArrayLike, indices: Sequence[int]) -> NeighbourPair:
    """D and D without the rows of one user (user-level DP).

    Parameters
    ----------
    data : array of shape (n, d)
        The database D.
    indices : sequence of int
        Row numbers, in any order.

    Returns
    -------
    NeighbourPair

    Raises
    ------
    InvalidInput
        When there are no such rows, also where no row would be left.

    References
    ----------
    Dwork et al. 2010.

    Examples
    --------
    >>> import dpaudit as dp
    >>> dp.neighbours.remove_group([[1.0], [2.0], [3.0], [4.0]], [2, 0]).group
    (0, 2)
    """
    data = check.matrix("data", data)
    group = tuple(sorted(_row_numbers(indices, len(data))))
    if len(group) == len(data):
        check.fail("indices", check.Words(f"all {len(data)} rows"), "some of the rows, not all")
    right = _owned(np.delete(data, group, axis=0))
    return NeighbourPair(data, right, "remove-group", group=group)


def replace_group(data: ArrayLike, indices: Sequence[int], rows: ArrayLike) -> NeighbourPair:
    """D and D with the rows of one user replaced by as many others (user-level DP).

    Parameters
    ----------
    data : array of shape (n, d)
        The database D.
    indices : sequence of int
        g row numbers.
    rows : array of shape (g, d)
        The new rows, in the order of `indices`.

    Returns
    -------
    NeighbourPair

    Raises
    ------
    InvalidInput
        When there are no such rows, also where nothing changes.
    """
    data = check.matrix("data", data)
    numbers = _row_numbers(indices, len(data))
    new = _checked_rows("rows", rows, len(numbers), data.shape[1])
    if np.array_equal(data[numbers], new):
        raise InvalidInput("the rows of the group are unchanged: no neighbour", argument="rows")
    right = _with(data, numbers, new)
    return NeighbourPair(data, right, "replace-group", group=tuple(sorted(numbers)))


def _row_number(name: str, index: int, rows: int) -> int:
    """A row number below `rows`. Raises `InvalidInput`."""
    number = check.integer(name, index, 0)
    if number >= rows:
        check.fail(name, number, f"a row number below {rows}")
    return number


def _row_numbers(indices: Sequence[int], rows: int) -> list[int]:
    """Distinct row numbers below `rows`. Raises `InvalidInput`."""
    expected = f"a list of row numbers below {rows}, each once"
    if isinstance(indices, str | bytes) or not np.iterable(indices):
        check.fail("indices", indices, expected)
    numbers = [_row_number("indices", index, rows) for index in indices]
    if not numbers:
        check.fail("indices", numbers, expected)
    if len(set(numbers)) < len(numbers):
        twice = next(one for one in numbers if numbers.count(one) > 1)
        check.fail("indices", check.Words(f"row {twice} twice"), expected)
    return numbers


def _checked_rows(name: str, rows: ArrayLike, size: int, columns: int) -> Array:
    """Rows as (size, columns) float64. Raises `InvalidInput`."""
    expected = f"{columns} numbers" if size == 1 else f"{size} rows of {columns} numbers"
    matrix = check.matrix(name, np.atleast_2d(check.array_of_numbers(name, rows, expected)))
    if matrix.shape != (size, columns):
        given = f"{matrix.size} numbers" if len(matrix) == 1 else f"shape {matrix.shape}"
        check.fail(name, given, f"{expected}, one a column")
    return matrix


def _with(data: Array, rows: list[int], values: Array) -> Array:
    """A copy of the data with other values in some rows."""
    right = data.copy()
    right[rows] = values
    return _owned(right)


def _owned(data: Array) -> Array:
    """A new array, closed for writing, so that a pair need not copy it."""
    data.setflags(write=False)
    return data
