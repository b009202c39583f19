"""The verdict, of audits with a fixed number of draws and of sequential ones.

A certified band or an e-value is held against an upper curve: the claim's or, without a claim, the
exact spectrum's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpaudit import power
from dpaudit._core.percent import percent
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.auditing.headline import Reference, headline, renyi_excess
from dpaudit.auditing.sequential.record import Sequential
from dpaudit.auditing.settings import Settings
from dpaudit.certify.estimate import Estimate
from dpaudit.curves.claims import exceeds
from dpaudit.curves.spectrum import Spectrum
from dpaudit.report.headline import Headline
from dpaudit.report.opening import would_show
from dpaudit.report.text import apart, count, number
from dpaudit.sampling.randomness import INFINITE

NONE_SHOWN = (
    "With that many draws no excess in δ is found with probability 0.8 whatever its shape; take "
    "more draws."
)
# the share of outputs with parts that no score can read beyond which the verdict is inconclusive,
# where the caller asked for no excess; up to it, the share counts as unseen
MOST_UNREAD = 0.05
UNREAD = (
    "No score can read {parts}: they hardly come again, or are too many. Return numbers in their "
    "place, in an array if there are many (parse a text; dpaudit.adapters.texts counts words), "
    "leave out what may be ignored, or, if they come again, take more draws."
)
COUNTED = "This takes {share} of the outputs as unseen: no score can read {parts}."
WEAK = (
    "These draws would have shown an excess of {excess} in δ whatever its shape, not the {asked} "
    "asked for; take more draws."
)
GIVEN = (
    "This rests on independent draws. Draws or scores of one run are not independent; "
    "dpaudit.audit_one_run is for them."
)
NONE_UNREAD: Mapping[str, float] = {}
NOTHING = "No exact spectrum is known to judge by."


@dataclass(frozen=True)
class Verdict:
    """verdict : "violated", "not violated" or "inconclusive"; reason : for people, first the
    headline.

    detectable : {"epsilon", "excess", "power"}, the smallest excess over the reference that this
    audit would have certified with that probability whatever the leak's shape, and where; None
    without a reference.
    """

    verdict: str
    reason: str
    detectable: dict[str, float] | None
    headline: Headline

    __repr__ = short_repr


def with_notes(judged: Verdict, notes: Iterable[str]) -> Verdict:
    """The verdict with sentences on the draws before its reason.

    Two sides of which each has one value are told apart for certain. If that is not certified, the
    draws are too few, later ones differ, or the score does not see it: inconclusive.
    """
    said = " ".join([*notes, judged.reason])
    if judged.verdict == "violated" or INFINITE not in said:
        return replace(judged, reason=said)
    reason = said.replace(INFINITE, "; too few to certify it, or the score or later draws differ.")
    return replace(judged, verdict="inconclusive", reason=reason)


def never_green(judged: Verdict, sentence: str) -> Verdict:
    """The verdict with a sentence before its reason, if there is one, that says why nothing was
    audited.
    """
    if not sentence:
        return judged
    verdict = "inconclusive" if judged.verdict == "not violated" else judged.verdict
    return replace(judged, verdict=verdict, reason=f"{sentence} {judged.reason}")


def of_given_draws(judged: Verdict) -> Verdict:
    """The verdict on draws made elsewhere: of a violation, what it rests on."""
    if judged.verdict != "violated":
        return judged
    return replace(judged, reason=f"{judged.reason} {GIVEN}")


def nothing_missing() -> str:
    """Stands for `few` of draws that suffice."""
    return ""


def reference_of(settings: Settings, exact: Spectrum | None) -> Reference | None:
    """What the audit is held against."""
    return Reference.of(settings.claim, settings.epsilon, None if exact is None else exact.delta)


def judge_band(
    estimate: Estimate,
    settings: Settings,
    exact: Spectrum | None,
    who: str = "",
    few: Callable[[], str] = nothing_missing,
    least: Callable[[int], float] | None = None,
    unread: Mapping[str, float] = NONE_UNREAD,
) -> Verdict:
    """Judge a certified band.

    who : what differs between the databases, in words. few : gives a sentence where the draws
    could have refuted nothing, or "". least : position on the grid of ε ↦ the smallest excess that
    would show there, where that is known better than by `power.smallest_excess`. unread : as in
    `Fitted`.
    """
    reference = reference_of(settings, exact)
    head = headline(estimate, settings, reference, who)
    if reference is None:
        return Verdict("inconclusive", f"{head.text} {NOTHING}", None, head)

    def excess(at: int) -> float:
        epsilon, allowed = estimate.epsilon[at], reference.delta[at]
        return power.smallest_excess(epsilon, allowed, estimate.draws, estimate.share[at])

    detectable = _detectable(excess, range(len(estimate.epsilon)), settings, least or excess)
    detectable = _over_all_outputs(detectable, unread)
    if head.exceeded:
        said = (head.text, head.in_delta, _in_renyi(estimate, reference))
        return Verdict("violated", " ".join(filter(None, said)), detectable, head)
    held = Verdict("not violated", head.text, detectable, head)
    return _not_refuted(held, settings, _broken_by(exact, settings, reference), few, unread)


def _in_renyi(estimate: Estimate, reference: Reference) -> str:
    """ "The Rényi divergence of order 2 is at least 0.9, where 0.5 is allowed."; "" where none
    exceeds the claimed one.
    """
    found = renyi_excess(estimate, reference)
    if found is None:
        return ""
    order, certified, allowed = found
    low, most = ("infinite", number(allowed)) if certified == np.inf else apart(certified, allowed)
    least = low if certified == np.inf else f"at least {low}"
    return f"The Rényi divergence of order {number(order)} is {least}, where {most} is allowed."


def judge_e_value(
    record: Sequential,
    estimate: Estimate,
    kept: Iterable[int],
    settings: Settings,
    reference: Reference,
    who: str = "",
    few: Callable[[], str] = nothing_missing,
    exact: Spectrum | None = None,
    unread: Mapping[str, float] = NONE_UNREAD,
) -> Verdict:
    """Judge a sequential audit. kept : positions on the grid of ε at which bounds are kept.

    who, few, unread : as in `judge_band`.
    """

    def excess(at: int) -> float:
        epsilon, allowed = settings.epsilon[at], reference.delta[at]
        return power.excess_shown(epsilon, allowed, record.tested, settings.alpha)

    others = () if settings.claimed_epsilon is not None else kept
    detectable = _over_all_outputs(_detectable(excess, others, settings, excess), unread)
    head = headline(estimate, settings, reference, who, record.rejected_at is not None)
    if record.rejected_at is not None:
        said = (
            f"Stopped after {count(record.rejected_at)} draws a side: the e-value against "
            f"{reference.name} is {number(record.e_value)}, at least the {number(record.needed)} "
            "that rejects it."
        )
        reason = " ".join(part for part in (head.text, head.in_delta, said) if part)
        return Verdict("violated", reason, detectable, head)
    reason = (
        f"{head.text} In {count(record.drawn)} draws a side the e-value against {reference.name} "
        f"rose to {number(record.largest, 3)} at most, below the {number(record.needed)} that "
        "rejects it."
    )
    held = Verdict("not violated", reason, detectable, head)
    return _not_refuted(held, settings, _broken_by(exact, settings, reference), few, unread)


def _not_refuted(
    held: Verdict,
    settings: Settings,
    broken: str,
    few: Callable[[], str],
    unread: Mapping[str, float],
) -> Verdict:
    """The verdict where the draws refute nothing, with what they could have shown.

    held : as if the audit had shown enough. broken : a sentence where the exact spectrum breaks
    the claim, or "". few, unread : as in `judge_band`.
    """
    if broken:
        return replace(held, verdict="inconclusive", reason=f"{broken} {held.reason}")
    most = MOST_UNREAD if settings.detect is None else settings.detect
    if unread and _unseen(unread) >= most:
        missing = UNREAD.format(parts=_parts(unread))
    else:
        missing = few() or ("" if held.detectable else NONE_SHOWN)
    if missing or held.detectable is None:
        reason = f"{held.reason} {missing}"
        return replace(held, verdict="inconclusive", reason=reason, detectable=None)
    if settings.detect is not None and held.detectable["excess"] > settings.detect:
        excess, asked = number(held.detectable["excess"], 3), number(settings.detect, 3)
        shown, verdict = WEAK.format(excess=excess, asked=asked), "inconclusive"
    else:
        shown, verdict = would_show(held.detectable), held.verdict
    if unread:
        shown += " " + COUNTED.format(share=percent(_unseen(unread)), parts=_parts(unread))
    return replace(held, verdict=verdict, reason=f"{held.reason} {shown}")


def _over_all_outputs(
    detectable: dict[str, float] | None, unread: Mapping[str, float]
) -> dict[str, float] | None:
    """The smallest excess over all outputs, from that over the outputs that a score can read.

    P(S) − e^ε Q(S) ≤ P(S and read) − e^ε Q(S and read) + P(unread).
    """
    if detectable is None or not unread:
        return detectable
    excess = detectable["excess"] + _unseen(unread)
    return {**detectable, "excess": excess} if excess < 1.0 else None


def _unseen(unread: Mapping[str, float]) -> float:
    """A bound on the share of the outputs with a part that no score can read."""
    return min(1.0, sum(unread.values()))


def _parts(unread: Mapping[str, float]) -> str:
    """ "texts (in 100 % of the outputs) and keys of dicts (in 3 %)"."""
    shares = [f"{kind} (in {percent(share)} of the outputs)" for kind, share in unread.items()]
    return " and ".join(shares)


def _detectable(
    excess: Callable[[int], float],
    positions: Iterable[int],
    settings: Settings,
    exact: Callable[[int], float],
) -> dict[str, float] | None:
    """At the claim's own ε if it has one, else where the least excess would show.

    excess : position on the grid of ε ↦ the smallest excess that would show there, or about that.
    exact : the same, which stands in its place in the end.
    """
    own = settings.claimed_epsilon
    if own is not None:
        at = int(np.argmin(np.abs(settings.epsilon - own)))
        positions = [at] if np.isfinite(exact(at)) else positions
    best = min(positions, key=excess, default=None)
    if best is None or not np.isfinite(least := exact(best)):
        return None
    return {"epsilon": float(settings.epsilon[best]), "excess": float(least), "power": power.POWER}


def _broken_by(exact: Spectrum | None, settings: Settings, reference: Reference) -> str:
    """A sentence where the exact spectrum breaks a claim that the draws did not refute, or ""."""
    if settings.claim is None or exact is None:
        return ""
    over = np.flatnonzero(exceeds(exact.delta, reference.delta))
    if len(over) == 0:
        return ""
    found = _exact_value(exact, settings, reference, over)
    return f"The exact spectrum breaks {reference.name}: {found}. These draws did not certify it."


def _exact_value(
    exact: Spectrum, settings: Settings, reference: Reference, over: np.ndarray
) -> str:
    """The exact ε at the claim's own δ; of a claim that is a curve, the largest excess of δ."""
    claim = settings.claim
    if claim is not None and claim.epsilon is not None and exact.curve is not None:
        epsilon = float(exact.epsilon_at(claim.delta))
        return f"its ε at δ = {number(claim.delta)} is {number(epsilon, 3)}"
    at = over[np.argmax((exact.delta - reference.delta)[over])]
    delta, allowed = number(exact.delta[at], 3), number(reference.delta[at], 3)
    return f"its δ({number(settings.epsilon[at])}) is {delta}, where {allowed} is allowed"
