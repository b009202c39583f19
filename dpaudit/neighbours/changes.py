"""Pairs of databases that differ in one row, or in all rows of one user.

A pair is made from a database and a change, or remade from the record of its audit, result.json.
Each function raises `InvalidInput` for rows that the database D does not have, for a change that
changes nothing, and where no row would be left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.result_file import load
from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import InvalidInput
from dpaudit.neighbours.pair import GROUPS, RELATIONS, NeighbourPair
from dpaudit.neighbours.source import RowSource


def zero_row(data: ArrayLike, index: int) -> NeighbourPair:
    """The pair of D (n, d) and the database D' in which row `index` is zero (paper 1, definition
    1).

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
    """The pair of D (n, d) and D' with another `row` (d,) in place of row `index` (bounded DP).

    relation : that of the pair, as `NeighbourPair` lists them. source : the origin of the row, if
    the user did not pass it. (Dwork et al. 2006.)
    """
    data = check.matrix("data", data)
    index = _row_number("index", index, len(data))
    new = _checked_rows("row", row, 1, data.shape[1])
    if np.array_equal(data[index], new[0]):
        state = "already zero" if relation == "zero-out" else "unchanged"
        raise InvalidInput(f"row {index} is {state}, which makes no neighbour")
    right = data.copy()
    right[index] = new[0]
    return NeighbourPair(data, _owned(right), relation, index, source=source)


def remove_row(data: ArrayLike, index: int) -> NeighbourPair:
    """The pair of D (n, d) and D' without row `index` (add/remove adjacency).

    Forward compares D with D', which has one row less (Dwork & Roth 2014, definition 2.4).
    """
    data = check.matrix("data", data, min_rows=2)
    index = _row_number("index", index, len(data))
    return NeighbourPair(data, _owned(np.delete(data, index, axis=0)), "remove", index)


def add_row(data: ArrayLike, row: ArrayLike, *, source: RowSource | None = None) -> NeighbourPair:
    """The pair of D (n, d) and D' with one more `row` (d,), which is its last, at `index` n.

    source : the origin of the row, if the user did not pass it.

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
    """The pair of D (n, d) and D' without the rows `indices` of one user (Dwork et al. 2010)."""
    data = check.matrix("data", data)
    group = tuple(sorted(_row_numbers(indices, len(data))))
    if len(group) == len(data):
        check.fail("indices", check.Words(f"all {len(data)} rows"), "some of the rows, not all")
    right = _owned(np.delete(data, group, axis=0))
    return NeighbourPair(data, right, "remove-group", group=group)


def replace_group(data: ArrayLike, indices: Sequence[int], rows: ArrayLike) -> NeighbourPair:
    """The pair of D (n, d) and D' with other `rows` (g, d) in place of the g rows `indices`."""
    data = check.matrix("data", data)
    numbers = _row_numbers(indices, len(data))
    new = _checked_rows("rows", rows, len(numbers), data.shape[1])
    if np.array_equal(data[numbers], new):
        raise InvalidInput(
            "the rows of the group are unchanged, which makes no neighbour", argument="rows"
        )
    right = data.copy()
    right[numbers] = new
    return NeighbourPair(data, _owned(right), "replace-group", group=tuple(sorted(numbers)))


REMOVING: dict[str, Callable[..., NeighbourPair]] = {  # relations without a row that comes in
    "zero-out": zero_row,
    "remove": remove_row,
    "remove-group": remove_group,
}


