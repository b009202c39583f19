"""Draws in the simplest of their forms, from one call or joined from several calls."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np

from dpaudit._core.text import with_article
from dpaudit.outcomes import tables
from dpaudit.outcomes.nested import as_texts, canonical_texts
from dpaudit.outcomes.tables import LISTS, NUMBERS, REAL, SHAPE, NotOutcomes

NESTED = "OUSVmM"  # kinds of dtype whose entries may be draws of any form


def rows(values: Any, size: int | None = None, sort_keys: bool = False) -> np.ndarray:
    """The draws in `values` as (size, k) float64, a structured (size,) array of lists of numbers or
    of records, or (size,) bytes.

    values : an array (size,) or (size, k) of numbers, booleans or text, or a list of `size` draws
        of any form. An array of more dimensions holds images, whose pixels become columns.
    size : the required number of draws, or None for any number ≥ 1. sort_keys : whether to leave
        out the order of the keys of dicts. Raises `NotOutcomes`.
    """
    if values is None:
        raise NotOutcomes(NUMBERS, "None (is a return forgotten?)")
    if isinstance(values, np.ma.MaskedArray) and values.ndim > 0:
        values = values.tolist()  # None for each masked entry
    if isinstance(values, (list, tuple)):
        return _sequence(values, size, sort_keys)
    array = np.asarray(values)
    if array.dtype.kind == "c" and array.ndim:  # a column for the real part, and one beside it
        array = np.stack([array.real, array.imag], axis=-1).reshape(len(array), -1)
    if array.ndim > 2 and array.size:
        array = array.reshape(len(array), -1)
    if tables.is_lists(array) and size in (None, len(array)):
        return array
    large = array.dtype.kind in "iu" and tables.not_floats(array, array.flat)
    if (large or array.dtype.kind in NESTED) and array.ndim in (1, 2):
        return _sequence(list(array), size, sort_keys)
    if array.dtype.kind not in REAL:
        kind = f"dtype {array.dtype}" if array.ndim else with_article(type(values).__name__)
        raise NotOutcomes(NUMBERS, kind)
    return tables.table(array, size)


def _sequence(values: Sequence[Any], size: int | None, sort_keys: bool) -> np.ndarray:
    array = np.empty(0, dtype=object)
    if not _is_nested(values):
        with suppress(ValueError):  # draws of different length
            array = np.asarray(values)
    if array.dtype.kind == "c" and array.ndim in (1, 2):
        return rows(array, size)
    if array.dtype.kind in REAL and array.ndim in (1, 2) and array.size:
        entries = values if array.ndim == 1 else chain.from_iterable(values)
        plain = tables.table(array, size)
        if tables.not_floats(array, entries):
            return canonical_texts(values)
        return tables.listed(plain) if array.ndim == 2 else plain
    if not values or (size is not None and len(values) != size):
        raise NotOutcomes(SHAPE.format("n" if size is None else size), f"{len(values)} draws")
    lists = None if _is_nested(values) else tables.lists(values)
    lists = tables.records(values) if lists is None else lists
    return canonical_texts(values, sort_keys) if lists is None else lists


def _is_nested(values: Sequence[Any]) -> bool:
    """Whether the first draw shows that the draws are neither numbers nor lists of numbers."""
    for _ in range(2):
        if not isinstance(values, (list, tuple)) or not values:
            # a series of pandas, with labels, or an array with a mask
            return hasattr(values, "to_frame") or isinstance(values, np.ma.MaskedArray)
        values = values[0]
    return isinstance(values, (list, tuple, dict, str))


def is_table(draws: np.ndarray) -> bool:
    """Whether the draws are a table, and so rows already, rather than lists or texts."""
    return draws.dtype.kind != "S" and draws.dtype.names != (LISTS,)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """Draws of several parts, one after the other, in the simplest form that holds them all.

    Lists are padded to the longest, `tables.SLOTS` at most; lists of one length become a table.
    Raises `NotOutcomes` where tables differ in their number of columns.
    """
    widths = {part.shape[1] for part in parts if is_table(part)}
    if len(widths) > 1:
        raise NotOutcomes(
            "the same number of columns each time", " and ".join(map(str, sorted(widths)))
        )
    if not all(map(tables.are_rows, parts)):
        if parts[0].dtype.names and len({part.dtype for part in parts}) == 1:
            return np.concatenate(parts)
        return np.concatenate([as_texts(part) for part in parts])
    even = [table for table in map(tables.even, parts) if table is not None]
    if len(even) == len(parts) and len({table.shape[1] for table in even}) == 1:
        return np.concatenate(even) if len(even) > 1 else np.ascontiguousarray(even[0])
    padded = [tables.with_lengths(part) for part in parts]
    widest = max(part.shape[1] for part in padded)
    return tables.structured(np.concatenate([tables.fitted(part, widest) for part in padded]))


def equal(P: np.ndarray, Q: np.ndarray) -> bool:
    """Whether both sides hold the same draws in the same order, of whatever form."""
    try:
        both = as_bytes(joined([P, Q]))
    except NotOutcomes:  # draws of different forms
        return False
    return np.array_equal(both[: len(P)], both[len(P) :])


def as_bytes(draws: np.ndarray) -> np.ndarray:
    """Each draw as one item of bytes, (n,), so that draws can be compared and counted."""
    plain = draws[LISTS] if draws.dtype.names else draws
    if plain.dtype.kind == "S":
        return plain
    if np.isnan(plain).any():
        plain = np.where(np.isnan(plain), np.nan, plain)
    plain = np.ascontiguousarray(plain)
    plain = plain.reshape(len(plain), -1)
    return plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1])))[:, 0]
