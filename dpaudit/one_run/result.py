"""The result of an audit of one run, which is its record: the content of result.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpaudit._core import check
from dpaudit._core.frame import frame
from dpaudit._core.result_file import ONE_RUN, SCHEMA_VERSION, plain, versions
from dpaudit._core.value import value_class
from dpaudit.certify.one_run import bound
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.curves.claims import Claim
from dpaudit.report.result import Result
from dpaudit.verdict.attacker import of_guesses
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.one_run import Judged, Question, epsilon_of

POINTS = 120  # result.json counts right guesses for at most this many numbers of guesses


@value_class
class OneRunResult(Result):
    """The result of an audit of one run with canaries.

    Each bound holds at the level by itself, not jointly. The verdict is about the claim alone.

    Attributes
    ----------
    judged : Judged
        The verdict, its reason and the headline.
    included : int
        How many canaries were in.
    level : float
        The confidence level.
    guesses : Guesses
        The guesses of the coins, and which of them are right. A loaded result does not have them.
    question : Question
        Claim, δ, level and method. A loaded result does not have it.
    note : str
        A further sentence of the reason.
    subject : dict
        The description of mechanism and data by a scenario, for result.json.
    """

    guesses: Guesses
    question: Question
    included: int
    level: float
    judged: Judged
    note: str = ""
    subject: Mapping[str, Any] = field(default_factory=dict)

    kind: ClassVar[str | None] = ONE_RUN
    not_kept: ClassVar[Mapping[str, str]] = {
        "guesses": "to_dict()['guesses'] has how many of the strongest ones are right",
        "question": "to_dict() has claim, level and method",
        "claim": "to_dict()['claim'] has its text and ε",
    }

    @property
    def verdict(self) -> str:
        """ "violated", "not violated" or "inconclusive"."""
        return self.judged.verdict

    @property
    def reason(self) -> str:
        """Sentences for people: the headline, the guesses, and what could have been shown."""
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
        """The certified lower bound on ε (nats) at a δ in [0, 1), which holds at the level."""
        at = check.real("delta", delta, 0.0, 1.0)
        question = self.question
        own = None
        if question.claim is not None and at == question.delta:
            own = question.claim.epsilon
        return epsilon_of(self.guesses, question, own, at).value

    @cached_property
    def gdp_mu(self) -> float:
        """The certified lower bound on μ if the mechanism is Gaussian DP, which holds at the level.

        It says nothing about mechanisms with another trade-off curve.
        """
        return bound.gdp_bound(self.guesses, self.question.alpha, self.question.canaries)

    def to_frame(self) -> Any:
        """A pandas DataFrame of the figure: `count`, of the strongest guesses, and how many of
        them are `right`. Raises ImportError without pandas.
        """
        guesses = self.record["guesses"]
        return frame({name: guesses[name] for name in ("count", "right")})

    @cached_property
    def record(self) -> dict[str, Any]:
        """The content of result.json, with no score of a single canary; `to_dict` gives a copy."""
        question, guesses, claim = self.question, self.guesses, self.claim
        shares = {question.method: 1.0}
        if question.method == "auto":  # the bounds in use, and their shares of 1 − level
            shares = bound.shares(guesses, question.delta, question.alpha)
        total = len(guesses.right)
        sizes = np.empty(0, int)
        if total:
            sizes = np.unique(np.geomspace(1, total, POINTS).round().astype(int))
        right = np.cumsum(guesses.right)[sizes - 1]
        record = {
            "schema_version": SCHEMA_VERSION,
            "kind": ONE_RUN,
            **self.subject,
            "level": self.level,
            "verdict": self.verdict,
            "reason": self.reason,
            "headline": self.headline.to_dict(),
            "claim": None if claim is None else {"text": claim.text, "epsilon": claim.epsilon},
            "certified": {
                "delta": question.delta,
                "epsilon": self.epsilon_at(question.delta),
                "gdp_mu": self.gdp_mu,
            },
            "attacker": of_guesses(guesses),
            "method": {"requested": question.method, "shares": shares},
            "canaries": {
                "count": guesses.canaries,
                "included": self.included,
                "inclusion": [guesses.inclusion.min(), guesses.inclusion.max()],
            },
            "guesses": {"count": sizes, "right": right},
            "versions": versions(),
        }
        if question.assumed:
            family = None if question.family is None else question.family.text
            record["assumed"] = {"canaries": question.canaries, "family": family}
        return dict(plain(record))

    @classmethod
    def of(cls, record: dict[str, Any]) -> Self:
        """Make a result from the content of result.json, with the attributes that it keeps."""
        head = Headline.of(record["headline"])
        return cls._restored(
            record=record,
            judged=Judged(str(record["verdict"]), str(record["reason"]), head),
            included=record["canaries"]["included"],
            level=record["level"],
            gdp_mu=float(record["certified"]["gdp_mu"]),
        )
