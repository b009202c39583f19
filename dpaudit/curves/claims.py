"""Privacy claims as upper curves: the δ(ε) that a mechanism may have if the claim is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, cast

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves import joint_range, readings
from dpaudit.curves.gaussian_shift import gaussian_shift
from dpaudit.curves.renyi import Linear, RenyiCurve, RenyiOrders, gaussian_mixing
from dpaudit.errors import InvalidInput

RELATIVE, ABSOLUTE = 1e-9, 1e-12  # a value that is above a claim by less is rounding
LARGE, TINY = 0.5, 0.01  # a claimed δ of so much with an ε of less looks like (δ, ε)
MOST = 1000.0  # nats, an ε that somebody may have meant


@dataclass(frozen=True)
class Family:
    """The one-parameter family of a claim, which is weaker the larger its parameter is.

    symbol : "ε", "μ" or "ρ". value : of the parameter, nats of ε and ρ.
    delta : the δ of an (ε, δ) claim. omega : of a (truncated) concentrated claim.
    """

    symbol: str
    value: float
    delta: float | None = None
    omega: float = np.inf

    def curve(self, value: float) -> Callable[[Array], Array]:
        """δ(ε) of the member with another value of μ or ρ."""
        return _Shift(value) if self.symbol == "μ" else _concentrated(value, self.omega)


@dataclass(frozen=True)
class Claim:
    """The claim of (ε, δ)-differential privacy; δ = 0 is pure ε-DP.

    Parameters
    ----------
    epsilon : float ≥ 0, nats.
    delta : float in [0, 1].

    Other claims: `Claim.gdp(mu)`, `Claim.zcdp(rho)`, `Claim.tcdp(rho, omega)`, `Claim.rdp(...)`,
    `Claim.gaussmix(rows, gamma)`, `Claim.from_function(delta_of_epsilon)`. Raises `InvalidInput`.

    >>> import dpaudit as dp
    >>> dp.Claim(1.0, 1e-5).text, dp.Claim.gdp(1.0).text
    ('(1, 1e-05)-DP', '1-GDP')
    >>> round(float(dp.Claim.zcdp(0.5).delta_at(2.0)), 6)
    0.051858
    >>> dp.Claim(-1.0)
    Traceback (most recent call last):
        ...
    dpaudit.errors.InvalidInput: claim epsilon must be a finite number in [0, inf], got -1.0
    """

    epsilon: float | None
    delta: float = 0.0
    text: str = ""
    curve: Callable[[Array], Array] | None = None
    family: Family | None = field(default=None, repr=False)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if self.curve is not None:
            return
        if self.epsilon is None:
            fail("epsilon", self.epsilon, "a finite number >= 0 (nats)")
        object.__setattr__(self, "epsilon", check.real("claim epsilon", self.epsilon, 0.0))
        object.__setattr__(self, "delta", _claimed_delta(self.epsilon, self.delta))
        object.__setattr__(self, "text", f"({self.epsilon:g}, {self.delta:g})-DP")
        object.__setattr__(self, "family", Family("ε", self.epsilon, delta=self.delta))

    @classmethod
    def gdp(cls, mu: float) -> Claim:
        """μ-Gaussian DP, μ ≥ 0: δ(ε) of N(0, 1) against N(μ, 1).

        Source: Dong, Roth & Su 2022, corollary 1.
        """
        mu = check.real("mu", mu, 0.0)
        return cls(None, 0.0, f"{mu:g}-GDP", _Shift(mu), Family("μ", mu))

    @classmethod
    def zcdp(cls, rho: float) -> Claim:
        """ρ-zero-concentrated DP, R(α) = ρα for all α > 1 (Bun & Steinke 2016); ρ ≥ 0, nats."""
        rho = check.real("rho", rho, 0.0)
        curve = _concentrated(rho, np.inf)
        return cls(None, 0.0, f"{rho:g}-zCDP", curve, Family("ρ", rho))

    @classmethod
    def tcdp(cls, rho: float, omega: float) -> Claim:
        """(ρ, ω)-truncated concentrated DP: R(α) = ρα for 1 < α < ω.

        Source: Bun et al. 2018; paper 3, definition 3. δ(ε) is that of `Claim.rdp`, less than that
        of paper 3's proposition 2 (`exact.printed.proposition_2`).
        """
        rho, omega = check.real("rho", rho, 0.0), check.real("omega", omega, 1.0)
        if omega == 1.0:
            fail("omega", omega, "a finite number > 1")
        curve = _concentrated(rho, omega)
        # (0, ω)-tCDP is 0-zCDP, and a larger ρ is read so
        family = Family("ρ", rho, omega=omega if rho > 0.0 else np.inf)
        return cls(None, 0.0, f"({rho:g}, {omega:g})-tCDP", curve, family)

    @classmethod
    def rdp(
        cls,
        curve: Callable[[Array], Array] | ArrayLike,
        values: ArrayLike | None = None,
        *,
        end: float = np.inf,
        text: str = "",
    ) -> Claim:
        """Rényi DP: a bound of the divergence at many orders, and the least δ(ε) that one implies.

        It is the largest δ of two laws that keep the bounds in both directions
        (`dpaudit.curves.joint_range`, `dpaudit.curves.two_orders`).

        curve : a vectorised function order ↦ nats on (1, end); or the orders themselves, > 1, with
            `values` at them.
        end : > 1; the function is called at orders below `end` only. text : the claim's name.

        Where the function is not a Rényi curve ((α − 1)R is not convex), δ is still an upper bound,
        but may not be the least one.
        """
        if values is not None:
            bound = RenyiOrders.of(cast(ArrayLike, curve), values)
            return cls(None, 0.0, text or f"RDP at {len(bound.orders)} orders", bound)
        if not callable(curve):
            fail("curve", curve, "a function of the order, or a sequence of orders with values")
        if isinstance(end, bool) or not isinstance(end, (int, float)) or not end > 1.0:
            fail("end", end, "a number > 1, possibly infinite")
        return cls(None, 0.0, text or f"RDP on orders (1, {end:g})", RenyiCurve(curve, float(end)))

    @classmethod
    def gaussmix(cls, rows: int, gamma: float) -> Claim:
        """Gaussian mixing with k = `rows` ≥ 1 and γ = (σ² + λ_min)/C² > 1.

        Its Rényi curve is φ of paper 3, lemma 1.
        """
        rows, gamma = check.integer("rows", rows, 1), check.real("gamma", gamma, 1.0, np.inf)
        if gamma == 1.0:
            fail("gamma", gamma, "a finite number > 1")
        return cls.rdp(
            _Mixing(rows, gamma), end=gamma, text=f"GaussMix RDP (k = {rows}, γ = {gamma:g})"
        )

    @classmethod
    def from_function(
        cls, delta_of_epsilon: Callable[[Any], Any], text: str = "user's curve"
    ) -> Claim:
        """A claim given as a function ε ↦ δ (scalar or vectorised)."""
        if not callable(delta_of_epsilon):
            fail("delta_of_epsilon", delta_of_epsilon, "a function of epsilon")
        return cls(None, 0.0, text, np.vectorize(delta_of_epsilon, otypes=[float]))

    def delta_at(self, epsilon: ArrayLike) -> Array:
        """The largest δ that the claim allows at each ε (same shape).

        Below its own ε an (ε₀, δ₀) claim still binds: its dominating pair is randomised response at
        ε₀ with probability 1 − δ₀ and a full leak otherwise, so δ(ε) ≤ δ₀ + (1 − δ₀)(e^{ε₀} −
        e^ε)/(1 + e^{ε₀}) (Kairouz, Oh & Viswanath 2015, theorem 3.3).
        """
        epsilon = check.epsilon(epsilon)
        if self.curve is not None:
            return self._checked(epsilon)
        assert self.epsilon is not None
        return joint_range.below_turn(epsilon, self.epsilon, self.delta)

    @property
    def renyi(self) -> RenyiCurve | RenyiOrders | None:
        """The bound of the Rényi divergence that is claimed; None where δ(ε) itself is claimed."""
        return self.curve if isinstance(self.curve, RenyiCurve | RenyiOrders) else None

    def epsilon_at(self, delta: ArrayLike) -> Array:
        """The smallest ε ≥ 0, nats, with δ(ε) ≤ delta; scalar or (m,) in [0, 1], and that shape.

        Infinite where the claim never falls to delta; for delta = 0 it is the pure ε.
        """
        if self.curve is None:
            assert self.epsilon is not None
            return readings.epsilon_at(
                self.delta_at, delta, self.epsilon if self.delta == 0.0 else np.inf
            )
        return readings.epsilon_at(self._checked, delta, self._supremum)

    @property
    def _supremum(self) -> float | None:
        """The ε from which on δ = 0; None, for a user's function, to search for it by the values.

        The values of the other curves underflow to 0 where the true δ is still above 0.
        """
        if isinstance(self.curve, np.vectorize):
            return None
        return 0.0 if self._checked(np.array(0.0)) == 0.0 else np.inf

    def _checked(self, epsilon: Array) -> Array:
        """δ of the curve at each ε; an error of a user's function becomes `InvalidInput`."""
        assert self.curve is not None
        try:
            delta = np.asarray(self.curve(epsilon), dtype=np.float64)
        except InvalidInput:
            raise
        except Exception as error:
            fail(
                "claim",
                f"{type(error).__name__}: {error}",
                "a function of epsilon that does not raise",
            )
        if not np.all((delta >= 0) & (delta <= 1)):
            fail("claim", delta[~((delta >= 0) & (delta <= 1))][0], "a curve with values in [0, 1]")
        return delta


