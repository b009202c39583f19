"""Tables of numbers, lists of records of floats, and lists of numbers of different length as rows.

The row of a list holds its length, its entries, and NaN up to the longest list. Rows have room for
at most `SLOTS` entries, so that one long list does not make all rows long. For a longer list, the
last slot holds a code of all its entries, and the slots before it hold its first entries.
"""

from __future__ import annotations

import hashlib
import json
import numbers
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from dpaudit._core.check import nearest_float
from dpaudit._core.types import Array

LISTS = "list"  # the field of the structured dtype of lists, in memory and on disk
SHAPE = "shape ({}, k)"
NUMBERS = "numbers"
REAL = "fiub"  # kinds of dtype that hold real numbers or booleans
SLOTS = 1000  # entries of a list, at most, in its row
CODE_BITS = 52  # bits of a code: floats represent such integers exactly
EXACT = 2**53  # floats represent all integers up to this exactly


class NotOutcomes(ValueError):
    """The error for values that are not draws of an allowed form; the caller names their origin.

    expected : what was expected. got : what came instead. cure : what to return, or "".
    """

    def __init__(self, expected: str, got: object, cure: str = "") -> None:
        super().__init__(f"{expected}, got {got}")
        self.expected, self.got, self.cure = expected, got, cure


def table(array: np.ndarray, size: int | None) -> Array:
    """An array (n,) or (n, k) of real numbers as (n, k) float64. Raises `NotOutcomes`.

    size : n, or None for any n ≥ 1.
    """
    plain = array[:, None] if array.ndim == 1 else array
    if plain.ndim != 2 or plain.size == 0 or (size is not None and len(plain) != size):
        raise NotOutcomes(SHAPE.format("n" if size is None else size), np.shape(array))
    return np.asarray(plain, dtype=np.float64)


def not_floats(array: np.ndarray, entries: Iterable[Any]) -> bool:
    """Whether an entry of `entries`, the source of `array`, is an integer that no float equals."""
    if array.dtype.kind not in "fiu" or not np.any((array > EXACT) | (array < -EXACT)):
        return False
    integers = (int(entry) for entry in entries if isinstance(entry, numbers.Integral))
    return any(entry != nearest_float(entry) for entry in integers)  # Python compares them exactly


def lists(values: Sequence[Any]) -> np.ndarray | None:
    """Draws that are lists of numbers, numbers or None, as a structured array of rows.

    The result is None where a draw is anything else, or has an integer that no float equals. A
    number counts as a list of one entry, None as the empty list.
    """
    draws = [_entries(draw) for draw in values]
    if any(draw is None for draw in draws):
        return None
    entries = list(chain.from_iterable(draws))
    try:
        flat = np.asarray(entries)
    except ValueError:  # entries are lists of different length
        return None
    if flat.ndim != 1 or (flat.size and flat.dtype.kind not in REAL) or not_floats(flat, entries):
        return None
    length = np.fromiter(map(len, draws), dtype=np.intp, count=len(draws))
    return structured(_padded(flat.astype(np.float64), length))


def _padded(flat: Array, length: np.ndarray) -> Array:
    """The rows of lists whose entries stand one after the other in `flat`."""
    slots = min(int(length.max()), SLOTS)
    rows = np.full((len(length), 1 + slots), np.nan)
    rows[:, 0] = length
    start = np.cumsum(length) - length
    row, slot = np.nonzero(np.arange(slots) < length[:, None])
    rows[row, 1 + slot] = flat[start[row] + slot]
    for long in np.flatnonzero(length > SLOTS):
        rows[long, -1] = list_code(flat[start[long] : start[long] + length[long]].tolist())
    return rows


def records(values: Sequence[Any]) -> np.ndarray | None:
    """Draws that are all lists of m records of c floats as a structured array of fields (m, c).

    The result is None for any other draws, or if a draw has NaN, no fraction (its records may
    repeat, and are counted) or more than `SLOTS` numbers.
    """
    draws = [draw.tolist() if type(draw) is np.ndarray else draw for draw in values]
    shape, parts = [len(draws)], draws
    for _ in range(2):
        if not set(map(type, parts)) <= {list, tuple} or len(sizes := set(map(len, parts))) > 1:
            return None
        shape += sizes
        parts = list(chain.from_iterable(parts))
    if not parts or set(map(type, parts)) - {float, np.float64} or shape[1] * shape[2] > SLOTS:
        return None
    array = np.array(parts).reshape(shape)
    return structured(array) if _are_records(array) else None


