"""Which bound is used, and at which level: known before the run.

"likelihood" is the default for pure and (ε, δ) claims. It needs mδ small beside 1 − level. Where
that is not so at small ε, "auto" gives `RECURSION` of 1 − level to the recursion, whose bound holds
for any δ, and takes the larger one; where it is so at no ε up to `LATEST`, all of it. Claims that
are curves, μ-GDP among them, are for the recursion ("f-dp").
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.certify.one_run import likelihood, recursion, steinke
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.curves.claims import Claim

METHODS = ("auto", "likelihood", "betting", "steinke", "f-dp")
RECURSION = 0.2
LATEST = 3.0  # nats


@dataclass(frozen=True)
class EpsilonBound:
    """value : nats, no smaller ε is true at the level. refuted : whether ε = value itself is."""

    value: float
    refuted: bool

    @classmethod
    def of(cls, tested: float | None) -> EpsilonBound:
        """From the last hypothesis that was rejected."""
        return cls(0.0, False) if tested is None else cls(tested, True)

    def refutes(self, epsilon: float) -> bool:
        """Whether ε, nats, is refuted."""
        return self.value > epsilon or (self.refuted and self.value == epsilon)


def epsilon_bound(
    guesses: Guesses, delta: float, alpha: float, method: str = "auto", at: float | None = None
) -> EpsilonBound:
    """The certified ε, nats, at δ, at 1 − level = alpha. at : an ε that a claim names."""
    if method == "f-dp":
        return EpsilonBound(recursion.epsilon_bound(guesses, delta, alpha), False)
    if method == "steinke":
        return EpsilonBound.of(steinke.epsilon_bound(guesses, delta, alpha, at))
    if method != "auto":
        bets = method == "betting"
        return EpsilonBound.of(likelihood.epsilon_bound(guesses, delta, alpha, at, bets=bets))
    parts = [
        epsilon_bound(guesses, delta, share * alpha, name, at)
        for name, share in shares(guesses, delta, alpha).items()
    ]
    return max(parts, key=lambda one: (one.value, one.refuted))


def shares(guesses: Guesses, delta: float, alpha: float) -> dict[str, float]:
    """The methods that "auto" uses for (ε, δ) claims, each with its share of alpha."""
    first = likelihood.start(guesses.inclusion, delta, (1.0 - RECURSION) * alpha)
    if first > LATEST:
        return {"f-dp": 1.0}
    if likelihood.start(guesses.inclusion, delta, alpha) == 0.0:
        return {"likelihood": 1.0}
    return {"likelihood": 1.0 - RECURSION, "f-dp": RECURSION}


def gdp_bound(guesses: Guesses, alpha: float) -> float:
    """The certified μ, at 1 − level = alpha."""
    return recursion.gdp_bound(guesses, alpha)


def refutes(guesses: Guesses, claim: Claim, alpha: float, method: str = "auto") -> bool:
    """Whether a claim about each canary's change is refuted at 1 − level = alpha."""
    if claim.epsilon is not None:
        found = epsilon_bound(guesses, claim.delta, alpha, method, claim.epsilon)
        return found.refutes(claim.epsilon)
    if claim.family is not None and claim.family.symbol == "μ":
        return gdp_bound(guesses, alpha) > claim.family.value
    return recursion.refutes(guesses, claim.delta_at, alpha)
