"""Gaussian mixing with noise calibrated by lemma 1: paper 3, section 4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array
from dpaudit.mechanisms.sketching import RELEASES, RandomProjection
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.algorithm import KnownAddedRow, KnownReplacedRows
from dpaudit.papers.data import within
from dpaudit.papers.paper_3.extreme_pairs import axis_pair
from dpaudit.papers.paper_3.noisy_sketch import NoisySketch, released
from dpaudit.papers.paper_3.printed_calibration import gaussmix_gamma


@dataclass(frozen=True)
class CalibratedGaussMix(KnownReplacedRows, KnownAddedRow):
    """GaussMix: SD + σξ with the least σ that lemma 1 and proposition 1 allow (paper 3, section 4).

    σ² = C²γ(k, ε, δ) − λ̄. Output: (size, d(d+1)/2) or (size, k·d).

    Parameters
    ----------
    rows : int ≥ 1
        k, number of mixtures.
    epsilon : float > 0, nats
        ε of the budget.
    delta : float in (0, 1)
        δ of the budget.
    row_bound : float > 0, default 1
        C, a public bound on the row norms.
    scale_bound : float ≥ 0, default 0
        λ̄, a promise that λ_min(DᵀD) ≥ λ̄, which is not checked; 0 promises nothing.
    release : {"gram", "sketch"}, default "gram"
        "gram", the upper triangle of the sketch's Gram matrix, or "sketch".
    sampler : {"sufficient", "literal"}, default "sufficient"
        How it is drawn.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    DegenerateData
        In a call, when the data leave the law undefined.
    """

    rows: int
    epsilon: float
    delta: float
    row_bound: float = 1.0
    scale_bound: float = 0.0
    release: str = "gram"
    sampler: str = "sufficient"
    paper: ClassVar[int] = 3
    statement: ClassVar[str] = "GaussMix, lemma 1"
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "zero-out"
    summary: ClassVar[str] = "Gaussian mixing with noise by its Rényi curve (paper 3, lemma 1)"

    def __post_init__(self) -> None:
        self.check_budget()
        check.integer("rows", self.rows, 1)
        check.real("scale_bound", self.scale_bound, 0.0)
        check.choice("release", self.release, RELEASES)

    @property
    def sigma(self) -> float:
        """σ ≥ 0."""
        gamma = gaussmix_gamma(self.rows, self.epsilon, self.delta)
        return math.sqrt(max(self.row_bound**2 * gamma - self.scale_bound, 0.0))

    def known(self, data: Array) -> RandomProjection:
        """k rows N(0, DᵀD + σ²I), or their Gram matrix."""
        within(data, self.row_bound)
        return RandomProjection(self.rows, self.release, self.sigma)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Sketches, or the upper triangles of their Gram matrices."""
        law = self.law(data)
        if self.sampler == "sufficient":
            return law.sample(size, rng)
        sigma = self.sigma
        sketch = NoisySketch(data, self.rows, lambda count, _: np.full(count, sigma))
        return released(sketch.literal(size, rng), self.release)

    def pair(self) -> NeighbourPair:
        """λ_min(DᵀD) = max(C², λ̄), and the zeroed row lies on the axis of λ_min."""
        return axis_pair(self.row_bound, max(1.0, self.scale_bound / self.row_bound**2))
