"""The verdict: a certified lower band against an upper curve. It cannot tell whether the curve is a
claim or exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.certify.estimate import Estimate
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.power import POWER, smallest_excess

SLACK = 1e-12  # certified excess below this is rounding


@dataclass(frozen=True)
class Verdict:
    """verdict: "violated", "not violated" or "inconclusive"; reason: one sentence for people.

    detectable: {"epsilon", "excess", "power"}, the smallest excess over the reference that this
    audit would have certified with that probability, and where; None without a reference.
    """

    verdict: str
    reason: str
    detectable: dict[str, float] | None


def verdict(
    estimate: Estimate,
    level: float,
    claim: Claim | None,
    exact: Spectrum | None,
    detect: float | None,
) -> Verdict:
    """Judge the band against the claim, or without one against the exact spectrum.

    detect : excess in δ that the audit was asked to be able to show, or None.
    """
    if claim is None and exact is None:
        return Verdict("inconclusive", _nothing(estimate, level), None)
    name, reference = reference_of(claim, exact, estimate.epsilon)
    detectable = _detectable(estimate, reference, claim)
    worst = int(np.argmax(estimate.low - reference))
    if estimate.low[worst] - reference[worst] > SLACK:
        return Verdict("violated", _violated(estimate, reference, worst, name, level), detectable)
    if detect is not None and (detectable is None or detectable["excess"] > detect):
        return Verdict("inconclusive", _too_few(detectable, detect), detectable)
    return Verdict("not violated", _held(estimate, claim, exact, name, level), detectable)


def reference_of(claim: Claim | None, exact: Spectrum | None, epsilon: Array) -> tuple[str, Array]:
    """What a band is held against: its name in a sentence, and δ on the grid `epsilon`, which is
    that of `exact`.
    """
    if claim is not None:
        return f"the claim of {claim.text}", claim.delta_at(epsilon)
    assert exact is not None
    return "the exact spectrum", exact.delta


def _detectable(
    estimate: Estimate, reference: Array, claim: Claim | None
) -> dict[str, float] | None:
    """At the claim's own ε if it has one, else where the least excess would show."""
    at_each = zip(estimate.epsilon, reference, estimate.share, strict=True)
    excess = np.array(
        [
            smallest_excess(epsilon, allowed, estimate.draws, share)
            for epsilon, allowed, share in at_each
        ]
    )
    if not np.isfinite(excess).any():
        return None
    at = int(np.argmin(excess))
    if claim is not None and claim.epsilon is not None:
        own = int(np.argmin(np.abs(estimate.epsilon - claim.epsilon)))
        at = own if np.isfinite(excess[own]) else at
    return {"epsilon": float(estimate.epsilon[at]), "excess": float(excess[at]), "power": POWER}


def _nothing(estimate: Estimate, level: float) -> str:
    return (
        f"There is no claim and no exact spectrum to judge; at {100 * level:.6g}% confidence "
        f"δ({estimate.epsilon[0]:g}) is at least {estimate.low[0]:.3g}."
    )


def _violated(estimate: Estimate, reference: Array, at: int, name: str, level: float) -> str:
    return (
        f"At {100 * level:.6g}% confidence δ({estimate.epsilon[at]:.4g}) is at least {estimate.low[at]:.3g}, above the "
        f"{reference[at]:.3g} that {name} allows."
    )


def _too_few(detectable: dict[str, float] | None, detect: float) -> str:
    shown = "no excess at all" if detectable is None else f"an excess of {detectable['excess']:.3g}"
    return (
        f"These draws could have shown {shown}, not the {detect:.3g} asked for; take more samples."
    )


def _held(
    estimate: Estimate, claim: Claim | None, exact: Spectrum | None, name: str, level: float
) -> str:
    text = f"No ε was found at which the certified δ(ε) exceeds {name} at {100 * level:.6g}% confidence."
    if claim is not None and exact is not None:
        allowed = claim.delta_at(estimate.epsilon)
        over = np.flatnonzero(exact.delta > allowed * (1.0 + 1e-9) + SLACK)
        if len(over):
            at = over[np.argmax((exact.delta - allowed)[over])]
            text = (
                f"These draws did not certify a violation, but the exact spectrum breaks {name}: "
                f"δ({estimate.epsilon[at]:.4g}) = {exact.delta[at]:.3g} against {allowed[at]:.3g}."
            )
    return text
