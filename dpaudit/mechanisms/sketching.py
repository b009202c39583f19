"""Releases of the sketch itself: random projection and its one-row case, the random linear combination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit import _check
from dpaudit._check import Array
from dpaudit._linalg import factorise
from dpaudit.laws import GaussianRows, SketchRows
from dpaudit.mechanisms.base import LawMechanism


@dataclass(frozen=True)
class RandomProjection(LawMechanism):
    """Random projection: r rows ΠD, Π standard normal (paper 1, lemma 5).

    Parameters
    ----------
    rows : r ≥ 1.
    release : "sketch", the (r, d) matrix itself, flattened; or "gram", the upper triangle of (ΠD)ᵀΠD, which is
        sufficient for the law (so the spectrum is the same) and much smaller when r is large.

    Output: (size, r·d) or (size, d(d+1)/2). Raises `InvalidInput`, `DegenerateData`.
    """

    rows: int
    release: str = "sketch"
    summary: ClassVar[str] = "random projection, the Gaussian sketch itself (paper 1, lemma 5)"

    def __post_init__(self) -> None:
        _check.integer("rows", self.rows, 1)
        _check.choice("release", self.release, ("sketch", "gram"))

    def law(self, data: Array) -> GaussianRows:
        return GaussianRows(factorise(data).root, self.rows, self.release)

    def zeroed_rows(self, data: Array) -> SketchRows:
        return SketchRows(factorise(data).leverage, self.rows)


@dataclass(frozen=True)
class RandomLinearCombination(LawMechanism):
    """Random linear combination of the rows, Dᵀg with g standard normal (paper 1, lemma 4). Output: (size, d)."""

    summary: ClassVar[str] = "one random linear combination of the rows (paper 1, lemma 4)"

    def law(self, data: Array) -> GaussianRows:
        return GaussianRows(factorise(data).root, 1)

    def zeroed_rows(self, data: Array) -> SketchRows:
        return SketchRows(factorise(data).leverage, 1)
