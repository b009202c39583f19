"""Which bound an audit of one run uses, and at which level: known before the run.

"likelihood" is the default for pure and (ε, δ) claims. It needs mδ small beside 1 − level, with m
canaries. Where this fails at small ε, "auto" gives `RECURSION` of 1 − level to the recursion, whose
bound holds for any δ, and takes the larger bound; where it fails at every ε up to `LATEST`, "auto"
gives all of it to the recursion. Claims that are curves, μ-GDP among them, need the recursion
("f-dp").

"steinke" is theorem 5.2 of Steinke, Nasr & Jagielski 2023, for numbers of guesses known before the
run. For an (ε, δ)-DP mechanism, m fair coins and r guesses of which W are right, P(W ≥ v) ≤ P(B ≥
v) + m δ max_{1 ≤ i ≤ m} (2/i) P(v > B ≥ v − i), where B is binomial with r trials of probability
e^ε/(1 + e^ε). It is used as stated there; the other bounds of this room have their proofs beside
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from scipy.special import bdtrc, expit

from dpaudit.certify.constants import LATEST, RECURSION
from dpaudit.certify.one_run import independent, likelihood, recursion
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.certify.one_run.independent import GAUSSIAN, Family
from dpaudit.curves.claims import Claim

METHODS = ("auto", "likelihood", "betting", "steinke", "f-dp")
CANARIES = ("any", "independent")


@dataclass(frozen=True)
class EpsilonBound:
    """A lower bound of ε. value : nats; smaller ε are refuted. refuted : whether ε = value is."""

    value: float
    refuted: bool

    def refutes(self, epsilon: float) -> bool:
        return self.value > epsilon or (self.refuted and self.value == epsilon)


def epsilon_bound(
    guesses: Guesses,
    delta: float,
    alpha: float,
    method: str = "auto",
    at: float | None = None,
    *,
    in_turn: bool = True,
) -> EpsilonBound:
    """The certified ε, nats, at δ and confidence 1 − alpha.

    at : a claimed ε, tested too. in_turn : as in `likelihood.epsilon_bound`.
    """
    if method == "f-dp":
        return EpsilonBound(recursion.epsilon_bound(guesses, delta, alpha), False)
    if method == "auto":
        parts = [
            epsilon_bound(guesses, delta, share * alpha, name, at, in_turn=in_turn)
            for name, share in shares(guesses, delta, alpha).items()
        ]
        return max(parts, key=lambda part: (part.value, part.refuted))
    if method == "steinke":
        tested = takewhile(
            lambda epsilon: steinke_rejects(guesses, epsilon, delta, alpha), likelihood.grid(at)
        )
        last = max(tested, default=None)
    else:
        last = likelihood.epsilon_bound(
            guesses, delta, alpha, at, bets=method == "betting", in_turn=in_turn
        )
    return EpsilonBound(0.0, False) if last is None else EpsilonBound(last, True)


def shares(guesses: Guesses, delta: float, alpha: float) -> dict[str, float]:
    """The methods that "auto" uses for (ε, δ) claims, each with its share of alpha."""
    first = likelihood.start(guesses.coins, delta, (1.0 - RECURSION) * alpha)
    if first > LATEST:
        return {"f-dp": 1.0}
    if likelihood.start(guesses.coins, delta, alpha) == 0.0:
        return {"likelihood": 1.0}
    return {"likelihood": 1.0 - RECURSION, "f-dp": RECURSION}


def gdp_bound(guesses: Guesses, alpha: float, canaries: str = "any") -> float:
    """The certified μ at confidence 1 − alpha. canaries : one of `CANARIES`."""
    if canaries == "independent":
        return independent.bound(guesses, GAUSSIAN, alpha)
    return recursion.gdp_bound(guesses, alpha)


def family_bound(
    guesses: Guesses, family: Family, delta: float, alpha: float, canaries: str
) -> float:
    """The certified ε, nats, at δ and confidence 1 − alpha, if each change is of the family."""
    if canaries == "independent":
        return family.epsilon_at(independent.bound(guesses, family, alpha), delta)
    return family.epsilon_at(recursion.gdp_bound(guesses, alpha), delta)


def refutes(
    guesses: Guesses, claim: Claim, alpha: float, method: str = "auto", canaries: str = "any"
) -> bool:
    """Whether the guesses refute a claim about each canary's change at confidence 1 − alpha."""
    if claim.epsilon is not None:
        bound = epsilon_bound(guesses, claim.delta, alpha, method, claim.epsilon)
        return bound.refutes(claim.epsilon)
    if claim.family is not None and claim.family.symbol == "μ":
        return gdp_bound(guesses, alpha, canaries) > claim.family.value
    if canaries == "independent":
        return independent.refutes(guesses, (claim.delta_at, claim.delta_at), alpha)
    return recursion.refutes(guesses, claim.delta_at, alpha)


def steinke_p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """A bound, by theorem 5.2, of the chance of `right` or more right guesses; ε in nats."""
    steps = np.arange(min(canaries, max(right, 1)) + 1)
    least = right - steps
    tail = bdtrc(np.maximum(least - 1, 0), guesses, expit(epsilon))  # P(B ≥ least)
    tail = np.where(least <= 0, 1.0, tail)
    short = np.max(2.0 * (tail[1:] - tail[0]) / steps[1:])
    return float(np.minimum(1.0, tail[0] + canaries * delta * short))


def steinke_rejects(guesses: Guesses, epsilon: float, delta: float, alpha: float) -> bool:
    """Whether theorem 5.2 rejects (ε, δ)-DP for some number of guesses, at its share of alpha."""
    sums = np.cumsum(guesses.right)
    return len(sums) > 0 and any(
        steinke_p_value(guesses.canaries, size, int(sums[size - 1]), epsilon, delta)
        <= share * alpha
        for size, share in recursion.cuts(guesses.canaries)
    )
