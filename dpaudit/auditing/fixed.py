"""An audit with a number of draws that is fixed in advance: train, choose, certify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpaudit import outcomes, scoring
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.result import Findings
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.verdict import judge_band
from dpaudit.certify.counting import StreamedCounts
from dpaudit.certify.estimate import Estimate, certify
from dpaudit.certify.scores import ScoreCounts, SortedScores
from dpaudit.certify.split import SMALLEST, Split
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import InvalidInput
from dpaudit.sampling import Draws, Progress, randomness
from dpaudit.scoring import Fitted, Sides
from dpaudit.scoring.base import refuse_nan


@dataclass(frozen=True, eq=False)
class Prepared:
    """The draws that train and choose, and the columns that they have.

    note : a sentence on draws that are not random, or None.
    """

    sizes: Split
    columns: outcomes.Columns
    train: Sides
    choose: Sides
    note: str | None


def audit_fixed(
    settings: Settings,
    sources: Sequence[Draws],
    theory: Spectrum | None,
    clock: Clock,
    progress: Progress,
    *,
    made_here: bool,
) -> Findings:
    """Draw from both sources, fit a score, certify, judge.

    made_here : whether this audit makes the draws; draws that repeat in order are then refused.
    """
    sources = [TimedDraws(source, clock) for source in sources]
    with clock.step("sample_s"):
        prepared = _prepared(settings, sources, made_here)
    with clock.step("fit_s"):
        progress("fitting the score", 0, 1)
        fitted = scoring.fit(
            settings.classifier, prepared.train, prepared.choose, settings.seed, settings.bits
        )
        progress("fitting the score", 1, 1)
    with clock.step("certify_s"):
        counts = StreamedCounts(fitted, prepared.columns, sources, prepared.sizes.certify)
        estimate = _certify(settings, fitted, prepared, counts)
        progress("certifying", 1, 1)
    judged = judge_band(estimate, settings, theory)
    if prepared.note is not None:
        judged = replace(judged, reason=f"{prepared.note} {judged.reason}")
    return Findings(estimate, fitted, prepared.sizes, judged)


def _prepared(settings: Settings, sources: Sequence[Draws], made_here: bool) -> Prepared:
    """Columns and split depend on training and choosing draws alone.

    The number of columns decides the split, and the first few draws show it.
    """
    first = _rows([source.peek(2 * SMALLEST) for source in sources])[1]
    sizes = settings.split(first.P.shape[1])
    drawn = [source.take(sizes.train + sizes.choose) for source in sources]
    columns, rows = _rows(drawn)
    if made_here:
        for side, draws in enumerate(drawn):
            randomness.refuse_repeats(draws, side)
    train, choose, _ = zip(*(sizes.parts(side) for side in (rows.P, rows.Q)), strict=True)
    return Prepared(sizes, columns, Sides(*train), Sides(*choose), randomness.constant_note(*drawn))


def _rows(drawn: Sequence[np.ndarray]) -> tuple[outcomes.Columns, Sides]:
    P, Q = drawn
    if all(map(outcomes.is_table, drawn)) and P.shape[1] != Q.shape[1]:
        raise InvalidInput(
            f"M(D) has {P.shape[1]} columns and M(D') {Q.shape[1]}: the width tells them apart"
        )
    columns = outcomes.columns(P, Q)
    return columns, Sides(columns(P), columns(Q))


def _certify(
    settings: Settings, fitted: Fitted, prepared: Prepared, counts: ScoreCounts
) -> Estimate:
    """The sets are chosen before the first certifying draw is scored."""
    chosen = scoring.pooled(fitted.score, prepared.train, prepared.choose)
    for part in chosen:
        refuse_nan(part, fitted.name)
    own = settings.claimed_epsilon
    return certify(
        SortedScores.of(*chosen),
        counts,
        settings.epsilon,
        settings.alpha,
        claim_epsilon=() if own is None else (own,),
        focus=settings.focus,
    )


@dataclass(frozen=True, eq=False)
class TimedDraws:
    """`Draws` whose time is counted as sampling, in whichever step they are asked for."""

    source: Draws
    clock: Clock

    def peek(self, count: int) -> np.ndarray:
        """The next `count` or more, which stay."""
        with self.clock.step("sample_s"):
            return self.source.peek(count)

    def take(self, count: int) -> np.ndarray:
        """The next `count`."""
        with self.clock.step("sample_s"):
            return self.source.take(count)

    def rest(self, chunk: int) -> Iterator[np.ndarray]:
        """All that are left, `chunk` at a time, the last time fewer."""
        left = self.source.rest(chunk)
        while True:
            with self.clock.step("sample_s"):
                drawn = next(left, None)
            if drawn is None:
                return
            yield drawn
