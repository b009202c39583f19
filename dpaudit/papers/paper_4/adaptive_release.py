"""What paper 4's algorithms 2 and 5 share: a private estimate of σ_min(AᵀA) sets w and r.

Part of the budget pays for the estimate. A large estimate saves padding w, or allows more rows r.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.linalg import factorise, padded
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.spectrum import Curve, Spectrum
from dpaudit.errors import DegenerateData
from dpaudit.exact import PrivacyLoss
from dpaudit.exact.adaptive import FirstRelease, adaptive_curve
from dpaudit.exact.pairs import dispatch
from dpaudit.laws import GaussianRows
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.data import within
from dpaudit.papers.paper_4 import random_moments
from dpaudit.papers.paper_4.matrix_release import MatrixRelease, Moments, axis_rows
from dpaudit.papers.paper_4.printed import theorem_3_1_padding

MOST_ROWS = 10_000  # of a pair, on one axis
MOST_SKETCHED = 10**12  # rows of a sketch


class AdaptiveRelease(MatrixRelease):
    """A Wishart or inverse-Wishart draw about AᵀA + w²I, with w and r set by λ.

    λ is σ_min(AᵀA) plus Laplace noise, less a slack. inverted : an inverse-Wishart draw.
    """

    unknown: ClassVar[str] = (
        "its scale depends on a private σ_min that is not released (`joint_spectrum` bounds it)"
    )
    inverted: ClassVar[bool]

    @property
    def least(self) -> int:
        """The least number of rows or degrees of freedom, r₀."""
        raise NotImplementedError

    def scaled(self, draws: Array, rows: np.ndarray) -> Array:
        """The release from draws (size, k) with `rows` rows each, (size,)."""
        return draws

    @property
    def noise(self) -> float:
        """2B²/ε, the scale of the Laplace noise on σ_min(AᵀA)."""
        return 2.0 * self.row_bound**2 / self.epsilon

    @property
    def slack(self) -> float:
        """(2B²/ε)·ln(1/δ), which the noise exceeds with probability δ/2."""
        return self.noise * math.log(1.0 / self.delta)

    @property
    def most_padding(self) -> float:
        """w₀², by theorem 3.1 (and 5.1) at half of the budget and r₀ rows."""
        epsilon, delta = 0.5 * self.epsilon, 0.5 * self.delta
        return theorem_3_1_padding(self.row_bound, self.least, epsilon, delta) ** 2

    def settings(self, estimate: ArrayLike) -> tuple[Array, np.ndarray]:
        """(w², r) for σ_min(AᵀA) + Z, each (m,).

        Either r₀ rows and w² = w₀² − λ, or w = 0 and the largest r with √(2rL) ≤ λε/8B² − L.
        """
        bound = np.maximum(np.asarray(estimate, dtype=np.float64) - self.slack, 0.0)
        log = math.log(8.0 / self.delta)
        room = np.maximum(0.125 * bound * self.epsilon / self.row_bound**2 - log, 0.0)
        rows = np.minimum(room**2 / (2.0 * log) * (1.0 + 1e-12), MOST_SKETCHED).astype(np.int64)
        return np.maximum(self.most_padding - bound, 0.0), np.maximum(rows, self.least)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Upper triangles, (size, d(d + 1)/2)."""
        values, axes = random_moments.axes_of(self._within(data))
        padding, rows = self.chosen(float(values[-1]), size, rng)
        if self.sampler == "literal":
            return self._literal(data, padding, rows, rng)
        return self._given_settings(values, axes, padding, rows, rng)

    def of_moments(self, moments: Moments, size: int, rng: np.random.Generator) -> Array:
        """Upper triangles for data with these moments."""
        values, axes = moments.axes
        return self._given_settings(values, axes, *self.chosen(float(values[-1]), size, rng), rng)

    def chosen(
        self, eigenvalue: float, size: int, rng: np.random.Generator
    ) -> tuple[Array, np.ndarray]:
        """(w², r) of each draw, for data with σ_min(AᵀA) = `eigenvalue`."""
        return self.settings(eigenvalue + rng.laplace(0.0, self.noise, size))

    def _given_settings(
        self, values: Array, axes: Array, padding: Array, rows: np.ndarray, rng: np.random.Generator
    ) -> Array:
        spread = values + padding[:, None]
        return self.scaled(
            random_moments.scatter_draws(spread, axes, rows, rng, inverse=self.inverted), rows
        )

    def _literal(
        self, data: Array, padding: Array, rows: np.ndarray, rng: np.random.Generator
    ) -> Array:
        """Draw by draw, from Gaussian rows as the definition of the law has them."""
        upper = np.triu_indices(data.shape[1])
        draw = random_moments.literal_inverse if self.inverted else random_moments.literal_gram
        drawn = [
            draw(padded(data, math.sqrt(square)), int(count), rng)[upper]
            for square, count in zip(padding, rows, strict=True)
        ]
        return self.scaled(np.array(drawn), rows)

    def _within(self, data: Array) -> Array:
        if self.least <= data.shape[1]:
            name = "min_dof" if self.inverted else "min_rows"
            fail(name, self.least, f"more than {data.shape[1]}, the columns")
        return within(data, self.row_bound)

    def joint_spectrum(self, pair: NeighbourPair, epsilon: ArrayLike) -> Spectrum:
        """Exact δ(ε) of λ and the matrix together, on any pair: an upper bound of the matrix's own.

        epsilon : scalar or (m,), nats. r is an integer, so the integrand over λ has steps: where r
        is large, the quadrature errs by about 1/r₀² of δ. Raises `InvalidInput` for rows beyond
        the bound.
        """
        sides = [self._within(side) for side in (pair.left, pair.right)]
        left, right = (float(random_moments.axes_of(side)[0][-1]) for side in sides)
        known: dict[tuple[float, int], Curve] = {}

        def curve(estimate: float) -> Curve:
            found = self.settings(estimate)
            padding, rows = float(found[0]), int(found[1])
            if (padding, rows) not in known:
                known[padding, rows] = self._given(sides, math.sqrt(padding), rows)
            return known[padding, rows]

        first = FirstRelease.laplace(left, right, self.noise)
        joint = adaptive_curve(first, curve, breaks=(self.slack, self.slack + self.most_padding))
        epsilon = check.epsilon(epsilon)
        law = "a Laplace shift, and Gaussian rows given it"
        return Spectrum.of_directions(epsilon, *joint.delta(epsilon), law).replace(curve=joint)

    def _given(self, sides: list[Array], noise: float, rows: int) -> Curve:
        """The curve of the matrix with w = `noise` and r = `rows`."""
        try:
            left, right = (
                GaussianRows(factorise(padded(side, noise)).root, rows, "gram") for side in sides
            )
        except DegenerateData:
            return PrivacyLoss.disjoint("Gaussian rows pair")
        curve = dispatch.curve(left, right)[0]
        return curve.reversed() if self.inverted and isinstance(curve, PrivacyLoss) else curve

    def pair(self) -> NeighbourPair:
        """AᵀA = (s + B²)·I, and diag(s, s + 2B²) once the row (B, 0) is replaced by (0, B).

        σ_min moves by B². s is such that λ reduces w₀² by half, or by less where half would
        need too many rows.
        """
        square = self.row_bound**2
        size = min(self.slack + 0.5 * self.most_padding, MOST_ROWS * square)
        others = axis_rows((size, size + square), self.row_bound)
        return replace_row(np.vstack([[self.row_bound, 0.0], others]), 0, [0.0, self.row_bound])
