"""The record of a search: the neighbours that were tried, what they cost, and what came of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any

from dpaudit._core.shown.short_repr import html_repr
from dpaudit.neighbours import RowSource
from dpaudit.report.text import count, number
from dpaudit.search.changes import Change

if TYPE_CHECKING:
    from dpaudit.report.style import Axes

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
LEGEND = (
    "Neighbours tried, worst first. score: how promising before any audit; rung: the last of "
    "{rungs} rounds reached; draws: of M(D′). δ estimate: δ({epsilon}) by a classifier's odds; δ "
    "counted ± error: by counting draws; gain: how well it tells M(D′) from M(D), nats a draw. The "
    "largest of many estimates is too high, and none is certified."
)
LEGEND_WIDTH = 100  # characters
NOTE_WIDTH = 60  # characters of a note in the table
USUAL_RANK = "rank auto"  # which is not told


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        if self.delta is None:
            return f"Trial({self.change.text}; {self.note or 'not audited'})"
        estimate = f"δ estimate {number(self.delta)} ± {number(self.error, 2)}"
        return f"Trial({self.change.text}; {estimate}, rung {self.rung}, {count(self.draws)} draws)"

    _repr_html_ = html_repr

    def to_dict(self, *, show_data: bool = False) -> dict[str, Any]:
        """The trial in JSON types, by name.

        row_put_in : where the row that comes in is from; its values only if they are corners of the
            public bound, or with `show_data`.
        """
        change = self.change
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
            "row_put_in": change.put_in(show_data=show_data),
            "note": self.note,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The neighbour that a search chose, and how. Nothing is certified: that takes fresh draws.

    tried : the changes that were audited or failed, worst first. pool : number of changes to choose
    from. ranked : number of changes whose influence was drawn. epsilon : nats, where δ was
    compared, of a claim by distance for the chosen change; level : the same of all, in words.
    draws : of M(D) and of M(D') that the search made. rank : how the changes were ranked,
    in words. rungs : (changes, draws each) of the halving.
    """

    tried: tuple[Trial, ...]
    pool: int
    ranked: int
    epsilon: float
    draws: int
    rank: str
    rungs: tuple[tuple[int, int], ...] = field(default=())
    level: str = ""

    def __repr__(self) -> str:
        return f"Selection({self.rule})"

    _repr_html_ = html_repr

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
        ranked = "" if self.rank == USUAL_RANK else f", {self.rank}"
        return (
            f"worst of {count(self.audited)} audited at ε = {self.at} "
            f"of {count(self.pool)} different ones ({count(self.draws)} draws of search{ranked})"
        )

    @property
    def at(self) -> str:
        """ε where δ was compared, nats, in words."""
        return self.level or number(self.epsilon)

    @property
    def audited(self) -> int:
        """Number of changes with a quick audit."""
        return sum(trial.rung > 0 for trial in self.tried)

    def to_dict(self, *, show_data: bool = False) -> dict[str, Any]:
        """The search in JSON types, with a record for each trial, worst first.

        show_data : with the values of all rows that come in, as in `Trial.to_dict`.
        """
        names = ("pool", "ranked", "epsilon", "draws", "rank")
        return {
            **{name: getattr(self, name) for name in names},
            "rungs": [{"neighbours": kept, "draws": each} for kept, each in self.rungs],
            "tried": [trial.to_dict(show_data=show_data) for trial in self.tried],
        }

    @property
    def legend(self) -> str:
        """What the columns of the table mean, in a few lines."""
        known = {"epsilon": self.at, "rungs": number(len(self.rungs))}
        return fill(LEGEND.format(**known), LEGEND_WIDTH)

    def table(self, most: int | None = 20) -> str:
        """The trials as lines of text, worst first, below what the columns mean.

        most : number of trials that are shown; None for all.
        """
        rows = [HEADS, *(_cells(place, one) for place, one in enumerate(self.tried[:most], 1))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        more = len(self.tried) - (len(rows) - 1)
        rest = [f"... and {count(more)} more"] if more else []
        return "\n".join([self.legend, "", *lines, *rest])

    def to_csv(self, *, show_data: bool = False) -> str:
        """All trials, comma separated, worst first.

        row_put_in : "candidate 3", where the row is from; for corners of the public bound, and with
            `show_data` for all rows, the values, separated by semicolons.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in self.rows(show_data=show_data):
            writer.writerow(["" if value is None else value for value in row.values()])
        return out.getvalue()

    def rows(self, *, show_data: bool = False) -> Iterator[dict[str, Any]]:
        """The trials, worst first, by the names of `COLUMNS`; texts in `row_put_in`."""
        for place, trial in enumerate(self.tried, start=1):
            record = {"place": place, **trial.to_dict(show_data=show_data)}
            record["row_put_in"] = _put_in(record["row_put_in"])
            yield {name: record[name] for name in COLUMNS}

    def plot(self, ax: Axes | None = None) -> Axes:
        """The δ estimates of the trials that were audited, on matplotlib axes."""
        from dpaudit.report.search import plot_trials

        audited = [one for one in self.tried if one.delta is not None]
        delta, error = ([float(getattr(one, key)) for one in audited] for key in ("delta", "error"))
        return plot_trials(self.best.change.text, delta, error, self.at, ax)


def _put_in(record: dict[str, Any] | None) -> str | None:
    """The row that comes in as a cell: its values where the record has them, else its source."""
    if record is None:
        return None
    values = record.get("values")
    return RowSource.from_dict(record).text if values is None else ";".join(map(repr, values))


def _cells(place: int, trial: Trial) -> tuple[str, ...]:
    row, note = trial.change.index, trial.note
    estimates = (trial.delta, trial.counted, trial.error, trial.gain)
    return (
        str(place),
        trial.change.relation,
        "" if row is None else str(row),
        number(trial.score),
        str(trial.rung or ""),
        count(trial.draws),
        *("" if value is None else number(value, 3) for value in estimates),
        note if len(note) <= NOTE_WIDTH else note[: NOTE_WIDTH - 3] + "...",
    )
