"""Whitening: raw outputs may differ in scale by 1e7 and be nearly collinear; no score should see that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._check import Array

SAMPLE = 100_000  # draws a side that fix the coordinates
CLIP = 6.0  # robust units: heavy tails do not set the scale
SMALLEST = 1e-10  # share of the largest variance below which a direction is constant in both laws


@dataclass(frozen=True, eq=False)
class Whitener:
    """x ↦ (x − centre)·turn, with covariance about I for both sides together; constant directions are dropped.

    The sides' gap counts as variance: a direction that is constant within each side but not between them stays.
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
        clipped = np.clip((pooled - centre)[:, live] / scale[live], -CLIP, CLIP)
        value, vector = np.linalg.eigh(np.atleast_2d(np.cov(clipped, rowvar=False, ddof=0)))
        keep = value > SMALLEST * value[-1] if value[-1] > 0 else np.ones(len(value), dtype=bool)
        turn = np.zeros((P.shape[1], int(keep.sum())))
        turn[live] = vector[:, keep] / np.sqrt(np.where(value[keep] > 0, value[keep], 1.0)) / scale[live, None]
        return cls(centre, turn)

    def __call__(self, x: Array) -> Array:
        return (x - self.centre) @ self.turn


def _spread(centred: Array) -> Array:
    """Half the interquartile range; the standard deviation where at least half of the values are equal."""
    low, high = np.quantile(centred, [0.25, 0.75], axis=0)
    return np.where(high > low, 0.7413 * (high - low), centred.std(axis=0))
