"""The verdict on one run: what is certified, against what is claimed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit._core.shown.short_repr import short_repr
from dpaudit.certify.one_run import bound
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.curves.claims import Claim
from dpaudit.verdict.headline import CLAIMED, Headline
from dpaudit.verdict.numbers import count, number

NOTHING = "Nothing is claimed to judge by."
EQUAL = "All scores are equal, so they tell nothing of the coins."
REVERSED = (
    "That is far fewer than by chance: the scores seem to be smaller where a canary is in. Turn "
    "their sign round."
)
HALF = (
    "Exactly half of the canaries are in. If they were chosen so, and not by a coin each, this "
    "bound is not known to hold."
)
LARGE = 1e-3  # δ, from which on more canaries are no remedy
MANY = 20  # canaries, from which on exactly half of them is worth a word


@dataclass(frozen=True)
class Question:
    """What is asked of one run.

    delta : the δ at which ε is read. alpha : 1 − level. method : one of `bound.METHODS`.
    """

    claim: Claim | None
    delta: float
    alpha: float
    method: str

    __repr__ = short_repr

    @property
    def mu_claimed(self) -> bool:
        """Whether the claim is μ-GDP, which is read as μ."""
        claim = self.claim
        return claim is not None and claim.family is not None and claim.family.symbol == "μ"


@dataclass(frozen=True)
class Judged:
    """verdict, and the reason for people, first the headline; as in an `AuditResult`."""

    verdict: str
    reason: str
    headline: Headline


@dataclass(frozen=True)
class Reading:
    """The certified value in the claim's own parameter, and whether it refutes the claim."""

    guesses: Guesses
    question: Question

    __repr__ = short_repr

    @cached_property
    def certified(self) -> float:
        """ε (nats) at the question's δ, or μ."""
        asked = self.question
        if asked.mu_claimed:
            return bound.gdp_bound(self.guesses, asked.alpha)
        return self._epsilon.value

    @cached_property
    def _epsilon(self) -> bound.EpsilonBound:
        asked = self.question
        own = None if asked.claim is None else asked.claim.epsilon
        return bound.epsilon_bound(self.guesses, asked.delta, asked.alpha, asked.method, own)

    @cached_property
    def refutes(self) -> bool:
        """Whether the claim is refuted."""
        claim = self.question.claim
        if claim is None:
            return False
        if claim.epsilon is not None:
            return self._epsilon.refutes(claim.epsilon)
        return bound.refutes(self.guesses, claim, self.question.alpha)


def judge(guesses: Guesses, coins: np.ndarray, question: Question) -> Judged:
    """Judge the guesses of one run."""
    found = Reading(guesses, question)
    best = Reading(guesses.perfect(), question)
    head = headline(found)
    notes = [HALF] if len(coins) >= MANY and 2 * int(coins.sum()) == len(coins) else []
    if question.claim is None:
        return Judged("inconclusive", _joined(head.text, *notes, NOTHING, _least(best)), head)
    if found.refutes:
        return Judged("violated", _joined(head.text, *notes, _right(guesses)), head)
    if len(guesses.right) == 0:
        return Judged("inconclusive", _joined(head.text, *notes, EQUAL), head)
    if guesses.reversed:
        return Judged("inconclusive", _joined(head.text, *notes, _right(guesses), REVERSED), head)
    said = _joined(head.text, *notes, _right(guesses), _least(best))
    if best.refutes:
        return Judged("not violated", said, head)
    return Judged("inconclusive", f"{said} {_too_little(question)}", head)


def headline(found: Reading) -> Headline:
    """What is claimed and what is certified."""
    asked, guesses = found.question, found.guesses
    symbol, delta, claimed, claimant = _claimed(asked)
    certified = found.certified
    if not found.refutes and claimed is not None:
        certified = min(certified, claimed)
    at = asked.claim.epsilon if asked.claim is not None and asked.claim.epsilon else 0.0
    who = f"one run, {count(guesses.canaries)} {'canary' if guesses.canaries == 1 else 'canaries'}"
    level = 1.0 - asked.alpha
    return Headline(
        symbol, delta, claimed, certified, found.refutes, at, 0.0, None, level, who, claimant
    )


def _claimed(asked: Question) -> tuple[str, float | None, float | None, str]:
    """Symbol, δ, claimed value and how the sentence begins."""
    claim = asked.claim
    if claim is None:
        return "ε", asked.delta, None, CLAIMED
    if asked.mu_claimed:
        assert claim.family is not None
        return "μ", None, claim.family.value, CLAIMED
    if claim.epsilon is not None:
        return "ε", asked.delta, claim.epsilon, CLAIMED
    allowed = float(claim.epsilon_at(asked.delta))
    return "ε", asked.delta, allowed, f"The claim of {claim.text} allows"


def _right(guesses: Guesses) -> str:
    """ "640 of 1,000 coins are guessed right, and 98 of the 100 that the scores are surest of." """
    found, most = guesses.right, len(guesses.right)
    if most == 0:
        return EQUAL
    surest = max(1, most // 10)
    said = f"{count(int(found.sum()))} of {count(most)} coins are guessed right"
    if surest == most:
        return f"{said}."
    few = count(int(found[:surest].sum()))
    return f"{said}, and {few} of the {count(surest)} that the scores are surest of."


def _least(best: Reading) -> str:
    """What scores that tell every coin would have shown."""
    if len(best.guesses.right) == 0:
        return EQUAL
    symbol = "μ" if best.question.mu_claimed else "ε"
    shown = number(best.certified, 3)
    return f"Had the scores told every coin, {symbol} ≥ {shown} would have been certified."


def _too_little(question: Question) -> str:
    """What to do where scores that tell every coin would not refute the claim."""
    claim, delta = question.claim, question.delta
    if claim is not None and claim.epsilon is not None and delta >= question.alpha:
        return (
            "That does not refute the claim, nor would more canaries: with probability δ = "
            f"{number(delta)} a run may tell all. Ask for less confidence."
        )
    if claim is not None and claim.epsilon is not None and delta >= LARGE:
        return (
            "That does not refute the claim, and more canaries seldom help: a run may tell of a "
            f"share of δ = {number(delta)} of them. Claim a smaller δ, or a curve such as μ-GDP."
        )
    return "That does not refute the claim: add canaries."


def _joined(*sentences: str) -> str:
    return " ".join(dict.fromkeys(filter(None, sentences)))
