"""Least squares on a noisy sketch: paper 3, algorithm 2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.spectrum import Spectrum
from dpaudit.mechanisms.least_squares import RPLS
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.algorithm import KnownAlgorithm
from dpaudit.papers.data import within_bounds
from dpaudit.papers.joint_spectrum import JointSpectrumAlgorithm, zeroed_index
from dpaudit.papers.paper_3.extreme_pairs import labelled_pair
from dpaudit.papers.paper_3.modified_gauss_mix import ModifiedGaussMix
from dpaudit.papers.paper_3.printed_calibration import linear_mixing_gamma
from dpaudit.papers.paper_3.zeroed_row import SolvedRow


@dataclass(frozen=True)
class LinearMixing(KnownAlgorithm, JointSpectrumAlgorithm):
    """θ = (X̃ᵀX̃)⁻¹X̃ᵀỸ of [X̃, Ỹ] = ModifiedGaussMix([X, Y]) (paper 3, algorithm 2).

    γ > 5/2 is the smallest with ε̃(γ/√k, γ, k, δ) ≤ ε. Output: (size, p).

    Parameters
    ----------
    rows : int
        k ≥ p, number of mixtures.
    epsilon : float > 0, nats
        ε of the budget.
    delta : float in (0, 1)
        δ of the budget.
    row_bound : float > 0, default 1
        C_X, a public bound on ‖x_i‖.
    label_bound : float > 0, default 1
        C_Y, a public bound on ``|y_i|``.
    variant : {"printed", "corrected"}, default "printed"
        As of `ModifiedGaussMix`.
    sampler : {"sufficient", "literal"}, default "sufficient"
        "sufficient" (Student t given the noise) or "literal".

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
    label_bound: float = 1.0
    variant: str = "printed"
    sampler: str = "sufficient"
    regression: ClassVar[bool] = True
    paper: ClassVar[int] = 3
    statement: ClassVar[str] = "algorithm 2, LinearMixing"
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "zero-out"
    summary: ClassVar[str] = "least squares on a noisy Gaussian sketch (paper 3, algorithm 2)"
    unknown: ClassVar[str] = (
        "its noise depends on a private λ_min that is not released, unless γ ≤ τ "
        "(`joint_spectrum` bounds it)"
    )
    correction: ClassVar[str] = ModifiedGaussMix.correction

    def __post_init__(self) -> None:
        self.check_budget()
        check.integer("rows", self.rows, 1)

    @property
    def mixing(self) -> ModifiedGaussMix:
        """Algorithm 1, with the parameters with which line 3 calls it."""
        gamma = _gamma(self.rows, self.epsilon, self.delta, self.variant)
        bound = math.hypot(self.row_bound, self.label_bound)
        return ModifiedGaussMix(self.rows, gamma, self.delta, row_bound=bound, variant=self.variant)

    def known(self, data: Array) -> RPLS:
        """RP LS with the same law, where λ_min is not read. Raises `NoExactSpectrum` elsewhere."""
        within_bounds(data, self.row_bound, self.label_bound)
        if self.mixing.reads_eigenvalue:
            raise self.no_exact_spectrum()
        noise = self.mixing.noise(0.0, 1, np.random.default_rng(0))  # constant: not random here
        return RPLS(self.rows, padding=float(noise[0]))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Least squares solutions, (size, p)."""
        sketch = self.mixing.sketch_of(within_bounds(data, self.row_bound, self.label_bound))
        if self.sampler == "literal":
            return sketch.literal_solution(size, rng)
        return sketch.solution(size, rng)

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        """w of each draw, (size,), for [X, Y] with λ_min = `eigenvalue`."""
        return self.mixing.noise(eigenvalue, size, rng)

    def joint_spectrum(self, pair: NeighbourPair, epsilon: ArrayLike) -> Spectrum:
        """Exact δ(ε) of λ̃ and the solution together, for a zeroed row."""
        for side in (pair.left, pair.right):
            within_bounds(side, self.row_bound, self.label_bound)
        row = SolvedRow.of(pair.left, zeroed_index(pair), self.rows)
        return self.mixing.joint_of(pair, row.curve, epsilon)

    def pair(self) -> NeighbourPair:
        """Algorithm 1's pair, rotated so that the row (C_X, C_Y) is zeroed."""
        return labelled_pair(self.row_bound, self.label_bound, self.mixing.worst_eigenvalue)


@lru_cache(maxsize=256)
def _gamma(rows: int, epsilon: float, delta: float, variant: str) -> float:
    """γ of line 2; corrected, at least the γ for which the corrected theorem 1 gives ε."""

    def excess(gamma: float) -> float:
        claimed = ModifiedGaussMix(rows, gamma, delta, variant="corrected").claim.epsilon
        assert claimed is not None
        return claimed - epsilon

    gamma = linear_mixing_gamma(rows, epsilon, delta)
    if variant == "printed" or ModifiedGaussMix(rows, gamma, delta).shortfall == 0.0:
        return gamma
    if excess(gamma) <= 0.0:
        return gamma
    return float(brentq(excess, gamma, gamma * 1e3, xtol=1e-9))
