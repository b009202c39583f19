"""The headline of an audit: what is claimed and what is certified, in the claim's own parameter.

The headline states an (ε, δ) claim as ε at its own δ, Gaussian DP as μ, concentrated DP as ρ, and a
limit of the attacker's advantage as that.
Any other claim by a curve, and an exact spectrum, has no parameter. The headline states it as an ε
of the grid and the δ allowed there: the ε where the certified bound exceeds the curve most, or, if
it exceeds the curve nowhere, the largest ε where the bound is above 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.text import percent
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.claims import ADVANTAGE, Claim, exceeds
from dpaudit.verdict.numbers import apart, least, number

if TYPE_CHECKING:
    from dpaudit.certify.estimate import Estimate
    from dpaudit.curves.spectrum import Spectrum

CLAIMED = "Claimed"  # first word of the sentence if the claim has a parameter of its own
PREMISE = "The accountant gives"  # its beginning if what the ε was computed from is audited
UNCLAIMED_DELTA = 1e-5  # the δ at which the headline states ε if nothing is claimed
# the fields of a headline in result.json, by their types
NUMBERS = ("delta", "claimed", "certified", "epsilon", "certified_delta", "allowed_delta", "level")
OPTIONAL = ("delta", "claimed", "allowed_delta")
WORDS = ("symbol", "who", "claimant", "origin")


@dataclass(frozen=True)
class Headline:
    """What is claimed and what is certified, as values of one parameter.

    symbol : the parameter, "ε", "μ", "ρ" or "advantage" (ε and ρ in nats).
    delta : the δ at which ε is stated, None for the others.
    claimed : the claimed value; None without a claim and without an exact spectrum.
    certified : a lower bound: every smaller value is false at the confidence `level`.
    exceeded : whether the audit refutes the claim. A sequential audit may refute it with a
        certified value that equals the claimed one (the true value is above it) or, if the claim is
        a curve, with a certified value below it.
    epsilon, certified_delta, allowed_delta : the same statement in δ, at one ε (nats).
    who : what differs between the databases, such as "row 11 zeroed", or "".
    claimant : the beginning of the sentence: "Claimed", or the name of the curve that allows ε.
    origin : what the claimed value was computed from, such as "group of 3", or "".
    """

    symbol: str
    delta: float | None
    claimed: float | None
    certified: float
    exceeded: bool
    epsilon: float
    certified_delta: float
    allowed_delta: float | None
    level: float
    who: str = ""
    claimant: str = CLAIMED
    origin: str = ""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Headline:
        values: dict[str, Any] = {name: _number(content, name) for name in NUMBERS}
        values |= {name: str(content.get(name) or "") for name in WORDS}
        return cls(**values, exceeded=content.get("exceeded") is True)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "text": self.text}

    @property
    def text(self) -> str:
        """Such as "Claimed ε = 1 at δ = 0. At 95 % confidence at least 1.98 (row 11 zeroed)"."""
        at = f" {self.at}" if self.at else ""
        who = f" ({self.who})" if self.who else ""
        confidence = f"At {percent(self.level)} confidence"
        if self.claimed is None:
            least_value = f"{self.symbol} is at least {self.certified_text}"
            if np.isinf(self.certified):
                least_value = f"no finite {self.symbol} holds"
            return f"Nothing is claimed. {confidence} {least_value}{at}{who}."
        origin = f" ({self.origin})" if self.origin else ""
        claim = f"{self.claimant} {self.symbol} = {self.claimed_text}{at}{origin}."
        if np.isinf(self.certified):
            certified = f"{confidence} no finite {self.symbol} holds"
        elif not self.exceeded:
            certified = f"Ruled out at {percent(self.level)} confidence: {self.ruled_out}"
        elif self.certified > self.claimed:
            certified = f"{confidence} at least {self.certified_text}"
        elif self.claimant == CLAIMED:
            certified = f"{confidence} the true {self.symbol} is larger"
        elif self.claimant == PREMISE:
            certified = f"{confidence} its premise is refuted"
        else:  # the excess need not be at this δ
            certified = f"{confidence} that curve is exceeded"
        return f"{claim} {certified}{who}."

    @property
    def in_delta(self) -> str:
        """The sentence on δ at the claim's ε; "" if the certified δ is allowed."""
        if self.allowed_delta is None or self.certified_delta <= self.allowed_delta:
            return ""
        low, allowed = apart(self.certified_delta, self.allowed_delta, 3)
        return f"δ({number(self.epsilon)}) is at least {low}, where {allowed} is allowed."

    @property
    def excess_shown(self) -> bool:
        """Whether a certified value above the claimed one refutes the claim; a sequential audit may
        refute it without.
        """
        return self.exceeded and self.claimed is not None and self.certified > self.claimed

    @property
    def at(self) -> str:
        return "" if self.delta is None else f"at δ = {number(self.delta)}"

    @property
    def certified_text(self) -> str:
        """The certified value, rounded down, with enough digits to differ from the claimed one."""
        return least(self.certified, self.claimed)

    @property
    def claimed_text(self) -> str:
        """The claimed value, with enough digits to be below a certified one that exceeds it."""
        if self.claimed is None or self.certified <= self.claimed:
            return number(self.claimed)
        return apart(self.certified, self.claimed)[1]

    @property
    def ruled_out(self) -> str:
        """The values that the audit rules out: "every ε below 0.06", rounded down, or "no ε"."""
        if self.exceeded and self.claimed is not None and not self.excess_shown:
            if self.claimant == PREMISE:
                return "the premise of that ε"
            if self.claimant != CLAIMED:
                return "the whole curve"
            return f"every {self.symbol} up to {self.claimed_text}"
        if np.isinf(self.certified):
            return f"every finite {self.symbol}"
        below = f"every {self.symbol} below {self.certified_text}"
        return below if self.certified > 0.0 else f"no {self.symbol}"


