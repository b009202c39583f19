"""The columns that describe the draws of both sides, and a draw's row in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput
from dpaudit.outcomes import tables
from dpaudit.outcomes.canonical import as_texts
from dpaudit.outcomes.features import Features, Kind, Name, features, name_order
from dpaudit.outcomes.forms import is_table
from dpaudit.outcomes.unread import SOME, unread, unread_lists

MOST = tables.SLOTS  # columns; where there are more features, those that most draws have
FEW = 100  # beyond so many columns, those only that `SOME` draws of both sides have
TOTAL_SIZE: Name = ((), Kind.SIZE)


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of draws: a function from draws of any form to rows (n, k) float64, row by row.

    rows : that function. unread : what the draws that decided the columns hold beside, as in
    `dpaudit.outcomes.unread`.
    """

    rows: Callable[[np.ndarray], Array]
    unread: Mapping[str, float] = field(default_factory=dict)

    __repr__ = short_repr

    def __call__(self, draws: np.ndarray) -> Array:
        """Rows of draws."""
        return self.rows(draws)


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
        return _feature_columns(P, Q)
    if _alike(P, Q):
        return Columns(partial(_table_rows, P.shape[1]))
    lists = [tables.with_lengths(side) for side in (P, Q)]
    width = 1 + _entries(*(side[:, 0] for side in lists))
    return Columns(partial(_list_rows, width), unread_lists(*lists))


def aligned(P: np.ndarray, Q: np.ndarray) -> tuple[Array, Array]:
    """Both sides as float64 rows, in the columns of what they hold."""
    if _alike(P, Q):
        return P, Q
    to_rows = columns(P, Q)
    return to_rows(P), to_rows(Q)


def _alike(P: np.ndarray, Q: np.ndarray) -> bool:
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
    """Rows of `width` columns; draws that are not such a table are cut or padded with NaN to fit.

    Raises `InvalidInput` where the table is wider than the rows of lists.
    """
    if is_table(draws) and draws.shape[1] == width:
        return draws
    if width > tables.SLOTS:
        raise InvalidInput(
            f"draws of more than {tables.SLOTS} numbers must all have as many as the first draws, "
            f"{width}; cut or pad the others"
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

    def __call__(self, draws: np.ndarray) -> Array:
        """Rows (n, k) of draws of any form."""
        texts, which = np.unique(as_texts(draws), return_inverse=True)
        return self.of(features(texts), len(texts))[which]

    def of(self, found: Features, draws: int) -> Array:
        """Rows of so many distinct draws with these features."""
        rows = np.empty((draws, len(self.names)))
        for column, name in enumerate(self.names):
            rows[:, column] = name[1].absent
            if name in found:
                at, values = found[name]
                rows[np.asarray(at), column] = values
        return rows


def _feature_columns(P: np.ndarray, Q: np.ndarray) -> Columns:
    """The features in which draws differ, `MOST` at most; the size alone if there are none."""
    both = np.concatenate([as_texts(P), as_texts(Q)])
    texts, which = np.unique(both, return_inverse=True)
    draws = np.array(
        [np.bincount(side, minlength=len(texts)) for side in np.split(which, [len(P)])]
    )
    found = features(texts)
    names = _most_frequent(found, draws.sum(axis=0))
    bits = FeatureColumns(names).of(found, len(texts)).view(np.int64)
    differs = np.any(bits != bits[0], axis=0)
    kept = tuple(name for name, some in zip(names, differs, strict=True) if some)
    return Columns(FeatureColumns(kept or (TOTAL_SIZE,)), unread(found, set(names), draws))


def _most_frequent(found: Features, draws: np.ndarray) -> tuple[Name, ...]:
    """The names of the `MOST` features that most draws have, in order; draws (n,) with each row."""
    often = {name: int(draws[np.asarray(rows)].sum()) for name, (rows, _) in found.items()}
    frequent = sorted(often, key=lambda name: (-often[name], name_order(name)))
    kept = [name for rank, name in enumerate(frequent[:MOST]) if rank < FEW or often[name] >= SOME]
    return tuple(sorted(kept, key=name_order))
