"""What printed lines of several papers are held against: exact δ of a sketch and of a claim."""

from __future__ import annotations

from typing import Any

from dpaudit.exact import gaussian_sketch, spectrum
from dpaudit.neighbours import NeighbourPair
from reports.make.findings.evidence import Evidence, claimed


def sketch(leverage: float, rows: int, epsilon: float) -> float:
    """δ(ε) of a Gaussian sketch of `rows` rows when a row of leverage q is zeroed.

    It is the larger direction.
    """
    return float(max(gaussian_sketch(leverage, rows, epsilon)))


def exact_claim(mechanism: Any, epsilon: float, pair: NeighbourPair | None = None) -> Evidence:
    """What a mechanism claims at ε against the exact δ on a pair, its own if none is named."""
    exact = spectrum(mechanism, mechanism.pair() if pair is None else pair, epsilon)
    return claimed(float(mechanism.claim.delta_at(epsilon)), float(exact.delta))


def gaussian_mu(mechanism: Any) -> float:
    """μ of the Gaussian shift between both sides of the mechanism's own pair."""
    pair = mechanism.pair()
    family = mechanism.replaced_rows(pair.left, pair.right[pair.index][None])
    return float(family.mu[pair.index])
