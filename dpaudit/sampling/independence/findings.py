"""Findings of the tests of independence, in words that name the likely mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.sampling.independence.features import Calls, keys_of

OWN_SEED = (
    "draw from the rng that is given; for a function with global generators there is "
    "dpaudit.adapters.global_seeds"
)


@dataclass(frozen=True)
class Finding:
    """One kind of dependence that the draws show.

    kind : "period", "same draws", "repeats", "serial", "call", "drift", "copied", "shared" or
    "sides". message : a clause that names the likely mistake. log_p : the log of its p-value,
    corrected for the number of tests in the examination. refused : whether the draws cannot certify
    anything.
    """

    kind: str
    message: str
    log_p: float
    refused: bool


@value_class
class Side:
    """The draws of one side: their rows, calls and name."""

    rows: Array
    calls: Calls
    name: str


@value_class
class Place:
    """The place where the evidence is strongest.

    column : number of the column, None for whole draws. sides : the side or sides. what : the word
    for the rows, "draws" or "scores". lag : the period of draws that repeat, else None.
    """

    column: int | None
    sides: tuple[Side, ...]
    what: str
    lag: int | None = None

    @property
    def where(self) -> str:
        """The place in words, such as " on M(D), column 2 of 3"."""
        return f" on {' and '.join(side.name for side in self.sides)}{self.in_column}"

    @property
    def in_column(self) -> str:
        """The column in words, such as ", column 2 of 3"; "" if there is one column."""
        columns = self.sides[0].rows.shape[1]
        if self.column is None or columns == 1:
            return ""
        return f", column {self.column + 1} of {columns}"


def of_kind(kind: str, place: Place, log_p: float) -> Finding:
    """Make the finding of this kind. Draws are refused unless they only drift in known calls."""
    known = all(side.calls.known for side in place.sides)
    return Finding(kind, WORDS[kind](place, known), log_p, kind != "drift" or not known)


def _period(place: Place, known: bool) -> str:
    slip = f"as from a seed of its own; {OWN_SEED}" if known else "as in draws that were copied"
    return f"the same {place.what} come again after every {place.lag:,}{place.where}, {slip}"


def _same_draws(place: Place, known: bool) -> str:
    slip = f"as from a seed of their own, from the clock, or from a cache; {OWN_SEED}"
    return f"calls return the same {place.what}, or nearly the same{place.where}, {slip}"


def _repeats(place: Place, known: bool) -> str:
    if not known:
        slip = "as in a chain or in draws that were copied"
        return f"{place.what} come again near each other{place.where}, {slip}"
    slip = "as when noise is tiled or repeated"
    return _no_size(place) or f"{place.what} come again within a call{place.where}, {slip}"


def _serial(place: Place, known: bool) -> str:
    shared = ", in sorted draws, or when noise is drawn once a call"
    slip = f"as in a chain{shared if known else ' or in sorted draws'}"
    return _no_size(place) or f"successive {place.what} depend on each other{place.where}, {slip}"


def _call(place: Place, known: bool) -> str:
    slip = "as when noise, or a parameter of it, is drawn once a call"
    return _no_size(place) or f"calls differ from each other{place.where}, {slip}"


def _drift(place: Place, known: bool) -> str:
    if known:
        slip = "as with a counter, a cache or wear"
        return f"the law changes during the run{place.where}, {slip}"
    slip = "they are not in random order"
    return f"{place.what} change from the first to the last{place.where}: {slip}"


def _sides(place: Place, known: bool) -> str:
    left, right = (side.name for side in place.sides)
    slip = f"as when those of {right} are made from those of {left}, or one noise serves both"
    return f"{place.what} of the two sides go together row by row{place.in_column}, {slip}"


def _copied(place: Place, known: bool) -> str:
    return f"the same {place.what} stand on both sides, in the same order, so nothing was audited"


def _shared(place: Place, known: bool) -> str:
    slip = "from one pool or cache" if known else "in a shuffled copy, or in parts of one pool"
    return f"the same {place.what} stand on both sides, as {slip}, so nothing was audited"


WORDS: dict[str, Callable[[Place, bool], str]] = {
    "period": _period,
    "same draws": _same_draws,
    "repeats": _repeats,
    "serial": _serial,
    "call": _call,
    "drift": _drift,
    "copied": _copied,
    "shared": _shared,
    "sides": _sides,
}  # the most telling first


def _no_size(place: Place) -> str | None:
    """The message if every call has one value, in all columns or in one of them; else None."""
    for side in place.sides:
        constant, changing = _within_and_across(side)
        if constant.all():
            return f"every draw of a call is the same on {side.name}: is size= forgotten?"
        if (constant & changing).any():
            column = int(np.argmax(constant & changing)) + 1
            name = f"column {column} of {len(constant)}"
            return f"{name} has one value in each call on {side.name}: is size= forgotten?"
    return None


def _within_and_across(side: Side) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays (k,): whether a column has one value in each call, and whether it has several
    values in all calls together.
    """
    keys, offset = keys_of(side.rows.T), side.calls.offset
    tells = side.calls.known and offset.any()  # calls of one draw tell nothing
    changes = (keys[:, 1:] != keys[:, :-1]) & (offset[1:] > 0)
    return ~changes.any(axis=1) & tells, (keys != keys[:, :1]).any(axis=1)
