"""The parts of draws that no column makes comparable from one draw to another.

A text, a key of a dict, a member of a set, a very large integer and a very long list are known by
their identity alone: of one that fewer than `SOME` draws share, a score learns nothing that holds
of the next draw. By how many draws have such parts, whatever a score finds may be incomplete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from dpaudit._core.types import Array
from dpaudit.outcomes.features import SETS, Features, Kind, Name
from dpaudit.outcomes.tables import SLOTS

SOME = 5  # draws of both sides that make a value known
TEXTS, KEYS, MEMBERS = "texts", "keys of dicts", "members of sets"
LONG_LISTS = f"lists of more than {SLOTS:,} entries"
LARGE, CODED = "integers of more than 32 digits", 2.0**107  # whose rest may be a code
QUOTES = "'\""
BEYOND = f"values beyond the {SLOTS:,} that most draws have"


def unread(found: Features, names: Collection[Name], draws: np.ndarray) -> dict[str, float]:
    """For each kind of part, the share of draws with such a part that fewer than `SOME` have.

    found : features of n distinct draws. names : of the features that have a column. draws :
    (2, n), how many draws of each side are equal to each of these. The share is that of the side
    where it is larger; kinds whose share is 0 are left out.
    """
    marked: dict[str, np.ndarray] = {}
    for name, (at, values) in found.items():
        rows = np.asarray(at)
        for kind, rare in _rare(found, names, name, rows, np.asarray(values), draws.sum(axis=0)):
            marked.setdefault(kind, np.zeros(draws.shape[1], dtype=bool))[rows[rare]] = True
    shares = {kind: (draws @ mark / draws.sum(axis=1)).max() for kind, mark in marked.items()}
    return {kind: float(share) for kind, share in shares.items() if share > 0.0}


def unread_lists(P: Array, Q: Array) -> dict[str, float]:
    """The same of lists of numbers as rows (length, entries, NaN) of `SLOTS` entries at most."""
    long = [side[side[:, 0] > SLOTS, -1] for side in (P, Q)]
    rare = _fewer(np.concatenate(long), np.ones(sum(map(len, long))))
    parts = np.split(rare, [len(long[0])])
    share = max(part.sum() / len(side) for part, side in zip(parts, (P, Q), strict=True))
    return {LONG_LISTS: float(share)} if share > 0.0 else {}


def _rare(
    found: Features,
    names: Collection[Name],
    name: Name,
    rows: np.ndarray,
    values: Array,
    draws: np.ndarray,
) -> Iterator[tuple[str, np.ndarray]]:
    """Kinds of parts that this feature is of, and in which of its draws they are rare."""
    (path, kind), times = name, draws[rows]
    if kind is Kind.MEMBER and str(path[-1])[0] not in QUOTES:
        return  # an integer, which the set has at some place as a number
    constant = times.sum() == draws.sum() and bool(np.all(values == values[0]))
    if times.sum() < SOME:
        if any(isinstance(step, str) for step in path):  # else the length of a list shows it
            yield MEMBERS if kind is Kind.MEMBER else KEYS, np.ones(len(rows), dtype=bool)
    elif not (name in names or constant):
        yield BEYOND, np.ones(len(rows), dtype=bool)
    elif kind is Kind.TEXT:  # those of a set are members, wherever they stand in it
        members = _rows_where(found, (path[:-1], Kind.TYPE), SETS, rows)
        yield TEXTS, _fewer(values, times) & ~members
    elif kind is Kind.NUMBER and path[-1:] == (SLOTS - 1,):
        long = _rows_where(found, (path[:-1], Kind.SIZE), SLOTS + 1, rows)
        yield LONG_LISTS, _fewer(values, times) & long
    elif kind is Kind.REST:
        large = _rows_where(found, (path, Kind.NUMBER), CODED, rows)
        yield LARGE, _fewer(values, times) & large


def _fewer(values: Array, draws: np.ndarray) -> np.ndarray:
    """Which values fewer than `SOME` draws share; draws (n,) with each."""
    _, which = np.unique(values, return_inverse=True)
    return np.bincount(which, draws)[which] < SOME


def _rows_where(found: Features, name: Name, least: float, rows: np.ndarray) -> np.ndarray:
    """Which rows have a feature of this name of at least this size."""
    at, values = found.get(name, ((), ()))
    large = np.abs(np.asarray(values, dtype=np.float64)) >= least
    return np.isin(rows, np.asarray(at, dtype=np.intp)[large])
