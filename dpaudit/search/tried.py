"""The record of a search: what was tried, what it cost, and what came of it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import Any

from dpaudit.search.changes import Change

COLUMNS = (
    "place",
    "relation",
    "row",
    "score",
    "rung",
    "draws",
    "delta",
    "counted",
    "error",
    "gain",
    "row_put_in",
    "note",
)


@dataclass(frozen=True, eq=False)
class Tried:
    """One neighbour that was looked at.

    change : what it changes. score : by which it was taken up. rung : of the halving, from 1, that
    it last stood on, 0 if none. draws : of M(D') that it cost. delta : the last rung's estimate of
    δ at the searched ε, by which it was compared; counted, error : a cruder one that cannot lean
    upwards, and its standard error; gain : what the score has learned, nats a draw, which decides
    where no δ can be told (`quick.Measure`). None without a rung. note : why it was given up, or
    "".
    """

    change: Change
    score: float
    rung: int = 0
    draws: int = 0
    delta: float | None = None
    counted: float | None = None
    error: float | None = None
    gain: float | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON types by name."""
        change, row = self.change, self.change.row
        return {
            "relation": change.relation,
            "row": change.index,
            "score": self.score,
            "rung": self.rung,
            "draws": self.draws,
            "delta": self.delta,
            "counted": self.counted,
            "error": self.error,
            "gain": self.gain,
            "row_put_in": None if row is None else row.tolist(),
            "note": self.note,
        }


@dataclass(frozen=True, eq=False)
class Selection:
    """The neighbour that a search chose. Nothing is certified yet: that takes draws which the
    search has not seen.

    tried : what stood on a rung or failed, best first. pool : changes there were. ranked : of them,
    those whose influence was drawn. epsilon : where δ was compared, nats. draws : of M(D) and of
    M(D') that the search spent.
    rank : how the pool was ordered, in words.
    """

    tried: tuple[Tried, ...]
    pool: int
    ranked: int
    epsilon: float
    draws: int
    rank: str
    rungs: tuple[tuple[int, int], ...] = field(default=())  # (neighbours, draws each)

    @property
    def best(self) -> Tried:
        return self.tried[0]

    @property
    def rule(self) -> str:
        """One line for a report."""
        return (
            f"{self.best.change.text}: worst of {self.audited:,} audited at ε = {self.epsilon:g} of {self.pool:,} "
            f"({self.rank}; {self.draws:,} draws of search)"
        )

    @property
    def audited(self) -> int:
        return sum(one.rung > 0 for one in self.tried)

    def to_dict(self) -> dict[str, Any]:
        """JSON types: how the search went, and a record a neighbour, best first."""
        names = ("pool", "ranked", "epsilon", "draws", "rank")
        return {
            **{name: getattr(self, name) for name in names},
            "rungs": [{"neighbours": kept, "draws": each} for kept, each in self.rungs],
            "tried": [one.to_dict() for one in self.tried],
        }

    def table(self, most: int | None = 20) -> str:
        """Lines of text for people, the `most` best first (None: all)."""
        head = (
            "place",
            "relation",
            "row",
            "score",
            "rung",
            "draws",
            "δ estimate",
            "δ counted",
            "± error",
            "gain",
            "note",
        )
        rows = [head, *(_cells(place, one) for place, one in enumerate(self.tried[:most], start=1))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        rest = len(self.tried) - (len(rows) - 1)
        return "\n".join([*lines, *([f"... and {rest:,} more"] if rest else [])])

    def to_csv(self) -> str:
        """All that was tried, comma separated, best first; `row_put_in` with semicolons."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for place, one in enumerate(self.tried, start=1):
            record = {"place": place, **one.to_dict()}
            if record["row_put_in"] is not None:
                record["row_put_in"] = ";".join(repr(value) for value in record["row_put_in"])
            writer.writerow(["" if record[name] is None else record[name] for name in COLUMNS])
        return out.getvalue()


def _cells(place: int, one: Tried) -> tuple[str, ...]:
    def shown(value: float | None) -> str:
        return "" if value is None else f"{value:.4f}"

    note = one.note if len(one.note) <= 60 else one.note[:57] + "..."
    row = "" if one.change.index is None else str(one.change.index)
    numbers = (
        f"{one.score:.4g}",
        str(one.rung or ""),
        f"{one.draws:,}",
        shown(one.delta),
        shown(one.counted),
    )
    return str(place), one.change.relation, row, *numbers, shown(one.error), shown(one.gain), note
