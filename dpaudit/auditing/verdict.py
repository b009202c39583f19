"""The verdict, of audits with a fixed number of draws and of sequential ones.

A certified band or an e-value is held against an upper curve: the claim's or, without a claim, the
exact spectrum's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from dpaudit import power
from dpaudit._core.percent import percent
from dpaudit._core.types import Array
from dpaudit.auditing.sequential.record import Sequential
from dpaudit.auditing.settings import Settings
from dpaudit.certify.estimate import Estimate
from dpaudit.curves.claims import Claim, exceeds
from dpaudit.curves.spectrum import Spectrum
from dpaudit.sampling.randomness import INFINITE

SLACK = 1e-12  # a certified excess below this is rounding


@dataclass(frozen=True)
class Verdict:
    """verdict : "violated", "not violated" or "inconclusive"; reason : one sentence for people.

    detectable : {"epsilon", "excess", "power"}, the smallest excess over the reference that this
    audit would have certified with that probability, and where; None without a reference.
    """

    verdict: str
    reason: str
    detectable: dict[str, float] | None


def with_notes(judged: Verdict, notes: Iterable[str]) -> Verdict:
    """The verdict with sentences on the draws before its reason.

    Two sides of which each has one value are told apart for certain. If that is not certified, the
    draws are too few, later ones differ, or the score does not see it: inconclusive.
    """
    said = " ".join([*notes, judged.reason])
    if judged.verdict != "not violated" or INFINITE not in said:
        return replace(judged, reason=said)
    reason = said.replace(INFINITE, "; too few to certify it, or the score or later draws differ.")
    return replace(judged, verdict="inconclusive", reason=reason)


@dataclass(frozen=True, eq=False)
class Reference:
    """The upper curve on the grid of ε, (m,), and what it is called in a sentence."""

    name: str
    delta: Array

    @classmethod
    def of(cls, settings: Settings, exact: Spectrum | None) -> Reference | None:
        """The claim's curve, else the exact one; None where there is neither."""
        if settings.claim is not None:
            claim = settings.claim
            return cls(f"the claim of {claim.text}", claim.delta_at(settings.epsilon))
        return None if exact is None else cls("the exact spectrum", exact.delta)


def judge_band(estimate: Estimate, settings: Settings, exact: Spectrum | None) -> Verdict:
    """Judge a certified band."""
    reference = Reference.of(settings, exact)
    if reference is None:
        return Verdict("inconclusive", _nothing(estimate, settings.level), None)

    def excess(at: int) -> float:
        epsilon, allowed = estimate.epsilon[at], reference.delta[at]
        return power.smallest_excess(epsilon, allowed, estimate.draws, estimate.share[at])

    detectable = _detectable(excess, range(len(estimate.epsilon)), settings)
    worst = int(np.argmax(estimate.low - reference.delta))
    if estimate.low[worst] - reference.delta[worst] > SLACK:
        reason = _violated(estimate, reference, worst, settings.level)
        return Verdict("violated", reason, detectable)
    if _too_weak(detectable, settings.detect):
        reason = f"These draws could have shown {_shown(detectable, settings)}; take more samples."
        return Verdict("inconclusive", reason, detectable)
    reason = _held(reference, settings, exact)
    return Verdict("not violated", reason, detectable)


def judge_e_value(
    record: Sequential, kept: Iterable[int], settings: Settings, reference: Reference
) -> Verdict:
    """Judge a sequential audit. kept : positions on the grid of ε at which bounds are kept."""

    def excess(at: int) -> float:
        epsilon, allowed = settings.epsilon[at], reference.delta[at]
        return power.excess_shown(epsilon, allowed, record.tested, settings.alpha)

    others = () if settings.claimed_epsilon is not None else kept
    detectable = _detectable(excess, others, settings)
    confidence = f"{percent(settings.level)} confidence"
    if record.rejected_at is not None:
        reason = (
            f"Stopped after {record.rejected_at:,} draws a side: the e-value against "
            f"{reference.name} is {record.e_value:.4g}, at least the {record.needed:.4g} that "
            f"rejects it at {confidence}."
        )
        return Verdict("violated", reason, detectable)
    held = (
        f"In {record.drawn:,} draws a side the e-value against {reference.name} rose to "
        f"{record.largest:.3g} at most, below the {record.needed:.4g} that rejects it at "
        f"{confidence}."
    )
    if _too_weak(detectable, settings.detect):
        reason = f"{held} They could have shown {_shown(detectable, settings)}."
        return Verdict("inconclusive", reason, detectable)
    return Verdict("not violated", held, detectable)


def _detectable(
    excess: Callable[[int], float], positions: Iterable[int], settings: Settings
) -> dict[str, float] | None:
    """At the claim's own ε if it has one, else where the least excess would show.

    excess : position on the grid of ε ↦ the smallest excess that would show there.
    """
    own = settings.claimed_epsilon
    if own is not None:
        at = int(np.argmin(np.abs(settings.epsilon - own)))
        least = excess(at)
        if np.isfinite(least):
            return _at(settings.epsilon[at], least)
    least, at = min(((excess(one), one) for one in positions), default=(np.inf, 0))
    return _at(settings.epsilon[at], least) if np.isfinite(least) else None


def _at(epsilon: float, excess: float) -> dict[str, float]:
    return {"epsilon": float(epsilon), "excess": float(excess), "power": power.POWER}


def _too_weak(detectable: dict[str, float] | None, detect: float | None) -> bool:
    """Whether the excess asked for could not have been shown."""
    if detect is None:
        return False
    return detectable is None or detectable["excess"] > detect


def _shown(detectable: dict[str, float] | None, settings: Settings) -> str:
    shown = "no excess at all" if detectable is None else f"an excess of {detectable['excess']:.3g}"
    return f"{shown}, not the {settings.detect:.3g} asked for"


def _nothing(estimate: Estimate, level: float) -> str:
    return (
        f"There is no claim and no exact spectrum to judge by; at {percent(level)} confidence "
        f"δ({estimate.epsilon[0]:g}) is at least {estimate.low[0]:.3g}."
    )


def _violated(estimate: Estimate, reference: Reference, at: int, level: float) -> str:
    return (
        f"At {percent(level)} confidence δ({estimate.epsilon[at]:.4g}) is at least "
        f"{estimate.low[at]:.3g}, above the {reference.delta[at]:.3g} that {reference.name} allows."
    )


def _held(reference: Reference, settings: Settings, exact: Spectrum | None) -> str:
    broken = _broken_by(exact, settings.claim, reference, settings.epsilon)
    if broken is not None:
        return broken
    return (
        f"No ε was found at which the certified δ(ε) exceeds {reference.name} at "
        f"{percent(settings.level)} confidence."
    )


def _broken_by(
    exact: Spectrum | None, claim: Claim | None, reference: Reference, epsilon: Array
) -> str | None:
    """A sentence where the exact spectrum breaks a claim that the draws did not refute."""
    if claim is None or exact is None:
        return None
    allowed = reference.delta
    over = np.flatnonzero(exceeds(exact.delta, allowed))
    if len(over) == 0:
        return None
    at = over[np.argmax((exact.delta - allowed)[over])]
    return (
        f"These draws did not certify a violation, but the exact spectrum breaks {reference.name}: "
        f"δ({epsilon[at]:.4g}) = {exact.delta[at]:.3g} against {allowed[at]:.3g}."
    )
