"""The verdict on one run: what its canaries certify, against what is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.text import percent
from dpaudit._core.value import value_class
from dpaudit.certify.one_run import bound
from dpaudit.curves.claims import Claim
from dpaudit.verdict.headline import CLAIMED, Headline
from dpaudit.verdict.numbers import count, counted, from_log, number

if TYPE_CHECKING:
    from dpaudit.certify.one_run.guesses import Guesses
    from dpaudit.certify.one_run.independent import Family

NOTHING = "There is no claim to judge by."
EQUAL = "All scores are equal, so they tell nothing of the coins."
REVERSED = (
    "That is far fewer than by chance: the scores seem to be smaller where a canary is in. "
    "Reverse their sign."
)
HALF = (
    "Exactly half of the canaries are in. If they were chosen that way, and not by a coin each, "
    "the bound need not hold."
)
LARGE = 1e-3  # from this δ on, the reason does not advise more canaries
MANY = 20  # from this many canaries on, the reason remarks that exactly half of them are in
# for the bettor with the most wealth when the wealth of a step audit was largest: what that shows
BETTORS = {
    "privacy": "the projections tell when the canary was in the batch, more than {claim} allows",
    "noise": "the projections vary less than the noise of multiplier {sigma:g} lets them, so it is "
    "too small for the clip norm",
    "fresh noise": "the noise of a step repeats in the next one",
    "sampling": "coins or sizes of batches are not those of independent sampling with "
    "probability {rate:g}",
}


@value_class(show_numbers=True, eq=True)
class Question:
    """The question that an audit of one run answers.

    delta : the δ at which ε is bounded. alpha : 1 − level. method : one of `bound.METHODS`.
    canaries : what is assumed of them, one of `bound.CANARIES`. family : the pairs of laws that
    each canary's change is assumed to belong to; None for any.
    """

    claim: Claim | None
    delta: float
    alpha: float
    method: str
    canaries: str = "any"
    family: Family | None = None

    @property
    def assumed(self) -> str:
        family = ""
        if self.family is not None:
            family = f"the change of one canary is of the family: {self.family.text}"
        if self.canaries == "independent":
            beside = f", and that {family}" if family else ""
            own = "each canary's score depends on its own coin and on noise of its own alone"
            return f"This assumes that {own}{beside}."
        return f"This assumes that {family}." if family else ""

    @property
    def mu_claimed(self) -> bool:
        claim = self.claim
        return claim is not None and claim.family is not None and claim.family.symbol == "μ"


@dataclass(frozen=True)
class Judged:
    """The verdict, the reason in sentences for people, and the headline, as in an `AuditResult`."""

    verdict: str
    reason: str
    headline: Headline


@value_class(show_numbers=True, eq=True)
class Reading:
    """The bound that guesses certify in the claim's own parameter, and whether they refute it.

    made : whether the guesses were made, so that the bound is a certificate.
    """

    guesses: Guesses
    question: Question
    made: bool = True

    @cached_property
    def certified(self) -> float:
        if self.question.mu_claimed:
            return bound.gdp_bound(self.guesses, self.question.alpha, self.question.canaries)
        return self._epsilon.value

    @cached_property
    def _epsilon(self) -> bound.EpsilonBound:
        claim = self.question.claim
        own = None if claim is None else claim.epsilon
        return epsilon_of(self.guesses, self.question, own, in_turn=self.made)

    @cached_property
    def refutes(self) -> bool:
        claim = self.question.claim
        if claim is None:
            return False
        if claim.epsilon is not None:
            return self._epsilon.refutes(claim.epsilon)
        return bound.refutes(
            self.guesses, claim, self.question.alpha, canaries=self.question.canaries
        )


def epsilon_of(
    guesses: Guesses,
    question: Question,
    own: float | None,
    delta: float | None = None,
    *,
    in_turn: bool = True,
) -> bound.EpsilonBound:
    """The bound on ε, at the question's δ by default. own : a claimed ε, which is tested too.
    in_turn : as in `likelihood.epsilon_bound`.
    """
    at, alpha = question.delta if delta is None else delta, question.alpha
    if question.family is not None:
        mu = bound.gdp_bound(guesses, alpha, question.canaries, question.family)
        return bound.EpsilonBound(question.family.epsilon_at(mu, at), False)
    return bound.epsilon_bound(guesses, at, alpha, question.method, own, in_turn=in_turn)


def judge(guesses: Guesses, coins: np.ndarray, question: Question) -> Judged:
    """Judge the guesses of one run, and say what scores that tell every coin would have shown.
    coins : which canaries are in the data, (m,).
    """
    reading, best = Reading(guesses, question), Reading(guesses.perfect(), question, False)
    head = headline(reading)
    sentences = [head.text, *filter(None, [question.assumed])]
    if len(coins) >= MANY and 2 * int(coins.sum()) == len(coins):
        sentences.append(HALF)
    verdict = "inconclusive"
    if question.claim is None:
        sentences += [NOTHING, _could_show(best)]
    elif reading.refutes:
        verdict = "violated"
        sentences.append(_right(guesses))
    elif len(guesses.right) == 0:
        sentences.append(EQUAL)
    elif guesses.reversed:
        sentences += [_right(guesses), REVERSED]
    else:
        sentences += [_right(guesses), _could_show(best)]
        if best.refutes:
            verdict = "not violated"
        else:
            sentences.append(_too_little(question))
    return Judged(verdict, " ".join(dict.fromkeys(sentences)), head)


def headline(reading: Reading) -> Headline:
    question, claim = reading.question, reading.question.claim
    symbol, claimant = "ε", CLAIMED
    delta: float | None = question.delta
    claimed: float | None = None
    if claim is not None and claim.family is not None and question.mu_claimed:
        symbol, delta, claimed = "μ", None, claim.family.value
    elif claim is not None and claim.epsilon is not None:
        claimed = claim.epsilon
    elif claim is not None:
        claimed = float(claim.epsilon_at(question.delta))
        claimant = f"The claim of {claim.text} allows"
    certified = reading.certified
    if not reading.refutes and claimed is not None:
        certified = min(certified, claimed)
    canaries = reading.guesses.canaries
    return Headline(
        symbol,
        delta,
        claimed,
        certified,
        reading.refutes,
        epsilon=claim.epsilon if claim is not None and claim.epsilon else 0.0,
        certified_delta=0.0,
        allowed_delta=None,
        level=1.0 - question.alpha,
        who=f"one run, {counted(canaries, 'canary', 'canaries')}",
        claimant=claimant,
    )


def _right(guesses: Guesses) -> str:
    """ "640 of 1,000 coins are guessed right, and 98 of the 100 that the scores are surest of." """
    right, total = guesses.right, len(guesses.right)
    surest = max(1, total // 10)
    sentence = f"{count(int(right.sum()))} of {count(total)} coins are guessed right"
    if surest == total:
        return f"{sentence}."
    few = count(int(right[:surest].sum()))
    return f"{sentence}, and {few} of the {count(surest)} that the scores are surest of."


def _could_show(best: Reading) -> str:
    if len(best.guesses.right) == 0:
        return EQUAL
    symbol = "μ" if best.question.mu_claimed else "ε"
    least = number(best.certified, 3)
    return f"Had the scores told every coin, {symbol} ≥ {least} would have been certified."


def _too_little(question: Question) -> str:
    """The advice if even scores that tell every coin would not refute the claim."""
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


def steps_reason(
    verdict: str,
    *,
    sample_rate: float,
    noise_multiplier: float,
    level: float,
    steps: int,
    violated_at: int | None,
    log_e: float,
    log_largest: float,
    largest_at: int,
    bettor: str,
) -> str:
    """The verdict on the steps of DP-SGD in a few sentences for people.

    violated_at : the step at which the claim was refuted, or None. log_e : the logarithm of the
    present wealth. log_largest : the logarithm of the largest wealth so far. largest_at, bettor :
    the step at which it was reached, and the name of the bettor that had most then.
    """
    watched = counted(steps, "step")
    if verdict == "inconclusive":
        return (
            f"After {watched}, projections that tell every coin would not have refuted the "
            "claim; watch more steps, or more canaries with orthogonal directions."
        )
    needed = number(1.0 / (1.0 - level))
    peak = f"reached {from_log(log_largest)} at step {largest_at}"
    course = f"{peak if largest_at else 'never exceeded 1'} ({needed} needed)"
    if largest_at != steps:
        course = f"{course}; it is {from_log(log_e)} after step {steps}"
    if violated_at is None:
        return (
            f"{watched} did not refute the claimed noise and sampling: the e-value {course}. This "
            "holds for these canaries and steps only."
        )
    claim = f"{1.0 / noise_multiplier:.4g}-GDP"
    meaning = BETTORS[bettor].format(claim=claim, sigma=noise_multiplier, rate=sample_rate)
    return (
        f"Refuted at step {violated_at} with confidence {percent(level)}: {meaning}. The e-value "
        f"{course}. It is the evidence against the claim: if the claim were true, it would reach "
        f"{needed} at some step with probability at most {percent(1.0 - level)}."
    )


def premise_reason(
    headline: str, reason: str, audit: Mapping[str, Any], head: Headline, steps: int, rate: float
) -> str:
    """The reason of a result about steps: what of the accountant's ε stands, and what is certified.

    reason : the reason of the step audit, whose record is `audit`. steps, rate : those of the
    training.
    """
    sentences = [headline]
    if audit["violated_at"] is not None:
        premise = f"σ = {number(audit['noise_multiplier'])}, q = {number(rate)}, clipping"
        sentences.append(
            f"The accountant's premise ({premise}) is refuted at step {audit['violated_at']}, so "
            f"({head.claimed_text}, {number(head.delta)}) does not stand."
        )
    sentences.append(reason)
    if head.certified > 0.0:
        shift = ", and that each canary adds the shift that was passed" if audit["shifts"] else ""
        sentences.append(
            f"The certified ε is that of {counted(steps, 'step')} in which a canary that is added "
            f"or removed has a shift of {number(audit['mu'], 3, down=True)} times the noise; it "
            "assumes that the noise is Gaussian, fresh at each step and of one size in all "
            f"directions, that steps are alike and that sampling is as stated{shift}."
        )
    return " ".join(sentences)
