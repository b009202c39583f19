"""Audits with a number of draws that is fixed in advance: the stages, and two plans for them.

- Many draws (`ManyDraws`): some train a score, some choose score and sets, and those that certify
  are made afterwards, counted as they come and not kept.
- Few draws (`FewDraws`), up to 500 a side: one part trains and chooses by cross-validation
  (`scoring.few`), all others certify. `certify.few` chooses the sets and proves that the band
  holds. One side of draws made elsewhere may be longer than the other: equally many draws of each
  train and choose, and all others certify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from dpaudit import outcomes, scoring
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.independence import CallSizes, notes_on, refuse_scores
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.subject import Findings, Setup
from dpaudit.auditing.vacuous import too_few, with_unread
from dpaudit.certify.constants import SMALLEST
from dpaudit.certify.counting import StreamedCounts
from dpaudit.certify.estimate import Choices, Estimate
from dpaudit.certify.few import certify_few, few_bet
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.sets import ChosenSet
from dpaudit.certify.split import Split
from dpaudit.power import least_excess
from dpaudit.sampling import Count, Counts, Draws, GivenDraws, Pair
from dpaudit.sampling.draws import Learn
from dpaudit.scoring import Fitted, KnownScore, Sides
from dpaudit.scoring.base import nan_count, nan_note, refuse_nan, without_nan
from dpaudit.scoring.few import fit_few
from dpaudit.verdict.evidence import of_set, where_to_bet
from dpaudit.verdict.judgement import judge_band, with_notes
from dpaudit.verdict.numbers import count

NO_SCORES: Array = np.empty(0)


def audit_fixed(setup: Setup, draws: Draws) -> Findings:
    """Draw, check independence, choose a score and sets, certify, and judge.

    Raises `MechanismError` (`InvalidInput` for draws made elsewhere) if draws depend on each
    other.
    """
    settings, clock, progress = setup.settings, setup.clock, setup.progress
    plan: Plan = FewDraws(setup, draws) if settings.few else ManyDraws(setup, draws)
    with clock.step("sample_s"):
        drawn = plan.draw()
    with clock.step("fit_s"):
        progress("fitting the score", 0, 1)
        learned = plan.learn(drawn)
        del drawn  # the draws that learn are not needed any more, and may be large
        progress("fitting the score", 1, 1)
    with clock.step("certify_s"):
        certified = plan.certify(learned)
        progress("certifying", 1, 1)
    estimate, fitted, sizes = certified.estimate, learned.fitted, learned.sizes
    judged = judge_band(
        estimate,
        setup.reference,
        settings.level,
        settings.detect,
        who=setup.who,
        few=partial(too_few, settings, setup.reference, sizes),
        least=certified.least,
        unread=fitted.unread,
    )
    notes = (*nan_note(fitted.name, certified.undefined), *certified.notes, *learned.notes)
    evidence = None
    if estimate.cells is not None:
        evidence = of_set(settings.claim, certified.bet, estimate.cells)
    return Findings(estimate, fitted, sizes, with_notes(judged, notes), evidence=evidence)


class Plan(Protocol):
    """How an audit spends its draws: three stages, each of which takes the result of the last."""

    def draw(self) -> Any:
        """Make the draws that train and choose."""

    def learn(self, drawn: Any, /) -> Any:
        """Test the draws for independence, and fit a score to them (`Learned`, `LearnedFew`)."""

    def certify(self, learned: Any, /) -> Certified:
        """Estimate δ(ε) and its band from the draws that neither train nor choose."""


@value_class
class Certified:
    """The result of the certifying draws.

    undefined : how many of their scores are NaN, which count as 0. bet : the set that bets against
    the claim, chosen before these draws. notes : sentences on these draws for the report.
    least : function of a position on the grid of ε that gives the least excess in δ that would have
    shown there; None if that is not known exactly.
    """

    estimate: Estimate
    undefined: int
    bet: ChosenSet | None
    notes: tuple[str, ...] = ()
    least: Callable[[int], float] | None = None


# --- many draws -----------------------------------------------------------------------------------


@value_class
class Learned:
    """The result of the draws that train and choose.

    columns : makes rows of numbers from draws. choices : the sets, chosen before the first
    certifying draw is scored. notes : sentences on draws that are not random, or that drift.
    """

    sizes: Split
    columns: outcomes.Columns
    fitted: Fitted
    choices: Choices
    notes: tuple[str, ...]


class ManyDraws:
    def __init__(self, setup: Setup, draws: Draws) -> None:
        self.setup, self.draws = setup, draws

    def draw(self) -> Learn:
        """A function that applies another to the training and choosing draws (`Draws.hold`).

        The draws may be held by workers. The first few draws show how many columns there are,
        which decides the split.
        """
        first = self.draws.peek(2 * SMALLEST)
        self.sizes = self.setup.settings.split(outcomes.described(*first).left.shape[1])
        return self.draws.hold(self.sizes.train + self.sizes.choose)

    def learn(self, learn_from: Learn) -> Learned:
        """Fit a score and choose the sets, in this process or in workers that hold the draws."""
        settings = self.setup.settings
        learned: Learned = learn_from(
            partial(fit_and_choose, settings, self.sizes, self.draws.calls)
        )
        known = settings.classifier
        if isinstance(known, KnownScore):  # the user's own, and no copy that a worker sent
            learned = replace(learned, fitted=replace(learned.fitted, score=known.score))
        return learned

    def certify(self, learned: Learned) -> Certified:
        """Make the remaining draws, count them as they come, and certify the chosen sets."""
        fitted, sizes, clock = learned.fitted, learned.sizes, self.setup.clock
        rest = partial(_timed, self.draws, clock)
        counts = StreamedCounts(fitted, learned.columns, rest, sizes.certify)
        estimate = learned.choices.certified_by(counts)
        # refusing on the certifying draws costs no validity: it can only withhold a certificate
        first = sizes.train + sizes.choose
        refuse_scores(counts.first_scores(), fitted.name, self.draws.calls, first)
        return Certified(estimate, sum(counts.undefined), learned.choices.bet)


def fit_and_choose(settings: Settings, sizes: Split, calls: CallSizes, drawn: Pair) -> Learned:
    """Fit a score and choose the sets. The columns too are decided by the draws in `drawn` alone.

    calls : as in `call_sizes`. Raises `MechanismError` or `InvalidInput` if draws depend on each
    other.
    """
    described = outcomes.described(*drawn)
    rows = Sides(described.left, described.right)
    notes = notes_on(drawn, rows, calls)
    parts = zip(*(sizes.parts(side) for side in (rows.P, rows.Q)), strict=True)
    train, choose, _ = (Sides(*part) for part in parts)
    classifier = settings.classifier
    fitted = scoring.fit(classifier, train, choose, settings.seed, settings.bits, spend=True)
    fitted = with_unread(fitted, settings, described.unread)
    if not isinstance(classifier, str):  # the scores of aliases judge each row by itself
        scoring.refuse_batch_scores(fitted, choose)
    # scores of the choosing draws are independent of each other if these draws are, and
    # exchangeable if they trained the score
    P, Q = scoring.scores(fitted.score, choose)
    refuse_nan((P, Q), fitted.name, sizes.train)
    refuse_scores(Sides(P[:, None], Q[:, None]), fitted.name, calls, sizes.train)
    chosen = SortedScores.of(*scoring.pooled(fitted.score, train, (P, Q)))
    fresh = chosen  # the estimate counts these too, but for draws that the score knows too well
    if fitted.spent:
        fresh = SortedScores(NO_SCORES, NO_SCORES)
    elif fitted.memorises:
        fresh = SortedScores.of(P, Q)
    own = settings.claimed_epsilon
    choices = Choices.of(
        chosen,
        sizes.certify,
        settings.epsilon,
        settings.alpha,
        claim_epsilon=() if own is None else (own,),
        focus=settings.focus,
        fresh=fresh,
        closed=fitted.closed,
        claimed=where_to_bet(settings.claim),
    )
    return Learned(sizes, described.columns, fitted, choices, notes)


def _timed(draws: Draws, clock: Clock, count: Count) -> Iterator[Pair | Counts]:
    """Yield the `count` draws that remain, or their counts, and time them as sampling."""
    left = draws.rest(count)
    while True:
        with clock.step("sample_s"):
            part = next(left, None)
        if part is None:
            return
        yield part


# --- few draws ------------------------------------------------------------------------------------


@value_class
class LearnedFew:
    """All draws as rows, and a score fitted to `past`. notes : as in `Learned`."""

    sizes: Split
    past: Sides
    certifying: Sides
    fitted: Fitted
    notes: tuple[str, ...]


class FewDraws:
    def __init__(self, setup: Setup, draws: Draws) -> None:
        self.setup, self.draws = setup, draws

    def draw(self) -> Pair:
        """All draws, including the surplus of the longer side of draws made elsewhere."""
        draws, number = self.draws, self.setup.settings.draws
        if isinstance(draws, GivenDraws):
            number = max(len(draws.P), len(draws.Q))
        return draws.take(number)

    def learn(self, drawn: Pair) -> LearnedFew:
        """Fit a score. Only the draws that train and choose decide the columns and the split."""
        settings = self.setup.settings
        first = settings.split(columns=1)
        cut = first.train + first.choose
        sizes = settings.split(outcomes.described(*(side[:cut] for side in drawn)).left.shape[1])
        cut = sizes.train + sizes.choose
        described = outcomes.described(*(side[:cut] for side in drawn))
        rows = Sides(*map(described.columns, drawn))
        notes = notes_on(drawn, rows, self.draws.calls)
        past = rows.head(cut)
        if isinstance(settings.classifier, KnownScore):
            fitted = Fitted(settings.classifier.name, settings.classifier.score)
            scoring.refuse_batch_scores(fitted, past)
        else:
            fitted = fit_few(past)
        fitted = with_unread(fitted, settings, described.unread)
        certifying = Sides(rows.P[cut:], rows.Q[cut:])
        return LearnedFew(sizes, past, certifying, fitted, notes)

    def certify(self, learned: LearnedFew) -> Certified:
        """Certify with the draws that did not train; the least excess that shows is exact."""
        settings, reference = self.setup.settings, self.setup.reference
        fitted, first = learned.fitted, learned.sizes.train + learned.sizes.choose
        chosen = scoring.scores(fitted.score, learned.past)
        refuse_nan(chosen, fitted.name)
        scores = scoring.scores(fitted.score, learned.certifying)
        certifying = [without_nan(score) for score in scores]
        rows = Sides(*(score[:, None] for score in certifying))
        refuse_scores(rows, fitted.name, self.draws.calls, first)
        past = SortedScores.of(*chosen)
        estimate = certify_few(
            past,
            SortedScores.of(*certifying),
            settings.epsilon,
            settings.alpha,
            settings.claimed,
            settings.focus,
            fresh=SortedScores(NO_SCORES, NO_SCORES) if learned.sizes.train > 0 else past,
        )
        n, m = map(len, certifying)

        def least(at: int) -> float:
            assert reference is not None
            point = float(settings.epsilon[at]), float(reference.delta[at])
            return least_excess((n, m), *point, float(estimate.share[at]), first)

        starts = where_to_bet(settings.claim)
        bet = None if starts is None else few_bet(past, learned.sizes.certify, *starts)
        uneven = f"{count(n)} draws of M(D) and {count(m)} of M(D') certify."
        notes = () if n == m else (uneven,)
        return Certified(estimate, nan_count(scores), bet, notes, least)
