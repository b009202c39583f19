"""Closed-form scores: the log-ratio of two Gaussians, and logistic corrections of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides, rows_at_once
from dpaudit.scoring.models.correction import fit_correction
from dpaudit.scoring.shrink import shrink_normal
from dpaudit.scoring.structure import (
    RIDGE,
    WIDE,
    Coordinates,
    MomentDifference,
    Structure,
    full,
)
from dpaudit.scoring.whiten import Whitener, units

FARTHEST = 1e9  # squared Mahalanobis distance at which distances are clipped
CORRECTION_DRAWS = 100_000  # a side, that fit a correction
CORRECTION_NUMBERS = 4_000_000  # a side, in the draws that fit one of few features
FLAT = 1e-12  # excess along an axis below which only its gap counts
WORK = 2e8  # draws a side × features² of one Newton step of `fit_logistic`, at most
FEWEST = 10  # draws a feature, below which `fit_logistic` does not apply


@dataclass(frozen=True, eq=False, repr=False)
class Quadratic:
    """log N(x; gap/2, 1 − excess/2) − log N(x; −gap/2, 1 + excess/2), summed over axes.

    coordinates : of which the axes are those of the excess. gap, excess : (k,), along the axes.
    """

    coordinates: Coordinates
    gap: Array
    excess: Array  # inside (−2, 2), where both variances are positive

    @classmethod
    def of(cls, moments: MomentDifference) -> Quadratic:
        """The log-ratio of the two Gaussians with these moments."""
        value, axes = moments.axes
        value = np.clip(value, -2.0 + RIDGE, 2.0 - RIDGE)
        return cls(moments.coordinates.along(axes), axes.T @ moments.gap, value)

    def distances(self, x: Array) -> tuple[Array, Array]:
        """Squared Mahalanobis distances, (m,) each, from P's and from Q's mean."""
        z = self.coordinates(x)
        return (
            (z - 0.5 * self.gap) ** 2 @ (1.0 / (1.0 - 0.5 * self.excess)),
            (z + 0.5 * self.gap) ** 2 @ (1.0 / (1.0 + 0.5 * self.excess)),
        )

    def __call__(self, x: Array) -> Array:
        """½(d_Q − d_P) + ½ ln(det Σ_Q/det Σ_P) of rows (m, k).

        The squares are multiplied out, so the coordinates are read only once.
        """
        if 2 * np.sum(np.abs(self.excess) < FLAT) > len(self) > WIDE:
            return self._short(x)
        z = self.coordinates(x)
        p, q = 1.0 / (1.0 - 0.5 * self.excess), 1.0 / (1.0 + 0.5 * self.excess)
        linear = z @ (0.5 * (p + q) * self.gap)
        constant = 0.125 * (q - p) @ self.gap**2 + np.sum(np.arctanh(0.5 * self.excess))
        return np.square(z, out=z) @ (0.5 * (q - p)) + linear + constant

    @cached_property
    def _short(self) -> Quadratic:
        """The same score from fewer axes: those of an excess, and one along the gap of the rest."""
        flat = np.abs(self.excess) < FLAT
        rest = np.where(flat, self.gap, 0.0)
        length = max(float(np.linalg.norm(rest)), np.finfo(float).tiny)
        axes = np.column_stack([np.eye(len(self))[:, ~flat], rest / length])
        gap, excess = np.append(self.gap[~flat], length), np.append(self.excess[~flat], 0.0)
        return Quadratic(self.coordinates.along(axes), gap, excess)

    def __len__(self) -> int:
        """The number of coordinates."""
        return len(self.gap)


def fit_quadratic(train: Sides, structure: Structure = full) -> Quadratic:
    """The Gaussian log-ratio of all training draws' moments, or of the part a structure keeps."""
    return Quadratic.of(structure(MomentDifference.fit(train, Whitener.fit(train.P, train.Q))))


def fit_by_column(train: Sides) -> Quadratic:
    """The Gaussian log-ratio of independent columns, with sparse gaps and ratios of variances.

    Each column's gap and excess are shrunk by empirical Bayes on those of all columns
    (`shrink_normal`), for few columns that differ among many.
    """
    centre, scale = units(train.P, train.Q)
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
    scaled = Coordinates(centre, inverse, np.zeros_like(centre))
    (mean_p, var_p), (mean_q, var_q) = (_by_column(side, scaled) for side in (train.P, train.Q))
    inner = 0.5 * (var_p + var_q)
    unit = 1.0 / np.sqrt(inner + RIDGE * (1.0 + inner.mean()))
    coordinates = Coordinates(centre, inverse * unit, 0.5 * (mean_p + mean_q) * unit)
    gap = shrink_normal((mean_p - mean_q) * unit, 2.0 / len(train.P))
    excess = shrink_normal((var_q - var_p) * unit**2, 4.0 / len(train.P))
    return Quadratic(coordinates, gap, np.clip(excess, -2.0 + RIDGE, 2.0 - RIDGE))


def _by_column(x: Array, scaled: Coordinates) -> tuple[Array, Array]:
    """Mean and variance of each scaled column, (k,), a chunk at a time.

    Sums are taken about the mean of the first chunk, so that squares do not cancel.
    """
    step = rows_at_once(x)
    guess = scaled(x[:step]).mean(axis=0)
    first, second = np.zeros_like(guess), np.zeros_like(guess)
    for start in range(0, len(x), step):
        part = scaled(x[start : start + step])
        part -= guess
        first += part.sum(axis=0)
        second += np.einsum("ij,ij->j", part, part)
    mean = first / len(x)
    return guess + mean, second / len(x) - mean**2


def fit_elliptical(train: Sides, choose: Sides, base: Quadratic) -> Score:
    """`base` corrected by the two Mahalanobis distances d and logarithms of them.

    A pair of multivariate t laws has the loss c + a·ln(1 + d_Q²/ν) − a·ln(1 + d_P²/ν); a few ν
    approximate any other. Gaussian pairs are linear in d².
    """

    def features(x: Array) -> Array:
        p, q = (np.minimum(distance, FARTHEST) for distance in base.distances(x))
        logs = [np.log1p(d / (len(base) * nu)) for nu in (0.3, 3.0, 30.0) for d in (p, q)]
        return np.column_stack([q - p, *logs, p])

    draws = min(CORRECTION_DRAWS, CORRECTION_NUMBERS // len(base))
    return fit_correction(base, features, train.head(draws), choose)


def fit_logistic(train: Sides, choose: Sides, base: Quadratic) -> Score | None:
    """`base` corrected by the coordinates, their squares and products; None with too few draws."""
    size = len(base)
    rows, columns = np.triu_indices(size)
    draws = min(len(train.P), CORRECTION_DRAWS, int(WORK / (size + len(rows)) ** 2))
    if 2 * draws < FEWEST * (size + len(rows)):
        return None

    def features(x: Array) -> Array:
        z = base.coordinates(x)
        return np.concatenate([z, z[:, rows] * z[:, columns]], axis=1)

    return fit_correction(base, features, train.head(draws), choose)
