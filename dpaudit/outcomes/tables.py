"""Tables of numbers, and lists of numbers of different length as rows.

The row of a list holds its length, its entries, and NaN up to the longest list.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.outcomes.refused import NotOutcomes

LISTS = "list"  # the field of the structured dtype of lists, in memory and on disk
SHAPE = "shape ({}, k)"
NUMBERS = "numbers"
REAL = "fiub"  # kinds of dtype that hold real numbers or booleans


def table(array: np.ndarray, size: int | None) -> Array:
    """An array (n,) or (n, k) of real numbers as (n, k) float64. Raises `NotOutcomes`.

    size : n, or None for any n ≥ 1.
    """
    plain = array[:, None] if array.ndim == 1 else array
    if plain.ndim != 2 or plain.size == 0 or (size is not None and len(plain) != size):
        raise NotOutcomes(SHAPE.format("n" if size is None else size), np.shape(array))
    return np.asarray(plain, dtype=np.float64)


def lists(values: Sequence[Any]) -> np.ndarray | None:
    """Rows of draws that are lists of numbers, numbers or None; None where any draw is not.

    A number stands for the list of it alone, None for the empty list.
    """
    draws = [_entries(draw) for draw in values]
    if any(draw is None for draw in draws):
        return None
    length = np.fromiter(map(len, draws), dtype=np.intp, count=len(draws))
    try:
        flat = np.asarray(list(chain.from_iterable(draws)))
    except ValueError:  # entries are lists of different length
        return None
    if flat.ndim != 1 or (flat.size and flat.dtype.kind not in REAL):
        return None
    rows = np.full((len(draws), 1 + length.max()), np.nan)
    rows[:, 0] = length
    rows[:, 1:][np.arange(length.max()) < length[:, None]] = flat
    return structured(rows)


def _entries(draw: Any) -> Any:
    """The entries of a list, number or None; None where the draw is anything else."""
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
    """Rows (length, entries, NaN) as an (n,) array of the structured dtype that marks lists."""
    rows = np.ascontiguousarray(rows)
    return rows.view([(LISTS, np.float64, (rows.shape[1],))])[:, 0]


def with_lengths(draws: np.ndarray) -> Array:
    """Rows (length, entries, NaN) of lists or of a table."""
    return draws[LISTS] if draws.dtype.names else listed(draws)[LISTS]


def fitted(rows: Array, width: int) -> Array:
    """Rows cut or padded with NaN to `width` columns."""
    if rows.shape[1] >= width:
        return rows[:, :width]
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=np.nan)


def simplest(rows: Array) -> np.ndarray:
    """Rows (length, entries, NaN) as a table where all lengths are equal and > 0, else as lists."""
    even = rows.shape[1] > 1 and bool(np.all(rows[:, 0] == rows.shape[1] - 1.0))
    return np.ascontiguousarray(rows[:, 1:]) if even else structured(rows)
