"""Paper 1: Lu, Magdon-Ismail, Wei and Zikas, least squares with random projections.

Yun Lu, Malik Magdon-Ismail, Yu Wei and Vassilis Zikas,
*Privacy-Utility Tradeoff of OLS with Random Projections*, 2023.

What it prints of privacy and noise is in `dpaudit.papers.printed`. Here are its algorithms with a
printed privacy claim.

| statement | formula in `printed` | algorithm |
| --- | --- | --- |
| proposition 2, σ of M_{ε,δ} | `proposition_2_sigma` | `GaussianMechanismLS` |
| lemma 10, random linear combination | `lemma_10` | |
| lemma 11, random projection | `lemma_11` | |
| figure 4, RP LS | `figure_4_padding` | `RandomProjectionLS` |

What holds as printed is a part of the library:

| statement | there |
| --- | --- |
| definition 1, neighbours | `dpaudit.neighbours.zero_row` |
| figure 1 (algorithm 1), ALS | `dpaudit.mechanisms.ALS` |
| lemmas 1 and 3, asymptotic ALS | `dpaudit.exact.als(..., law="asymptotic")` |
| lemma 2, two Gaussians | `dpaudit.exact.gaussian_pair` |
| proposition 1, Gaussian LS | `dpaudit.mechanisms.GaussianLS`, `dpaudit.exact.gaussian_shift` |
| lemma 4, random linear combination | `dpaudit.mechanisms.RandomLinearCombination` |
| lemma 5, random projection | `dpaudit.mechanisms.RandomProjection` |
| lemmas 4 and 5, the curves | `dpaudit.exact.gaussian_sketch` |

Experiments are studies beside the scenarios, in `scenarios/papers/studies/paper_1`: figure 2 in
`utility`, figure 3 in `spectra`, lemmas 6 and 7 in `outliers`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.mechanisms.least_squares import ALS, RPLS, GaussianLS
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers.algorithm import KnownAlgorithm, Sampling, Variant
from dpaudit.papers.printed import proposition_2_sigma

OUTLYING = 1_000.0  # norm of a pair's one outlying row, in units of the others' norm
MOST_ROWS = 20_000  # of a pair


@dataclass(frozen=True)
class GaussianMechanismLS(KnownAlgorithm):
    """Gaussian LS, M_{ε,δ}: the least squares solution plus N(0, σ²I) (paper 1, proposition 2).

    σ = s√(2 ln(1.25/δ))/ε, where s = `sensitivity` > 0 is ‖x_opt − x′_opt‖ of the pair, or a public
    bound on it. The proposition gives the exact curve of a pair that is s apart, a Gaussian shift
    of μ = ε/√(2 ln(1.25/δ)). The claim here is μ-GDP for all pairs that are at most so far apart;
    that is (ε, δ)-DP for ε < 1, as [5] has it. A call raises `InvalidInput` when zeroing a row
    moves the solution by more than s. Output: (size, p).
    """

    epsilon: Positive
    delta: BelowOne
    sensitivity: Positive
    regression = True
    zero_rows_matter = False
    paper = 1
    statement = "proposition 2, Gaussian LS"
    claimed = "μ-GDP, μ = ε/√(2 ln(1.25/δ)), at most s apart"
    summary = "least squares plus noise in proportion to a move (paper 1, proposition 2)"

    @property
    def claim(self) -> Claim:
        """μ-GDP: the curve of proposition 2."""
        return Claim.gdp(self.sensitivity / self.sigma)

    @property
    def sigma(self) -> float:
        """The standard deviation σ = s√(2 ln(1.25/δ))/ε of the noise."""
        return proposition_2_sigma(self.sensitivity, self.epsilon, self.delta)

    def known(self, data: Array) -> GaussianLS:
        moved = float(least_squares(data, exact=True).displacement.max())
        if moved > self.sensitivity * (1.0 + 1e-12):
            expected = f"at least the largest move of the solution, {moved:g}"
            fail("sensitivity", self.sensitivity, expected)
        return GaussianLS(sigma=self.sigma)

    def pair(self) -> NeighbourPair:
        """Eleven rows near y = 0 and one far off, which is zeroed: the solutions are s apart."""
        x = np.linspace(1.0, 2.0, 12)
        data = np.column_stack([x, np.r_[1.0, 1e-3 * np.cos(7.0 * x[1:])]])
        unit = self.sensitivity / float(least_squares(data).displacement.max())
        return zero_row(data * [1.0, unit], 0)


@dataclass(frozen=True)
class RandomProjectionLS(KnownAlgorithm):
    """RP LS: least squares on a Gaussian sketch of the data with c₂·I appended (paper 1, figure 4).

    The sketch has r = `rows` ≥ p + 1 rows, and c₂² = 4c₁²(2r ln(4/δ) + ln(4/δ))/ε as printed. Its
    source (paper 4, theorem 3.1) has √(2r ln(4/δ)), so this is more padding than is needed. As
    printed c₁ is the largest row norm of the data; with variant="corrected" it is `row_bound`,
    which is public and must be given then. The figure is read as an (ε, δ) claim, as its input
    suggests. As such it lacks a condition (class B of the findings): one row twice as long as the
    others sets c₁. Output: (size, p).
    """

    rows: Count
    epsilon: Positive
    delta: BelowOne
    row_bound: Positive | None = None
    variant: Variant = "printed"
    sampler: Sampling = "sufficient"
    regression = True
    zero_rows_matter = False
    paper = 1
    statement = "figure 4, RP LS"
    claimed = "(ε, δ)-DP, as it is read"
    summary = "least squares on a sketch of padded data (paper 1, figure 4)"
    correction = "c₁ is a public bound on the row norms"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.row_bound is not None) != (self.variant == "corrected"):
            expected = "a number with variant='corrected', None with variant='printed'"
            fail("row_bound", self.row_bound, expected)
        self.known(np.zeros((0, 0)))  # its own checks

    def known(self, data: Array) -> RPLS:
        """RP LS, whose printed form has one exceptional row: the one that sets c₁."""
        return RPLS(self.rows, self.epsilon, self.delta, row_bound=self.row_bound)

    def literal(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return ALS(self.rows, "literal")(self.known(data).problem(data), size, rng=rng)

    def pair(self) -> NeighbourPair:
        """Many short rows and one of norm c₁, zeroed: the printed padding shrinks to 1/1000."""
        bound = 1.0 if self.row_bound is None else self.row_bound
        square = RPLS(self.rows, self.epsilon, self.delta, row_bound=1.0).pad(np.ones((1, 1))) ** 2
        angle = np.linspace(0.3, 1.2, min(MOST_ROWS, math.ceil(20.0 * square)))
        short = np.column_stack([np.cos(angle), np.sin(angle)]) / OUTLYING
        return zero_row(bound * np.vstack([[1.0, 0.0], short]), 0)
