"""What a padding w gives: exact δ of sketches and inverse Wishart draws, one row replaced."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpaudit import mechanisms
from dpaudit.exact import spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.testing import integers, reals
from reports.make.findings.statement import Searched

Padding = Callable[[float, int, float, float], float]
Leak = Callable[[int, float, float], float]
SWAP = NeighbourPair(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), "replace", 0)
LIMIT = 0.3678  # below 1/e
WORST = (
    "one row replaced, both databases with σ_min ≥ w; here AᵀA = w²I + vvᵀ, A′ᵀA′ = w²I + uuᵀ, "
    "v and u of norm B at a right angle: no such pair has larger or smaller relative eigenvalues"
)


def target(delta: float) -> float:
    """The δ that is promised."""
    return delta


def swapped(padding: Padding) -> Leak:
    """δ(ε) of a sketch of r rows of w·I below (B, 0), or below (0, B); B = 1.

    1 where w has no value.
    """

    def leak(rows: int, epsilon: float, delta: float) -> float:
        return of_size(padding(1.0, rows, epsilon, delta), rows, epsilon)

    return leak


def of_size(size: float, rows: int, epsilon: float) -> float:
    """The same at w = `size`."""
    if math.isnan(size):
        return 1.0
    noisy = mechanisms.RandomProjection(rows, padding=size)
    return float(spectrum(noisy, SWAP, epsilon).delta)


def drawn(padding: Padding) -> Callable[[int, float, float], float]:
    """The same of an inverse Wishart draw of ν degrees of freedom; 1 where w has no value."""

    def leak(dof: int, epsilon: float, delta: float) -> float:
        size = padding(1.0, dof, epsilon, delta)
        if math.isnan(size):
            return 1.0
        noisy = mechanisms.InverseWishartDraw(dof, size)
        return float(spectrum(noisy, SWAP, epsilon).delta)

    return leak


def promised_of_one(padding: Padding) -> Leak:
    """AᵀA = w²I alone keeps the promise: A′ᵀA′ = diag(w² − B², w² + B²), B = 1."""

    def leak(rows: int, epsilon: float, delta: float) -> float:
        square = padding(1.0, rows, epsilon, delta) ** 2
        if square <= 1.0:
            return 1.0  # a row of A may be all of it along an axis on which A′ is 0
        rest = [[math.sqrt(square - 1.0), 0.0], [0.0, math.sqrt(square)]]
        left, right = np.array([[1.0, 0.0], *rest]), np.array([[0.0, 1.0], *rest])
        pair = NeighbourPair(left, right, "replace", 0)
        return float(spectrum(mechanisms.RandomProjection(rows), pair, epsilon).delta)

    return leak


def of_rows(
    leak: Leak, limit: float = LIMIT, most: float = 400.0, at: Mapping[str, Any] | None = None
) -> Searched:
    """δ against `leak` for r > d = 2 rows, ε up to `most`, δ up to `limit`."""
    return Searched(
        printed=target,
        exact=leak,
        domain={"rows": integers(3, 10**7), **_budget(most, limit)},
        at=at,
    )


def of_dof(padding: Padding, most: float = 400.0, at: Mapping[str, Any] | None = None) -> Searched:
    """The same for draws of ν ≥ d = 2 degrees of freedom."""
    return Searched(
        printed=target,
        exact=drawn(padding),
        domain={"dof": integers(2, 10**7), **_budget(most, LIMIT)},
        tries=500,
        at=at,
    )


def _budget(most: float, limit: float) -> dict[str, Any]:
    return {"epsilon": reals(0.01, most), "delta": reals(1e-12, limit)}
