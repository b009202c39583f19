"""Privacy claims as upper curves: what δ(ε) a mechanism may have at every ε if the claim is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import _check
from dpaudit._check import Array, fail


@dataclass(frozen=True)
class Claim:
    """The claim of (ε, δ)-differential privacy; δ = 0 is pure ε-DP.

    Parameters
    ----------
    epsilon : float ≥ 0, nats.
    delta : float in [0, 1].

    Other claims: `Claim.gdp(mu)`, `Claim.from_function(delta_of_epsilon)`. Raises `InvalidInput`.
    """

    epsilon: float | None
    delta: float = 0.0
    text: str = ""
    curve: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        if self.curve is not None:
            return
        if self.epsilon is None:
            fail("epsilon", self.epsilon, "a finite number >= 0 (nats)")
        object.__setattr__(self, "epsilon", _check.real("claim epsilon", self.epsilon, 0.0))
        object.__setattr__(self, "delta", _check.real("claim delta", self.delta, 0.0, 1.0))
        object.__setattr__(self, "text", f"({self.epsilon:g}, {self.delta:g})-DP")

    @classmethod
    def gdp(cls, mu: float) -> Claim:
        """μ-Gaussian differential privacy: δ(ε) of N(0, 1) against N(μ, 1) (Dong, Roth & Su, corollary 1)."""
        from dpaudit.exact import gaussian_shift

        mu = _check.real("mu", mu, 0.0)
        return cls(None, 0.0, f"{mu:g}-GDP", lambda epsilon: gaussian_shift(mu, epsilon))

    @classmethod
    def from_function(cls, delta_of_epsilon: Callable[[Any], Any], text: str = "user's curve") -> Claim:
        """A claim given as a function ε ↦ δ (scalar or vectorised)."""
        if not callable(delta_of_epsilon):
            fail("delta_of_epsilon", delta_of_epsilon, "a function of epsilon")
        return cls(None, 0.0, text, np.vectorize(delta_of_epsilon, otypes=[float]))

    def delta_at(self, epsilon: Any) -> Array:
        """The largest δ that the claim allows at each ε (same shape).

        Below its own ε an (ε₀, δ₀) claim still binds: its dominating pair is randomised response at ε₀ with
        probability 1 − δ₀ and a full leak otherwise, so δ(ε) ≤ δ₀ + (1 − δ₀)(e^{ε₀} − e^ε)/(1 + e^{ε₀})
        (Kairouz, Oh & Viswanath 2015, theorem 3.3).
        """
        epsilon = _check.epsilon(epsilon)
        if self.curve is not None:
            return self._checked(epsilon)
        assert self.epsilon is not None
        gap = np.maximum(self.epsilon - epsilon, 0.0)
        response = -np.expm1(-gap) / (1.0 + np.exp(-self.epsilon))
        return np.asarray(self.delta + (1.0 - self.delta) * response)

    def _checked(self, epsilon: Array) -> Array:
        assert self.curve is not None
        try:
            delta = np.asarray(self.curve(epsilon), dtype=np.float64)
        except Exception as error:
            fail("claim", f"{type(error).__name__}: {error}", "a function of epsilon that does not raise")
        if not np.all((delta >= 0) & (delta <= 1)):
            fail("claim", delta[~((delta >= 0) & (delta <= 1))][0], "a curve with values in [0, 1]")
        return delta


def as_claim(claim: Any) -> Claim | None:
    """None, a `Claim`, or an (ε, δ) pair."""
    if claim is None or isinstance(claim, Claim):
        return claim
    if not isinstance(claim, (tuple, list)) or len(claim) != 2:
        fail("claim", claim, "a dpaudit.Claim, an (epsilon, delta) pair or None")
    return Claim(claim[0], claim[1])
