"""Recognise audits that could have shown nothing, whatever the mechanism does: their verdict is
never "not violated".

A mechanism leaks most if every output reveals its database, as when M(D) has one value and M(D')
another. If the draws of an audit would not refute the claim even then, they are too few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpaudit import outcomes, power
from dpaudit._core.note import Note
from dpaudit._core.types import Mechanism, Wrapped
from dpaudit.adapters import Command, OneDraw
from dpaudit.auditing.settings import MOST_DRAWS, Settings
from dpaudit.auditing.subject import Findings
from dpaudit.certify.constants import FEW as FEW_DRAWS
from dpaudit.certify.estimate import certify
from dpaudit.certify.few import certify_few
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.split import Split
from dpaudit.curves.claims import about_others, doubtful
from dpaudit.errors import InvalidInput
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling.degenerate import same_outputs
from dpaudit.scoring.constants import ENOUGH_TO_CHOOSE
from dpaudit.verdict.headline import Reference, read_headline
from dpaudit.verdict.numbers import count

# The best test at an ε of the grid gives the draws that are needed. With AMPLE times those that it
# needs at a share LEAST_SHARE of 1 − level, the least that the deciding set gets, the audit
# refutes; with less than SCARCE times those at all of 1 − level it does not, since another ε may
# need fewer draws, but not by that factor. Between them the audit is simulated.
LEAST_SHARE, AMPLE, SCARCE = 1.0 / 200.0, 2.0, 0.25
TRIED = 1 << 20  # most certifying draws with which an audit of such outputs is simulated
# Outputs compared on common random numbers: at most COMMON, or FEW if every draw is a fit or a run
# of a program, and at most a SHARE of the draws (but at least FEW).
COMMON, FEW, SHARE = 1024, 32, 0.1
LOW_LEVEL = (
    "level = {level:g} is the confidence, not the probability of an error: at so small a level "
    "most audits of a claim that holds may call it violated."
)


def too_few(settings: Settings, reference: Reference | None, sizes: Split) -> bool:
    """Whether an audit of these sizes can refute nothing."""
    return reference is not None and not _refutes(settings, reference, sizes)


def fewest(settings: Settings, reference: Reference, columns: int) -> int | None:
    """The fewest draws a side, or up to 1 % more, with which an audit refutes `reference` if every
    output reveals its database; None if more than `MOST_DRAWS` are needed. columns : how many
    numbers an output has, which decides how draws are split.
    """

    def able(draws: int) -> bool:
        try:
            sizes = settings.replaced(draws=min(draws, MOST_DRAWS)).split(columns)
        except InvalidInput:  # too few to split
            return False
        return _refutes(settings, reference, sizes)

    low, high = 0, settings.draws
    while not able(high):
        low, high = high, min(2 * high, FEW_DRAWS) if high < FEW_DRAWS else 2 * high
        if low >= MOST_DRAWS:
            return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if able(middle) else (middle, high)
    return high


def _refutes(settings: Settings, reference: Reference, sizes: Split) -> bool:
    """Whether an audit with this split refutes `reference` if every output reveals its database: by
    the draws that the best test needs, or by an audit that is simulated, in which M(D) always gives
    one value and M(D') another.
    """

    def needed(share: float) -> float:
        best = power.separating_draws(settings.epsilon, reference.delta, share * settings.alpha)
        return float(best.min())

    if sizes.certify >= AMPLE * needed(LEAST_SHARE):
        return True
    if sizes.certify < SCARCE * needed(1.0):
        return False
    if sizes.certify > TRIED:
        return sizes.certify >= needed(1.0 / power.AUDIT_STATEMENTS)
    # if few draws choose, the training draws choose as well (`scoring.pooled`)
    choosing = sizes.choose if sizes.choose >= ENOUGH_TO_CHOOSE else sizes.choose + sizes.train
    choose, certifying = (
        SortedScores(np.ones(size), -np.ones(size)) for size in (choosing, sizes.certify)
    )
    points = settings.epsilon, settings.alpha
    if settings.replaced(draws=sizes.total).few:
        estimate = certify_few(choose, certifying, *points, settings.claimed, settings.focus)
    else:
        own = settings.claimed_epsilon
        claim_epsilon = () if own is None else (own,)
        estimate = certify(
            choose, certifying, *points, claim_epsilon=claim_epsilon, focus=settings.focus
        )
    return read_headline(estimate, reference, settings.level).exceeded


def ignored(mechanism: Mechanism, pair: NeighbourPair, settings: Settings) -> str:
    """A sentence if common random numbers give the same outputs on both databases; else ""."""
    inner = mechanism.mechanism if isinstance(mechanism, Wrapped) else mechanism
    most = FEW if isinstance(inner, (OneDraw, Command)) else COMMON
    size = min(most, max(FEW, int(SHARE * settings.draws)))
    databases = (pair.left, pair.right)
    if not same_outputs(mechanism, databases, size, settings.seed, call=settings.call):
        return ""
    more = f", or take {count(int(most / SHARE))} draws a side" if size < most else ""
    return (
        f"Under the same random numbers M(D) and M(D') gave the same {count(size)} outputs: none "
        f"of them uses what differs between D and D'. Look for a slip in the mechanism, or choose "
        f"another pair{more}."
    )


def copied(P: np.ndarray, Q: np.ndarray) -> str:
    """A sentence if the draws P and Q, made elsewhere, are the same; else ""."""
    same = len(P) == len(Q) and outcomes.equal(P, Q)
    return "P and Q hold the same draws in the same order." if same else ""


def with_doubts(
    findings: Findings, settings: Settings, same: Callable[[], str], rows: int | None = None
) -> Findings:
    """The findings, with notes that doubt the claim, and the verdict if both sides have the same
    outputs.

    same : a function that returns a sentence if both sides are the same, else ""; called only if
    nothing is certified. rows : the number of rows in which the databases differ; None if it is
    unknown.
    """
    judged, claim, sentence = findings.judged, settings.claim, ""
    if judged.verdict != "violated" and findings.estimate.certified.delta_at(0.0) == 0.0:
        sentence = same()
    unsure = LOW_LEVEL.format(level=settings.level) if settings.alpha > 0.5 else ""
    of_claim = filter(None, (unsure, doubtful(claim), about_others(claim, rows)))
    of_sides = (Note(sentence, doubt=sentence),) if sentence else ()
    return replace(findings, notes=(*map(Note, of_claim), *of_sides, *findings.notes))
