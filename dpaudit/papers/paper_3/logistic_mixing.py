"""Logistic regression by least squares on a noisy sketch: paper 3, section 5.2 and appendix G."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.polynomial import chebyshev

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.spectrum import Spectrum
from dpaudit.laws import StudentT, ZeroedRows
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.data import check_signs
from dpaudit.papers.joint_spectrum import JointSpectrumAlgorithm
from dpaudit.papers.paper_3.linear_mixing import LinearMixing


@dataclass(frozen=True)
class LogisticMixing(JointSpectrumAlgorithm):
    """Logistic regression: −b₁/(2b₂) times LinearMixing's θ with the labels ±1 (appendix G).

    ln σ(s) ≈ b₀ + b₁s + b₂s² on [−Q, Q]. The scaling follows the sketch, as in appendix G, so the
    label bound is C_Y = 1. Output: (size, p).

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
    radius : float > 0, default 4
        Q; the loss is fitted on [−Q, Q], with Chebyshev's weight.
    variant : {"printed", "corrected"}, default "printed"
        As of `LinearMixing`.
    sampler : {"sufficient", "literal"}, default "sufficient"
        As of `LinearMixing`.

    Raises
    ------
    InvalidInput
        When a parameter is not as described, also for labels other than −1 and 1 (a row of zeros
        may have 0).
    """

    rows: int
    epsilon: float
    delta: float
    row_bound: float = 1.0
    radius: float = 4.0
    variant: str = "printed"
    sampler: str = "sufficient"
    regression: ClassVar[bool] = True
    paper: ClassVar[int] = 3
    statement: ClassVar[str] = "section 5.2, appendix G"
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "zero-out"
    summary: ClassVar[str] = (
        "logistic regression by a quadratic loss on a noisy sketch (paper 3, section 5.2)"
    )
    unknown: ClassVar[str] = LinearMixing.unknown
    correction: ClassVar[str] = LinearMixing.correction

    def __post_init__(self) -> None:
        self.check_budget()
        check.integer("rows", self.rows, 1)
        check.real("radius", self.radius, 0.0, open_=True)

    @property
    def linear(self) -> LinearMixing:
        """Algorithm 2, whose solution is then scaled."""
        return LinearMixing(
            self.rows, self.epsilon, self.delta, self.row_bound, 1.0, self.variant, self.sampler
        )

    @property
    def scale(self) -> float:
        """−b₁/(2b₂)."""
        _, slope, bend = surrogate(self.radius)
        return -0.5 * slope / bend

    def law(self, data: Array) -> StudentT:
        """LinearMixing's law, scaled. Raises `NoExactSpectrum` where LinearMixing does."""
        law = self.linear.known(check_signs(data)).law(data)
        return StudentT(self.scale * law.mean, law.root / self.scale, law.dof)

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        """LinearMixing's: scaling does not change the spectrum."""
        return self.linear.zeroed_rows(check_signs(data))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Scaled least squares solutions, (size, p)."""
        return self.scale * self.linear.run(check_signs(data), size, rng)

    def joint_spectrum(self, pair: NeighbourPair, epsilon: ArrayLike) -> Spectrum:
        """LinearMixing's: scaling does not change the spectrum."""
        return self.linear.joint_spectrum(pair, epsilon)

    def pair(self) -> NeighbourPair:
        """Rows with small features, half of each label, which make λ_min; (C_X, 1) is zeroed."""
        eigenvalue = self.linear.mixing.worst_eigenvalue
        square = 1.0 + self.row_bound**2
        count = int(np.ceil(max(eigenvalue * square, 2.0) / 2.0)) * 2
        feature = min(np.sqrt(eigenvalue * square / count), self.row_bound)
        label = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
        rows = np.column_stack([np.full(count, feature), label])
        return NeighbourPair(
            np.vstack([[self.row_bound, 1.0], rows]), np.vstack([[0.0, 0.0], rows]), "zero-out", 0
        )


def surrogate(radius: float) -> tuple[float, float, float]:
    """(b₀, b₁, b₂), the parabola nearest to −ln(1 + e^{−s}) on [−Q, Q], Q = `radius`.

    Nearest in least squares with Chebyshev's weight; b₁ = ½ and b₂ < 0.
    """
    nodes = radius * np.cos(np.pi * (np.arange(64) + 0.5) / 64)
    fit = chebyshev.chebfit(nodes / radius, -np.logaddexp(0.0, -nodes), 2)
    value, slope, bend = chebyshev.cheb2poly(fit)
    return float(value), float(slope / radius), float(bend / radius**2)
