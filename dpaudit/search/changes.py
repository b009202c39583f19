"""What a neighbour changes: one row out of the database, one in, or both; a pool holds every change
to choose from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit.errors import InvalidInput
from dpaudit.neighbours import NeighbourPair, replace_row, zero_row
from dpaudit.search import outliers

RELATIONS = ("zero-out", "remove", "replace", "add")
INCOMING = ("replace", "add")  # relations with a row that is not in the data
NONE = -1  # stands for no row
# replacements that are all looked at; of more, those of the rows that weigh most
REPLACED = 1 << 18


@dataclass(frozen=True, eq=False)
class Change:
    """relation : one of `RELATIONS`. index : the row that it concerns, None for "add". row : (d,)
    what comes in.
    """

    relation: str
    index: int | None
    row: Array | None

    def pair(self, data: Array) -> NeighbourPair:
        """D and its neighbour. Raises `InvalidInput` where nothing changes."""
        if self.relation == "zero-out":
            return zero_row(data, self._index)
        if self.relation == "replace":
            return replace_row(data, self._index, self.row)
        if self.relation == "remove":
            return NeighbourPair(data, np.delete(data, self._index, axis=0))
        assert self.row is not None
        return NeighbourPair(data, np.vstack([data, self.row]))

    @property
    def _index(self) -> int:
        assert self.index is not None
        return self.index

    @property
    def text(self) -> str:
        """In words, for people."""
        if self.relation == "add":
            return "a row added"
        done = {"zero-out": "zeroed", "remove": "removed", "replace": "replaced"}
        return f"row {self.index} {done[self.relation]}"


@dataclass(frozen=True, eq=False)
class Pool:
    """m changes of `data`, (n, d).

    relation : (m,) positions in `RELATIONS`. out, into : (m,) row of the data that leaves and row
    of `incoming` that comes, `NONE` where there is none. incoming : (k, d).
    """

    data: Array
    relation: np.ndarray
    out: np.ndarray
    into: np.ndarray
    incoming: Array

    def __len__(self) -> int:
        return len(self.relation)

    def __getitem__(self, entry: int) -> Change:
        into, out = int(self.into[entry]), int(self.out[entry])
        row = None if into == NONE else self.incoming[into]
        return Change(RELATIONS[self.relation[entry]], None if out == NONE else out, row)

    def leaving(self) -> Array:
        """(m, d) rows that leave, zeros where none does."""
        return _rows(self.data, self.out)

    def coming(self) -> Array:
        """(m, d) rows that come, zeros where none does."""
        return _rows(self.incoming, self.into)

    def only(self, entries: np.ndarray) -> Pool:
        """The changes at `entries`, in that order."""
        return Pool(
            self.data, self.relation[entries], self.out[entries], self.into[entries], self.incoming
        )


def _rows(table: Array, index: np.ndarray) -> Array:
    found = np.zeros((len(index), table.shape[1]))
    there = index != NONE
    found[there] = table[index[there]]
    return found


def pool(data: Array, relations: tuple[str, ...], incoming: Array, heaviest: np.ndarray) -> Pool:
    """Every change of the relations that changes something, each once.

    incoming : (k, d) rows for "replace" and "add", empty without these. heaviest : (n,) rows of the
    data, heaviest first: of too many replacements (`REPLACED`) only those of the first rows are
    kept. Raises `InvalidInput` where no change is left.
    """
    distinct = np.sort(np.unique(data, axis=0, return_index=True)[1])
    parts = [
        _of(relation, data, incoming, distinct, heaviest) for relation in dict.fromkeys(relations)
    ]
    relation, out, into = (np.concatenate(column) for column in zip(*parts, strict=True))
    found = Pool(data, relation, out, into, incoming)
    # or shorter, by a row of zeros too
    longer = np.isin(relation, [RELATIONS.index("remove"), RELATIONS.index("add")])
    moved = np.any(found.leaving() != found.coming(), axis=1) | longer
    if not moved.any():
        raise InvalidInput("data must have a row whose change is one: all are zero")
    return found.only(np.flatnonzero(moved))


def _of(
    relation: str, data: Array, incoming: Array, distinct: np.ndarray, heaviest: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(relation, out, into) of one relation."""
    new = np.arange(len(incoming))
    if relation == "add":
        out, into = np.full(len(new), NONE), new
    elif relation == "replace":
        rows = heaviest[np.isin(heaviest, distinct)][: max(1, REPLACED // max(len(new), 1))]
        out, into = np.repeat(rows, len(new)), np.tile(new, len(rows))
    else:
        out, into = distinct, np.full(len(distinct), NONE)
    return np.full(len(out), RELATIONS.index(relation)), out, into


def incoming_rows(
    data: Array,
    relations: tuple[str, ...],
    candidates: Any,
    row_bound: float | None,
    bounds: Any,
    rng: np.random.Generator,
) -> Array:
    """Rows that may come in: the user's candidates, (m, d), and extreme ones inside the stated
    bound; (k, d), distinct.

    The row of the bound that is nearest to zero is one, too: of a heavy row that it replaces, least
    is left. Raises `InvalidInput` for rows without a relation that takes them, or a relation
    without rows.
    """
    needed = [one for one in relations if one in INCOMING]
    given = [
        name
        for name, one in zip(SOURCES, (candidates, row_bound, bounds), strict=True)
        if one is not None
    ]
    if needed and not given:
        fail(
            "candidates",
            None,
            f"given, or row_bound, or bounds: relation {needed[0]!r} needs rows to put in",
        )
    if given and not needed:
        fail("relations", relations, f"with 'replace' or 'add', which are what {given[0]} is for")
    parts = [np.zeros((0, data.shape[1]))]
    if candidates is not None:
        parts.append(_candidates(data, candidates))
    if row_bound is not None:
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        parts += [outliers.within_norm(data, bound, rng), np.zeros((1, data.shape[1]))]
    if bounds is not None:
        box = outliers.box(bounds, data.shape[1])
        parts += [outliers.within_box(data, box, rng), np.clip(0.0, *box.T)[None, :]]
    rows = np.concatenate(parts)
    return rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]


SOURCES = ("candidates", "row_bound", "bounds")


def _candidates(data: Array, candidates: Any) -> Array:
    rows = check.matrix("candidates", candidates)
    if rows.shape[1] != data.shape[1]:
        fail("candidates", f"{rows.shape[1]} columns", f"rows of {data.shape[1]} columns, as data")
    return rows
