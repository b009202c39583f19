"""Audits with a number of draws that is fixed in advance, spent by one of two plans.

- Many draws (`spend_many`): some train a score, some choose score and sets, and those that certify
  are made afterwards, counted as they come and not kept.
- Few draws (`spend_few`), up to 500 a side: one part trains and chooses by cross-validation
  (`scoring.few`), all others certify. `certify.few` chooses the sets and proves that the band
  holds. One side of draws made elsewhere may be longer than the other: equally many draws of each
  train and choose, and all others certify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np

from dpaudit import outcomes, scoring
from dpaudit._core.note import Note
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.independence import CallSizes, refuse_dependence
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.subject import Findings, Setup
from dpaudit.auditing.vacuous import too_few
from dpaudit.certify.constants import SMALLEST
from dpaudit.certify.counting import StreamedCounts
from dpaudit.certify.estimate import Choices, Estimate
from dpaudit.certify.few import certify_few, few_bet
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.sets import ChosenSet
from dpaudit.certify.split import Split
from dpaudit.power import least_excess
from dpaudit.sampling import Count, Counts, Draws, GivenDraws, Pair, degenerate
from dpaudit.scoring import Fitted, KnownScore, Sides
from dpaudit.scoring.base import nan_count, nan_note, refuse_nan, without_nan
from dpaudit.scoring.few import fit_few
from dpaudit.verdict.evidence import of_set, where_to_bet
from dpaudit.verdict.judgement import judge_band
from dpaudit.verdict.numbers import count

NO_SCORES: Array = np.empty(0)
# shares of the level of the tests of independence: for the first outputs, and for their scores and
# those of the draws that certify
OUTPUTS, SCORES = 0.5, 0.125


def audit_fixed(setup: Setup, draws: Draws) -> Findings:
    """Draw, check independence, choose a score and sets, certify, and judge.

    Raises `MechanismError` (`InvalidInput` for draws made elsewhere) if draws depend on each
    other.
    """
    settings = setup.settings
    result = spend_few(setup, draws) if settings.few else spend_many(setup, draws)
    setup.progress("certifying", 1, 1)
    estimate, fitted = result.estimate, result.fitted
    judged = judge_band(
        estimate,
        setup.reference,
        settings.level,
        settings.detect,
        who=setup.who,
        too_few=partial(too_few, settings, setup.reference, result.sizes),
        least=result.least,
        unread=fitted.unread,
    )
    notes = (*nan_note(fitted.name, result.undefined), *result.notes)
    evidence = None
    if estimate.cells is not None:
        evidence = of_set(settings.claim, result.bet, estimate.cells)
    return Findings(estimate, fitted, result.sizes, judged, notes, evidence=evidence)


@value_class
class Certification:
    """An estimate with its band, and what belongs to it.

    undefined : how many scores of certifying draws are NaN, which count as 0. bet : the set that
    bets against the claim, chosen before these draws. notes : before the headline. least :
    function of a position on the grid of ε that gives the least excess in δ that would have shown
    there; None if that is not known exactly.
    """

    estimate: Estimate
    fitted: Fitted
    sizes: Split
    undefined: int
    bet: ChosenSet | None
    notes: tuple[Note, ...]
    least: Callable[[int], float] | None = None


@contextmanager
def _fitting(setup: Setup) -> Iterator[None]:
    with setup.clock.step("fit_s"):
        setup.progress("fitting the score", 0, 1)
        yield
        setup.progress("fitting the score", 1, 1)


# --- many draws -----------------------------------------------------------------------------------


def spend_many(setup: Setup, draws: Draws) -> Certification:
    """Fit a score and choose sets by the first draws, then count the others as they are made.

    The first draws may be held by workers, which then fit (`Draws.hold`). A few of them show how
    many columns there are, which decides the split.
    """
    settings, clock = setup.settings, setup.clock
    with clock.step("sample_s"):
        columns = outcomes.described(*draws.peek(2 * SMALLEST)).left.shape[1]
        sizes = settings.split(columns)
        first = sizes.train + sizes.choose
        learn_from = draws.hold(first)
    with _fitting(setup):
        learned: Learned = learn_from(partial(fit_and_choose, settings, sizes, draws.calls))
        del learn_from  # the draws that learn are not needed any more, and may be large
        fitted, known = learned.fitted, settings.classifier
        if isinstance(known, KnownScore):  # the user's own, and no copy that a worker sent
            fitted = replace(fitted, score=known.score)
    with clock.step("certify_s"):
        rest = partial(_timed, draws, clock)
        counts = StreamedCounts(fitted, learned.columns, rest, sizes.certify)
        estimate = learned.choices.certified_by(counts)
        # refusing on the certifying draws costs no validity: it can only withhold a certificate
        scores = counts.first_scores()
        refuse_dependence(scores, draws.calls, SCORES, first=first, score=fitted.name)
    bet, undefined = learned.choices.bet, sum(counts.undefined)
    return Certification(estimate, fitted, sizes, undefined, bet, learned.notes)


@value_class
class Learned:
    """The result of the draws that train and choose.

    columns : makes rows of numbers from draws. choices : the sets, chosen before the first
    certifying draw is scored. notes : on draws that are not random, or that drift.
    """

    columns: outcomes.Columns
    fitted: Fitted
    choices: Choices
    notes: tuple[Note, ...]


def fit_and_choose(settings: Settings, sizes: Split, calls: CallSizes, drawn: Pair) -> Learned:
    """Fit a score and choose the sets. The columns too are decided by the draws in `drawn` alone.

    calls : as in `call_sizes`. Raises `MechanismError` or `InvalidInput` if draws depend on each
    other.
    """
    described = outcomes.described(*drawn)
    rows = Sides(described.left, described.right)
    drift = refuse_dependence(rows, calls, OUTPUTS)
    notes = (*drift, *degenerate.notes(*drawn, settings.allowed))
    parts = zip(*(sizes.parts(side) for side in (rows.P, rows.Q)), strict=True)
    train, choose, _ = (Sides(*part) for part in parts)
    classifier = settings.classifier
    fitted = scoring.fit(classifier, train, choose, settings.seed, settings.bits, spend=True)
    if scoring.is_trained(classifier):  # what a known score leaves out is its author's choice
        fitted = replace(fitted, unread=described.unread)
    if not isinstance(classifier, str):  # the scores of aliases judge each row by itself
        scoring.refuse_batch_scores(fitted, choose)
    # scores of the choosing draws are independent of each other if these draws are, and
    # exchangeable if they trained the score
    P, Q = scoring.scores(fitted.score, choose)
    refuse_nan((P, Q), fitted.name, sizes.train)
    scores = Sides(P[:, None], Q[:, None])
    refuse_dependence(scores, calls, SCORES, first=sizes.train, score=fitted.name)
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
    return Learned(described.columns, fitted, choices, notes)


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


def spend_few(setup: Setup, draws: Draws) -> Certification:
    """Fit a score and choose sets by a part of the draws, and certify with all others.

    The draws that train and choose alone decide the columns and the split. The least excess that
    would have shown is exact.
    """
    settings, reference = setup.settings, setup.reference
    with setup.clock.step("sample_s"):
        number = settings.draws
        if isinstance(draws, GivenDraws):  # also the surplus of the longer side
            number = max(len(draws.P), len(draws.Q))
        drawn = draws.take(number)
    with _fitting(setup):
        first = settings.split(columns=1)
        cut = first.train + first.choose
        sizes = settings.split(outcomes.described(*(side[:cut] for side in drawn)).left.shape[1])
        cut = sizes.train + sizes.choose
        described = outcomes.described(*(side[:cut] for side in drawn))
        rows = Sides(*map(described.columns, drawn))
        drift = refuse_dependence(rows, draws.calls, OUTPUTS)
        notes = (*drift, *degenerate.notes(*drawn, settings.allowed))
        past, rest = rows.head(cut), Sides(rows.P[cut:], rows.Q[cut:])
        if isinstance(settings.classifier, KnownScore):
            fitted = Fitted(settings.classifier.name, settings.classifier.score)
            scoring.refuse_batch_scores(fitted, past)
        else:
            fitted = replace(fit_few(past), unread=described.unread)
    with setup.clock.step("certify_s"):
        chosen = scoring.scores(fitted.score, past)
        refuse_nan(chosen, fitted.name)
        scores = scoring.scores(fitted.score, rest)
        certifying = [without_nan(score) for score in scores]
        columns = Sides(*(score[:, None] for score in certifying))
        refuse_dependence(columns, draws.calls, SCORES, first=cut, score=fitted.name)
        choosing = SortedScores.of(*chosen)
        estimate = certify_few(
            choosing,
            SortedScores.of(*certifying),
            settings.epsilon,
            settings.alpha,
            settings.claimed,
            settings.focus,
            fresh=SortedScores(NO_SCORES, NO_SCORES) if sizes.train > 0 else choosing,
        )
    n, m = map(len, certifying)

    def least(at: int) -> float:
        assert reference is not None
        point = float(settings.epsilon[at]), float(reference.delta[at])
        return least_excess((n, m), *point, float(estimate.share[at]), cut)

    starts = where_to_bet(settings.claim)
    bet = None if starts is None else few_bet(choosing, sizes.certify, *starts)
    uneven = Note(f"{count(n)} draws of M(D) and {count(m)} of M(D') certify.")
    notes = (*(() if n == m else (uneven,)), *notes)
    return Certification(estimate, fitted, sizes, nan_count(scores), bet, notes, least)