def _are_records(array: Array) -> bool:
    """Whether each draw (m, c) of an array has a fraction and no NaN."""
    fractions = np.any(array != np.rint(array), axis=(1, 2))
    return bool(fractions.all() and not np.isnan(array).any())


def list_code(entries: list[Any]) -> float:
    """A hash of a list: an integer below 2^52. Numbers count by value, whatever their type.

    entries : values of JSON types.
    """
    plain = [float(entry) if isinstance(entry, (bool, int)) else entry for entry in entries]
    return text_hash(json.dumps(plain, sort_keys=True))


def text_hash(text: str) -> float:
    """A hash of a text: an integer below 2^52."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> (64 - CODE_BITS))


def _entries(draw: Any) -> Any:
    """The entries of a list, a number or None; None if the draw is anything else."""
    if draw is None:
        return ()
    if isinstance(draw, (numbers.Real, np.bool_)):
        return (draw,)
    if isinstance(draw, np.ndarray) and draw.ndim < 2:
        return np.atleast_1d(draw)
    return draw if isinstance(draw, (list, tuple)) else None


def listed(plain: Array) -> np.ndarray:
    """The rows of a table as lists in a structured array, with all their entries."""
    return structured(np.column_stack([np.full(len(plain), float(plain.shape[1])), plain]))


def structured(rows: Array) -> np.ndarray:
    """Rows (length, entries, NaN), or lists of records (n, m, c), as an (n,) array of the
    structured dtype of lists."""
    shape, flat = rows.shape[1:], np.ascontiguousarray(rows).reshape(len(rows), -1)
    return flat.view([(LISTS, np.float64, shape)])[:, 0]


def is_lists(array: np.ndarray) -> bool:
    """Whether `structured` may have made an array; a user's array may have a field of that name."""
    if array.dtype.names != (LISTS,) or array.dtype[LISTS].base != np.float64 or array.ndim != 1:
        return False
    rows = array[LISTS]
    if rows.ndim == 3:
        return 0 < rows[:1].size <= SLOTS and _are_records(rows)
    if rows.ndim != 2 or rows.shape[1] == 0:
        return False
    length = rows[:, :1]
    whole = bool(np.all((length >= 0.0) & (length == np.rint(length))))
    return whole and bool(np.isnan(rows[:, 1:][np.arange(rows.shape[1] - 1) >= length]).all())


def are_rows(draws: np.ndarray) -> bool:
    """Whether draws are a table or lists of numbers, rather than texts or lists of records."""
    return draws.dtype.kind != "S" and (not draws.dtype.names or draws[LISTS].ndim == 2)


def with_lengths(draws: np.ndarray) -> Array:
    """Rows (length, entries, NaN) of lists or of a table, of at most 1 + `SLOTS` columns."""
    rows = draws[LISTS] if draws.dtype.names else listed(draws)[LISTS]
    if rows.shape[1] <= 1 + SLOTS:
        return np.asarray(rows)
    codes = [list_code(row[1:].tolist()) for row in rows]  # all lists are of one length here
    return np.column_stack([rows[:, :SLOTS], codes])


def fitted(rows: Array, width: int) -> Array:
    """Rows cut or padded with NaN to `width` columns."""
    if rows.shape[1] >= width:
        return rows[:, :width]
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=np.nan)


def even(draws: np.ndarray) -> Array | None:
    """The table (n, k) of draws that all have k > 0 entries, none cut off; None for other draws."""
    if not draws.dtype.names:
        return draws
    rows = draws[LISTS]
    if rows.shape[1] == 1 or np.any(rows[:, 0] != rows.shape[1] - 1.0):
        return None
    return np.ascontiguousarray(rows[:, 1:])
