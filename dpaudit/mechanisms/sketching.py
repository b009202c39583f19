"""Releases of a Gaussian sketch: random projection, GaussMix, one random linear combination."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit._core.types import Adjustable, Array
from dpaudit.laws import GaussianRows
from dpaudit.mechanisms.parameters import Count, NonNegative, Positive, Release
from dpaudit.mechanisms.scatter import ScatterDraw


class SketchRelease(ScatterDraw):
    """The release of a Gaussian sketch, or of its Gram matrix."""

    rows: int
    release: str

    @property
    def gaussian_rows(self) -> int:
        return self.rows

    def law(self, data: Array) -> GaussianRows:
        """Gaussian rows whose covariance is that of the sketch."""
        return GaussianRows(self.factor(data).root, self.rows, self.release)


@dataclass(frozen=True)
class RandomProjection(SketchRelease):
    """Random projection: the r rows of Π[D; w·I], Π standard normal.

    Output: (size, r·d) or (size, d(d+1)/2).

    Parameters
    ----------
    rows : int
        r ≥ 1.
    release : {"sketch", "gram"}, default "sketch"
        "sketch", the (r, d) matrix itself, flattened; or "gram", the upper triangle of (ΠD)ᵀΠD,
        which is sufficient for the law (so the spectrum is the same) and much smaller when r is
        large.
    padding : float ≥ 0, default 0
        The padding w. Paper 4 prints the Gram matrix divided by r, which has the same privacy.

    References
    ----------
    Paper 1, lemma 5 (w = 0); paper 4, algorithm 1.
    """

    rows: Count
    release: Release = "sketch"
    padding: NonNegative = 0.0
    summary = (
        "random projection, the Gaussian sketch itself (paper 1, lemma 5; paper 4, algorithm 1)"
    )
    adjustable = (Adjustable("padding", zero=True), Adjustable("rows", -1, whole=True))

    @property
    def ridge(self) -> float:
        return self.padding


@dataclass(frozen=True)
class GaussMix(SketchRelease):
    """Gaussian mixing, SD + σξ with S (k × n) and ξ (k × d) standard normal.

    A row is N(0, DᵀD + σ²I), as of a random projection with padding σ. Output: (size, k·d) or
    (size, d(d+1)/2).

    Parameters
    ----------
    rows : int
        k ≥ 1, number of mixtures.
    sigma : float > 0
        σ.
    release : {"sketch", "gram"}, default "sketch"
        The sketch itself or its Gram matrix, as for `RandomProjection`.

    References
    ----------
    Paper 3, equation of GaussMix.
    """

    rows: Count
    sigma: Positive
    release: Release = "sketch"
    summary = "Gaussian mixing, a sketch with Gaussian noise (paper 3)"
    adjustable = (Adjustable("sigma"), Adjustable("rows", -1, whole=True))

    @property
    def ridge(self) -> float:
        """σ, whose noise has the law of padding by σ."""
        return self.sigma


@dataclass(frozen=True)
class RandomLinearCombination(ScatterDraw):
    """Random linear combination of the rows, Dᵀg with g standard normal (paper 1, lemma 4).

    Output: (size, d).
    """

    summary = "one random linear combination of the rows (paper 1, lemma 4)"

    @property
    def gaussian_rows(self) -> int:
        return 1

    def law(self, data: Array) -> GaussianRows:
        return GaussianRows(self.factor(data).root, 1)
