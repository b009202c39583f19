"""Changes of a database: one row leaves, one row comes in, or both. A pool holds all candidates."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.note import Note
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.errors import InvalidInput
from dpaudit.neighbours import (
    NeighbourPair,
    RowSource,
    add_row,
    outliers,
    remove_row,
    replace_row,
    zero_row,
)
from dpaudit.neighbours.pair import in_words

SOURCES = ("candidates", "row_bound", "bounds")
INCOMING = ("replace", "add")  # relations with a row that is not in the data
OF_DATA = "data"  # value of `bounds` for the least and the largest value of each column
NOT_PUBLIC = Note(
    "The bounds of the rows that may come in were taken from the data, which is not public; the "
    "claim may allow other rows: give public bounds (--bounds)."
)
RELATIONS = ("zero-out", "remove", "replace", "add")
RESIZING = ("remove", "add")  # relations that change the number of rows
NO_ROW = -1  # in an array of row numbers
# up to this many replacements are all examined; if there are more, those of the heaviest rows
MOST_REPLACEMENTS = 1 << 18


@value_class
class Change:
    """One change of a database.

    relation : one of `RELATIONS`. index : the row that is changed, None for "add".
    row : (d,) the row that comes in, or None. source : the origin of that row, or None.
    """

    relation: str
    index: int | None
    row: Array | None
    source: RowSource | None = None

    def pair(self, data: Array) -> NeighbourPair:
        if self.index is None:
            assert self.row is not None
            return add_row(data, self.row, source=self.source)
        if self.row is not None:
            return replace_row(data, self.index, self.row, source=self.source)
        return (zero_row if self.relation == "zero-out" else remove_row)(data, self.index)

    @property
    def text(self) -> str:
        return in_words(self.relation, f"row {self.index}")

    def put_in(self, *, show_data: bool = False) -> dict[str, Any] | None:
        """The origin of the row that comes in (`RowSource.to_dict`); None if no row comes in."""
        if self.row is None:
            return None
        return (self.source or RowSource()).to_dict(self.row, show_data=show_data)

    def __repr__(self) -> str:
        place = "" if self.index is None else f", row {self.index}"
        source = "" if self.source is None else f", {self.source.text}"
        return f"Change({self.relation}{place}{source})"


@value_class
class Pool:
    """The m changes of `data`, (n, d), from which a search chooses.

    relation : (m,) positions in `RELATIONS`.
    out, into : (m,) numbers of the row of `data` that leaves and of the row of `incoming` that
        comes in; `NO_ROW` if there is none.
    """

    data: Array
    relation: np.ndarray
    out: np.ndarray
    into: np.ndarray
    incoming: Incoming

    def __len__(self) -> int:
        return len(self.relation)

    def __getitem__(self, entry: int) -> Change:
        into, out = int(self.into[entry]), int(self.out[entry])
        relation, index = RELATIONS[self.relation[entry]], None if out == NO_ROW else out
        if into == NO_ROW:
            return Change(relation, index, None)
        return Change(relation, index, self.incoming.rows[into], self.incoming.sources[into])

    def rows_out(self) -> Array:
        return _rows(self.data, self.out)

    def rows_in(self) -> Array:
        return _rows(self.incoming.rows, self.into)


def _rows(table: Array, index: np.ndarray) -> Array:
    rows = np.zeros((len(index), table.shape[1]))
    there = index != NO_ROW
    rows[there] = table[index[there]]
    return rows


def pool(data: Array, relations: tuple[str, ...], incoming: Incoming, heaviest: np.ndarray) -> Pool:
    """The pool of all distinct changes of the given relations that change the database.

    incoming : rows for "replace" and "add", none without these.
    heaviest : (n,) row numbers, heaviest first: if there are more than `MOST_REPLACEMENTS`
        replacements, the pool has only those of the first rows.

    Raises `InvalidInput` where no change is left.
    """
    distinct = np.sort(np.unique(data, axis=0, return_index=True)[1])
    new, parts = np.arange(len(incoming)), []
    for name in dict.fromkeys(relations):
        if name == "add":
            pairs = np.full(len(new), NO_ROW), new
        elif name == "replace":
            most = max(1, MOST_REPLACEMENTS // max(len(new), 1))
            rows = heaviest[np.isin(heaviest, distinct)][:most]
            pairs = np.repeat(rows, len(new)), np.tile(new, len(rows))
        else:
            pairs = distinct, np.full(len(distinct), NO_ROW)
        parts.append((np.full(len(pairs[0]), RELATIONS.index(name)), *pairs))
    relation, out, into = (np.concatenate(column) for column in zip(*parts, strict=True))
    every = Pool(data, relation, out, into, incoming)
    # adding or removing a row of zeros changes the number of rows, although no value changes
    resizing = np.isin(relation, [RELATIONS.index(name) for name in RESIZING])
    effective = np.any(every.rows_out() != every.rows_in(), axis=1) | resizing
    if not effective.any():
        raise InvalidInput(
            "data must have a row that the relations can change: all rows are zero",
            argument="data",
        )
    return Pool(data, relation[effective], out[effective], into[effective], incoming)


@value_class
class Incoming:
    rows: Array
    sources: tuple[RowSource, ...]

    def __len__(self) -> int:
        return len(self.rows)


def incoming_rows(
    data: Array,
    relations: tuple[str, ...],
    candidates: ArrayLike | None,
    row_bound: float | None,
    bounds: ArrayLike | str | None,
    seed: np.random.SeedSequence,
) -> Incoming:
    """The rows that "replace" and "add" may put in.

    They are the candidates, (m, d), and extreme rows inside the public bound (`outliers`), or
    inside the range of the data (`OF_DATA`). The row nearest to zero inside `bounds` is one of
    them: replacing a heavy row by it removes most of that row's effect.

    Raises `InvalidInput` if rows are passed and no relation uses them, or the reverse.
    """
    sources_by_name = {"candidates": candidates, "row_bound": row_bound, "bounds": bounds}
    named = [name for name, value in sources_by_name.items() if value is not None]
    needed = [relation for relation in relations if relation in INCOMING]
    if needed and not named:
        reason = f"relation {needed[0]!r} needs rows to put in"
        fail("candidates", None, f"given, or row_bound, or bounds: {reason}")
    if named and not needed:
        fail("relations", relations, f"with 'replace' or 'add', since {named[0]} is given")
    width, rng = data.shape[1], np.random.default_rng(seed)
    parts, sources = [np.zeros((0, width))], list[RowSource]()
    if candidates is not None:
        own = check.matrix("candidates", candidates)
        if own.shape[1] != width:
            words = Words(f"{own.shape[1]} columns")
            fail("candidates", words, f"rows of {width} columns, as data")
        parts.append(own)
        sources += [RowSource("candidates", number) for number in range(len(own))]
    if row_bound is not None:
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        rim = outliers.within_norm(data, bound, rng)
        parts += [rim, np.zeros((1, width))]
        sources += [RowSource("row_bound", number, bound, seed) for number in range(len(rim))]
        sources.append(RowSource("bound"))
    if is_of_data(bounds):
        parts.append(outliers.within_data(data, np.random.default_rng(seed)))
        sources += [RowSource("data_bounds", at, seed=seed) for at in range(len(parts[-1]))]
    elif bounds is not None:
        parts.append(outliers.within_box(data, outliers.box(bounds, width), rng))
        sources += [RowSource("bound")] * len(parts[-1])
    rows = np.concatenate(parts)
    first = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    return Incoming(rows[first], tuple(sources[number] for number in first))


def is_of_data(bounds: ArrayLike | str | None) -> bool:
    return isinstance(bounds, str) and bounds == OF_DATA
