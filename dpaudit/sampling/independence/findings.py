"""Findings of the tests of independence, in words that name the likely mistake."""

from __future__ import annotations

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

    kind : a key of `WORDS`. message : a clause that names the likely mistake. log_p : the log of
    its p-value, corrected for the number of tests in the examination. refused : whether the draws
    cannot certify anything.
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


# The message of each kind, the most telling kind first, which names the likely mistake. Of two
# messages the second is for draws made elsewhere.
WORDS = {
    "period": (
        "the same {what} come again after every {lag}{where}, as from a seed of its own; "
        f"{OWN_SEED}",
        "the same {what} come again after every {lag}{where}, as in draws that were copied",
    ),
    "same draws": (
        "calls return the same {what}, or nearly the same{where}, as from a seed of their own, "
        f"from the clock, or from a cache; {OWN_SEED}",
    ),
    "repeats": (
        "{what} come again within a call{where}, as when noise is tiled or repeated",
        "{what} come again near each other{where}, as in a chain or in draws that were copied",
    ),
    "serial": (
        "successive {what} depend on each other{where}, as in a chain, in sorted draws, or when "
        "noise is drawn once a call",
        "successive {what} depend on each other{where}, as in a chain or in sorted draws",
    ),
    "call": (
        "calls differ from each other{where}, as when noise, or a parameter of it, is drawn once a "
        "call",
    ),
    "drift": (
        "the law changes during the run{where}, as with a counter, a cache or wear",
        "{what} change from the first to the last{where}: they are not in random order",
    ),
    "copied": ("the same {what} stand on both sides, in the same order, so nothing was audited",),
    "shared": (
        "the same {what} stand on both sides, as from one pool or cache, so nothing was audited",
        "the same {what} stand on both sides, as in a shuffled copy, or in parts of one pool, so "
        "nothing was audited",
    ),
    "sides": (
        "{what} of the two sides go together row by row{column}, as when those of {right} are made "
        "from those of {left}, or one noise serves both",
    ),
}
WITHIN_CALLS = ("repeats", "serial", "call")  # shown by a call whose draws are all the same, too


def of_kind(kind: str, place: Place, log_p: float) -> Finding:
    """Make the finding of this kind. Draws are refused unless they only drift in known calls."""
    known = all(side.calls.known for side in place.sides)
    message = _no_size(place) if known and kind in WITHIN_CALLS else None
    if message is None:
        message = WORDS[kind][0 if known else -1].format(
            what=place.what,
            lag=f"{place.lag:,}" if place.lag else "",
            where=place.where,
            column=place.in_column,
            left=place.sides[0].name,
            right=place.sides[-1].name,
        )
    return Finding(kind, message, log_p, kind != "drift" or not known)


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
