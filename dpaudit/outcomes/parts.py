"""Draws as they come, call by call, and several of these together."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.outcomes import tables
from dpaudit.outcomes.refused import NotOutcomes
from dpaudit.outcomes.tables import LISTS, NUMBERS, REAL, SHAPE
from dpaudit.outcomes.trees import trees, trees_of

FREE = "OUSV"  # kinds of dtype whose entries may be of any build


def rows(values: Any, size: int | None = None) -> np.ndarray:
    """Draws in the simplest of the three forms: (size, k) float64, a structured (size,) array, or
    (size,) bytes.

    values : an array (size,) or (size, k) of numbers, booleans or text, or a list of `size` draws
        of any build.
    size : how many there must be, None for any but none. Raises `NotOutcomes`.
    """
    if isinstance(values, (list, tuple)):
        return _sequence(values, size)
    array = np.asarray(values)
    if array.dtype.names == (LISTS,) and size in (None, len(array)):
        return array
    if array.dtype.kind in FREE and array.ndim in (1, 2):
        return _sequence(list(array), size)
    if array.dtype.kind not in REAL:
        raise NotOutcomes(NUMBERS, f"dtype {array.dtype}")
    return tables.table(array, size)


def _sequence(values: Any, size: int | None) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError:  # of different length
        array = np.empty(0, dtype=object)
    if array.dtype.kind in REAL and array.ndim < 3 and array.size:
        plain = tables.table(array, size)
        return tables.listed(plain) if array.ndim == 2 else plain
    if not values or (size is not None and len(values) != size):
        raise NotOutcomes(SHAPE.format("n" if size is None else size), f"{len(values)} draws")
    found = tables.lists(values)
    return trees(values) if found is None else found


def are_lists(draws: np.ndarray) -> bool:
    """Whether the draws are no table: their columns are settled when both sides are known."""
    return draws.dtype.kind == "S" or draws.dtype.names == (LISTS,)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """Draws of several parts, one after the other, in the simplest form that holds all.

    Lists are padded to the widest; lists of one length are a table. Raises `NotOutcomes` where
    tables differ in their number of columns.
    """
    widths = {part.shape[1] for part in parts if not are_lists(part)}
    if len(widths) > 1:
        raise NotOutcomes(
            "the same number of columns each time", " and ".join(map(str, sorted(widths)))
        )
    if any(part.dtype.kind == "S" for part in parts):
        return np.concatenate([trees_of(part) for part in parts])
    if not any(map(are_lists, parts)):
        return np.concatenate(parts)
    padded = [tables.with_lengths(part) for part in parts]
    widest = max(part.shape[1] for part in padded)
    return tables.simplest(np.concatenate([tables.fitted(part, widest) for part in padded]))
