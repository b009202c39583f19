"""An audit with a number of draws that is fixed in advance: train, choose, certify."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpaudit import outcomes, scoring
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.independence import call_sizes, refuse_dependence
from dpaudit.auditing.result import Findings
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.vacuous import too_few
from dpaudit.auditing.verdict import judge_band, reference_of, with_notes
from dpaudit.certify.counting import StreamedCounts
from dpaudit.certify.estimate import Estimate, certify
from dpaudit.certify.scores import ScoreCounts, SortedScores
from dpaudit.certify.split import SMALLEST, Split
from dpaudit.curves.spectrum import Spectrum
from dpaudit.sampling import Count, Counts, Draws, Pair, Progress, randomness
from dpaudit.scoring import Fitted, Sides
from dpaudit.scoring.base import refuse_nan


@dataclass(frozen=True, eq=False)
class Prepared:
    """The draws that train and choose, and the columns that they have.

    notes : sentences on draws that are not random, or that drift.
    """

    sizes: Split
    columns: outcomes.Columns
    train: Sides
    choose: Sides
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
    source = TimedDraws(source, clock)
    with clock.step("sample_s"):
        prepared = _prepared(settings, source)
    with clock.step("fit_s"):
        progress("fitting the score", 0, 1)
        fitted = scoring.fit(
            settings.classifier,
            prepared.train,
            prepared.choose,
            settings.seed,
            settings.bits,
            spend=True,
        )
        chosen = _chosen_scores(settings.classifier, fitted, prepared, source.call)
        progress("fitting the score", 1, 1)
    with clock.step("certify_s"):
        counts = StreamedCounts(fitted, prepared.columns, source, prepared.sizes.certify)
        pooled = scoring.pooled(fitted.score, prepared.train, chosen)
        fresh = (np.empty(0), np.empty(0)) if fitted.spent else chosen
        estimate = _certify(settings, pooled, counts, fresh)
        # certifying draws may decide that nothing is certified
        learned = prepared.sizes.train + prepared.sizes.choose
        _refuse_scores(counts.first_scores(), fitted, source.call, learned)
        progress("certifying", 1, 1)
    few = partial(
        too_few,
        settings,
        reference_of(settings, theory),
        prepared.sizes,
        prepared.train.P.shape[1],
    )
    judged = with_notes(judge_band(estimate, settings, theory, who, few), prepared.notes)
    return Findings(estimate, fitted, prepared.sizes, judged)


def _prepared(settings: Settings, source: Draws) -> Prepared:
    """Columns and split depend on training and choosing draws alone.

    The number of columns decides the split, and the first few draws show it.
    """
    first = _rows(source.peek(2 * SMALLEST))[1]
    sizes = settings.split(first.P.shape[1])
    drawn = source.take(sizes.train + sizes.choose)
    columns, rows = _rows(drawn)
    constant = randomness.constant_note(*drawn)
    drift = refuse_dependence(rows, call_sizes(len(rows.P), source.call), 0.5)
    notes = (*drift, *([constant] if constant else []))
    train, choose, _ = zip(*(sizes.parts(side) for side in (rows.P, rows.Q)), strict=True)
    return Prepared(sizes, columns, Sides(*train), Sides(*choose), notes)


def _chosen_scores(
    classifier: scoring.Classifier, fitted: Fitted, prepared: Prepared, call: int | None
) -> scoring.Scores:
    """Scores of the choosing draws, which are independent of each other if these draws are, and
    exchangeable if they trained the score.
    """
    if not isinstance(classifier, str):  # the scores that aliases name take rows one by one
        scoring.refuse_batch_scores(fitted, prepared.choose)
    P, Q = scoring.scores(fitted.score, prepared.choose)
    refuse_nan(np.concatenate([P, Q]), fitted.name)
    _refuse_scores(Sides(P[:, None], Q[:, None]), fitted, call, prepared.sizes.train)
    return P, Q


def _refuse_scores(scores: Sides, fitted: Fitted, call: int | None, first: int) -> None:
    """Refuse scores of draws from number `first` on, (n, 1) a side, that depend on each other."""
    calls = call_sizes(len(scores.P), call, first)
    refuse_dependence(scores, calls, 0.25, score=fitted.name)


def _rows(drawn: Pair) -> tuple[outcomes.Columns, Sides]:
    columns = outcomes.columns(*drawn)
    return columns, Sides(*map(columns, drawn))


def _certify(
    settings: Settings, chosen: scoring.Scores, counts: ScoreCounts, fresh: scoring.Scores
) -> Estimate:
    """The sets are chosen, by these scores, before the first certifying draw is scored.

    fresh : those of draws that did not train the score.
    """
    own = settings.claimed_epsilon
    return certify(
        SortedScores.of(*chosen),
        counts,
        settings.epsilon,
        settings.alpha,
        claim_epsilon=() if own is None else (own,),
        focus=settings.focus,
        fresh=SortedScores.of(*fresh),
    )


@dataclass(frozen=True, eq=False, repr=False)
class TimedDraws:
    """`Draws` whose time is counted as sampling, in whichever step they are asked for."""

    source: Draws
    clock: Clock

    @property
    def call(self) -> int | None:
        """How many draws each call of the mechanism makes."""
        return self.source.call

    def peek(self, count: int) -> Pair:
        """The next `count` a side or more, which stay."""
        with self.clock.step("sample_s"):
            return self.source.peek(count)

    def take(self, count: int) -> Pair:
        """The next `count` a side."""
        with self.clock.step("sample_s"):
            return self.source.take(count)

    def rest(self, count: Count) -> Iterator[Pair | Counts]:
        """All that are left, or their counts, whose time is then counted as sampling too."""
        left = self.source.rest(count)
        while True:
            with self.clock.step("sample_s"):
                drawn = next(left, None)
            if drawn is None:
                return
            yield drawn
