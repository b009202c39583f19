"""Rows that may come into the database: the user's candidates, and extreme rows inside a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, ArrayLike
from dpaudit.neighbours import RowSource, outliers

SOURCES = ("candidates", "row_bound", "bounds")
INCOMING = ("replace", "add")  # relations with a row that is not in the data
OF_DATA = "data"  # in place of bounds: the least and the largest value of each column
NOT_PUBLIC = (
    "The bounds of the rows that may come in were taken from the data: they are not public, and "
    "the claim may presume others; give public ones (--bounds)."
)


@dataclass(frozen=True, eq=False)
class Incoming:
    """Rows that may come in, (k, d), distinct, and where each is from."""

    rows: Array
    sources: tuple[RowSource, ...]

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def candidates(cls, rows: Array) -> Incoming:
        """The user's candidates, (k, d)."""
        return cls(rows, tuple(RowSource("candidates", number) for number in range(len(rows))))

    @classmethod
    def within_norm(
        cls, data: Array, bound: float, rng: np.random.Generator, seed: np.random.SeedSequence
    ) -> Incoming:
        """Extreme rows of norm `bound`, and the row of zeros. seed : that of `rng`, a new one."""
        rows = outliers.within_norm(data, bound, rng)
        sources = [RowSource("row_bound", number, bound, seed) for number in range(len(rows))]
        zero = np.zeros((1, data.shape[1]))
        return cls(np.concatenate([rows, zero]), (*sources, RowSource("bound")))

    @classmethod
    def within_box(cls, data: Array, box: Array, rng: np.random.Generator) -> Incoming:
        """Corners of a box, (d, 2), and its row that is nearest to zero."""
        rows = outliers.with_nearest(data, box, rng)
        return cls(rows, (RowSource("bound"),) * len(rows))

    @classmethod
    def within_data(cls, data: Array, seed: np.random.SeedSequence) -> Incoming:
        """The same of the box that the data span, whose values are private."""
        rows = outliers.within_data(data, np.random.default_rng(seed))
        sources = [RowSource("data_bounds", place, seed=seed) for place in range(len(rows))]
        return cls(rows, tuple(sources))


def incoming_rows(
    data: Array,
    relations: tuple[str, ...],
    candidates: ArrayLike | None,
    row_bound: float | None,
    bounds: ArrayLike | str | None,
    seed: np.random.SeedSequence,
) -> Incoming:
    """The rows that "replace" and "add" may put in.

    They are the candidates, (m, d), and extreme rows inside the public bound (`outliers`), or
    inside that of the data themselves (`OF_DATA`). The row of the bound that is nearest to zero is
    one of them: replacing a heavy row by it removes most of that row's effect.

    Raises `InvalidInput` for rows without a relation that takes them, or a relation without rows.
    """
    _check_sources(relations, (candidates, row_bound, bounds))
    parts = [Incoming(np.zeros((0, data.shape[1])), ())]
    rng = np.random.default_rng(seed)
    if candidates is not None:
        parts.append(Incoming.candidates(_candidates(data, candidates)))
    if row_bound is not None:
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        parts.append(Incoming.within_norm(data, bound, rng, seed))
    if is_of_data(bounds):
        parts.append(Incoming.within_data(data, seed))
    elif bounds is not None:
        parts.append(Incoming.within_box(data, outliers.box(bounds, data.shape[1]), rng))
    return _distinct(parts)


def is_of_data(bounds: ArrayLike | str | None) -> bool:
    """Whether the bounds are those of the data themselves."""
    return isinstance(bounds, str) and bounds == OF_DATA


def _distinct(parts: list[Incoming]) -> Incoming:
    """All rows, each once, as of the first part that has it."""
    rows = np.concatenate([part.rows for part in parts])
    sources = [source for part in parts for source in part.sources]
    first = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    return Incoming(rows[first], tuple(sources[number] for number in first))


def _check_sources(
    relations: tuple[str, ...], sources: tuple[ArrayLike | float | str | None, ...]
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
        fail(
            "candidates",
            Words(f"{rows.shape[1]} columns"),
            f"rows of {data.shape[1]} columns, as data",
        )
    return rows
