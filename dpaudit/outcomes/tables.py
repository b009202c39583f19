"""Tables of numbers, and lists of numbers of different length as rows: the length, the entries, NaN
to the widest.
"""

from __future__ import annotations

import numbers
from itertools import chain
from typing import Any

import numpy as np

from dpaudit._core.check import Array
from dpaudit.outcomes.refused import NotOutcomes

# field of the structured dtype that rows of lists carry until both sides are known, also on disk
LISTS = "list"
SHAPE = "shape ({}, k)"
NUMBERS = "numbers"
REAL = "fiub"  # kinds of dtype


def table(array: np.ndarray, size: int | None) -> Array:
    """An array (n,) or (n, k) of real numbers as (n, k) float64. Raises `NotOutcomes`."""
    plain = array[:, None] if array.ndim == 1 else array
    if plain.ndim != 2 or plain.size == 0 or (size is not None and len(plain) != size):
        raise NotOutcomes(SHAPE.format("n" if size is None else size), np.shape(array))
    return np.asarray(plain, dtype=np.float64)


def lists(values: Any) -> np.ndarray | None:
    """Rows of a sequence of lists, numbers and None; None where there is anything else among them."""
    draws = [_entries(draw) for draw in values]
    if any(draw is None for draw in draws):
        return None
    length = np.fromiter(map(len, draws), dtype=np.intp, count=len(draws))
    try:
        flat = np.asarray(list(chain.from_iterable(draws)))
    except ValueError:  # lists of lists of different length
        return None
    if flat.ndim != 1 or (flat.size and flat.dtype.kind not in REAL):
        return None
    rows = np.full((len(draws), 1 + length.max()), np.nan)
    rows[:, 0] = length
    rows[:, 1:][np.arange(length.max()) < length[:, None]] = flat
    return structured(rows)


def _entries(draw: Any) -> Any:
    if draw is None:
        return ()
    if isinstance(draw, (numbers.Real, np.bool_)):
        return (draw,)
    if isinstance(draw, np.ndarray) and draw.ndim < 2:
        return np.atleast_1d(draw)
    return draw if isinstance(draw, (list, tuple)) else None


def listed(plain: Array) -> np.ndarray:
    """The rows of a table as lists."""
    return structured(np.column_stack([np.full(len(plain), float(plain.shape[1])), plain]))


def structured(rows: Array) -> np.ndarray:
    """Rows (length, entries, NaN) in the dtype that says so."""
    rows = np.ascontiguousarray(rows)
    return rows.view([(LISTS, np.float64, (rows.shape[1],))])[:, 0]


def with_lengths(draws: np.ndarray) -> Array:
    """Rows (length, entries, NaN) of lists or of a table."""
    return draws[LISTS] if draws.dtype.names else listed(draws)[LISTS]


def fitted(rows: Array, width: int) -> Array:
    """Rows of so many columns: NaN is added, or what is beyond is left out."""
    if rows.shape[1] >= width:
        return rows[:, :width]
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=np.nan)


def simplest(rows: Array) -> np.ndarray:
    """Without the lengths when all are the same and more than none."""
    even = rows.shape[1] > 1 and bool(np.all(rows[:, 0] == rows.shape[1] - 1.0))
    return np.ascontiguousarray(rows[:, 1:]) if even else structured(rows)
