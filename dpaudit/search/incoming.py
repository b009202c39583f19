"""Rows that may come into the database: the user's candidates, and extreme rows inside a bound."""

from __future__ import annotations

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.search import outliers
from dpaudit.search.changes import INCOMING

SOURCES = ("candidates", "row_bound", "bounds")


def incoming_rows(
    data: Array,
    relations: tuple[str, ...],
    candidates: ArrayLike | None,
    row_bound: float | None,
    bounds: ArrayLike | None,
    rng: np.random.Generator,
) -> Array:
    """The rows that "replace" and "add" may put in, (k, d), distinct.

    They are the candidates, (m, d), and extreme rows inside the public bound (`outliers`). The row
    of the bound that is nearest to zero is one of them: replacing a heavy row by it
    removes most of that row's effect.

    Raises `InvalidInput` for rows without a relation that takes them, or a relation without rows.
    """
    _check_sources(relations, (candidates, row_bound, bounds))
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


def _check_sources(
    relations: tuple[str, ...], sources: tuple[ArrayLike | float | None, ...]
) -> None:
    needed = [one for one in relations if one in INCOMING]
    given = [name for name, one in zip(SOURCES, sources, strict=True) if one is not None]
    if needed and not given:
        reason = f"relation {needed[0]!r} needs rows to put in"
        fail("candidates", None, f"given, or row_bound, or bounds: {reason}")
    if given and not needed:
        fail("relations", relations, f"with 'replace' or 'add', since {given[0]} is given")


def _candidates(data: Array, candidates: ArrayLike) -> Array:
    rows = check.matrix("candidates", candidates)
    if rows.shape[1] != data.shape[1]:
        fail("candidates", f"{rows.shape[1]} columns", f"rows of {data.shape[1]} columns, as data")
    return rows
