"""The audit from its settings to its result: theory, draws, score, band, verdict, in that order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from dpaudit import exact
from dpaudit._core.types import Array, Mechanism
from dpaudit.adapters.trial import trial
from dpaudit.auditing.clock import Clock, peak_memory_mb
from dpaudit.auditing.fixed.few import audit_few
from dpaudit.auditing.fixed.many import audit_fixed
from dpaudit.auditing.independence import look_further, refuse_shared
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.sequential.loop import audit_sequentially
from dpaudit.auditing.sequential.source import GivenBatches, MechanismBatches
from dpaudit.auditing.settings import Drawing, Settings
from dpaudit.auditing.subject import Findings, Subject
from dpaudit.auditing.vacuous import copied, ignored, settled
from dpaudit.certify.estimate import Estimate
from dpaudit.certify.interval import interval
from dpaudit.curves.metric import refuse_unresolved
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import NoExactSpectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import Draws, GivenDraws, MechanismDraws
from dpaudit.verdict.judgement import no_doubt, of_given_draws, with_notes
from dpaudit.verdict.numbers import count


def audit_mechanism(subject: Subject, settings: Settings, drawing: Drawing) -> AuditResult:
    """Audit `subject.mechanism` on `subject.pair`. Raises as `dpaudit.audit`."""
    mechanism, pair = subject.mechanism, subject.pair
    assert mechanism is not None
    assert pair is not None
    settings, clock = settings.on(pair), Clock()
    # no known law is one of the bits of floats
    theory = None if settings.bits else _theory(mechanism, pair, settings.epsilon)
    if settings.stop is not None:
        source = MechanismBatches(mechanism, pair, settings, drawing)
        found = audit_sequentially(settings, theory, source, clock, drawing.progress, pair.change)
    else:
        with clock.step("sample_s"):
            draws = _draws(mechanism, pair, settings, drawing)
            few = draws.take(settings.samples) if settings.few else None
        common = theory, clock, drawing.progress, pair.change
        if few is None:
            found = audit_fixed(settings, draws, *common)
        else:
            found = audit_few(settings, few, draws.calls, *common)
    same = partial(ignored, mechanism, pair, settings) if theory is None else no_doubt
    databases = pair.left, pair.right
    with clock.step("sample_s"):
        if found.judged.verdict == "violated":
            look_further(mechanism, databases, settings, found.sizes.total, drawing.n_jobs)
        found = settled(found, settings, same, pair.rows)
        tried = None
        if theory is None:
            tried = trial(mechanism, databases, settings.samples, settings.seed)
    notes = (*subject.notes, *(tried.notes if tried else ()))
    found = replace(found, judged=with_notes(found.judged, notes))
    return replace(_result(subject, settings, theory, found, clock), trial=tried)


def audit_draws(
    P: np.ndarray, Q: np.ndarray, subject: Subject, settings: Settings, drawing: Drawing
) -> AuditResult:
    """Audit `settings.samples` draws a side that were made elsewhere; of few draws, all of the
    longer side. Raises as `dpaudit.audit_samples`.
    """
    clock = Clock()
    refuse_unresolved(settings.metric)
    notes: tuple[str, ...] = ()
    if not settings.few:
        notes = _left_out(len(P), len(Q))
        P, Q = P[: settings.samples], Q[: settings.samples]
    refuse_shared(P, Q)
    if settings.stop is not None:
        found = audit_sequentially(settings, None, GivenBatches(P, Q), clock, drawing.progress)
    elif settings.few:
        drawn = GivenDraws(P, Q).take(max(len(P), len(Q)))
        found = audit_few(settings, drawn, None, None, clock, drawing.progress)
    else:
        found = audit_fixed(settings, GivenDraws(P, Q), None, clock, drawing.progress)
    found = settled(found, settings, partial(copied, P, Q))
    found = replace(found, judged=of_given_draws(with_notes(found.judged, notes)))
    return _result(subject, settings, None, found, clock)


def _left_out(n: int, m: int) -> tuple[str, ...]:
    """A sentence on the draws of the longer side that are not audited."""
    if n == m:
        return ()
    each = count(min(n, m))
    return (
        f"There are {count(n)} draws of M(D) and {count(m)} of M(D'): the first {each} of each are "
        f"audited, and {count(abs(n - m))} are left out.",
    )


def _theory(mechanism: Mechanism, pair: NeighbourPair, epsilon: Array) -> Spectrum | None:
    try:
        return exact.spectrum(mechanism, pair, epsilon)
    except NoExactSpectrum:
        return None


def _draws(
    mechanism: Mechanism, pair: NeighbourPair, settings: Settings, drawing: Drawing
) -> Draws:
    return MechanismDraws(
        mechanism,
        (pair.left, pair.right),
        settings.samples,
        settings.seed,
        n_jobs=drawing.n_jobs,
        progress=drawing.progress,
        store=drawing.store,
        call=settings.call,
    )


def _result(
    subject: Subject, settings: Settings, theory: Spectrum | None, found: Findings, clock: Clock
) -> AuditResult:
    return AuditResult(
        spectrum=_spectrum(found.estimate, settings, found.fitted.name),
        exact=theory,
        claim=settings.claim,
        verdict=found.judged.verdict,
        reason=found.judged.reason,
        detectable=found.judged.detectable,
        headline=found.judged.headline,
        estimate=found.estimate,
        settings=settings,
        sizes=found.sizes,
        fitted=found.fitted,
        subject=subject,
        timings=clock.total(),
        peak_memory_mb=peak_memory_mb(),
        sequential=found.sequential,
        evidence=found.evidence,
        ledger=None,
        trial=None,
    )


def _spectrum(found: Estimate, settings: Settings, score: str) -> Spectrum:
    return Spectrum(
        found.epsilon,
        found.delta,
        found.forward.delta,
        found.backward.delta,
        low=found.low,
        level=settings.level,
        law=f"estimate ({score})",
        interval=interval(found, settings.alpha),
    )
