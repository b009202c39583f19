"""Least squares on a noisy sketch: paper 3, algorithm 2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Curve, Spectrum
from dpaudit.laws import StudentRows, StudentT
from dpaudit.mechanisms.least_squares import RPLS
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.algorithm import within
from dpaudit.papers.joint_spectrum import JointSpectrumAlgorithm, zeroed_index
from dpaudit.papers.paper_3.extreme_pairs import labelled_pair
from dpaudit.papers.paper_3.gauss_mix import check_budget
from dpaudit.papers.paper_3.modified_gauss_mix import ModifiedGaussMix


@dataclass(frozen=True)
class LinearMixing(JointSpectrumAlgorithm):
    """θ = (X̃ᵀX̃)⁻¹X̃ᵀỸ of [X̃, Ỹ] = ModifiedGaussMix([X, Y]) (paper 3, algorithm 2).

    Parameters
    ----------
    rows : k ≥ p, number of mixtures.
    epsilon, delta : the budget, ε > 0 in nats; γ > 5/2 is the smallest with ε̃(γ/√k, γ, k, δ) ≤ ε.
    row_bound, label_bound : C_X and C_Y, public bounds on ‖x_i‖ and |y_i|.
    variant : "printed" or "corrected", as of `ModifiedGaussMix`.
    sampler : "sufficient" (Student t given the noise) or "literal".

    Output: (size, p). Raises `InvalidInput`, `DegenerateData`.
    """

    rows: int
    epsilon: float
    delta: float
    row_bound: float = 1.0
    label_bound: float = 1.0
    variant: str = "printed"
    sampler: str = "sufficient"
    paper: ClassVar[int] = 3
    statement: ClassVar[str] = "algorithm 2, LinearMixing"
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "zero-out"
    summary: ClassVar[str] = "least squares on a noisy Gaussian sketch (paper 3, algorithm 2)"
    unknown: ClassVar[str] = (
        "its noise depends on a private λ_min that is not released, unless γ ≤ τ (`joint_spectrum` bounds it)"
    )
    correction: ClassVar[str] = ModifiedGaussMix.correction

    def __post_init__(self) -> None:
        self.check_variant()
        check_budget(self.rows, self.epsilon, self.delta)
        check.real("row_bound", self.row_bound, 0.0, open_=True)
        check.real("label_bound", self.label_bound, 0.0, open_=True)

    @property
    def mixing(self) -> ModifiedGaussMix:
        """What line 3 calls."""
        gamma = _aimed(self.rows, self.epsilon, self.delta, self.variant)
        bound = math.hypot(self.row_bound, self.label_bound)
        return ModifiedGaussMix(self.rows, gamma, self.delta, row_bound=bound, variant=self.variant)

    @property
    def claim(self) -> Claim:
        """Theorem 2."""
        return Claim(self.epsilon, self.delta)

    def law(self, data: Array) -> StudentT:
        return self._padded.law(bounded(data, self.row_bound, self.label_bound))

    def zeroed_rows(self, data: Array) -> StudentRows:
        return self._padded.zeroed_rows(bounded(data, self.row_bound, self.label_bound))

    @property
    def _padded(self) -> RPLS:
        """The same law where line 2 of algorithm 1 leaves λ_min alone. Raises `NoExactSpectrum`
        elsewhere.
        """
        if self.mixing.reads_eigenvalue:
            super().zeroed_rows(np.zeros((1, 1)))
        return RPLS(
            self.rows, padding=float(self.mixing.noise(0.0, 1, np.random.default_rng(0))[0])
        )

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        sketch = self.mixing.sketch_of(bounded(data, self.row_bound, self.label_bound))
        return (
            sketch.literal_solution(size, rng)
            if self.sampler == "literal"
            else sketch.solution(size, rng)
        )

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        """w of each draw, (size,), for [X, Y] with λ_min = `eigenvalue`."""
        return self.mixing.noise(eigenvalue, size, rng)

    def joint_spectrum(self, pair: NeighbourPair, epsilon: Any) -> Spectrum:
        for side in (pair.left, pair.right):
            bounded(side, self.row_bound, self.label_bound)
        row = SolvedRow.of(pair.left, zeroed_index(pair), self.rows)
        return self.mixing.joint_of(pair, row.curve, epsilon)

    def pair(self) -> NeighbourPair:
        """As of algorithm 1, turned so that the row (C_X, C_Y) is zeroed."""
        return labelled_pair(self.row_bound, self.label_bound, self.mixing.worst_eigenvalue)


@dataclass(frozen=True, eq=False)
class SolvedRow:
    """A zeroed row in least squares on sketches of [D; wI]: leverage and residual share for any w."""

    scale: Array
    row: Array
    along: Array
    label: float
    rest: float
    rows: int

    @classmethod
    def of(cls, data: Array, index: int, rows: int) -> SolvedRow:
        features, label = data[:, :-1], data[:, -1]
        basis, scale, _ = np.linalg.svd(features, full_matrices=False)
        along = basis.T @ label
        return cls(
            scale,
            basis[index],
            along,
            float(label[index]),
            float(np.sum((label - basis @ along) ** 2)),
            rows,
        )

    def shares(self, noise: float) -> tuple[float, float]:
        """(h, t) with w = `noise`."""
        weight = self.scale**2 + noise**2
        kept = np.divide(self.scale**2, weight, out=np.ones_like(weight), where=weight > 0.0)
        leverage = min(float(np.sum(self.row**2 * kept)), 1.0)
        residual = self.label - float(np.sum(self.row * kept * self.along))
        total = self.rest + noise**2 + float(np.sum(self.along**2 * (1.0 - kept)))
        room = (1.0 - leverage) * total
        return leverage, min(residual**2 / room, 1.0) if room > 0.0 else 0.0

    def curve(self, noise: float) -> Curve:
        from dpaudit.exact.zeroed_rows.als import StudentCurve

        return StudentCurve(*self.shares(noise), len(self.scale), self.rows)


@lru_cache(maxsize=256)
def _aimed(rows: int, epsilon: float, delta: float, variant: str) -> float:
    """γ of line 2; corrected, the smallest for which the corrected theorem 1 gives ε, where that is
    more.
    """
    from dpaudit.papers.printed import linear_mixing_gamma

    def lacks(gamma: float) -> float:
        claimed = ModifiedGaussMix(rows, gamma, delta, variant="corrected").claim.epsilon
        assert claimed is not None
        return claimed - epsilon

    gamma = linear_mixing_gamma(rows, epsilon, delta)
    if (
        variant == "printed"
        or ModifiedGaussMix(rows, gamma, delta).shortfall == 0.0
        or lacks(gamma) <= 0.0
    ):
        return gamma
    return float(brentq(lacks, gamma, gamma * 1e3, xtol=1e-9))


def bounded(data: Array, row_bound: float, label_bound: float) -> Array:
    """The data, if ‖x_i‖ ≤ C_X and |y_i| ≤ C_Y throughout. Raises `InvalidInput` naming the bound
    otherwise.
    """
    data = check.matrix("data", data, min_columns=2)
    within(data[:, :-1], row_bound)
    largest = float(np.abs(data[:, -1]).max())
    if label_bound < largest * (1.0 - 1e-12):
        fail("label_bound", label_bound, f"at least the largest label, {largest:g}")
    return data
