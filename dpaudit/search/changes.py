"""Changes of a database: one row out, one row in, or both. A pool holds all that are searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core.shown.short_repr import html_repr, short_repr
from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput
from dpaudit.neighbours import (
    NeighbourPair,
    RowSource,
    add_row,
    remove_row,
    replace_row,
    zero_row,
)
from dpaudit.neighbours.pair import in_words
from dpaudit.search.incoming import Incoming

RELATIONS = ("zero-out", "remove", "replace", "add")
RESIZING = ("remove", "add")  # relations that change the number of rows
NO_ROW = -1  # in an array of row numbers
# replacements that are all examined; of more, only those of the heaviest rows
MOST_REPLACEMENTS = 1 << 18


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """One change of a database.

    relation : one of `RELATIONS`. index : the row that is changed, None for "add".
    row : (d,) the row that comes in, or None. source : where it is from, or None.
    """

    relation: str
    index: int | None
    row: Array | None
    source: RowSource | None = None

    def pair(self, data: Array) -> NeighbourPair:
        """The database and its neighbour. Raises `InvalidInput` where they are equal."""
        if self.relation == "zero-out":
            return zero_row(data, self._index)
        if self.relation == "remove":
            return remove_row(data, self._index)
        assert self.row is not None
        if self.relation == "replace":
            return replace_row(data, self._index, self.row, source=self.source)
        return add_row(data, self.row, source=self.source)

    @property
    def _index(self) -> int:
        assert self.index is not None
        return self.index

    @property
    def text(self) -> str:
        """The change in words: "row 7 zeroed"."""
        return in_words(self.relation, f"row {self.index}")

    def put_in(self, *, show_data: bool = False) -> dict[str, Any] | None:
        """Where the row that comes in is from, as `RowSource.to_dict`; None where none does."""
        if self.row is None:
            return None
        return (self.source or RowSource()).to_dict(self.row, show_data=show_data)

    def __repr__(self) -> str:
        place = "" if self.index is None else f", row {self.index}"
        source = "" if self.source is None else f", {self.source.text}"
        return f"Change({self.relation}{place}{source})"

    _repr_html_ = html_repr


@dataclass(frozen=True, eq=False)
class Pool:
    """m changes of `data`, (n, d), of which a search chooses.

    relation : (m,) positions in `RELATIONS`.
    out, into : (m,) numbers of the row of `data` that leaves and of the row of `incoming` that
        comes in; `NO_ROW` where there is none.
    """

    data: Array
    relation: np.ndarray
    out: np.ndarray
    into: np.ndarray
    incoming: Incoming

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.relation)

    def __getitem__(self, entry: int) -> Change:
        into, out = int(self.into[entry]), int(self.out[entry])
        relation, index = RELATIONS[self.relation[entry]], None if out == NO_ROW else out
        if into == NO_ROW:
            return Change(relation, index, None)
        return Change(relation, index, self.incoming.rows[into], self.incoming.sources[into])

    def rows_out(self) -> Array:
        """(m, d) rows that leave, zeros where none does."""
        return _rows(self.data, self.out)

    def rows_in(self) -> Array:
        """(m, d) rows that come in, zeros where none does."""
        return _rows(self.incoming.rows, self.into)

    def only(self, entries: np.ndarray) -> Pool:
        """The changes at `entries`, in that order."""
        return Pool(
            self.data, self.relation[entries], self.out[entries], self.into[entries], self.incoming
        )


def _rows(table: Array, index: np.ndarray) -> Array:
    found = np.zeros((len(index), table.shape[1]))
    there = index != NO_ROW
    found[there] = table[index[there]]
    return found


def pool(data: Array, relations: tuple[str, ...], incoming: Incoming, heaviest: np.ndarray) -> Pool:
    """Every change of the given relations that makes another database, each once.

    incoming : rows for "replace" and "add", none without these.
    heaviest : (n,) row numbers, heaviest first: if there are more than `MOST_REPLACEMENTS`
        replacements, only those of the first rows are kept.

    Raises `InvalidInput` where no change is left.
    """
    distinct = np.sort(np.unique(data, axis=0, return_index=True)[1])
    parts = [_of(relation, incoming, distinct, heaviest) for relation in dict.fromkeys(relations)]
    relation, out, into = (np.concatenate(column) for column in zip(*parts, strict=True))
    found = Pool(data, relation, out, into, incoming)
    # a row of zeros that is added or removed changes the number of rows, though no value
    resizing = np.isin(relation, [RELATIONS.index(one) for one in RESIZING])
    effective = np.any(found.rows_out() != found.rows_in(), axis=1) | resizing
    if not effective.any():
        raise InvalidInput(
            "data must have a row that the relations can change: all rows are zero",
            argument="data",
        )
    return found.only(np.flatnonzero(effective))


def _of(
    relation: str, incoming: Incoming, distinct: np.ndarray, heaviest: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(relation, out, into) of one relation."""
    new = np.arange(len(incoming))
    if relation == "add":
        out, into = np.full(len(new), NO_ROW), new
    elif relation == "replace":
        most = max(1, MOST_REPLACEMENTS // max(len(new), 1))
        rows = heaviest[np.isin(heaviest, distinct)][:most]
        out, into = np.repeat(rows, len(new)), np.tile(new, len(rows))
    else:
        out, into = distinct, np.full(len(distinct), NO_ROW)
    return np.full(len(out), RELATIONS.index(relation)), out, into