def _number(content: Mapping[str, Any], key: str) -> float | None:
    value = content.get(key)
    if value is None and key in OPTIONAL:
        return None
    if value == "inf":
        return np.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        fail(f"headline.{key}", value, 'a number >= 0 or "inf"')
    return float(value)


@value_class
class Reference:
    """The curve that an audit is compared with: the claim or, without a claim, the exact spectrum.

    epsilon : the grid, (m,) ascending, nats. delta : the δ that the curve allows there, (m,).
    claim : the claim, or None if the exact spectrum is the reference.
    exact : the exact spectrum, or None if it is unknown.
    """

    epsilon: Array
    delta: Array
    claim: Claim | None = None
    exact: Spectrum | None = None

    @classmethod
    def of(
        cls, claim: Claim | None, epsilon: Array, exact: Spectrum | None = None
    ) -> Reference | None:
        if claim is not None:
            return cls(epsilon, claim.delta_at(epsilon), claim, exact)
        return None if exact is None else cls(epsilon, exact.delta, None, exact)

    @property
    def name(self) -> str:
        return "the exact spectrum" if self.claim is None else f"the claim of {self.claim.text}"

    @property
    def claimed_at(self) -> int | None:
        """The position on the grid of the ε of an (ε, δ) claim; None for all other references."""
        if self.claim is None or self.claim.epsilon is None:
            return None
        return int(np.argmin(np.abs(self.epsilon - self.claim.epsilon)))


def read_headline(
    estimate: Estimate,
    reference: Reference | None,
    level: float,
    who: str = "",
    rejected: bool | None = None,
) -> Headline:
    """The headline of an audit, from its estimate with the certified band and its reference.

    who : what differs between the databases, in words. rejected : whether a sequential audit
    rejected the reference; None for other audits, which the band decides.
    """
    band = estimate.certified
    if reference is None:
        certified = float(band.epsilon_at(UNCLAIMED_DELTA))
        first = float(estimate.epsilon[0]), float(estimate.low[0])
        return Headline(
            "ε", UNCLAIMED_DELTA, None, certified, bool(rejected), *first, None, level, who, ""
        )
    claim, family = reference.claim, None if reference.claim is None else reference.claim.family
    worst = _worst(estimate.low, reference.delta)
    symbol, delta = "ε", None
    if family is None:
        delta, claimed = float(reference.delta[worst]), float(estimate.epsilon[worst])
        certified = float(band.epsilon_at(delta))
    else:
        symbol, claimed = family.symbol, family.value
        if symbol == "μ":
            certified = max(band.gdp_mu, band.least_mu(estimate.epsilon))
        elif symbol == "ρ":
            by_delta = band.least_parameter(family.curve, estimate.epsilon)
            certified = max(by_delta, band.least_rho(family.omega))
        elif symbol == ADVANTAGE:
            certified = float(band.delta_at(0.0))
        else:
            assert family.delta is not None
            delta, certified = family.delta, band.least_epsilon(family.delta)
    exceeded = rejected
    if exceeded is None:
        exceeded = (
            bool(exceeds(certified, claimed)) or renyi_excess(estimate, reference) is not None
        )
    if not exceeded:
        certified = min(certified, claimed)
    elif rejected and family is not None:
        certified = max(certified, claimed)  # (ε, δ)-DP implies (ε', δ)-DP for ε' > ε; so μ and ρ
    at = reference.claimed_at
    over = estimate.low > reference.delta
    if at is None or (over[worst] and not over[at]):  # the band shows an excess only elsewhere
        at = worst
    if claim is None:
        claimant = "No claim. The exact spectrum has"
    else:
        claimant = CLAIMED if family else f"The claim of {claim.text} allows"
    return Headline(
        symbol,
        delta,
        claimed,
        certified,
        exceeded,
        epsilon=float(estimate.epsilon[at]),
        certified_delta=float(estimate.low[at]),
        allowed_delta=float(reference.delta[at]),
        level=level,
        who=who,
        claimant=claimant,
        origin=claim.origin if claim is not None and family else "",  # otherwise its name has it
    )


def renyi_excess(estimate: Estimate, reference: Reference) -> tuple[float, float, float] | None:
    """The order at which the certified Rényi divergence exceeds the claimed one by the largest
    factor, and both divergences, nats; None if it exceeds at no order.
    """
    if reference.claim is None or reference.claim.renyi is None:
        return None
    orders, allowed = reference.claim.renyi.at_orders()
    certified = estimate.certified.renyi(orders)
    over = np.flatnonzero(exceeds(certified, allowed))
    if len(over) == 0:
        return None
    with np.errstate(divide="ignore"):
        at = over[np.argmax(certified[over] / allowed[over])]
    return float(orders[at]), float(certified[at]), float(allowed[at])


def _worst(low: Array, allowed: Array) -> int:
    """The position on the grid where the bound `low` exceeds the `allowed` δ most.

    If it exceeds it nowhere: the last position where the bound is above 0, or the first position
    where less than δ = 1 is allowed, whichever is later.
    """
    excess = low - allowed
    if excess.max() > 0.0:
        return int(np.argmax(excess))
    return int(np.max(np.flatnonzero(low > 0.0), initial=int(np.argmax(allowed < 1.0))))
