"""Whitening: columns of any scale, nearly collinear ones too, become uncorrelated of unit scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.linalg import ascending_columns
from dpaudit._core.types import Array

# numbers a side, in at most so many draws, from which the coordinates are computed
NUMBERS, SAMPLE = 2_000_000, 20_000
CLIP = 6.0  # robust units at which values are clipped, so that heavy tails do not set the scale
# share of the largest variance below which a direction counts as constant within the sides
SMALLEST = 1e-10
GAP = 1e-7  # robust units; a larger distance between the sides' means is more than rounding
NARROWEST = 2.0**-1000  # a smaller scale would make 1/scale infinite


@dataclass(frozen=True, eq=False, repr=False)
class Whitener:
    """x ↦ (x − centre)·matrix, (m, k) → (m, k'), with average covariance within the sides near I.

    Directions that are constant within both sides are dropped, but for the one along which the
    sides lie apart: its coordinate is −½ on one side and ½ on the other.

    least : the smallest eigenvalue of the covariance of columns of unit scale, as a share of the
        largest; 0 where directions were dropped.
    """

    centre: Array
    matrix: Array
    least: float = 0.0

    @classmethod
    def fit(cls, P: Array, Q: Array) -> Whitener:
        """From draws (n, k) of both sides."""
        P, Q = _sample(P, Q)
        centre, scale = units(P, Q)
        live = scale > 0.0
        if not live.any():
            return cls(centre, np.zeros((P.shape[1], 1)))
        sides = [np.clip((side - centre)[:, live] / scale[live], -CLIP, CLIP) for side in (P, Q)]
        coordinates, least = _axes(*sides)
        matrix = np.zeros((P.shape[1], coordinates.shape[1]))
        matrix[live] = coordinates / scale[live, None]
        return cls(centre, matrix, least)

    def __call__(self, x: Array) -> Array:
        """The coordinates of rows (m, k)."""
        # a matrix product would round a row alone otherwise than among others
        return np.einsum("ij,jk->ik", x - self.centre, self.matrix)

    def rounded(self, x: Array) -> Array:
        """The same, faster, where the last digits of a row may depend on the rows beside it."""
        return np.asarray((x - self.centre) @ self.matrix)


def _sample(P: Array, Q: Array) -> tuple[Array, Array]:
    """The first draws of both sides, fewer of wide rows."""
    few = min(SAMPLE, NUMBERS // max(P.shape[1], 1))
    return P[:few], Q[:few]


def units(P: Array, Q: Array) -> tuple[Array, Array]:
    """Each column's median and scale, (k,), from the first draws (n, k) of both sides.

    The scale is 0.7413 interquartile ranges, the standard deviation of a Gaussian; the sample's
    standard deviation where the interquartile range is 0; 0 where the column is constant.
    """
    pooled = np.concatenate(_sample(P, Q))
    columns = ascending_columns(pooled)  # their quantiles take half as long
    low, centre, high = np.quantile(columns, [0.25, 0.5, 0.75], axis=1)
    spread, narrow = 0.7413 * (high - low), high <= low
    spread[narrow] = (pooled[:, narrow] - centre[narrow]).std(axis=0)
    return centre, np.where(spread > 0.0, np.maximum(spread, NARROWEST), 0.0)


def _axes(P: Array, Q: Array) -> tuple[Array, float]:
    """Columns that whiten within the sides, and one along the gap in what is constant within.

    Also the smallest eigenvalue as a share of the largest, 0 where some are left out.
    """
    inner = 0.5 * sum(np.atleast_2d(np.cov(side, rowvar=False, ddof=0)) for side in (P, Q))
    value, vector = np.linalg.eigh(inner)
    keep = value > SMALLEST * max(value[-1], GAP)
    axes = vector[:, keep] / np.sqrt(value[keep])
    flat = vector[:, ~keep]
    gap = flat.T @ (P.mean(axis=0) - Q.mean(axis=0))
    if np.linalg.norm(gap) > GAP:
        axes = np.column_stack([axes, flat @ gap / (gap @ gap)])
    least = float(value[0] / value[-1]) if keep.all() else 0.0
    return (axes if axes.shape[1] else np.zeros((len(value), 1))), least
