"""What can be had from the content of result.json of one run, just made or read again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit._core.check import fail
from dpaudit._core.result_file import is_one_run, load, reading
from dpaudit._core.shown.frame import frame
from dpaudit._core.shown.short_repr import html_repr
from dpaudit.auditing.saved import Recorded
from dpaudit.report.headline import Headline

if TYPE_CHECKING:
    from dpaudit.report.style import Axes


class RecordedRun(Recorded):
    """A result of one run; its record has counts and bounds, and no score of a single canary."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """The report's figure: the share of right guesses, the strongest first.

        ax : matplotlib axes to draw on; None for a new figure of pyplot, which a notebook shows.
        Returns the axes.
        """
        from dpaudit.report.one_run.figure import SIZE, Guessed, plot_guesses
        from dpaudit.report.style import pyplot_axes

        return plot_guesses(Guessed.of(self._record), ax or pyplot_axes(*SIZE))

    def to_frame(self) -> Any:
        """A pandas DataFrame of the figure: `count`, of the strongest guesses, and how many of
        them are `right`. Raises ImportError without pandas.
        """
        guesses = self._record["guesses"]
        return frame({name: guesses[name] for name in ("count", "right")})


@dataclass(frozen=True, eq=False, repr=False)
class SavedRun(RecordedRun):
    """A result of one run, read from its result.json: the verdict, and the bounds that it holds."""

    verdict: str
    reason: str
    headline: Headline
    record: dict[str, Any]

    @classmethod
    def load(cls, folder: str | Path) -> SavedRun:
        """Read result.json. Raises `InvalidInput` where it is not of one run."""
        place = Path(folder)
        found = load(place)
        if not is_one_run(found):
            fail("folder", str(place), "an audit of one run", "read it by AuditResult.load")
        with reading(place):
            head = Headline.of(found["headline"])
            return cls(str(found["verdict"]), str(found["reason"]), head, found)

    @property
    def _record(self) -> dict[str, Any]:
        return self.record

    def __repr__(self) -> str:
        return f"SavedRun({self.verdict}: {self.headline.text})"

    _repr_html_ = html_repr
