"""The record of a search: the neighbours that were tried, what they cost, and what came of them."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import Any

from dpaudit.report.text import count
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
HEADS = (  # of the table for people
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
NOTE_WIDTH = 60  # characters of a note in the table


@dataclass(frozen=True, eq=False)
class Trial:
    """One change that was tried.

    score : by which it came to be tried. rung : its last rung of the halving, from 1; 0 for none.
    draws : of M(D') that it cost.
    delta, counted, error, gain : the estimates of its last rung (`quick_audit.QuickEstimate`); None
        without a rung.
    note : why it was given up, or "".
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
        """The trial in JSON types, by name."""
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
    """The neighbour that a search chose, and how. Nothing is certified: that takes fresh draws.

    tried : the changes that were audited or failed, worst first. pool : number of changes to choose
    from. ranked : number of changes whose influence was drawn. epsilon : nats, where δ was
    compared. draws : of M(D) and of M(D') that the search made. rank : how the changes were ranked,
    in words. rungs : (changes, draws each) of the halving.
    """

    tried: tuple[Trial, ...]
    pool: int
    ranked: int
    epsilon: float
    draws: int
    rank: str
    rungs: tuple[tuple[int, int], ...] = field(default=())

    @property
    def best(self) -> Trial:
        """The trial of the chosen change."""
        return self.tried[0]

    @property
    def rule(self) -> str:
        """The chosen change and how it was chosen, in one line for a report."""
        return f"{self.best.change.text}: {self.comparison}"

    @property
    def comparison(self) -> str:
        """How the change was chosen, in words."""
        return (
            f"worst of {count(self.audited)} audited at ε = {self.epsilon:g} "
            f"of {count(self.pool)} ({self.rank}; {count(self.draws)} draws of search)"
        )

    @property
    def audited(self) -> int:
        """Number of changes with a quick audit."""
        return sum(trial.rung > 0 for trial in self.tried)

    def to_dict(self) -> dict[str, Any]:
        """The search in JSON types, with a record for each trial, worst first."""
        names = ("pool", "ranked", "epsilon", "draws", "rank")
        return {
            **{name: getattr(self, name) for name in names},
            "rungs": [{"neighbours": kept, "draws": each} for kept, each in self.rungs],
            "tried": [trial.to_dict() for trial in self.tried],
        }

    def table(self, most: int | None = 20) -> str:
        """The trials as lines of text, worst first; at most `most`, or all (None)."""
        rows = [HEADS, *(_cells(place, one) for place, one in enumerate(self.tried[:most], 1))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        more = len(self.tried) - (len(rows) - 1)
        return "\n".join([*lines, *([f"... and {count(more)} more"] if more else [])])

    def to_csv(self) -> str:
        """All trials, comma separated, worst first; the numbers of `row_put_in` have semicolons."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for place, trial in enumerate(self.tried, start=1):
            record = {"place": place, **trial.to_dict()}
            if record["row_put_in"] is not None:
                record["row_put_in"] = ";".join(repr(value) for value in record["row_put_in"])
            writer.writerow(["" if record[name] is None else record[name] for name in COLUMNS])
        return out.getvalue()


def _cells(place: int, trial: Trial) -> tuple[str, ...]:
    row, note = trial.change.index, trial.note
    return (
        str(place),
        trial.change.relation,
        "" if row is None else str(row),
        f"{trial.score:.4g}",
        str(trial.rung or ""),
        count(trial.draws),
        *map(_decimals, (trial.delta, trial.counted, trial.error, trial.gain)),
        note if len(note) <= NOTE_WIDTH else note[: NOTE_WIDTH - 3] + "...",
    )


def _decimals(value: float | None) -> str:
    """Four decimals, so that a column of estimates lines up."""
    return "" if value is None else f"{value:.4f}"
