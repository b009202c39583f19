"""The parts of draws that no column makes comparable from one draw to another.

A text, a key of a dict, a member of a set, a very large integer and a very long list are known by
their identity alone: of one that fewer than `SOME` draws share, a score learns nothing that holds
of the next draw.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from dpaudit._core.types import Array
from dpaudit.outcomes import tables
from dpaudit.outcomes.columns import SOME, alike, counted, names_of
from dpaudit.outcomes.features import SETS, Features, Kind, Name

TEXTS, KEYS, MEMBERS = "texts", "keys of dicts", "members of sets"
BEYOND = f"values beyond the first {tables.SLOTS:,}"
LARGE, CODED = "integers of more than 32 digits", 2.0**107  # whose rest may be a code


def unread(P: np.ndarray, Q: np.ndarray) -> dict[str, float]:
    """For each kind of part, the share of draws with such a part that fewer than `SOME` have.

    P, Q : draws of both sides, in any form. The share is that of the side where it is larger; kinds
    whose share is 0 are left out.
    """
    if alike(P, Q):
        return {}
    texts = any(side.dtype.kind == "S" for side in (P, Q))
    if not texts and max(tables.with_lengths(side)[:, 0].max() for side in (P, Q)) <= tables.SLOTS:
        return {}
    found, draws = counted(P, Q)
    total = draws.sum(axis=0)
    names = set(names_of(found, total))
    marked: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(len(total), dtype=bool))
    for name, (at, values) in found.items():
        rows = np.asarray(at)
        part, rare = _rare(found, name, rows, np.asarray(values), total[rows])
        if total[rows].sum() >= SOME and name not in names:
            part, rare = BEYOND, np.ones(len(rows), dtype=bool)
        marked[part][rows[rare]] = True
    shares = {part: (draws @ mark / draws.sum(axis=1)).max() for part, mark in marked.items()}
    return {part: float(share) for part, share in shares.items() if share > 0.0}


def _rare(
    found: Features, name: Name, rows: np.ndarray, values: Array, draws: np.ndarray
) -> tuple[str, np.ndarray]:
    """The kind of part that a feature is of, and in which rows it is rare; draws (n,) of each."""
    (path, kind), few = name, np.full(len(rows), draws.sum() < SOME)
    if kind is Kind.MEMBER:  # an integer stands at some place of the set as a number, too
        return MEMBERS, few & (not str(path[-1]).lstrip("-").isdigit())
    if few.any():  # how long a list is shows by itself
        return KEYS, few & any(isinstance(step, str) for step in path)
    code = kind is Kind.NUMBER and path[-1:] == (tables.SLOTS - 1,)
    if not (code or kind in (Kind.TEXT, Kind.REST)):
        return BEYOND, few
    _, which = np.unique(values, return_inverse=True)
    rare = np.bincount(which, draws)[which] < SOME
    if kind is Kind.TEXT:  # those of a set are members, wherever they stand in it
        return TEXTS, rare & ~_where(found, (path[:-1], Kind.TYPE), SETS, rows)
    if kind is Kind.REST:
        return LARGE, rare & _where(found, (path, Kind.NUMBER), CODED, rows)
    return BEYOND, rare & _where(found, (path[:-1], Kind.SIZE), tables.SLOTS + 1, rows)


def _where(found: Features, name: Name, least: float, rows: np.ndarray) -> np.ndarray:
    """Which rows have a feature of this name of at least this size."""
    at, values = found.get(name, ((), ()))
    large = np.abs(np.asarray(values, dtype=np.float64)) >= least
    return np.isin(rows, np.asarray(at, dtype=np.intp)[large])