def from_record(
    data: ArrayLike,
    record: Mapping[str, Any] | str | Path,
    *,
    candidates: ArrayLike | None = None,
    row: ArrayLike | None = None,
) -> NeighbourPair:
    """The pair of an audit, made again from its record and the same data.

    A record holds no private row unless the user asked for it. It says which row was zeroed or left
    out, and names the origin of a row that came in.

    Parameters
    ----------
    data : array of shape (n, d)
        The database D of the audit.
    record : dict or path
        The content of result.json, or the folder that holds the file.
    candidates : array of shape (m, d), optional
        The candidates of the search, needed if the row that came in is one of them.
    row : array of shape (d,) or (g, d), optional
        The row that came in, or the rows of a group by ascending number; needed if the user passed
        them to the audit. It overrides the record.

    Notes
    -----
    A row along the axes of the data, inside `row_bound`, is computed again. That needs the versions
    of NumPy and of its linear algebra that the search had, as others may reverse an axis.

    Examples
    --------
    >>> import dpaudit as dp
    >>> record = {"neighbour": {"relation": "remove", "index": 1}}
    >>> dp.neighbours.from_record([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], record)
    NeighbourPair(remove, row 1; 3 × 2 against 2 × 2)
    """
    data = check.matrix("data", data)
    content = record if isinstance(record, Mapping) else load(Path(record))
    neighbour = content.get("neighbour")
    relation = neighbour.get("relation") if isinstance(neighbour, Mapping) else None
    if not isinstance(neighbour, Mapping) or relation not in RELATIONS or relation == "pair":
        known = ", ".join(map(repr, RELATIONS[:-1]))
        got = check.Words(f"the relation {relation!r}")
        check.fail("record", got, f"of a pair of the relation {known}")
    shape = (content.get("dataset") or {}).get("shape")
    if shape is not None and tuple(shape) != data.shape:
        expected = f"those of the audit, of shape {tuple(shape)}"
        check.fail("data", check.Words(f"shape {data.shape}"), expected)
    where: Any = neighbour.get("group" if relation in GROUPS else "index")
    if relation in REMOVING:
        return REMOVING[relation](data, where)
    row_put_in = (neighbour.get("row_put_in") or {}) if row is None else {"values": row}
    source = RowSource.from_dict(row_put_in)
    values = _values(data, source, row_put_in, candidates)
    if relation == "replace-group":
        return replace_group(data, where, values)
    if relation == "add":
        return add_row(data, values, source=source)
    return replace_row(data, where, values, source=source)


def _row_number(name: str, index: int, rows: int) -> int:
    number = check.integer(name, index, 0)
    if number >= rows:
        check.fail(name, number, f"a row number below {rows}")
    return number


def _row_numbers(indices: Sequence[int], rows: int) -> list[int]:
    """Distinct row numbers below `rows`."""
    expected = f"a list of row numbers below {rows}, each once"
    if isinstance(indices, str | bytes) or not np.iterable(indices):
        check.fail("indices", indices, expected)
    numbers = [_row_number("indices", index, rows) for index in indices]
    if not numbers:
        check.fail("indices", numbers, expected)
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        check.fail("indices", check.Words(f"row {twice} twice"), expected)
    return numbers


def _checked_rows(name: str, rows: ArrayLike, size: int, columns: int) -> Array:
    expected = f"{columns} numbers" if size == 1 else f"{size} rows of {columns} numbers"
    matrix = check.matrix(name, np.atleast_2d(check.array_of_numbers(name, rows, expected)))
    if matrix.shape != (size, columns):
        shape = f"{matrix.size} numbers" if len(matrix) == 1 else f"shape {matrix.shape}"
        check.fail(name, check.Words(shape), f"{expected}, one a column")
    return matrix


def _owned(data: Array) -> Array:
    """The new array made read-only, so that a pair need not copy it."""
    data.setflags(write=False)
    return data


def _values(
    data: Array, source: RowSource, put_in: Mapping[str, Any], candidates: ArrayLike | None
) -> Any:
    if put_in.get("values") is not None:
        return put_in["values"]
    if source.remakable:
        return source.remade(data)
    if source.kind != "candidates":
        check.fail("row", None, "given again: it was put in by hand, and the record has no values")
    if candidates is None:
        check.fail("candidates", None, f"those of the search: the row is number {source.number}")
    rows = check.matrix("candidates", candidates)
    if source.number is None or source.number >= len(rows):
        check.fail(
            "candidates",
            check.Words(f"{len(rows)} rows"),
            f"those of the search, with a {source.text}",
        )
    return rows[source.number]