@dataclass(frozen=True)
class _Shift:
    mu: float

    def __call__(self, epsilon: Array) -> Array:
        return gaussian_shift(self.mu, epsilon)


@dataclass(frozen=True)
class _Mixing:
    rows: int
    gamma: float

    def __call__(self, order: Array) -> Array:
        return gaussian_mixing(order, self.rows, self.gamma)


def _concentrated(rho: float, omega: float) -> Callable[[Array], Array]:
    # divergence 0 at one order > 1: both laws are the same
    return _Shift(0.0) if rho == 0.0 else RenyiCurve(Linear(rho), omega)


def refuse_unbreakable(claim: Claim, epsilon: Array) -> None:
    """Raise `InvalidInput` where a claim allows δ = 1 at each ε (m,) at which it is judged."""
    if np.any(claim.delta_at(epsilon) < 1.0):
        return
    got = f"{claim.text}, which allows δ = 1 and so any mechanism"
    if claim.epsilon is None:
        got += f" at every ε of this audit, {epsilon[0]:g} to {epsilon[-1]:g}"
    elif _swapped(claim.epsilon, claim.delta):
        got += f". ε and δ look swapped: did you mean ({claim.delta:g}, {claim.epsilon:g})?"
    message = f"claim must be one that a mechanism can break, got {got}"
    raise InvalidInput(message, argument="claim")


