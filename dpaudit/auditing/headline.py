"""Reading a headline off an audit: what is claimed and certified, in the claim's own parameter.

An (ε, δ) claim is read as ε at its own δ, Gaussian DP as μ, concentrated DP as ρ. A claim that is
given by a curve, and an exact spectrum, have no parameter: they are read as ε at the δ that they
allow at one ε, that where the certified bound exceeds them most, or else the largest where the
bound is above 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.auditing.settings import Settings
from dpaudit.certify.estimate import Estimate
from dpaudit.curves.claims import Claim, Family, exceeds
from dpaudit.report.headline import CLAIMED, Headline

UNCLAIMED_DELTA = 1e-5  # δ at which ε is read where nothing is claimed


@dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """The upper curve on the grid of ε, (m,), that a certified band is held against.

    name : in a sentence. claimant : as in `Headline`. family : of a claim with a parameter.
    renyi : a claimed bound of the Rényi divergence at orders (k,), and those orders first.
    origin : of a parameter, as in `Headline`.
    """

    name: str
    delta: Array
    claimant: str
    family: Family | None = None
    renyi: tuple[Array, Array] | None = None
    origin: str = ""

    @classmethod
    def of(cls, claim: Claim | None, epsilon: Array, exact: Array | None) -> Reference | None:
        """The claim's curve, else the exact one, (m,); None where there is neither."""
        if claim is not None:
            name = f"the claim of {claim.text}"
            claimant = CLAIMED if claim.family else f"The claim of {claim.text} allows"
            renyi = None if claim.renyi is None else claim.renyi.at_orders()
            origin = claim.origin if claim.family else ""  # else in the name
            delta = claim.delta_at(epsilon)
            return cls(name, delta, claimant, claim.family, renyi, origin)
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
    exceeded = rejected
    if exceeded is None:
        exceeded = _exceeds(claimed, certified) or renyi_excess(estimate, reference) is not None
    if not exceeded and claimed is not None:
        certified = min(certified, claimed)
    elif rejected and claimed is not None and reference is not None and reference.family:
        certified = max(certified, claimed)  # (ε, δ)-DP implies (ε', δ)-DP for ε' > ε; so μ and ρ
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
        "" if reference is None else reference.origin,
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
        by_delta = band.least_parameter(family.curve, estimate.epsilon)
        return "ρ", None, family.value, max(by_delta, band.least_rho(family.omega))
    assert family.delta is not None
    return "ε", family.delta, family.value, band.least_epsilon(family.delta)


def renyi_excess(
    estimate: Estimate, reference: Reference | None
) -> tuple[float, float, float] | None:
    """The order at which the certified Rényi divergence exceeds the claimed one by the largest
    factor, with the certified and the claimed divergence, nats; None where none does.
    """
    if reference is None or reference.renyi is None:
        return None
    orders, allowed = reference.renyi
    certified = estimate.certified.renyi(orders)
    over = np.flatnonzero(exceeds(certified, allowed))
    if len(over) == 0:
        return None
    with np.errstate(divide="ignore"):
        at = over[np.argmax(certified[over] / allowed[over])]
    return float(orders[at]), float(certified[at]), float(allowed[at])


def _exceeds(claimed: float | None, certified: float) -> bool:
    """Whether a certified value is above the claimed one by more than rounding."""
    return claimed is not None and bool(exceeds(certified, claimed))


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
