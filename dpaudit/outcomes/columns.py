"""The columns that describe the draws of both sides, and a draw's row in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput
from dpaudit.outcomes import tables
from dpaudit.outcomes.canonical import as_texts
from dpaudit.outcomes.features import Features, Kind, Name, features, name_order
from dpaudit.outcomes.forms import is_table

Columns = Callable[[np.ndarray], Array]  # draws (n, ...) of any form → (n, k) float64, row by row
MOST = tables.SLOTS  # columns; where there are more features, those that most draws have
FEW, SOME = 100, 5  # beyond so many columns, those only that so many draws of both sides have
TOTAL_SIZE: Name = ((), Kind.SIZE)


def columns(P: np.ndarray, Q: np.ndarray) -> Columns:
    """The columns of what both sides hold: a function that makes rows of any further draws.

    Tables of one width stay as they are. Where one side has lists of numbers, or tables of another
    width, their length comes first and NaN pads them. Other draws get columns of their own for
    every position, key and member: numbers; codes of text; sizes; and the type of other values
    (None, NaN, a dict, ...). Columns in which no two draws differ are left out.

    The code of a text is a hash, so that it depends on no other draw. Among a million texts two
    have the same code with probability 1e-4. That can hide a difference, but never make one.
    """
    if any(side.dtype.kind == "S" for side in (P, Q)):
        return FeatureColumns.of(P, Q)
    if alike(P, Q):
        return partial(_table_rows, P.shape[1])
    return partial(_list_rows, 1 + _entries(*(tables.with_lengths(side)[:, 0] for side in (P, Q))))


def aligned(P: np.ndarray, Q: np.ndarray) -> tuple[Array, Array]:
    """Both sides as float64 rows, in the columns of what they hold."""
    if alike(P, Q):
        return P, Q
    to_rows = columns(P, Q)
    return to_rows(P), to_rows(Q)


def alike(P: np.ndarray, Q: np.ndarray) -> bool:
    """Whether both sides are tables of one width."""
    return is_table(P) and is_table(Q) and P.shape[1] == Q.shape[1]


def _entries(P: Array, Q: Array) -> int:
    """How many entries of lists of these lengths get a column.

    `FEW`, and beyond these the entries that some draws have: fewer show nothing but their length.
    """
    lengths = np.sort(np.concatenate([P, Q]))
    some = int(lengths[-min(SOME, len(lengths))])
    return min(int(lengths[-1]), max(some, FEW), tables.SLOTS)


def _table_rows(width: int, draws: np.ndarray) -> Array:
    """Rows of `width` columns; draws that are not so many numbers are cut or padded with NaN.

    Raises `InvalidInput` for those where the table is wider than the rows of lists.
    """
    table = None if draws.dtype.kind == "S" else tables.even(draws)
    if table is not None and table.shape[1] == width:
        return table
    if width > tables.SLOTS:
        raise InvalidInput(
            f"draws of more than {tables.SLOTS} numbers must all have as many as the first draws, "
            f"{width} floats; cut or pad the others"
        )
    return _list_rows(1 + width, draws)[:, 1:]


def _list_rows(width: int, draws: np.ndarray) -> Array:
    """Rows (length, entries, NaN) of `width` columns."""
    if draws.dtype.kind != "S":
        return tables.fitted(tables.with_lengths(draws), width)
    entries: tuple[Name, ...] = tuple(((place,), Kind.NUMBER) for place in range(width - 1))
    return FeatureColumns((TOTAL_SIZE, *entries))(draws)


@dataclass(frozen=True)
class FeatureColumns:
    """One column for each name: (n,) draws of any form → (n, k) float64."""

    names: tuple[Name, ...]

    @classmethod
    def of(cls, P: np.ndarray, Q: np.ndarray) -> FeatureColumns:
        """The features in which draws differ, `MOST` at most; the size alone if there are none."""
        found, draws = counted(P, Q)
        names = names_of(found, draws.sum(axis=0))
        bits = cls(names)._rows(found, draws.shape[1]).view(np.int64)
        differs = np.any(bits != bits[0], axis=0)
        kept = tuple(name for name, some in zip(names, differs, strict=True) if some)
        return cls(kept or (TOTAL_SIZE,))

    def __call__(self, draws: np.ndarray) -> Array:
        """Rows (n, k) of draws of any form."""
        texts, which = np.unique(as_texts(draws), return_inverse=True)
        return self._rows(features(texts), len(texts))[which]

    def _rows(self, found: Features, count: int) -> Array:
        rows = np.empty((count, len(self.names)))
        for column, name in enumerate(self.names):
            rows[:, column] = name[1].absent
            if name in found:
                at, values = found[name]
                rows[np.asarray(at), column] = values
        return rows


def counted(P: np.ndarray, Q: np.ndarray) -> tuple[Features, np.ndarray]:
    """The features of all m distinct draws, and how many draws of each side are equal to each,
    (2, m).
    """
    texts, which = np.unique(np.concatenate([as_texts(P), as_texts(Q)]), return_inverse=True)
    sides = np.split(which, [len(P)])
    return features(texts), np.array([np.bincount(one, minlength=len(texts)) for one in sides])


def names_of(found: Features, draws: np.ndarray) -> tuple[Name, ...]:
    """The names of the `MOST` features that most draws have, in order; draws (m,) of each."""
    often = {name: int(draws[np.asarray(rows)].sum()) for name, (rows, _) in found.items()}
    frequent = sorted(often, key=lambda name: (-often[name], name_order(name)))
    kept = [name for rank, name in enumerate(frequent[:MOST]) if rank < FEW or often[name] >= SOME]
    return tuple(sorted(kept, key=name_order))
