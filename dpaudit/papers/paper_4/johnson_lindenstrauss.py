"""Ridge regression on a Johnson-Lindenstrauss sketch: paper 4, algorithms 1 and 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.linalg import padded
from dpaudit._core.types import Array
from dpaudit.laws import GaussianRows
from dpaudit.mechanisms.sketching import RandomProjection
from dpaudit.papers.algorithm import KnownAddedRow, KnownReplacedRows
from dpaudit.papers.data import within
from dpaudit.papers.paper_4 import random_moments
from dpaudit.papers.paper_4.adaptive_release import AdaptiveRelease
from dpaudit.papers.paper_4.matrix_release import MatrixRelease, Moments
from dpaudit.papers.paper_4.printed import theorem_3_1_padding, theorem_b_1_padding


@dataclass(frozen=True)
class JLRidge(KnownReplacedRows, KnownAddedRow, MatrixRelease):
    """M = (RA′)ᵀ(RA′)/r, A′ the data with w·I appended (paper 4, algorithm 1).

    R is standard normal, r × (n + d); w² = 4B²(√(2r ln(4/δ)) + ln(4/δ))/ε, by theorem 3.1. Output:
    (size, d(d+1)/2), upper triangles of M.

    Parameters
    ----------
    rows : int
        r > d, of the sketch.
    epsilon : float > 0, nats
        ε of the claim.
    delta : float in (0, 1/e)
        δ of the claim.
    row_bound : float > 0, default 1
        B, a public bound on the row norms, label included.
    variant : {"printed", "corrected"}, default "printed"
        "corrected": w by theorem B.1, which holds where theorem 3.1 does not (ε beyond 150).
    sampler : {"sufficient", "literal"}, default "sufficient"
        "sufficient" (Bartlett factors, d² numbers a draw) or "literal" (line by line).

    Raises
    ------
    InvalidInput
        When a parameter is not as described, or a row is beyond the bound.
    """

    rows: int
    epsilon: float
    delta: float
    row_bound: float = 1.0
    variant: str = "printed"
    sampler: str = "sufficient"
    statement: ClassVar[str] = "algorithm 1, ridge regression"
    summary: ClassVar[str] = "the second moments of a sketch of padded data (paper 4, algorithm 1)"
    correction: ClassVar[str] = "w by theorem B.1"

    def __post_init__(self) -> None:
        self.check_budget(np.exp(-1.0))
        check.integer("rows", self.rows, 1)

    @property
    def padding(self) -> float:
        """The padding w."""
        formula = theorem_b_1_padding if self.variant == "corrected" else theorem_3_1_padding
        return formula(self.row_bound, self.rows, self.epsilon, self.delta)

    def known(self, data: Array) -> RandomProjection:
        """The sketch, which is r·M."""
        if self.rows <= data.shape[1]:
            fail("rows", self.rows, f"more than the number of columns, {data.shape[1]}")
        within(data, self.row_bound)
        return RandomProjection(self.rows, "gram", self.padding)

    def law(self, data: Array) -> GaussianRows:
        """The Gram matrix of r rows N(0, A′ᵀA′/r)."""
        root = self.known(data).factor(data).root
        return GaussianRows(root / np.sqrt(self.rows), self.rows, "gram")

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Upper triangles, (size, d(d + 1)/2)."""
        if self.sampler == "sufficient":
            return self.law(data).sample(size, rng)
        extended = padded(data, self.known(data).padding)
        upper = np.triu_indices(data.shape[1])
        grams = (random_moments.literal_gram(extended, self.rows, rng) for _ in range(size))
        return np.array([gram[upper] / self.rows for gram in grams])

    def of_moments(self, moments: Moments, size: int, rng: np.random.Generator) -> Array:
        """Upper triangles for data with these moments."""
        values, axes = moments.axes
        spread = np.tile(values + self.padding**2, (size, 1))
        return random_moments.scatter_draws(spread, axes, np.full(size, self.rows), rng) / self.rows


@dataclass(frozen=True)
class AdaptiveJLRidge(AdaptiveRelease):
    """Algorithm 1 with w and r set by a private σ_min(AᵀA) (paper 4, algorithm 2).

    Our copy of the paper lacks the steps. Its text describes them: "use part of the privacy budget
    to look at the least singular-value of AᵀA … decrease w by the appropriate factor … in case it
    is really large, set the regularization to be any non-negative number and determine r based on
    Thm 3.1". The details are chosen here:

    1. half of ε for the estimate, half of ε and of δ for the sketch, the other half of δ for a bad
       estimate;
    2. λ = max(0, σ_min(AᵀA) + Z − (2B²/ε)ln(1/δ)), Z ~ Lap(2B²/ε): the sensitivity is B², and
       P(Z > (2B²/ε)ln(1/δ)) is δ/2;
    3. w₀² by theorem 3.1 at (ε/2, δ/2) and r₀ rows; where λ ≤ w₀², r = r₀ and w² = w₀² − λ;
    4. where λ > w₀², w = 0 and r is the largest for which theorem 3.1 asks for no more than λ.

    Output: (size, d(d+1)/2), upper triangles of M = (RA′)ᵀ(RA′)/r; neither λ nor r is part of it.

    Parameters
    ----------
    min_rows : int
        r₀ > d, the least number of sketch rows.
    epsilon : float > 0, nats
        ε of the claim.
    delta : float in (0, 1/e)
        δ of the claim.
    row_bound : float > 0, default 1
        B, a public bound on the row norms, label included.
    sampler : {"sufficient", "literal"}, default "sufficient"
        As of `JLRidge`.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    """

    min_rows: int
    epsilon: float
    delta: float
    row_bound: float = 1.0
    sampler: str = "sufficient"
    statement: ClassVar[str] = "algorithm 2, ridge or plain regression"
    summary: ClassVar[str] = (
        "a sketch with padding and rows by a private least eigenvalue (paper 4, algorithm 2)"
    )
    inverted: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.check_budget(np.exp(-1.0))
        check.integer("min_rows", self.min_rows, 1)

    @property
    def least(self) -> int:
        """r₀."""
        return self.min_rows

    def scaled(self, draws: Array, rows: np.ndarray) -> Array:
        """Divided by the number of rows of each sketch."""
        return np.asarray(draws / rows[:, None])
