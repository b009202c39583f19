"""Which bound an audit of one run uses, and at which level: known before the run.

"likelihood" is the default for pure and (ε, δ) claims. It needs mδ small beside 1 − level, with m
canaries. Where this fails at small ε, "auto" gives `RECURSION` of 1 − level to the recursion, whose
bound holds for any δ, and takes the larger bound; where it fails at every ε up to `LATEST`, "auto"
gives all of it to the recursion. Claims that are curves, μ-GDP among them, need the recursion
("f-dp").
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.certify.constants import LATEST, RECURSION
from dpaudit.certify.one_run import independent, likelihood, recursion
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.certify.one_run.independent import GAUSSIAN, Family
from dpaudit.curves.claims import Claim

METHODS = ("auto", "likelihood", "f-dp")
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
    used = shares(guesses, delta, alpha) if method == "auto" else {method: 1.0}
    bounds = []
    for name, share in used.items():
        if name == "f-dp":
            value = recursion.epsilon_bound(guesses, delta, share * alpha)
            bounds.append(EpsilonBound(value, False))
        else:
            last = likelihood.epsilon_bound(guesses, delta, share * alpha, at, in_turn=in_turn)
            bounds.append(EpsilonBound(last or 0.0, last is not None))
    return max(bounds, key=lambda bound: (bound.value, bound.refuted))


def shares(guesses: Guesses, delta: float, alpha: float) -> dict[str, float]:
    """The methods that "auto" uses for (ε, δ) claims, each with its share of alpha."""
    first = likelihood.start(guesses.coins, delta, (1.0 - RECURSION) * alpha)
    if first > LATEST:
        return {"f-dp": 1.0}
    if likelihood.start(guesses.coins, delta, alpha) == 0.0:
        return {"likelihood": 1.0}
    return {"likelihood": 1.0 - RECURSION, "f-dp": RECURSION}


def gdp_bound(
    guesses: Guesses, alpha: float, canaries: str = "any", family: Family = GAUSSIAN
) -> float:
    """The certified μ of a family at confidence 1 − alpha. canaries : one of `CANARIES`."""
    if canaries == "independent":
        return independent.bound(guesses, family, alpha)
    return recursion.gdp_bound(guesses, alpha)


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
