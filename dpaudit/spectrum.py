"""The one noun that both sides share: a privacy spectrum δ(ε), exact or estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from dpaudit._check import Array


class Curve(Protocol):
    """An exact spectrum at any ε, and what no grid of ε holds. Pairs are (forward, backward)."""

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        """δ at each ε ≥ 0, shape (m,) or scalar."""
        ...

    def renyi(self, order: float) -> tuple[float, float]:
        """Rényi divergence of an order > 0, nats; infinite where the moment is. Raises `NoExactSpectrum`."""
        ...

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest privacy loss: δ(ε) = 0 from there on; infinite if the loss is unbounded."""
        ...


@dataclass(frozen=True, eq=False)
class Spectrum:
    """δ(ε) of an ordered or unordered pair, or of a mechanism on a database.

    Attributes
    ----------
    epsilon : float64, scalar or shape (m,); nats.
    delta : same shape; the larger of the two directions, in [0, 1]. A point estimate when `low` is set.
    forward, backward : same shape or None; full → zeroed (left against right) and the reverse.
    low : same shape or None; certified lower bound, simultaneous over ε and both directions at `level`.
    level : confidence of `low`, or None for an analytic spectrum.
    index : integer array of the same shape or None; the row that attains `delta` (worst case over a database).
    law : what the numbers come from, in a few words.
    asymptotic : same shape or None; the large-`rows` Gaussian approximation beside an exact curve.
    curve : the exact curve itself, at any ε; None for an estimate.
    """

    epsilon: Array
    delta: Array
    forward: Array | None = None
    backward: Array | None = None
    low: Array | None = None
    level: float | None = None
    index: np.ndarray | None = None
    law: str = ""
    asymptotic: Array | None = None
    curve: Curve | None = None

    @classmethod
    def of_directions(cls, epsilon: Array, forward: Array, backward: Array, law: str = "") -> Spectrum:
        """The spectrum of a pair from its two directions."""
        return cls(epsilon, np.maximum(forward, backward), forward, backward, law=law)

    def replace(self, **changes: Any) -> Spectrum:
        """A copy with some fields changed."""
        return replace(self, **changes)
