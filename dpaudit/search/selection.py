"""The record of a search: the neighbours that were tried, their draws, and their estimates."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING, Any

from dpaudit._core.note import Note
from dpaudit._core.value import Text, value_class
from dpaudit.neighbours import RowSource
from dpaudit.search.changes import Change
from dpaudit.verdict.numbers import count, counted, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADS = {"delta": "δ estimate", "counted": "δ counted", "error": "± error"}  # for people
LEGEND = (
    "Neighbours tried, worst first. score: how promising before any audit; rung: the last of "
    "{rungs} rounds that it reached; draws: those of M(D′) that it took. δ estimate: δ({epsilon}) "
    "from a classifier's odds; δ counted ± error: from counting draws; gain: how well the "
    "classifier tells M(D′) from M(D), in nats a draw. None of these numbers is certified, and the "
    "largest of many estimates is too high."
)
LEGEND_WIDTH = 100  # characters
NOTE_WIDTH = 60  # characters of a note in the table
USUAL_RANK = "rank auto"  # the comparison leaves it out


@value_class
class Trial:
    """One change that was tried.

    score : the score by which it was ranked. rung : its last rung of the halving, from 1; 0 if it
    reached none. draws : how many draws of M(D') were made.
    delta, counted, error, gain : the estimates of its last rung (`quick_audit.QuickEstimate`); None
        without a rung.
    note : the reason for giving it up, or "".
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

    def to_dict(self, *, show_data: bool = False) -> dict[str, Any]:
        """The trial in JSON types, by name; `Change.put_in` says when a row has its values."""
        change = self.change
        numbers = ("score", "rung", "draws", "delta", "counted", "error", "gain")
        return {
            "relation": change.relation,
            "row": change.index,
            **{name: getattr(self, name) for name in numbers},
            "row_put_in": change.put_in(show_data=show_data),
            "note": self.note,
        }


@value_class
class Selection:
    """The neighbour that a search chose, and how. It certifies nothing: that takes fresh draws.

    tried : the changes that were audited or failed, worst first.
    pool : number of changes to choose from.
    ranked : number of changes whose influence was drawn.
    epsilon : the ε (nats) at which δ was compared; under a claim by distance, that of the chosen
        change. level : that ε for all changes, in words.
    draws : how many draws of M(D) and M(D') the search made.
    rank : how the changes were ranked, in words.
    rungs : (changes, draws each) of the halving.
    """

    tried: tuple[Trial, ...]
    pool: int
    ranked: int
    epsilon: float
    draws: int
    rank: str
    rungs: tuple[tuple[int, int], ...] = ()
    level: str = ""

    def __repr__(self) -> str:
        return f"Selection({self.rule})"

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
            f"the worst of {counted(self.audited, 'neighbour')} audited at ε = {self.at}, out of "
            f"{count(self.pool)} ({count(self.draws)} draws in the search{ranked})"
        )

    @property
    def at(self) -> str:
        """The ε at which δ was compared, nats, in words."""
        return self.level or number(self.epsilon)

    @property
    def notes(self) -> tuple[Note, ...]:
        """A note that doubts the verdict if the mechanism failed on neighbours that were tried."""
        failed = [trial for trial in self.tried if trial.note]
        if not failed:
            return ()
        which = ("first: " if len(failed) > 1 else "") + failed[0].change.text
        text = (
            f"Not audited: the mechanism failed on {count(len(failed))} of "
            f"{counted(len(self.tried), 'neighbour')} that were tried ({which}), and not on D. An "
            "error that depends on a row gives the row away. If such a row cannot occur, give "
            "public bounds or candidates."
        )
        return (Note(text, doubt=text),)

    @property
    def audited(self) -> int:
        """Number of changes with a quick audit."""
        return sum(trial.rung > 0 for trial in self.tried)

    def to_dict(self, *, show_data: bool = False) -> dict[str, Any]:
        """The search in JSON types, the trials worst first. show_data : with the values of all rows
        that come in.
        """
        names = ("pool", "ranked", "epsilon", "draws", "rank")
        return {
            **{name: getattr(self, name) for name in names},
            "rungs": [{"neighbours": changes, "draws": each} for changes, each in self.rungs],
            "tried": [trial.to_dict(show_data=show_data) for trial in self.tried],
        }

    @property
    def legend(self) -> Text:
        known = {"epsilon": self.at, "rungs": number(len(self.rungs))}
        return Text(fill(LEGEND.format(**known), LEGEND_WIDTH))

    def table(self, most: int | None = 20) -> Text:
        """The trials as lines of text, worst first, `most` of them or all (None), below an
        explanation of the columns.
        """
        cells = [_cells(row) for row in itertools.islice(self.rows(), most)]
        heads = [HEADS.get(name, name) for name in cells[0]]
        rows = [heads, *(list(row.values()) for row in cells)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        more = len(self.tried) - len(cells)
        rest = [f"... and {count(more)} more"] if more else []
        return Text("\n".join([self.legend, "", *lines, *rest]))

    def to_csv(self, *, show_data: bool = False) -> Text:
        """All trials, comma separated, worst first. row_put_in : the origin of the row, such as
        "candidate 3"; its values if the public bound decides them, or with `show_data`.
        """
        out, rows = io.StringIO(), list(self.rows(show_data=show_data))
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return Text(out.getvalue())

    def rows(self, *, show_data: bool = False) -> Iterator[dict[str, Any]]:
        for place, trial in enumerate(self.tried, start=1):
            row = {"place": place, **trial.to_dict(show_data=show_data)}
            if (source := row["row_put_in"]) is not None:
                values = source.get("values")
                text = RowSource.from_dict(source).text if values is None else ""
                row["row_put_in"] = text or ";".join(map(repr, values))
            yield row

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the δ estimates of the trials that were audited; returns the matplotlib axes."""
        from dpaudit.report import plot_trials

        audited = [trial for trial in self.tried if trial.rung]
        delta, error = [trial.delta or 0.0 for trial in audited], [t.error or 0.0 for t in audited]
        return plot_trials(self.best.change.text, delta, error, self.at, ax)


def _cells(row: dict[str, Any]) -> dict[str, str]:
    note, estimates = row["note"], ("delta", "counted", "error", "gain")
    return {
        "place": str(row["place"]),
        "relation": row["relation"],
        "row": "" if row["row"] is None else str(row["row"]),
        "score": number(row["score"]),
        "rung": str(row["rung"] or ""),
        "draws": count(row["draws"]),
        **{name: "" if row[name] is None else number(row[name], 3) for name in estimates},
        "note": note if len(note) <= NOTE_WIDTH else note[: NOTE_WIDTH - 3] + "...",
    }
