"""An audit of few draws: one part trains and chooses, all others certify.

Up to 500 draws a side. The score is fitted as `scoring.few` does, or is known; the sets are those
of `certify.few`, where it is said why the band holds. Of draws made elsewhere one side may have
more than the other: the same number of both trains and chooses, and all others certify.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from dpaudit import outcomes, scoring
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.independence import CallSizes, notes_on, refuse_scores
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.subject import Findings
from dpaudit.auditing.vacuous import too_few, with_unread
from dpaudit.certify.estimate import Estimate
from dpaudit.certify.few import certify_few, few_bet
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.split import Split
from dpaudit.curves.spectrum import Spectrum
from dpaudit.power import least_excess
from dpaudit.sampling import Pair, Progress
from dpaudit.scoring import Fitted, KnownScore, Sides
from dpaudit.scoring.base import nan_count, nan_note, refuse_nan, without_nan
from dpaudit.scoring.few import fit_few
from dpaudit.verdict.evidence import Evidence, of_set, where_to_bet
from dpaudit.verdict.headline import Reference
from dpaudit.verdict.judgement import Verdict, judge_band, with_notes
from dpaudit.verdict.numbers import count


@dataclass(frozen=True, eq=False)
class Prepared:
    """All draws as rows, (n, k) and (m, k), of which the first `learned` train and choose.

    notes : sentences on draws that are not random, or that drift.
    """

    sizes: Split
    rows: Sides
    notes: tuple[str, ...]

    __repr__ = short_repr

    @property
    def learned(self) -> int:
        """Draws a side that train and choose."""
        return self.sizes.train + self.sizes.choose

    @property
    def past(self) -> Sides:
        """The rows that train and choose."""
        return self.rows.head(self.learned)

    @property
    def certifying(self) -> Sides:
        """All other rows."""
        return Sides(self.rows.P[self.learned :], self.rows.Q[self.learned :])


def audit_few(
    settings: Settings,
    drawn: Pair,
    calls: CallSizes,
    theory: Spectrum | None,
    clock: Clock,
    progress: Progress,
    who: str = "",
) -> Findings:
    """Fit a score, certify, judge. Draws that depend on each other are refused.

    drawn : all draws; their sides may differ in number where they were made elsewhere. calls :
    as in `call_sizes`. who : what differs between the databases, in words.
    """
    with clock.step("fit_s"):
        progress("fitting the score", 0, 1)
        prepared = _prepared(settings, drawn, calls)
        fitted = _fitted(settings, prepared)
        learned = (side[: prepared.learned] for side in drawn)
        fitted = with_unread(fitted, settings, *learned)
        progress("fitting the score", 1, 1)
    with clock.step("certify_s"):
        estimate, undefined = _certify(settings, fitted, prepared, calls)
        progress("certifying", 1, 1)
        judged = _judged(settings, estimate, prepared, fitted, theory, who)
        judged = with_notes(judged, nan_note(fitted.name, undefined))
        evidence = _evidence(settings, fitted, prepared, estimate)
    return Findings(estimate, fitted, prepared.sizes, judged, evidence=evidence)


def _prepared(settings: Settings, drawn: Pair, calls: CallSizes) -> Prepared:
    """Columns and split depend on the draws that train and choose alone."""
    first = settings.split(columns=1)
    sizes = settings.split(_columns(drawn, first)(drawn[0][:1]).shape[1])
    rows = Sides(*map(_columns(drawn, sizes), drawn))
    return Prepared(sizes, rows, notes_on(drawn, rows, calls))


def _columns(drawn: Pair, sizes: Split) -> outcomes.Columns:
    return outcomes.columns(*(side[: sizes.train + sizes.choose] for side in drawn))


def _fitted(settings: Settings, prepared: Prepared) -> Fitted:
    if not isinstance(settings.classifier, KnownScore):
        return fit_few(prepared.past)
    fitted = Fitted(settings.classifier.name, settings.classifier.score)
    scoring.refuse_batch_scores(fitted, prepared.past)
    return fitted


def _certify(
    settings: Settings, fitted: Fitted, prepared: Prepared, calls: CallSizes
) -> tuple[Estimate, int]:
    """The estimate, and how many scores of certifying draws are NaN, which count as 0."""
    chosen = scoring.scores(fitted.score, prepared.past)
    refuse_nan(chosen, fitted.name)
    scores = scoring.scores(fitted.score, prepared.certifying)
    certifying = [without_nan(score) for score in scores]
    rows = Sides(*(score[:, None] for score in certifying))
    refuse_scores(rows, fitted.name, calls, prepared.learned)
    past = SortedScores.of(*chosen)
    learned = prepared.sizes.train > 0
    estimate = certify_few(
        past,
        SortedScores.of(*certifying),
        settings.epsilon,
        settings.alpha,
        settings.claimed,
        settings.focus,
        fresh=SortedScores(np.empty(0), np.empty(0)) if learned else past,
    )
    return estimate, nan_count(scores)


def _evidence(
    settings: Settings, fitted: Fitted, prepared: Prepared, estimate: Estimate
) -> Evidence | None:
    """Against the claim, from the set that the draws that learn choose to bet on."""
    starts = where_to_bet(settings.claim)
    if starts is None or estimate.cells is None:
        return None
    past = SortedScores.of(*scoring.scores(fitted.score, prepared.past))
    bet = few_bet(past, prepared.sizes.certify, *starts)
    return of_set(settings.claim, bet, estimate.cells)


def _judged(
    settings: Settings,
    estimate: Estimate,
    prepared: Prepared,
    fitted: Fitted,
    theory: Spectrum | None,
    who: str,
) -> Verdict:
    """The verdict; the least excess that would have shown is found exactly."""
    reference = Reference.of(settings.claim, settings.epsilon, theory)
    sides = len(prepared.certifying.P), len(prepared.certifying.Q)

    def exact(at: int) -> float:
        assert reference is not None
        point = float(settings.epsilon[at]), float(reference.delta[at])
        return least_excess(sides, *point, float(estimate.share[at]), prepared.learned)

    few = partial(too_few, settings, reference, prepared.sizes, prepared.rows.P.shape[1])
    asked = reference, settings.level, settings.detect
    judged = judge_band(estimate, *asked, who=who, few=few, least=exact, unread=fitted.unread)
    return with_notes(judged, (*_uneven(*sides), *prepared.notes))


def _uneven(n: int, m: int) -> tuple[str, ...]:
    if n == m:
        return ()
    return (f"{count(n)} draws of M(D) and {count(m)} of M(D') certify.",)
