"""Logistic regression by least squares on a noisy sketch: paper 3, section 5.2 and appendix G."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import chebyshev

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.laws import StudentRows, StudentT
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.joint_spectrum import JointSpectrumAlgorithm
from dpaudit.papers.paper_3.linear_mixing import LinearMixing
from dpaudit.papers.paper_3.gauss_mix import check_budget


@dataclass(frozen=True)
class LogisticMixing(JointSpectrumAlgorithm):
    """−b₁/(2b₂) times LinearMixing's θ with the labels ±1, for ln σ(s) ≈ b₀ + b₁s + b₂s² on [−Q, Q]
    (appendix G).

    Scaled after the sketch, so that the label bound is C_Y = 1. Section 5.2 hands the labels
    −b₁/(2b₂)·y to algorithm 2 instead, of which 1 is no bound: |b₁/(2b₂)| is 2 for Q → 0 and more
    beyond.

    Parameters
    ----------
    rows : k ≥ p, number of mixtures.
    epsilon, delta : the budget, ε > 0 in nats.
    row_bound : C_X > 0, public bound on ‖x_i‖.
    radius : Q > 0, half the length of the interval on which the loss is fitted by Chebyshev's
        weights.
    variant, sampler : as of `LinearMixing`.

    Output: (size, p). Raises `InvalidInput` for labels other than −1 and 1 (a zeroed row may have
    0).
    """

    rows: int
    epsilon: float
    delta: float
    row_bound: float = 1.0
    radius: float = 4.0
    variant: str = "printed"
    sampler: str = "sufficient"
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
        self.check_variant()
        check_budget(self.rows, self.epsilon, self.delta)
        check.real("row_bound", self.row_bound, 0.0, open_=True)
        check.real("radius", self.radius, 0.0, open_=True)

    @property
    def linear(self) -> LinearMixing:
        """What is scaled."""
        return LinearMixing(
            self.rows, self.epsilon, self.delta, self.row_bound, 1.0, self.variant, self.sampler
        )

    @property
    def scale(self) -> float:
        """−b₁/(2b₂)."""
        _, slope, bend = surrogate(self.radius)
        return -0.5 * slope / bend

    @property
    def claim(self) -> Claim:
        """Theorem 2, by post-processing."""
        return Claim(self.epsilon, self.delta)

    def law(self, data: Array) -> StudentT:
        law = self.linear.law(_signs(data))
        return StudentT(self.scale * law.mean, law.root / self.scale, law.dof)

    def zeroed_rows(self, data: Array) -> StudentRows:
        return self.linear.zeroed_rows(_signs(data))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.scale * self.linear.run(_signs(data), size, rng)

    def joint_spectrum(self, pair: NeighbourPair, epsilon: Any) -> Spectrum:
        return self.linear.joint_spectrum(pair, epsilon)

    def pair(self) -> NeighbourPair:
        """As many labels of 1 as of −1 with small features, which make λ_min; the row (C_X, 1) is
        zeroed.
        """
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
    """(b₀, b₁, b₂): least squares of −ln(1 + e^{−s}) on [−Q, Q] in Chebyshev's weight, degree 2; b₁
    = ½, b₂ < 0.
    """
    nodes = radius * np.cos(np.pi * (np.arange(64) + 0.5) / 64)
    fit = chebyshev.chebfit(nodes / radius, -np.logaddexp(0.0, -nodes), 2)
    value, slope, bend = chebyshev.cheb2poly(fit)
    return float(value), float(slope / radius), float(bend / radius**2)


def _signs(data: Array) -> Array:
    label = check.matrix("data", data, min_columns=2)[:, -1]
    unknown = ~np.isin(label, (-1.0, 1.0)) & np.any(data != 0.0, axis=1)
    if unknown.any():
        fail("data", float(label[unknown][0]), "labels of -1 and 1 in the last column")
    return data
