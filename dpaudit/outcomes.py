"""What one draw of a mechanism may be, and how draws become rows of float64.

Numbers of any real type, booleans, NaN and both infinities are outcomes as they are. A draw may also be a list of
numbers of any length, and a single number or None (the empty list) among lists. Lists become rows: column 0 holds
the length, the entries follow, NaN pads them to the widest.
"""

from __future__ import annotations

import numbers
from itertools import chain
from typing import Any

import numpy as np

from dpaudit._check import Array

LISTS = "list"  # field of the structured dtype that rows of lists carry until both sides are known, also on disk
SHAPE = "shape ({}, k)"
NUMBERS = "numbers"


class NotOutcomes(ValueError):
    """What was expected and what came instead."""

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"{expected}, got {got}")
        self.expected, self.got = expected, got


def rows(values: Any, size: int | None = None) -> np.ndarray:
    """Draws as rows: (size, k) float64, or a structured (size,) array of lists (see `aligned`).

    values : an array (size,) or (size, k) of real numbers or booleans, or a sequence of `size` draws. size : how many
    there must be, None for any but none. Raises `NotOutcomes`.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        return _lists(values, size)
    listed = not isinstance(values, np.ndarray)
    if (array.dtype.kind == "O" and array.ndim == 1) or (listed and array.ndim == 2 and array.shape[1] == 0):
        return _lists(values, size)
    if array.dtype.kind not in "fiub":
        raise NotOutcomes(NUMBERS, f"dtype {array.dtype}")
    plain = array[:, None] if array.ndim == 1 else array
    count = "n" if size is None else size
    if plain.ndim != 2 or plain.size == 0 or (size is not None and len(plain) != size):
        raise NotOutcomes(SHAPE.format(count), np.shape(values))
    plain = np.asarray(plain, dtype=np.float64)
    return _listed(plain) if listed and array.ndim == 2 else plain


def are_lists(draws: np.ndarray) -> bool:
    """Whether rows are lists, their lengths in column 0."""
    return draws.dtype.names == (LISTS,)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """Rows of several parts, one after the other, lists padded to the widest; lists of one length are plain rows.

    Raises `NotOutcomes` where plain arrays differ in their number of columns.
    """
    widths = {part.shape[1] for part in parts if not are_lists(part)}
    if len(widths) > 1:
        raise NotOutcomes("the same number of columns each time", " and ".join(map(str, sorted(widths))))
    if widths and not any(map(are_lists, parts)):
        return np.concatenate(parts)
    tables = [_table(part) for part in parts]
    widest = max(table.shape[1] for table in tables)
    return _simplest(np.concatenate([_padded(table, widest) for table in tables]))


def aligned(P: np.ndarray, Q: np.ndarray) -> tuple[Array, Array]:
    """Both sides as float64 rows: where one has lists, both have lengths in column 0 and equally many columns."""
    if not are_lists(P) and not are_lists(Q):
        return P, Q
    tables = _table(P), _table(Q)
    widest = max(table.shape[1] for table in tables)
    return _padded(tables[0], widest), _padded(tables[1], widest)


def _lists(values: Any, size: int | None) -> np.ndarray:
    """Rows of a sequence of lists, numbers and None."""
    draws = [_entries(draw) for draw in values]
    if (size is not None and len(draws) != size) or not draws:
        raise NotOutcomes(SHAPE.format("n" if size is None else size), f"{len(draws)} draws")
    length = np.fromiter(map(len, draws), dtype=np.intp, count=len(draws))
    flat = np.asarray(list(chain.from_iterable(draws)))
    if flat.size and (flat.ndim != 1 or flat.dtype.kind not in "fiub"):
        raise NotOutcomes(NUMBERS, f"lists of dtype {flat.dtype}" if flat.ndim == 1 else "lists of lists")
    table = np.full((len(draws), 1 + length.max()), np.nan)
    table[:, 0] = length
    table[:, 1:][np.arange(length.max()) < length[:, None]] = flat
    return _structured(table)


def _entries(draw: Any) -> Any:
    if draw is None:
        return ()
    if isinstance(draw, (numbers.Real, np.bool_)):
        return (draw,)
    if isinstance(draw, np.ndarray) and draw.ndim < 2:
        return np.atleast_1d(draw)
    if isinstance(draw, (list, tuple)):
        return draw
    raise NotOutcomes("numbers, lists of numbers or None", f"a draw of type {type(draw).__name__}")


def _listed(plain: Array) -> np.ndarray:
    return _structured(np.column_stack([np.full(len(plain), float(plain.shape[1])), plain]))


def _structured(table: Array) -> np.ndarray:
    table = np.ascontiguousarray(table)
    return table.view([(LISTS, np.float64, (table.shape[1],))])[:, 0]


def _table(draws: np.ndarray) -> Array:
    return draws[LISTS] if are_lists(draws) else _listed(draws)[LISTS]


def _padded(table: Array, width: int) -> Array:
    if table.shape[1] == width:
        return table
    return np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=np.nan)


def _simplest(table: Array) -> np.ndarray:
    """Without the lengths when all are the same and more than none."""
    even = table.shape[1] > 1 and bool(np.all(table[:, 0] == table.shape[1] - 1.0))
    return np.ascontiguousarray(table[:, 1:]) if even else _structured(table)
