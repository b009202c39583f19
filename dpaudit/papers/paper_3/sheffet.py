"""Least squares on a sketch, noisy unless a private test finds λ_min large.

Paper 3, algorithms 4 and 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.spectrum import Spectrum
from dpaudit.exact.pairs.discrete import Atoms
from dpaudit.exact.pairs.mixed import BranchCurve
from dpaudit.laws.vectors import laplace_log_cdf
from dpaudit.mechanisms.parameters import BelowOne, Count, Positive
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.algorithm import JointSpectrumAlgorithm, Sampling, Variant, zeroed_index
from dpaudit.papers.data import smallest_eigenvalue
from dpaudit.papers.paper_3.printed import sheffet_2017_gamma, sheffet_renyi_gamma
from dpaudit.papers.paper_3.sketches import NoisySketch, SolvedRow, labelled_pair


@dataclass(frozen=True)
class SheffetAlgorithm(JointSpectrumAlgorithm):
    """What algorithms 4 and 5 share; C² = C_X² + C_Y². Subclasses give γ, in the units of λ_min."""

    rows: Count
    epsilon: Positive
    delta: BelowOne
    row_bound: Positive = 1.0
    label_bound: Positive = 1.0
    variant: Variant = "printed"
    sampler: Sampling = "sufficient"
    regression = True
    paper = 3
    unknown = "a mixture of two Student t laws (`joint_spectrum` has it with the branch known)"

    @property
    def gamma(self) -> float:
        """The least λ_min at which no noise is added, as line 3 sets it."""
        raise NotImplementedError

    @property
    def square_bound(self) -> float:
        """C_X² + C_Y²."""
        return self.row_bound**2 + self.label_bound**2

    @property
    def sigma(self) -> float:
        """w where noise is added: γ as printed, √γ as corrected."""
        return math.sqrt(self.gamma) if self.variant == "corrected" else self.gamma

    def margin(self, eigenvalue: float) -> float:
        """λ_min less the threshold of line 5 at z = 0, in units of the Laplace scale 4C²/ε."""
        scale = 4.0 * self.square_bound / self.epsilon
        return (eigenvalue - self.gamma) / scale - math.log(1.0 / self.delta)

    def noise(self, eigenvalue: float, size: int, rng: np.random.Generator) -> Array:
        """w of each draw, (size,): 0 or `sigma`."""
        return np.where(rng.laplace(size=size) < self.margin(eigenvalue), 0.0, self.sigma)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        eigenvalue = smallest_eigenvalue(self.bounded(data))
        sketch = NoisySketch(data, self.rows, lambda count, rng: self.noise(eigenvalue, count, rng))
        if self.sampler == "literal":
            return sketch.literal_solution(size, rng)
        return sketch.solution(size, rng)

    def joint_spectrum(self, pair: NeighbourPair, epsilon: ArrayLike) -> Spectrum:
        """Exact δ(ε) of the branch taken and the solution together, for a zeroed row."""
        row = SolvedRow.of(pair.left, zeroed_index(pair), self.rows)
        margins = np.array([self._margin_of(side) for side in (pair.left, pair.right)])
        branches = zip(laplace_log_cdf(margins), laplace_log_cdf(-margins), strict=True)
        masses = [np.array(log_chances) for log_chances in branches]
        curve = BranchCurve(Atoms(*masses), (row.curve(0.0), row.curve(self.sigma)))
        epsilon, law = check.epsilon(epsilon), "the branch and Student t (finite rows)"
        return Spectrum.of_directions(epsilon, *curve.delta(epsilon), law).replace(curve=curve)

    def _margin_of(self, data: Array) -> float:
        bounded = self.bounded(data)
        return self.margin(smallest_eigenvalue(bounded))

    def pair(self) -> NeighbourPair:
        """DᵀD = C²·I, a little more on the second axis; the row (C_X, C_Y) is zeroed.

        Only the noise hides that row.
        """
        return labelled_pair(self.row_bound, self.label_bound, 1.0)


@dataclass(frozen=True)
class SheffetOLS(SheffetAlgorithm):
    """Algorithm 4 (Sheffet 2017): θ from SD where λ_min > γ + z + 4C²ln(1/δ)/ε, else from SD + γξ.

    γ = 4C²(√(2k ln(8/δ)) + 2 ln(8/δ))/ε, z ~ Lap(4C²/ε), C² = C_X² + C_Y². Output: (size, p); the
    branch is not part of it.

    Parameters
    ----------
    rows : int
        k ≥ p.
    epsilon, delta : float > 0, nats, and float in (0, 1)
        ε and δ of the budget.
    row_bound, label_bound : float > 0, default 1
        C_X and C_Y, public bounds on ‖x_i‖ and ``|y_i|``.
    variant : {"printed", "corrected"}, default "printed"
        "corrected": √γ·ξ for γ·ξ (γ is a variance; where it is below 1, for short rows, the printed
        noise is too little: class B of the findings), and γ at least algorithm 5's, which differs
        only for ε far above 10.
    sampler : {"sufficient", "literal"}, default "sufficient"
        "sufficient" (Student t given the branch) or "literal".
    """

    statement = "algorithm 4, Sheffet's algorithm"
    summary = (
        "least squares on a sketch, noisy if λ_min is small (paper 3, algorithm 4; Sheffet 2017)"
    )
    correction = "√γ·ξ for γ·ξ in line 9; γ no less than algorithm 5's"

    @property
    def gamma(self) -> float:
        """C² times the printed γ; the corrected variant has no less than algorithm 5."""
        gamma = sheffet_2017_gamma(self.rows, self.epsilon, self.delta)
        if self.variant == "corrected":
            gamma = max(gamma, sheffet_renyi_gamma(self.rows, self.epsilon, self.delta))
        return self.square_bound * gamma


@dataclass(frozen=True)
class SheffetRenyiOLS(SheffetAlgorithm):
    """Algorithm 4 with γ by lemma 1 and proposition 1 at (ε/2, δ) (paper 3, algorithm 5).

    Output: (size, p).

    Parameters
    ----------
    rows, epsilon, delta, row_bound, label_bound : int and floats
        The sketch, the budget and the public bounds, as for `SheffetOLS`.
    variant : {"printed", "corrected"}, default "printed"
        "corrected": γ in units of C² (line 3 prints none: class A of the findings), and √γ·ξ for
        γ·ξ.
    sampler : {"sufficient", "literal"}, default "sufficient"
        "sufficient" (Student t given the branch) or "literal".
    """

    statement = "algorithm 5, Sheffet's algorithm with paper 3's analysis"
    summary = "algorithm 4 with γ by the Rényi curve (paper 3, algorithm 5)"
    correction = "γ·C² for γ in line 3, √γ·ξ for γ·ξ in line 9"

    @property
    def gamma(self) -> float:
        """γ without units, as printed; the corrected variant has it in units of C²."""
        gamma = sheffet_renyi_gamma(self.rows, self.epsilon, self.delta)
        return gamma * self.square_bound if self.variant == "corrected" else gamma
