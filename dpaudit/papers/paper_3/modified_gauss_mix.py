"""Gaussian mixing that saves noise by a private λ_min: paper 3, algorithm 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.claims import Claim
from dpaudit.curves.readings import epsilon_at
from dpaudit.curves.spectrum import Curve, Spectrum
from dpaudit.exact import gaussian_shift
from dpaudit.exact.adaptive import FirstRelease, adaptive_curve
from dpaudit.mechanisms.sketching import RELEASES
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.data import smallest_eigenvalue, within
from dpaudit.papers.joint_spectrum import JointSpectrumAlgorithm, zeroed_index
from dpaudit.papers.paper_3.extreme_pairs import axis_pair
from dpaudit.papers.paper_3.noisy_sketch import NoisySketch, released
from dpaudit.papers.paper_3.printed_calibration import theorem_1_epsilon
from dpaudit.papers.paper_3.zeroed_row import ReleasedRow


@dataclass(frozen=True)
class ModifiedGaussMix(JointSpectrumAlgorithm):
    """SD + wξ, w² being γC² less a private lower bound of λ_min(DᵀD) (paper 3, algorithm 1).

    Output: (size, d(d+1)/2) or (size, k·d); λ̃ itself is not part of it.

    Parameters
    ----------
    rows : int ≥ 1
        Rows of the sketch, k.
    gamma : float > 5/2
        γ, the least λ_min/C² aimed at.
    delta : float in (0, 1)
        δ; τ = √(2 ln(3/δ)) as in theorem 1.
    eta : float > 0, optional
        η, the noise on λ_min in units of C²; None for γ/√k.
    row_bound : float > 0, default 1
        C, a public bound on the row norms.
    release : {"gram", "sketch"}, default "gram"
        The upper triangle of the sketch's Gram matrix, or the sketch.
    variant : {"printed", "corrected"}, default "printed"
        "corrected": line 6 in units of C² (class A of the findings), √γ·C for γ·C in line 3 (where
        too much is added), and a claim that holds at small η too (class B).
    sampler : {"sufficient", "literal"}, default "sufficient"
        How it is drawn.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    """

    rows: int
    gamma: float
    delta: float
    eta: float | None = None
    row_bound: float = 1.0
    release: str = "gram"
    variant: str = "printed"
    sampler: str = "sufficient"
    paper: ClassVar[int] = 3
    statement: ClassVar[str] = "algorithm 1, ModifiedGaussMix"
    claimed: ClassVar[str] = "(ε̃(η, γ, k, δ), δ)-DP"
    relation: ClassVar[str] = "zero-out"
    summary: ClassVar[str] = (
        "Gaussian mixing that adds less noise where λ_min is large (paper 3, algorithm 1)"
    )
    unknown: ClassVar[str] = (
        "its noise depends on a private λ_min that is not released (`joint_spectrum` bounds it)"
    )
    correction: ClassVar[str] = (
        "λ̃/C² for λ̃ in line 6, √γ·C for γ·C in line 3; "
        "in theorem 1 the exact ε of λ̃ where √(2 ln(3.75/δ))/η is less"
    )

    def __post_init__(self) -> None:
        self.check_variant()
        check.integer("rows", self.rows, 1)
        check.real("gamma", self.gamma, 2.5, open_=True)
        check.real("delta", self.delta, 0.0, 1.0, open_=True)
        check.real("row_bound", self.row_bound, 0.0, open_=True)
        check.choice("release", self.release, RELEASES)
        if self.eta is not None:
            check.real("eta", self.eta, 0.0, open_=True)

    @property
    def tau(self) -> float:
        """τ = √(2 ln(3/δ))."""
        return math.sqrt(2.0 * math.log(3.0 / self.delta))

    @property
    def spread(self) -> float:
        """η, given or γ/√k."""
        return self.gamma / math.sqrt(self.rows) if self.eta is None else self.eta

    @property
    def claim(self) -> Claim:
        """Theorem 1; corrected, with the `shortfall` of its first term added."""
        epsilon = theorem_1_epsilon(self.rows, self.gamma, self.delta, self.spread)
        return Claim(epsilon + (self.shortfall if self.variant == "corrected" else 0.0), self.delta)

    @property
    def shortfall(self) -> float:
        """How far the textbook √(2 ln(3.75/δ))/η is below the exact ε of λ̃ at δ/3, nats.

        It is 0 where the textbook's is not below, as for every η above about ½.
        """
        mu, share = 1.0 / self.spread, self.delta / 3.0
        textbook = math.sqrt(2.0 * math.log(3.75 / self.delta)) / self.spread
        if gaussian_shift(mu, textbook) <= share:
            return 0.0
        return float(epsilon_at(lambda epsilon: gaussian_shift(mu, epsilon), share)) - textbook

    @property
    def reads_eigenvalue(self) -> bool:
        """Whether line 4's branch runs; public, since γ and τ are."""
        return self.gamma > self.tau

    def noise_at(self, estimate: ArrayLike) -> Array:
        """w for λ_min − ηC²(τ − z), (m,), which is not yet clipped at 0 (lines 5 and 6)."""
        square = self.row_bound**2
        lower = np.maximum(estimate, 0.0) / (square if self.variant == "corrected" else 1.0)
        return np.asarray(self.row_bound * np.sqrt(np.maximum(self.gamma - lower, 0.0)))

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        """w of each draw, (size,), for data with λ_min = `eigenvalue`."""
        if not self.reads_eigenvalue:
            factor = math.sqrt(self.gamma) if self.variant == "corrected" else self.gamma
            return np.full(size, factor * self.row_bound)
        z = rng.standard_normal(size)
        return self.noise_at(eigenvalue - self.spread * self.row_bound**2 * (self.tau - z))

    def sketch_of(self, data: Array) -> NoisySketch:
        """The sketches of lines 2 to 7. Raises `InvalidInput` for a row beyond the bound."""
        eigenvalue = smallest_eigenvalue(within(data, self.row_bound))
        return NoisySketch(data, self.rows, lambda count, rng: self.noise(eigenvalue, count, rng))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Sketches, or the upper triangles of their Gram matrices."""
        sketch = self.sketch_of(data)
        if self.sampler == "literal":
            return released(sketch.literal(size, rng), self.release)
        return sketch.gram(size, rng) if self.release == "gram" else sketch.sketch(size, rng)

    def joint_spectrum(self, pair: NeighbourPair, epsilon: ArrayLike) -> Spectrum:
        """Exact δ(ε) of λ̃ and the sketch together, for a zeroed row."""
        row = ReleasedRow.of(pair.left, zeroed_index(pair), self.rows)
        return self.joint_of(pair, row.loss, epsilon)

    def joint_of(
        self, pair: NeighbourPair, curve_at: Callable[[float], Curve], epsilon: ArrayLike
    ) -> Spectrum:
        """The spectrum of λ̃ together with a release that has the curve `curve_at(w)` at noise w."""
        left, right = (
            smallest_eigenvalue(within(side, self.row_bound)) for side in (pair.left, pair.right)
        )
        if self.reads_eigenvalue:
            curve, law = self._joint(left, right, curve_at), "λ̃ and a sketch with noise by λ̃"
        else:
            noise = float(self.noise(left, 1, np.random.default_rng(0))[0])
            curve, law = curve_at(noise), "fixed noise"
        epsilon = check.epsilon(epsilon)
        return Spectrum.of_directions(epsilon, *curve.delta(epsilon), law).replace(curve=curve)

    def _joint(self, left: float, right: float, curve_at: Callable[[float], Curve]) -> Curve:
        square = self.row_bound**2
        shift = self.spread * square * self.tau
        first = FirstRelease.gaussian(left - shift, right - shift, self.spread * square)
        known: dict[float, Curve] = {}

        def curve(estimate: float) -> Curve:
            noise = float(self.noise_at(estimate))
            if noise not in known:
                known[noise] = curve_at(noise)
            return known[noise]

        highest = self.gamma * (square if self.variant == "corrected" else 1.0)
        return adaptive_curve(first, curve, breaks=(0.0, highest))

    @property
    def worst_eigenvalue(self) -> float:
        """λ_min/C² of `pair`: 1, or where the printed line 6 almost never adds noise.

        At 1 the noise alone protects the row. `free` is the λ_min/C² at which the printed line 6
        adds noise in one of 30,000 draws; it is taken where it is less than 1 + γ.
        """
        free = self.gamma / self.row_bound**2 + self.spread * (self.tau + 4.0) + 1.0
        bare = self.variant == "printed" and self.reads_eigenvalue and free < 1.0 + self.gamma
        return free if bare else 1.0

    def pair(self) -> NeighbourPair:
        """The row on the axis of λ_min is zeroed."""
        return axis_pair(self.row_bound, self.worst_eigenvalue)
