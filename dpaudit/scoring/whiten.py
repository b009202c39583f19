"""Whitening: columns of any scale, nearly collinear ones too, become uncorrelated of unit scale."""

from __future__ import annotations

import numpy as np

from dpaudit._core.linalg import ascending_columns
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants

SMALLEST_SCALE = 2.0**-1000  # a smaller scale would make 1/scale infinite


@value_class
class Whitener:
    """x ↦ (x − centre)·matrix, (m, k) → (m, k'), with average covariance within the sides near I.

    Directions that are constant within both sides are dropped, except for the direction along which
    the sides lie apart: its coordinate is −½ on one side and ½ on the other.
    """

    centre: Array
    matrix: Array

    @classmethod
    def fit(cls, P: Array, Q: Array) -> Whitener:
        """The map that whitens draws (n, k) of both sides, from the first draws."""
        few = _few_draws(P.shape[1])
        P, Q = P[:few], Q[:few]
        centre, scale = units(P, Q)
        live = scale > 0.0
        if not live.any():
            return cls(centre, np.zeros((P.shape[1], 1)))
        # clipped, so that heavy tails do not set the scale
        P = np.clip((P - centre)[:, live] / scale[live], -constants.CLIP, constants.CLIP)
        Q = np.clip((Q - centre)[:, live] / scale[live], -constants.CLIP, constants.CLIP)
        within = np.cov(P, rowvar=False, ddof=0) + np.cov(Q, rowvar=False, ddof=0)
        within = 0.5 * np.atleast_2d(within)
        value, vector = np.linalg.eigh(within)
        varying = value > constants.CONSTANT * max(value[-1], constants.SIDES_APART)
        axes, flat = vector[:, varying] / np.sqrt(value[varying]), vector[:, ~varying]
        gap = flat.T @ (P.mean(axis=0) - Q.mean(axis=0))
        if np.linalg.norm(gap) > constants.SIDES_APART:
            axes = np.column_stack([axes, flat @ gap / (gap @ gap)])
        matrix = np.zeros((len(scale), max(axes.shape[1], 1)))
        matrix[live, : axes.shape[1]] = axes / scale[live, None]
        return cls(centre, matrix)

    def __call__(self, x: Array) -> Array:
        """The coordinates of rows (m, k)."""
        # a matrix product rounds a single row differently from the same row in a batch
        return np.einsum("ij,jk->ik", x - self.centre, self.matrix)

    def rounded(self, x: Array) -> Array:
        """The coordinates, computed faster; their last digits may depend on the other rows of x."""
        return np.asarray((x - self.centre) @ self.matrix)


def _few_draws(columns: int) -> int:
    """How many draws a side set the coordinates; wide rows use fewer draws."""
    return min(constants.WHITENING_DRAWS, constants.WHITENING_NUMBERS // max(columns, 1))


def units(P: Array, Q: Array) -> tuple[Array, Array]:
    """Each column's median and scale, (k,), from the first draws (n, k) of both sides.

    The scale is 0.7413 interquartile ranges, the standard deviation of a Gaussian; the sample's
    standard deviation where the interquartile range is 0; 0 where the column is constant.
    """
    few = _few_draws(P.shape[1])
    pooled = np.concatenate([P[:few], Q[:few]])
    columns = ascending_columns(pooled)  # their quantiles take half as long
    low, centre, high = np.quantile(columns, [0.25, 0.5, 0.75], axis=1)
    spread, narrow = 0.7413 * (high - low), high <= low
    spread[narrow] = (pooled[:, narrow] - centre[narrow]).std(axis=0)
    return centre, np.where(spread > 0.0, np.maximum(spread, SMALLEST_SCALE), 0.0)
