"""A spline of the distance from the centre: noise of any radial law, rings and shells.

Spherical noise whose length has any law (K-norm and generalised normal noise, Gaussians of a random
scale) has a privacy loss that depends on the distance alone where the centre is the same on both
sides. One number is learned from far fewer draws than two or ten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides
from dpaudit.scoring.models.spline import fit_spline
from dpaudit.scoring.whiten import Whitener


@dataclass(frozen=True, eq=False, repr=False)
class Distance:
    """x ↦ the length of its whitened coordinates, (m, k) → (m, 1)."""

    whiten: Whitener

    def __call__(self, x: Array) -> Array:
        """The distances of rows (m, k)."""
        z = self.whiten(x)
        return np.sqrt(np.einsum("ij,ij->i", z, z))[:, None]

    def sides(self, sides: Sides) -> Sides:
        """The distances of both sides."""
        return Sides(self(sides.P), self(sides.Q))


def fit_radial(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score | None:
    """Log-odds by a spline of the distance from the columns' medians, in whitened coordinates."""
    distance = Distance(Whitener.fit(train.P, train.Q))
    score = fit_spline(distance.sides(train), distance.sides(choose), seed)
    return None if score is None else lambda x: score(distance(x))