def doubtful(claim: Claim | None) -> str | None:
    """A sentence on a claim of a large δ and a tiny ε, which may have been meant as (δ, ε)."""
    if claim is None or claim.epsilon is None or claim.delta < LARGE or claim.epsilon >= TINY:
        return None
    return (
        f"δ = {claim.delta:g} allows a mechanism to publish its data in that share of its runs; "
        f"ε comes first in the claim ({claim.epsilon:g}, {claim.delta:g})."
    )


def _claimed_delta(epsilon: float, delta: Any) -> float:
    """δ in [0, 1]. Raises `InvalidInput`, with a hint where ε and δ look swapped."""
    try:
        return check.real("claim delta", delta, 0.0, 1.0)
    except InvalidInput as error:
        if not _swapped(epsilon, delta):
            raise
        hint = f"ε comes first: did you mean ({float(delta):g}, {epsilon:g})?"
        raise InvalidInput(f"{error}; {hint}", argument="claim delta") from None


def _swapped(epsilon: float, delta: Any) -> bool:
    """Whether (δ, ε) is a claim that a mechanism can break, and (ε, δ) is none."""
    number = isinstance(delta, Real) and not isinstance(delta, bool)
    return number and epsilon < 1.0 <= delta <= MOST


ClaimLike = Claim | tuple[float, float] | list[float] | None


def exceeds(found: Array | float, allowed: Array | float) -> np.ndarray:
    """Where an exact or a certified value is above what a claim allows by more than rounding; in
    the shape of both.
    """
    return np.asarray(found > allowed * (1.0 + RELATIVE) + ABSOLUTE)


def as_claim(claim: ClaimLike) -> Claim | None:
    """None, a `Claim`, or an (ε, δ) pair."""
    if claim is None or isinstance(claim, Claim):
        return claim
    if not isinstance(claim, (tuple, list)) or len(claim) != 2:
        fail("claim", claim, "a dpaudit.Claim, an (epsilon, delta) pair or None")
    return Claim(claim[0], claim[1])
