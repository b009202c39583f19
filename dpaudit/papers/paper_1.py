"""Paper 1: Lu, Magdon-Ismail, Wei and Zikas, least squares with random projections.

Yun Lu, Malik Magdon-Ismail, Yu Wei and Vassilis Zikas, *Privacy-Utility Tradeoff of OLS with Random
Projections*, 2023.

These are the algorithms for which the paper claims privacy. What is true as printed stands
elsewhere: ALS (figure 1) and Gaussian LS (proposition 1) in `dpaudit.mechanisms`, the curves of
lemmas 1 to 5 in `dpaudit.exact`, neighbours (definition 1) in `dpaudit.neighbours.zero_row`. The
experiments are repeated in `scenarios/papers/studies/paper_1`: figure 2 in `utility`, figure 3 in
`spectra`, lemmas 6 and 7 in `outliers`.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.linalg import least_squares
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.claims import Claim
from dpaudit.mechanisms.least_squares import RPLS, GaussianLS
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers.algorithm import KnownAlgorithm, Variant
from dpaudit.papers.printed import proposition_2_sigma

OUTLYING = 1_000.0  # norm of the outlying row of `RandomProjectionLS.pair`, relative to the others
MOST_ROWS = 20_000  # largest number of other rows in `RandomProjectionLS.pair`


@value_class(show_numbers=True, eq=True)
class GaussianMechanismLS(KnownAlgorithm):
    """Gaussian LS, M_{ε,δ}: release the least-squares solution plus N(0, σ²I).

    Source: paper 1, proposition 2. σ = s√(2 ln(1.25/δ))/ε, where s = `sensitivity` > 0 is the
    distance ‖x_opt − x′_opt‖ of the solutions on two neighbours, or a public bound on it. For
    solutions at distance s, the proposition gives the exact curve: a Gaussian shift by
    μ = ε/√(2 ln(1.25/δ)). The claim here is μ-GDP for all pairs at distance at most s; for ε < 1
    this implies (ε, δ)-DP, as the paper's reference [5] states. A call raises `InvalidInput` when
    zeroing a row moves the solution by more than s. Output: (size, p).
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
        return Claim.gdp(self.sensitivity / self.sigma)

    @property
    def sigma(self) -> float:
        return proposition_2_sigma(self.sensitivity, self.epsilon, self.delta)

    def known(self, data: Array) -> GaussianLS:
        move = float(least_squares(data, exact=True).displacement.max())
        if move > self.sensitivity * (1.0 + 1e-12):
            expected = f"at least the largest move of the solution, {move:g}"
            fail("sensitivity", self.sensitivity, expected)
        return GaussianLS(sigma=self.sigma)

    def pair(self) -> NeighbourPair:
        """Eleven rows near y = 0 and one outlier, which is zeroed: the solutions are s apart."""
        x = np.linspace(1.0, 2.0, 12)
        data = np.column_stack([x, np.r_[1.0, 1e-3 * np.cos(7.0 * x[1:])]])
        unit = self.sensitivity / float(least_squares(data).displacement.max())
        return zero_row(data * [1.0, unit], 0)


@value_class(show_numbers=True, eq=True)
class RandomProjectionLS(KnownAlgorithm):
    """RP LS: least squares on a Gaussian sketch of the data with c₂·I appended (paper 1, figure 4).

    The sketch has r = `rows` ≥ p + 1 rows, and c₂² = 4c₁²(2r ln(4/δ) + ln(4/δ))/ε as printed. Its
    source (paper 4, theorem 3.1) has √(2r ln(4/δ)), so the figure pads more than it needs to. As
    printed, c₁ is the largest row norm of the data; with variant="corrected" it is `row_bound`,
    a public number that must be passed. The figure states no claim; its input suggests (ε, δ)-DP,
    which is claimed here. The claim lacks a condition (class B of the findings), since a single row
    twice as long as the others determines c₁. Output: (size, p).
    """

    rows: Count
    epsilon: Positive
    delta: BelowOne
    row_bound: Positive | None = None
    variant: Variant = "printed"
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
        self.known(np.zeros((0, 0)))  # RPLS checks the parameters

    def known(self, data: Array) -> RPLS:
        """RPLS, whose printed form has one exceptional row: the longest, which determines c₁."""
        return RPLS(self.rows, self.epsilon, self.delta, row_bound=self.row_bound)

    def pair(self) -> NeighbourPair:
        """Many short rows, and one of norm c₁; zeroing it shrinks the printed padding to 1/1000."""
        bound = 1.0 if self.row_bound is None else self.row_bound
        square = RPLS(self.rows, self.epsilon, self.delta, row_bound=1.0).pad(np.ones((1, 1))) ** 2
        angle = np.linspace(0.3, 1.2, min(MOST_ROWS, math.ceil(20.0 * square)))
        short = np.column_stack([np.cos(angle), np.sin(angle)]) / OUTLYING
        return zero_row(bound * np.vstack([[1.0, 0.0], short]), 0)
