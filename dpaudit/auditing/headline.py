"""The headline of an audit: what is claimed and what is certified, in the claim's own parameter.

An (ε, δ) claim is read as ε at its own δ, Gaussian DP as μ, concentrated DP as ρ. A claim that is
given by a curve, and an exact spectrum, have no parameter: they are read as ε at the δ that they
allow at one ε, that where the certified bound exceeds them most, or else the largest where the
bound is above 0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpaudit._core.percent import percent
from dpaudit._core.types import Array
from dpaudit.auditing.settings import Settings
from dpaudit.certify.estimate import Estimate
from dpaudit.curves.claims import Claim, Family
from dpaudit.report.text import apart, least, number

UNCLAIMED_DELTA = 1e-5  # δ at which ε is read where nothing is claimed
CLAIMED = "Claimed"  # how the sentence begins where the claim has a parameter of its own
RELATIVE, ABSOLUTE = 1e-9, 1e-12  # a certified parameter that is above the claimed one by less


@dataclass(frozen=True)
class Headline:
    """What is claimed and what is certified.

    symbol : "ε", "μ" or "ρ" (ε and ρ in nats). delta : the δ at which ε is read, None for μ and ρ.
    claimed : None where nothing is claimed and no exact spectrum is known.
    certified : no smaller value is true at the confidence `level`.
    exceeded : whether the audit refutes what is claimed. A sequential audit may do so with a
        certified value that is not above the claimed one.
    epsilon, certified_delta, allowed_delta : the same in δ, at one ε (nats).
    who : what differs between the databases, "row 11 zeroed", or "".
    claimant : how the sentence begins, "Claimed" or what allows the ε.
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

    @property
    def text(self) -> str:
        """ "Claimed ε = 1 at δ = 0. At 95 % confidence at least 1.98 (row 11 zeroed)." """
        return f"{self._claimed} {self._certified}{f' ({self.who})' if self.who else ''}."

    @property
    def in_delta(self) -> str:
        """ "δ(1) is at least 0.215, where 0.01 is allowed."; "" where δ does not show an excess."""
        if self.allowed_delta is None or self.certified_delta <= self.allowed_delta:
            return ""
        low, allowed = apart(self.certified_delta, self.allowed_delta, 3)
        return f"δ({number(self.epsilon)}) is at least {low}, where {allowed} is allowed."

    def to_dict(self) -> dict[str, Any]:
        """What result.json holds."""
        return {**asdict(self), "text": self.text}

    @property
    def _at(self) -> str:
        return "" if self.delta is None else f" at δ = {number(self.delta)}"

    @property
    def _claimed(self) -> str:
        if self.claimed is None:
            return "Nothing is claimed."
        shown = number(self.claimed)
        if self.certified > self.claimed:
            shown = apart(self.certified, self.claimed)[1]
        return f"{self.claimant} {self.symbol} = {shown}{self._at}."

    @property
    def _certified(self) -> str:
        confidence = f"At {percent(self.level)} confidence"
        if np.isinf(self.certified):
            at = self._at if self.claimed is None else ""
            return f"{confidence} no finite {self.symbol} holds{at}"
        if self.claimed is None:
            return f"{confidence} {self.symbol} is at least {least(self.certified)}{self._at}"
        if not self.exceeded:
            most = number(self.certified, 3, up=True)
            return f"{confidence} no {self.symbol} above {most} is certified"
        if self.certified > self.claimed:
            return f"{confidence} at least {least(self.certified, self.claimed)}"
        if self.claimant == CLAIMED:
            return f"{confidence} more than that"
        return f"{confidence} that curve is exceeded"  # not shown to be so at this δ


@dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """The upper curve on the grid of ε, (m,), that a certified band is held against.

    name : in a sentence. claimant : as in `Headline`. family : of a claim with a parameter.
    """

    name: str
    delta: Array
    claimant: str
    family: Family | None = None

    @classmethod
    def of(cls, claim: Claim | None, epsilon: Array, exact: Array | None) -> Reference | None:
        """The claim's curve, else the exact one, (m,); None where there is neither."""
        if claim is not None:
            name = f"the claim of {claim.text}"
            claimant = CLAIMED if claim.family else f"The claim of {claim.text} allows"
            return cls(name, claim.delta_at(epsilon), claimant, claim.family)
        if exact is None:
            return None
        return cls("the exact spectrum", exact, "No claim. The exact spectrum has")


def headline(
    estimate: Estimate,
    settings: Settings,
    reference: Reference | None,
    who: str,
    rejected: bool | None = None,
) -> Headline:
    """Read a band against its reference.

    rejected : whether a sequential audit rejected the reference; None for other audits, in which
    the band decides.
    """
    symbol, delta, claimed, certified = _parameters(estimate, reference)
    exceeded = _exceeds(claimed, certified) if rejected is None else rejected
    if not exceeded and claimed is not None:
        certified = min(certified, claimed)
    at = _position(estimate, settings, reference)
    return Headline(
        symbol,
        delta,
        claimed,
        certified,
        exceeded,
        float(estimate.epsilon[at]),
        float(estimate.low[at]),
        None if reference is None else float(reference.delta[at]),
        settings.level,
        who,
        "" if reference is None else reference.claimant,
    )


def _parameters(
    estimate: Estimate, reference: Reference | None
) -> tuple[str, float | None, float | None, float]:
    """Symbol, δ, claimed and certified value."""
    band = estimate.certified
    if reference is None:
        return "ε", UNCLAIMED_DELTA, None, float(band.epsilon_at(UNCLAIMED_DELTA))
    family = reference.family
    if family is None:
        at = _nearest(estimate.low, reference.delta)
        delta = float(reference.delta[at])
        return "ε", delta, float(estimate.epsilon[at]), float(band.epsilon_at(delta))
    if family.symbol == "μ":
        least_mu = max(band.gdp_mu, band.least_mu(estimate.epsilon))
        return "μ", None, family.value, least_mu
    if family.symbol == "ρ":
        return "ρ", None, family.value, band.least_parameter(family.curve, estimate.epsilon)
    assert family.delta is not None
    return "ε", family.delta, family.value, band.least_epsilon(family.delta)


def _exceeds(claimed: float | None, certified: float) -> bool:
    """Whether a certified value is above the claimed one by more than rounding."""
    return claimed is not None and certified > claimed * (1.0 + RELATIVE) + ABSOLUTE


def _position(estimate: Estimate, settings: Settings, reference: Reference | None) -> int:
    """The claim's own ε on the grid, unless the excess shows elsewhere only."""
    if reference is None:
        return 0
    worst, own = _nearest(estimate.low, reference.delta), settings.claimed_epsilon
    if own is None:
        return worst
    at = int(np.argmin(np.abs(estimate.epsilon - own)))
    over = estimate.low > reference.delta
    return worst if over[worst] and not over[at] else at


def _nearest(low: Array, allowed: Array) -> int:
    """Where a bound exceeds what is allowed by most; else the largest ε where it is not 0, or the
    first where less than δ = 1 is allowed, the larger of the two.
    """
    excess = low - allowed
    if excess.max() > 0.0:
        return int(np.argmax(excess))
    return int(np.max(np.flatnonzero(low > 0.0), initial=int(np.argmax(allowed < 1.0))))
