"""The loop: draw a batch, bet on it by the past, stop or go on; then say what was found."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpaudit._core.types import Array
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.sequential.bettor import Bettor, menu_of
from dpaudit.auditing.sequential.guard import Guard
from dpaudit.auditing.sequential.leak import too_few
from dpaudit.auditing.sequential.record import FIRST, batch_sizes
from dpaudit.auditing.sequential.source import BatchSource
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.subject import Findings
from dpaudit.auditing.vacuous import with_unread
from dpaudit.certify.band import Certificate, Region
from dpaudit.certify.estimate import Direction, Estimate
from dpaudit.certify.sets import evenly_spaced
from dpaudit.certify.split import Split
from dpaudit.curves.spectrum import Spectrum
from dpaudit.sampling import Progress
from dpaudit.scoring import Fitted
from dpaudit.scoring.base import nan_note
from dpaudit.verdict.evidence import of_process
from dpaudit.verdict.headline import Reference
from dpaudit.verdict.judgement import judge_e_value, with_notes

BAND = 16  # ε at which a lower bound is kept, in each direction


def audit_sequentially(
    settings: Settings,
    theory: Spectrum | None,
    source: BatchSource,
    clock: Clock,
    progress: Progress,
    who: str = "",
) -> Findings:
    """Draw, bet, and stop once the claim (without one: the exact spectrum) is rejected.

    who : what differs between the databases, in words. Raises `InvalidInput` where there is
    nothing to bet against.
    """
    bettor = Bettor(settings, menu_of(settings.claim, theory), clock)
    guard, last = Guard(settings, bettor.past), 0
    for number, size in enumerate(batch_sizes(settings.samples)):
        with clock.step("sample_s"):
            fresh = source.batch(number, size)
        if number > 0:
            bettor.bet(number, fresh)
        bettor.learn(fresh)
        bettor.drawn += size
        progress("drawing in batches", bettor.drawn, settings.samples)
        guard.look(number, bettor.fitted)
        last = number
        if bettor.rejected_at is not None:
            break
    assert bettor.fitted is not None
    notes = guard.end(last, bettor.fitted)
    notes = (*notes, *nan_note(bettor.fitted.name, bettor.undefined))
    fitted = with_unread(bettor.fitted, settings, *bettor.past.parts[0])
    return _findings(settings, theory, bettor, fitted, notes, who)


def _findings(
    settings: Settings,
    theory: Spectrum | None,
    bettor: Bettor,
    fitted: Fitted,
    notes: tuple[str, ...],
    who: str,
) -> Findings:
    reference = Reference.of(settings.claim, settings.epsilon, theory)
    assert reference is not None
    record, kept = bettor.record(), _kept(settings)
    estimate = _estimate(settings, bettor, reference.delta, kept)
    few = partial(too_few, settings, reference, theory)
    asked = reference, settings.detect
    judged = judge_e_value(record, estimate, kept, *asked, who=who, few=few, unread=fitted.unread)
    return Findings(
        estimate=estimate,
        fitted=fitted,
        sizes=Split(FIRST, 0, record.tested),
        judged=with_notes(judged, notes),
        sequential=record,
        evidence=of_process(settings.claim, record),
    )


def _kept(settings: Settings) -> list[int]:
    """Positions on the grid of ε at which bounds are kept, that of a claim's own ε among them."""
    even = evenly_spaced(len(settings.epsilon), BAND)
    own = settings.claimed_epsilon
    near = [] if own is None else [int(np.argmin(np.abs(settings.epsilon - own)))]
    return [int(one) for one in np.unique(np.concatenate([even, near]).astype(int))]


def _estimate(settings: Settings, bettor: Bettor, reference: Array, kept: list[int]) -> Estimate:
    """Plug-in estimates from all draws that were bet on, and lower bounds that hold at any stopping
    time.

    A bound l at ε' is a region: p ≥ l + e^{ε'} q for a set. Where nothing was rejected the bounds
    are cut at the reference, which only lowers them, so that band and verdict agree.
    """
    share = settings.alpha / (2 * len(kept))
    low = bettor.counts.low(share)[:, kept]
    if bettor.rejected_at is None:
        low = np.minimum(low, reference[kept])
    certified = _certificate(low, settings.epsilon[kept], settings.level)
    most = 1.0 if bettor.rejected_at is not None else reference
    ways = [
        Direction(delta, np.clip(certified.direction(way).delta_at(settings.epsilon), 0.0, most))
        for delta, way in zip(bettor.counts.delta, (True, False), strict=True)
    ]
    draws, shares = int(bettor.counts.pairs[0, 0].sum()), np.full(len(settings.epsilon), share)
    return Estimate(settings.epsilon, ways[0], ways[1], draws, shares, certified)


def _certificate(low: Array, epsilon: Array, level: float) -> Certificate:
    """From lower bounds (2, k), forward first, at k values of ε."""
    regions, forward = [], []
    for way, at in zip(*np.nonzero(low > 0.0), strict=True):
        bound, gamma = low[way, at], np.exp(epsilon[at])
        regions.append(Region(np.array([0.0, (1.0 - bound) / gamma]), np.array([bound, 1.0])))
        forward.append(bool(way == 0))
    return Certificate.of(regions, forward, level)
