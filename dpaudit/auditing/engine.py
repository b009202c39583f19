"""The audit from its settings to its result, in stages.

1. Theory: the exact spectrum of the pair, if it is known (`exact`).
2. Draws: made by the mechanism (`sampling`) or passed by the user. Each new part is tested, and
   draws that depend on each other are refused (`auditing.independence`).
3. Score and sets: chosen from draws that are not used for the certificate.
4. Certificate: δ(ε) estimated from the remaining draws, with its band (`certify`).
5. Verdict, and the evidence against the claim (`verdict`).
6. Doubts: whether an audit of this size could have shown anything (`auditing.vacuous`).

`auditing.fixed` goes through stages 2 to 5 with a number of draws that is fixed in advance. It has
two plans: the plan for many draws makes the certifying draws last and only counts them, the plan
for few draws makes all draws at the start. `auditing.sequential` goes through the stages batch by
batch, and stops once the claim is rejected.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from dpaudit import exact
from dpaudit._core.note import Note
from dpaudit.adapters.trial import Trial, trial
from dpaudit.auditing.clock import Clock, peak_memory_mb
from dpaudit.auditing.fixed import audit_fixed
from dpaudit.auditing.independence import look_further, refuse_shared
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.sequential import audit_sequentially, batches_in, batches_of
from dpaudit.auditing.settings import Drawing, Settings
from dpaudit.auditing.subject import Findings, Setup, Subject
from dpaudit.auditing.vacuous import copied, ignored, with_doubts
from dpaudit.curves.claims import refuse_unresolved
from dpaudit.errors import NoExactSpectrum
from dpaudit.sampling import GivenDraws, MechanismDraws
from dpaudit.verdict.headline import Reference
from dpaudit.verdict.judgement import of_given_draws, with_notes
from dpaudit.verdict.numbers import count


def audit_mechanism(subject: Subject, settings: Settings, drawing: Drawing) -> AuditResult:
    """Audit `subject.mechanism` on `subject.pair`. Raises the errors of `dpaudit.audit`."""
    mechanism, pair = subject.mechanism, subject.pair
    assert mechanism is not None
    assert pair is not None
    settings, clock, databases = settings.on(pair), Clock(), (pair.left, pair.right)
    theory = None
    # known laws are laws of real numbers, not of the bits of floats; importing them takes long
    if not settings.bits and hasattr(mechanism, "law"):
        with suppress(NoExactSpectrum):
            theory = exact.exact_spectrum(mechanism, pair, settings.epsilon)
    reference = Reference.of(settings.claim, settings.epsilon, theory)
    setup = Setup(settings, theory, reference, clock, drawing.progress, pair.change)
    if settings.stop is not None:
        findings = audit_sequentially(setup, batches_of(mechanism, pair, settings, drawing))
    else:
        with clock.step("sample_s"):
            draws = MechanismDraws(
                mechanism,
                databases,
                settings.draws,
                settings.seed,
                n_jobs=drawing.n_jobs,
                progress=drawing.progress,
                store=drawing.store,
                call=settings.call,
            )
        findings = audit_fixed(setup, draws)
    seed_trial = None
    with clock.step("sample_s"):
        if findings.judged.verdict == "violated":
            look_further(mechanism, databases, settings, findings.sizes.total, drawing.n_jobs)
        same = partial(ignored, mechanism, pair, settings) if theory is None else str
        findings = with_doubts(findings, settings, same, pair.rows)
        if theory is None:
            seed_trial = trial(mechanism, databases, settings.draws, settings.seed)
    notes = (*subject.notes, *map(Note, seed_trial.notes if seed_trial else ()))
    return _result(subject, setup, findings, notes, seed_trial)


def audit_draws(
    P: np.ndarray, Q: np.ndarray, subject: Subject, settings: Settings, drawing: Drawing
) -> AuditResult:
    """Audit the first `settings.draws` draws of each side, made elsewhere; if these are few, all
    draws of the longer side. Raises the errors of `dpaudit.audit_samples`.
    """
    reference = Reference.of(settings.claim, settings.epsilon)
    setup = Setup(settings, None, reference, Clock(), drawing.progress)
    refuse_unresolved(settings.metric)
    notes: tuple[Note, ...] = ()
    if not settings.few:
        n, m = len(P), len(Q)
        if n != m:
            each = count(min(n, m))
            text = (
                f"There are {count(n)} draws of M(D) and {count(m)} of M(D'): the first {each} of "
                f"each are audited, and {count(abs(n - m))} are left out."
            )
            notes = (Note(text),)
        P, Q = P[: settings.draws], Q[: settings.draws]
    refuse_shared(P, Q)
    if settings.stop is not None:
        findings = audit_sequentially(setup, batches_in(P, Q, settings))
    else:
        findings = audit_fixed(setup, GivenDraws(P, Q))
    findings = with_doubts(findings, settings, partial(copied, P, Q))
    findings = replace(findings, judged=of_given_draws(findings.judged))
    return _result(subject, setup, findings, notes)


def _result(
    subject: Subject,
    setup: Setup,
    findings: Findings,
    notes: tuple[Note, ...],
    seed_trial: Trial | None = None,
) -> AuditResult:
    """The result, with `notes` and those of the findings before the headline in its reason."""
    judged = with_notes(findings.judged, (*notes, *findings.notes))
    return AuditResult(
        exact=setup.theory,
        claim=setup.settings.claim,
        verdict=judged.verdict,
        reason=judged.reason,
        detectable=judged.detectable,
        headline=judged.headline,
        estimate=findings.estimate,
        settings=setup.settings,
        sizes=findings.sizes,
        fitted=findings.fitted,
        subject=subject,
        timings=setup.clock.total(),
        peak_memory_mb=peak_memory_mb(),
        sequential=findings.sequential,
        evidence=findings.evidence,
        ledger=None,
        trial=seed_trial,
    )
