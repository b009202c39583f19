"""Draws from an inverse-Wishart posterior: paper 4, algorithms 4 and 5."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.linalg import padded
from dpaudit._core.types import Array
from dpaudit.mechanisms.wishart import InverseWishartDraw
from dpaudit.papers.algorithm import KnownReplacedRows
from dpaudit.papers.data import within
from dpaudit.papers.paper_4 import random_moments
from dpaudit.papers.paper_4.adaptive_release import AdaptiveRelease
from dpaudit.papers.paper_4.matrix_release import MatrixRelease, Moments
from dpaudit.papers.paper_4.printed import theorem_5_1_padding, theorem_b_1_padding


@dataclass(frozen=True)
class InverseWishartPosterior(KnownReplacedRows, MatrixRelease):
    """M ~ W⁻¹_d(AᵀA + ψI, n + d), an inverse-Wishart posterior (paper 4, algorithm 4).

    ψ = (2B²/ε)(2√(2(n + d)ln(4/δ)) + 2 ln(4/δ)). Output: (size, d(d+1)/2), upper triangles; n is
    public.

    Parameters
    ----------
    epsilon : float > 0, nats
        ε of the claim.
    delta : float in (0, 1/e)
        δ of the claim.
    row_bound : float > 0, default 1
        B, a public bound on the row norms, label included.
    variant : {"printed", "corrected"}, default "printed"
        "corrected": ψ by theorem B.1 with r = n + d, which has the same privacy loss and holds
        where theorem 5.1 does not (ε beyond 150). Theorem B.4 gives no value from ε = 2 ln(4/δ) on.
    sampler : {"sufficient", "literal"}, default "sufficient"
        "sufficient" (Bartlett factors) or "literal" (n + d Gaussian rows of the inverse scale,
        inverted).

    Raises
    ------
    InvalidInput
        When a parameter is not as described, or a row is beyond the bound.
    """

    epsilon: float
    delta: float
    row_bound: float = 1.0
    variant: str = "printed"
    sampler: str = "sufficient"
    statement: ClassVar[str] = "algorithm 4, inverse-Wishart posterior"
    summary: ClassVar[str] = "one draw of an inverse-Wishart posterior (paper 4, algorithm 4)"
    correction: ClassVar[str] = "ψ by theorem B.1"

    def __post_init__(self) -> None:
        self.check_budget(math.exp(-1.0))

    def prior(self, rows: int) -> float:
        """ψ for n + d = `rows`."""
        formula = theorem_b_1_padding if self.variant == "corrected" else theorem_5_1_padding
        return formula(self.row_bound, rows, self.epsilon, self.delta) ** 2

    def known(self, data: Array) -> InverseWishartDraw:
        """The draw W⁻¹_d(AᵀA + ψI, n + d)."""
        within(data, self.row_bound)
        rows = sum(data.shape)
        return InverseWishartDraw(rows, math.sqrt(self.prior(rows)))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Upper triangles, (size, d(d + 1)/2)."""
        known = self.known(data)
        if self.sampler == "sufficient":
            return known.law(data).sample(size, rng)
        posterior = padded(data, known.padding)
        upper = np.triu_indices(data.shape[1])
        draws = (random_moments.literal_inverse(posterior, known.dof, rng) for _ in range(size))
        return np.array([draw[upper] for draw in draws])

    def of_moments(self, moments: Moments, size: int, rng: np.random.Generator) -> Array:
        """Upper triangles for data with these moments."""
        values, axes = moments.axes
        dof = moments.rows + len(values)
        spread = np.tile(values + self.prior(dof), (size, 1))
        return random_moments.scatter_draws(spread, axes, np.full(size, dof), rng, inverse=True)


@dataclass(frozen=True)
class AdaptiveInverseWishart(AdaptiveRelease):
    """Algorithm 4 with ψ and ν set by a private σ_min(AᵀA) (paper 4, algorithm 5).

    Our copy of the paper lacks the steps. Its text describes them: "use part of the privacy budget
    to estimate σ_min(AᵀA) and then set the parameter ψ accordingly", with a least number ν₀ of
    degrees of freedom. The details are chosen here, as for algorithm 2:

    1. half of ε for the estimate, half of ε and of δ for the draw, the other half of δ for a bad
       estimate;
    2. λ = max(0, σ_min(AᵀA) + Z − (2B²/ε)ln(1/δ)), Z ~ Lap(2B²/ε);
    3. ψ₀ by theorem 5.1 at (ε/2, δ/2) and ν₀; where λ ≤ ψ₀, ν = ν₀ and ψ = ψ₀ − λ;
    4. where λ > ψ₀, ψ = 0 and ν is the largest for which theorem 5.1 asks for no more than λ.

    Output: (size, d(d+1)/2), upper triangles of M ~ W⁻¹_d(AᵀA + ψI, ν); neither λ nor ν is part of
    it.

    Parameters
    ----------
    min_dof : int
        ν₀ > d, the least degrees of freedom.
    epsilon : float > 0, nats
        ε of the claim.
    delta : float in (0, 1/e)
        δ of the claim.
    row_bound : float > 0, default 1
        B, a public bound on the row norms, label included.
    sampler : {"sufficient", "literal"}, default "sufficient"
        As of `InverseWishartPosterior`.

    Raises
    ------
    InvalidInput
        When a parameter is not as described.
    """

    min_dof: int
    epsilon: float
    delta: float
    row_bound: float = 1.0
    sampler: str = "sufficient"
    statement: ClassVar[str] = "algorithm 5, inverse-Wishart posterior by the data"
    summary: ClassVar[str] = (
        "an inverse-Wishart draw with its prior by a private least eigenvalue "
        "(paper 4, algorithm 5)"
    )
    inverted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.check_budget(math.exp(-1.0))
        check.integer("min_dof", self.min_dof, 1)

    @property
    def least(self) -> int:
        """ν₀."""
        return self.min_dof
