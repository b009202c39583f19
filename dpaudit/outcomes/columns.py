"""The columns that draws of both sides have together, and a draw's row in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpaudit._core.check import Array
from dpaudit.outcomes import tables
from dpaudit.outcomes.cells import Name, Told, cells, in_order
from dpaudit.outcomes.parts import are_lists
from dpaudit.outcomes.trees import trees_of

Columns = Callable[[np.ndarray], Array]  # draws (n, ...) of any form → (n, k) float64, row by row
MOST = 1000  # columns; of more, those that most draws have


def columns(P: np.ndarray, Q: np.ndarray) -> Columns:
    """The columns of what both sides hold: a function that makes any further draws rows of equal
    meaning.

    Tables stay as they are; where one side has lists of numbers, their length comes first and NaN
    pads them. Of other draws every place, key and member gets columns of its own: numbers; codes of
    text; sizes; and what the rest is (None, NaN, a dict, ...). Columns in which nothing differs are
    left out.

    The code of a text is a hash, so that it depends on no other draw: of a million texts, two share
    one with probability 1e-4, which hides a difference and never feigns one.
    """
    if any(side.dtype.kind == "S" for side in (P, Q)):
        return Places.of(P, Q)
    if are_lists(P) or are_lists(Q):
        return partial(
            _lists, 1 + int(max(tables.with_lengths(side)[:, 0].max() for side in (P, Q)))
        )
    return partial(_table, P.shape[1])


def aligned(P: np.ndarray, Q: np.ndarray) -> tuple[Array, Array]:
    """Both sides as float64 rows, by the columns of what they hold."""
    if not are_lists(P) and not are_lists(Q):
        return P, Q
    to_rows = columns(P, Q)
    return to_rows(P), to_rows(Q)


def _table(width: int, draws: np.ndarray) -> Array:
    """What is no table loses what it has beyond the columns."""
    return _lists(1 + width, draws)[:, 1:] if are_lists(draws) else draws


def _lists(width: int, draws: np.ndarray) -> Array:
    if draws.dtype.kind == "S":
        return Places((((), Told.SIZE), *(((place,), Told.NUMBER) for place in range(width - 1))))(
            draws
        )
    return tables.fitted(tables.with_lengths(draws), width)


@dataclass(frozen=True)
class Places:
    """One column a name: (n,) draws of any form → (n, k) float64."""

    names: tuple[Name, ...]

    @classmethod
    def of(cls, P: np.ndarray, Q: np.ndarray) -> Places:
        """The names that tell any two of the draws apart, at most `MOST` of them; the size alone
        where none does.
        """
        texts, counts = np.unique(np.concatenate([trees_of(P), trees_of(Q)]), return_counts=True)
        draws = {
            name: int(counts[np.asarray(rows)].sum()) for name, (rows, _) in cells(texts).items()
        }
        frequent = sorted(draws, key=lambda name: (-draws[name], in_order(name)))[:MOST]
        names = tuple(sorted(frequent, key=in_order))
        bits = cls(names)._rows(texts).view(np.int64)
        differs = np.any(bits != bits[0], axis=0)
        return cls(
            tuple(name for name, kept in zip(names, differs, strict=True) if kept)
            or (((), Told.SIZE),)
        )

    def __call__(self, draws: np.ndarray) -> Array:
        texts, which = np.unique(trees_of(draws), return_inverse=True)
        return self._rows(texts)[which]

    def _rows(self, texts: np.ndarray) -> Array:
        found = cells(texts)
        rows = np.empty((len(texts), len(self.names)))
        for column, name in enumerate(self.names):
            rows[:, column] = name[1].absent
            if name in found:
                at, values = found[name]
                rows[np.asarray(at), column] = values
        return rows
