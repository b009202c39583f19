"""Sketches SD + wξ whose noise w has its own law: their Gram matrices and least squares solutions.

w is drawn anew for each sketch. Given w, a row is N(0, DᵀD + w²I), and the solution is that of a
sketch of [D; wI] (paper 3, equation 52): Student t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.triangular import upper_triangle
from dpaudit._core.types import Array
from dpaudit.laws import bartlett
from dpaudit.laws.base import draw_in_chunks
from dpaudit.papers.data import singular_axes

Noise = Callable[[int, np.random.Generator], Array]  # count → standard deviations w ≥ 0, (count,)


@dataclass(frozen=True, eq=False, repr=False)
class NoisySketch:
    """k = `rows` rows of SD + wξ, S and ξ standard normal, with one w from `noise` for each draw.

    data : (n, d), the label last for least squares solutions.
    """

    data: Array
    rows: int
    noise: Noise

    def literal(self, size: int, rng: np.random.Generator) -> Array:
        """(size, k, d) sketches as printed, k·(n + d) numbers each."""
        n, d = self.data.shape
        out = np.empty((size, self.rows, d))
        for sketch, w in zip(out, self.noise(size, rng), strict=True):
            mixed = rng.standard_normal((self.rows, n)) @ self.data
            sketch[...] = mixed + w * rng.standard_normal((self.rows, d))
        return out

    def sketch(self, size: int, rng: np.random.Generator) -> Array:
        """(size, k·d) sketches, flattened; k·d random numbers each."""
        scale, axes = singular_axes(self.data)
        d = len(axes)

        def draw(count: int) -> Array:
            spread = np.sqrt(scale**2 + self.noise(count, rng)[:, None] ** 2)
            rows = (rng.standard_normal((count, self.rows, d)) * spread[:, None]) @ axes
            return rows.reshape(count, -1)

        return draw_in_chunks(size, self.rows * d, self.rows * d, draw)

    def gram(self, size: int, rng: np.random.Generator) -> Array:
        """(size, d(d+1)/2) upper triangles of the sketches' Gram matrices, by Bartlett factors."""
        scale, axes = singular_axes(self.data)
        d = len(axes)

        def draw(count: int) -> Array:
            spread = np.sqrt(scale**2 + self.noise(count, rng)[:, None] ** 2)
            factor = axes.T @ (spread[:, :, None] * bartlett(count, d, self.rows, rng))
            return upper_triangle(factor @ factor.transpose(0, 2, 1))

        return draw_in_chunks(size, d * (d + 1) // 2, d**2, draw)

    def solution(self, size: int, rng: np.random.Generator) -> Array:
        """(size, p) least squares solutions of the sketch's last column on the other columns.

        p + 1 random numbers each. Raises `InvalidInput` for fewer sketch rows than features.
        """
        solver, p = SketchedSolver.of(self.data), self.data.shape[1] - 1
        self.check_rows(p)
        return draw_in_chunks(
            size, p, p, lambda count: solver.draw(self.noise(count, rng), self.rows, rng)
        )

    def literal_solution(self, size: int, rng: np.random.Generator) -> Array:
        """The same law by solving literal sketches."""
        self.check_rows(self.data.shape[1] - 1)
        sketches = self.literal(size, rng)
        return np.array([np.linalg.lstsq(s[:, :-1], s[:, -1], rcond=None)[0] for s in sketches])

    def check_rows(self, features: int) -> None:
        """Raises `InvalidInput` for fewer sketch rows than features: XᵀX then has no inverse."""
        if self.rows < features:
            fail("rows", self.rows, f"at least the number of features, {features}")


@dataclass(frozen=True, eq=False, repr=False)
class SketchedSolver:
    """Least squares on sketches with noise w: V[su/(s² + w²) + ‖res‖·t/√(s² + w²)].

    X = U·diag(s)·Vᵀ and u = Uᵀy; ‖res‖² = ‖y − Uu‖² + w² + Σu²w²/(s² + w²); t is multivariate
    Student with k − p + 1 degrees of freedom. scale : s. axes : Vᵀ. along : u. rest : ‖y − Uu‖².
    """

    scale: Array
    axes: Array
    along: Array
    rest: float

    @classmethod
    def of(cls, data: Array) -> SketchedSolver:
        """Of (n, p + 1) data, n ≥ p, or of any matrix with the same Gram matrix.

        Raises `InvalidInput` for fewer rows.
        """
        features, label = data[:, :-1], data[:, -1]
        n, p = features.shape
        if n < p:
            fail("data", Words(f"{n} rows"), f"at least as many rows as features, {p}")
        basis, scale, axes = np.linalg.svd(features, full_matrices=False)
        along = basis.T @ label
        return cls(scale, axes, along, float(np.sum((label - basis @ along) ** 2)))

    def draw(self, noise: Array, rows: int, rng: np.random.Generator) -> Array:
        """(m, p), one solution for each w of `noise`, (m,), of sketches of k = `rows` rows."""
        p, square = len(self.scale), noise[:, None] ** 2
        weight = self.scale**2 + square
        inverse = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0.0)
        shrunk = np.sum(self.along**2 * square * inverse, axis=1, keepdims=True)
        residual = self.rest + square + shrunk
        chi = 2.0 * rng.standard_gamma(0.5 * (rows - p + 1), (len(noise), 1))
        spread = np.sqrt(residual * inverse / chi) * rng.standard_normal((len(noise), p))
        return np.asarray((self.scale * self.along * inverse + spread) @ self.axes)


def released(sketches: Array, release: str) -> Array:
    """(size, k, d) sketches flattened, or the upper triangles of their Gram matrices."""
    if release == "sketch":
        return sketches.reshape(len(sketches), -1)
    upper = np.triu_indices(sketches.shape[2])
    return np.asarray((sketches.transpose(0, 2, 1) @ sketches)[:, *upper])
