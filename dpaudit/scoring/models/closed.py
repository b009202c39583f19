"""Closed-form scores: the log-ratio of two Gaussians, and logistic corrections of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.scoring.base import Score, Sides
from dpaudit.scoring.models.correction import fit_correction
from dpaudit.scoring.structure import RIDGE, Coordinates, Moments, Structure, full
from dpaudit.scoring.whiten import Whitener

FARTHEST = 1e9  # squared Mahalanobis distance beyond which two sides are simply apart
LINK_DRAWS = 100_000  # a side, for the numbers of a correction
WORK = 2e8  # rows × features² of one Newton step of the quadratic logistic
FEWEST = 10  # rows a feature, below which it is not tried


@dataclass(frozen=True, eq=False)
class Quadratic:
    """log N(x; gap/2, 1 − excess/2) − log N(x; −gap/2, 1 + excess/2), axis by axis."""

    coordinates: Coordinates
    gap: Array
    excess: Array  # eigenvalues, inside (−2, 2)

    @classmethod
    def of(cls, moments: Moments) -> Quadratic:
        value, axes = np.linalg.eigh(moments.excess)
        value = np.clip(value, -2.0 + RIDGE, 2.0 - RIDGE)
        return cls(moments.coordinates.turned(axes), axes.T @ moments.gap, value)

    def distances(self, x: Array) -> tuple[Array, Array]:
        """Squared Mahalanobis distances from either side's mean by its own covariance."""
        z = self.coordinates(x)
        return (
            (z - 0.5 * self.gap) ** 2 @ (1.0 / (1.0 - 0.5 * self.excess)),
            (z + 0.5 * self.gap) ** 2 @ (1.0 / (1.0 + 0.5 * self.excess)),
        )

    def __call__(self, x: Array) -> Array:
        """½(d_Q − d_P) + ½ ln(det Σ_Q/det Σ_P), the squares multiplied out: one pass over the
        coordinates.
        """
        z = self.coordinates(x)
        p, q = 1.0 / (1.0 - 0.5 * self.excess), 1.0 / (1.0 + 0.5 * self.excess)
        linear = z @ (0.5 * (p + q) * self.gap)
        constant = 0.125 * (q - p) @ self.gap**2 + np.sum(np.arctanh(0.5 * self.excess))
        return np.square(z, out=z) @ (0.5 * (q - p)) + linear + constant

    def __len__(self) -> int:
        return len(self.gap)


def fit_quadratic(train: Sides, structure: Structure = full) -> Quadratic:
    """The Gaussian log-ratio that a structure of the moments gives, from all training draws."""
    return Quadratic.of(structure(Moments.fit(train, Whitener.fit(train.P, train.Q))))


def fit_elliptical(train: Sides, choose: Sides, base: Quadratic) -> Score:
    """A correction in the two Mahalanobis distances and their logs: Gaussian and Student pairs are
    of this form.

    A multivariate t pair has loss c + a·ln(1 + d_Q²/ν) − a·ln(1 + d_P²/ν); several ν span the
    unknown one.
    """

    def features(x: Array) -> Array:
        p, q = (np.minimum(distance, FARTHEST) for distance in base.distances(x))
        logs = [np.log1p(d / (len(base) * nu)) for nu in (0.3, 3.0, 30.0) for d in (p, q)]
        return np.column_stack([q - p, *logs, p])

    return fit_correction(base, features, train.head(LINK_DRAWS), choose)


def fit_logistic(train: Sides, choose: Sides, base: Quadratic) -> Score | None:
    """A correction in linear, square and interaction features of the coordinates; None with too few
    draws for it.
    """
    size = len(base)
    rows, columns = np.triu_indices(size)
    draws = min(len(train.P), LINK_DRAWS, int(WORK / (size + len(rows)) ** 2))
    if 2 * draws < FEWEST * (size + len(rows)):
        return None

    def features(x: Array) -> Array:
        z = base.coordinates(x)
        return np.concatenate([z, z[:, rows] * z[:, columns]], axis=1)

    return fit_correction(base, features, train.head(draws), choose)
