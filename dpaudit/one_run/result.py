"""What an audit of one run found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from dpaudit._core import check
from dpaudit._core.shown.short_repr import html_repr
from dpaudit.certify.one_run import bound
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.curves.claims import Claim
from dpaudit.one_run.record import to_dict
from dpaudit.one_run.saved import RecordedRun, SavedRun
from dpaudit.one_run.verdict import Judged, Question
from dpaudit.report.headline import Headline


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
        """The certified ε: no smaller one is true, at the level.

        Parameters
        ----------
        delta : float in [0, 1)
            δ at which ε is read.

        Returns
        -------
        float, nats

        Raises
        ------
        InvalidInput
            When delta is outside of its range.
        """
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

        Of mechanisms whose trade-off curve is another one it bounds nothing.
        """
        return bound.gdp_bound(self.guesses, self.question.alpha)

    @cached_property
    def _record(self) -> dict[str, Any]:
        return to_dict(self)

    @staticmethod
    def load(folder: str | Path) -> SavedRun:
        """Read a saved result: verdict, headline and report, of what result.json keeps.

        Parameters
        ----------
        folder : path
            One that `save` or `dpaudit run` wrote.

        Returns
        -------
        SavedRun

        Raises
        ------
        InvalidInput
            When the folder holds no result, or one of two samples.
        """
        return SavedRun.load(folder)
