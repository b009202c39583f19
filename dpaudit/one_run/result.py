"""What an audit of one run found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.result_file import is_one_run, load, reading
from dpaudit._core.shown.frame import frame
from dpaudit._core.shown.short_repr import html_repr
from dpaudit.auditing.saved import Recorded
from dpaudit.certify.one_run import bound
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.curves.claims import Claim
from dpaudit.one_run.record import to_dict
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.one_run import Judged, Question

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
class OneRunResult(RecordedRun):
    """What one run with canaries showed.

    Each number that is read off holds at the level by itself. The verdict is about the claim alone.

    Attributes
    ----------
    guesses : Guesses
        Of the coins, and which of them are right.
    question : Question
        Claim, δ, level and method.
    included : int
        How many canaries were in.
    level : float
        Of confidence.
    judged : Judged
        The verdict and what it rests on.
    note : str
        A further sentence of the reason.
    subject : dict
        What a scenario says of mechanism and data, for result.json.
    """

    guesses: Guesses
    question: Question
    included: int
    level: float
    judged: Judged
    note: str = ""
    subject: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"OneRunResult({self.verdict}: {self.headline.text})"

    _repr_html_ = html_repr

    @property
    def verdict(self) -> str:
        """ "violated", "not violated" or "inconclusive"."""
        return self.judged.verdict

    @property
    def reason(self) -> str:
        """For people: the headline, what was guessed, what could have been shown."""
        return f"{self.judged.reason} {self.note}".strip()

    @property
    def headline(self) -> Headline:
        """What is claimed and what is certified, at the claim's own δ."""
        return self.judged.headline

    @property
    def claim(self) -> Claim | None:
        """The claim about the change of one canary."""
        return self.question.claim

    def epsilon_at(self, delta: float) -> float:
        """The certified ε at a δ in [0, 1), nats: no smaller one is true, at the level."""
        return self._epsilon_at(check.real("delta", delta, 0.0, 1.0))

    @cached_property
    def _epsilon_at(self) -> Any:
        asked = self.question
        own = None if asked.claim is None else asked.claim.epsilon

        def bounded(delta: float) -> float:
            alpha, at = asked.alpha, own if delta == asked.delta else None
            return bound.epsilon_bound(self.guesses, delta, alpha, asked.method, at).value

        return cache(bounded)

    @cached_property
    def gdp_mu(self) -> float:
        """The certified μ, if the mechanism is Gaussian DP: no smaller one is true, at the level.

        It bounds nothing for mechanisms whose trade-off curve is another one.
        """
        return bound.gdp_bound(self.guesses, self.question.alpha)

    @cached_property
    def _record(self) -> dict[str, Any]:
        return to_dict(self)

    @staticmethod
    def load(folder: str | Path) -> SavedRun:
        """Read what `save` or `dpaudit run` wrote: verdict, headline and report.

        Raises `InvalidInput` where the folder holds no result, or one of two samples.
        """
        return SavedRun.load(folder)


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
        record = load(place)
        if not is_one_run(record):
            fail("folder", str(place), "an audit of one run", "read it by AuditResult.load")
        with reading(place):
            head = Headline.of(record["headline"])
            return cls(str(record["verdict"]), str(record["reason"]), head, record)

    @property
    def _record(self) -> dict[str, Any]:
        return self.record

    def __repr__(self) -> str:
        return f"SavedRun({self.verdict}: {self.headline.text})"

    _repr_html_ = html_repr
