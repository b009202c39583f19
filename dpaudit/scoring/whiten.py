"""Whitening: raw outputs may differ in scale by 1e7 and be nearly collinear; no score should see
that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array

SAMPLE = 20_000  # draws a side that fix the coordinates
CLIP = 6.0  # robust units: heavy tails do not set the scale
# share of the largest variance below which a direction is constant within the sides
SMALLEST = 1e-10
GAP = 1e-7  # robust units between the sides' means that are no rounding


@dataclass(frozen=True, eq=False)
class Whitener:
    """x ↦ (x − centre)·turn, with average covariance within the sides about I.

    Directions that are constant within both sides are dropped, but for the one along which the
    sides lie apart: its coordinate is −½ or ½ by side.
    """

    centre: Array
    turn: Array

    @classmethod
    def fit(cls, P: Array, Q: Array) -> Whitener:
        P, Q = P[:SAMPLE], Q[:SAMPLE]
        pooled = np.concatenate([P, Q])
        centre = np.median(pooled, axis=0)
        scale = _spread(pooled - centre)
        live = scale > 0.0
        if not live.any():
            return cls(centre, np.zeros((P.shape[1], 1)))
        sides = [np.clip((side - centre)[:, live] / scale[live], -CLIP, CLIP) for side in (P, Q)]
        coordinates = _axes(*sides)
        turn = np.zeros((P.shape[1], coordinates.shape[1]))
        turn[live] = coordinates / scale[live, None]
        return cls(centre, turn)

    @classmethod
    def scaling(cls, P: Array, Q: Array) -> Whitener:
        """Columns stay themselves, of about unit scale; constant ones become 0."""
        pooled = np.concatenate([P[:SAMPLE], Q[:SAMPLE]])
        centre = np.median(pooled, axis=0)
        scale = _spread(pooled - centre)
        return cls(
            centre, np.diag(np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0))
        )

    def __call__(self, x: Array) -> Array:
        return (x - self.centre) @ self.turn


def _spread(centred: Array) -> Array:
    """Half the interquartile range; the standard deviation where at least half of the values are
    equal.
    """
    low, high = np.quantile(centred, [0.25, 0.75], axis=0)
    return np.where(high > low, 0.7413 * (high - low), centred.std(axis=0))


def _axes(P: Array, Q: Array) -> Array:
    """Columns that whiten within the sides, and one along their gap in what is constant there."""
    inner = 0.5 * sum(np.atleast_2d(np.cov(side, rowvar=False, ddof=0)) for side in (P, Q))
    value, vector = np.linalg.eigh(inner)
    keep = value > SMALLEST * max(value[-1], GAP)
    axes = vector[:, keep] / np.sqrt(value[keep])
    flat = vector[:, ~keep]
    gap = flat.T @ (P.mean(axis=0) - Q.mean(axis=0))
    if np.linalg.norm(gap) > GAP:
        axes = np.column_stack([axes, flat @ gap / (gap @ gap)])
    return axes if axes.shape[1] else np.zeros((len(value), 1))
