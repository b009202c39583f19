"""An audit with a number of draws that is fixed in advance: train, choose, certify."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpaudit import outcomes, scoring
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.independence import CallSizes, notes_on, refuse_scores
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.subject import Findings
from dpaudit.auditing.vacuous import too_few, with_unread
from dpaudit.certify.constants import SMALLEST
from dpaudit.certify.counting import StreamedCounts
from dpaudit.certify.estimate import Choices
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.split import Split
from dpaudit.curves.spectrum import Spectrum
from dpaudit.sampling import Count, Counts, Draws, Pair, Progress
from dpaudit.scoring import Fitted, KnownScore, Sides
from dpaudit.scoring.base import nan_note, refuse_nan
from dpaudit.verdict.evidence import of_set, where_to_bet
from dpaudit.verdict.headline import Reference
from dpaudit.verdict.judgement import judge_band, with_notes


@dataclass(frozen=True, eq=False)
class Learned:
    """What the draws that train and choose are reduced to.

    columns : that outputs have. numbers : in a row of them. choices : the sets, chosen before the
    first certifying draw is scored. notes : sentences on draws that are not random, or that drift.
    """

    columns: outcomes.Columns
    numbers: int
    fitted: Fitted
    choices: Choices
    notes: tuple[str, ...]

    __repr__ = short_repr


def audit_fixed(
    settings: Settings,
    source: Draws,
    theory: Spectrum | None,
    clock: Clock,
    progress: Progress,
    who: str = "",
) -> Findings:
    """Draw, fit a score, certify, judge. Draws that depend on each other are refused.

    who : what differs between the databases, in words.
    """
    with clock.step("sample_s"):
        sizes = source.look(2 * SMALLEST, partial(_split, settings))
        held = source.hold(sizes.train + sizes.choose)
    with clock.step("fit_s"):
        progress("fitting the score", 0, 1)
        learned = held(Learner(settings, sizes, source.calls))
        del held
        progress("fitting the score", 1, 1)
    with clock.step("certify_s"):
        fitted = _fitted(settings, learned)
        counts = StreamedCounts(fitted, learned.columns, TimedDraws(source, clock), sizes.certify)
        estimate = learned.choices.certified_by(counts)
        # certifying draws may decide that nothing is certified
        refuse_scores(counts.first_scores(), fitted.name, source.calls, sizes.train + sizes.choose)
        progress("certifying", 1, 1)
    reference = Reference.of(settings.claim, settings.epsilon, theory)
    few = partial(too_few, settings, reference, sizes, learned.numbers)
    notes = (*learned.notes, *nan_note(fitted.name, sum(counts.undefined)))
    asked = reference, settings.level, settings.detect
    judged = judge_band(estimate, *asked, who=who, few=few, unread=fitted.unread)
    judged = with_notes(judged, notes)
    assert estimate.cells is not None
    evidence = of_set(settings.claim, learned.choices.bet, estimate.cells)
    return Findings(estimate, fitted, sizes, judged, evidence=evidence)


def _split(settings: Settings, first: Pair) -> Split:
    """The number of columns decides the split, and the first few draws show it."""
    return settings.split(_rows(first)[1].P.shape[1])


def _fitted(settings: Settings, learned: Learned) -> Fitted:
    """The score; one that was known is the user's own, and no copy that a worker sent."""
    known = settings.classifier
    if not isinstance(known, KnownScore):
        return learned.fitted
    return replace(learned.fitted, score=known.score)


@dataclass(frozen=True, eq=False, repr=False)
class Learner:
    """All that is done with the draws that train and choose, wherever they are.

    calls : as in `call_sizes`.
    """

    settings: Settings
    sizes: Split
    calls: CallSizes

    def __call__(self, drawn: Pair) -> Learned:
        """Fit a score and choose the sets. Columns depend on these draws alone.

        Raises `MechanismError` or `InvalidInput` at draws that depend on each other.
        """
        settings = self.settings
        columns, rows = _rows(drawn)
        notes = notes_on(drawn, rows, self.calls)
        train, choose, _ = zip(*(self.sizes.parts(side) for side in (rows.P, rows.Q)), strict=True)
        past, recent = Sides(*train), Sides(*choose)
        fitted = scoring.fit(
            settings.classifier, past, recent, settings.seed, settings.bits, spend=True
        )
        fitted = with_unread(fitted, settings, *drawn)
        chosen = self._chosen_scores(fitted, recent)
        pooled = scoring.pooled(fitted.score, past, chosen)
        return Learned(columns, rows.P.shape[1], fitted, self._choices(fitted, pooled), notes)

    def _chosen_scores(self, fitted: Fitted, choose: Sides) -> scoring.Scores:
        """Scores of the choosing draws, which are independent of each other if these draws are, and
        exchangeable if they trained the score.
        """
        if not isinstance(self.settings.classifier, str):  # aliases' scores take rows one by one
            scoring.refuse_batch_scores(fitted, choose)
        P, Q = scoring.scores(fitted.score, choose)
        refuse_nan((P, Q), fitted.name, self.sizes.train)
        refuse_scores(Sides(P[:, None], Q[:, None]), fitted.name, self.calls, self.sizes.train)
        return P, Q

    def _choices(self, fitted: Fitted, scores: scoring.Scores) -> Choices:
        """The estimate counts the same scores, unless the choosing draws trained, too."""
        settings, own = self.settings, self.settings.claimed_epsilon
        nothing = SortedScores(np.empty(0), np.empty(0))
        chosen = SortedScores.of(*scores)
        return Choices.of(
            chosen,
            self.sizes.certify,
            settings.epsilon,
            settings.alpha,
            claim_epsilon=() if own is None else (own,),
            focus=settings.focus,
            fresh=nothing if fitted.spent else chosen,
            closed=fitted.closed,
            claimed=where_to_bet(settings.claim),
        )


def _rows(drawn: Pair) -> tuple[outcomes.Columns, Sides]:
    columns = outcomes.columns(*drawn)
    return columns, Sides(*map(columns, drawn))


@dataclass(frozen=True, eq=False, repr=False)
class TimedDraws:
    """The draws that are left, whose time is counted as sampling, in whichever step they come."""

    source: Draws
    clock: Clock

    def rest(self, count: Count) -> Iterator[Pair | Counts]:
        """All that are left, or their counts, whose time is then counted as sampling too."""
        left = self.source.rest(count)
        while True:
            with self.clock.step("sample_s"):
                drawn = next(left, None)
            if drawn is None:
                return
            yield drawn
