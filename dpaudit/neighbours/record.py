"""A pair made again from the record of its audit, result.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dpaudit._core import check
from dpaudit._core.result_file import load
from dpaudit._core.types import Array, ArrayLike
from dpaudit.neighbours import changes
from dpaudit.neighbours.pair import GROUPS, RELATIONS, NeighbourPair
from dpaudit.neighbours.source import RowSource

OUT: dict[str, Callable[..., NeighbourPair]] = {  # relations without a row that comes in
    "zero-out": changes.zero_row,
    "remove": changes.remove_row,
    "remove-group": changes.remove_group,
}


def from_record(
    data: ArrayLike,
    record: Mapping[str, Any] | str | Path,
    *,
    candidates: ArrayLike | None = None,
    row: ArrayLike | None = None,
) -> NeighbourPair:
    """The pair of an audit, made again from its record and the same data.

    A record holds no private row, unless that was asked for. It says which row was zeroed or left
    out, and of a row that came in where it is from.

    Parameters
    ----------
    data : array of shape (n, d)
        The database D of the audit.
    record : dict or path
        The content of result.json, or the folder that holds the file.
    candidates : array of shape (m, d), optional
        Those of the search, needed where the row that came in is one of them.
    row : array of shape (d,) or (g, d), optional
        The row that came in, or the rows of a group by ascending number, needed where they were
        given by hand; it takes the place of what the record says.

    Returns
    -------
    NeighbourPair

    Raises
    ------
    InvalidInput
        Where the record is of no such pair or of other data, or where a row is missing.

    Notes
    -----
    A row along the axes of the data, inside `row_bound`, is computed again: with the versions of
    NumPy and of its linear algebra that the search had, as other ones may turn an axis round.

    Examples
    --------
    >>> import dpaudit as dp
    >>> record = {"neighbour": {"relation": "remove", "index": 1}}
    >>> dp.neighbours.from_record([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], record)
    NeighbourPair(remove, row 1; 3 × 2 against 2 × 2)
    """
    data = check.matrix("data", data)
    content = record if isinstance(record, Mapping) else load(Path(record))
    neighbour = _neighbour(content)
    _check_shape(data, content)
    relation = neighbour["relation"]
    where: Any = neighbour.get("group" if relation in GROUPS else "index")
    if relation in OUT:
        return OUT[relation](data, where)
    put_in = (neighbour.get("row_put_in") or {}) if row is None else {"values": row}
    source = RowSource.from_dict(put_in)
    values = _values(data, source, put_in, candidates)
    if relation == "replace-group":
        return changes.replace_group(data, where, values)
    if relation == "add":
        return changes.add_row(data, values, source=source)
    return changes.replace_row(data, where, values, source=source)


def _values(
    data: Array, source: RowSource, put_in: Mapping[str, Any], candidates: ArrayLike | None
) -> Any:
    """The row or rows that came in. Raises `InvalidInput` where the record alone cannot tell."""
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


def _neighbour(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Its table "neighbour". Raises `InvalidInput` where no pair can be made from it."""
    neighbour = record.get("neighbour")
    relation = neighbour.get("relation") if isinstance(neighbour, Mapping) else None
    if relation not in RELATIONS or relation == "pair":
        made = ", ".join(map(repr, RELATIONS[:-1]))
        check.fail(
            "record", check.Words(f"the relation {relation!r}"), f"of a pair of the relation {made}"
        )
    assert isinstance(neighbour, Mapping)
    return neighbour


def _check_shape(data: Array, record: Mapping[str, Any]) -> None:
    """Raises `InvalidInput` for data of another shape than the audit's, where that is known."""
    shape = (record.get("dataset") or {}).get("shape")
    if shape is not None and tuple(shape) != data.shape:
        check.fail(
            "data",
            check.Words(f"shape {data.shape}"),
            f"those of the audit, of shape {tuple(shape)}",
        )
