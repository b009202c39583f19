"""Claims of one parameter: which it is, and its curve at other values of the parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.gaussian_shift import gaussian_shift
from dpaudit.curves.renyi import Linear, RenyiCurve, gaussian_mixing


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
        return Shift(value) if self.symbol == "μ" else concentrated(value, self.omega)


@dataclass(frozen=True)
class Shift:
    """δ(ε) of N(0, 1) against N(μ, 1)."""

    mu: float

    def __call__(self, epsilon: Array) -> Array:
        return gaussian_shift(self.mu, epsilon)


@dataclass(frozen=True)
class Mixing:
    """The Rényi curve of Gaussian mixing."""

    rows: int
    gamma: float

    def __call__(self, order: Array) -> Array:
        return gaussian_mixing(order, self.rows, self.gamma)


def concentrated(rho: float, omega: float) -> Callable[[Array], Array]:
    """δ(ε) of R(α) = ρα on 1 < α < ω."""
    # divergence 0 at one order > 1: both laws are the same
    return Shift(0.0) if rho == 0.0 else RenyiCurve(Linear(rho), omega)
