"""The likeliest patch of an image: a view where P has a pattern that may be at any of many places.

The model of a row x of P is that of a row of Q in which a pattern δ was added at one place j, with
probability π_j. Of whitened rows the log-ratio of the two laws is about log Σ_j π_j exp(δ·x_j − ½
δ·δ), where x_j is the patch at j less its mean in Q. The place is not known, so δ and π are fitted
by expectation maximisation (Dempster, Laird & Rubin 1977). Regressions on pixels need a direction
for each place, this one pattern for all.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Sides


@value_class
class LikeliestPatch:
    """The log of the likelihood ratio that a pattern was added.

    size : pixels a side of the image. matrix, mean : (k, k) and (k,), which whiten rows. margin :
    pixels of 0 that are added around the image. pattern : δ, (patch, patch). odds : log π_j − ½
    δ·δ, (places, places).
    """

    size: int
    matrix: Array
    mean: Array
    margin: int
    pattern: Array
    odds: Array

    def __call__(self, x: Array) -> Array:
        """The log-ratio, (n, 1), of rows (n, size²)."""
        images = _images(x, self.size, self.matrix, self.mean, self.margin)
        terms = _correlation(images, self.pattern).astype(np.float64) + self.odds
        return logsumexp(terms, axis=(1, 2))[:, None]


def fit_patch(train: Sides, size: int) -> LikeliestPatch:
    """The likeliest patch, fitted to rows (n, size²), n > size²; NaN count as 0.

    The inverse covariance of k pixels from 2n draws is too large by the factor 1/(1 − k/2n) on
    average: by 2 at n = k, and with fewer draws a patch is fitted to noise. Rows are whitened by
    the symmetric root of their covariance, which leaves a pattern near its place. A small pattern
    is fitted first, since a large one may start in the wrong place; a larger one with it at the
    centre sees the rest.
    """
    mean = np.nan_to_num(train.Q).mean(axis=0)
    whole = 0.5 * sum(np.cov(np.nan_to_num(side).T) for side in (train.P, train.Q))
    value, vector = np.linalg.eigh(whole)
    floor = constants.WELL_CONDITIONED * value[-1]
    matrix = (vector / np.sqrt(np.maximum(value, floor))) @ vector.T
    delta = np.empty((0, 0))
    for patch, margin, steps, draws in constants.PATCHES:
        p = _images(train.P[:draws], size, matrix, mean, margin)
        places = p.shape[1] - patch + 1
        if len(delta) < patch:
            log_prior = np.full((places, places), -2.0 * np.log(places))
        if len(delta) == 0:
            share = np.full((len(p), places, places), 1.0 / places**2, dtype=np.float32)
            moved = _moved(p, share, patch)
            # the mean shift over all places is faint: one of this length tells places apart
            delta = moved * constants.FIRST_SHIFT / max(float(np.linalg.norm(moved)), 1e-6)
        delta = np.pad(delta, (patch - len(delta)) // 2)
        for _ in range(steps):
            terms = _correlation(p, delta) + (log_prior - 0.5 * np.sum(delta**2)).astype(np.float32)
            total = np.logaddexp(logsumexp(terms, axis=(1, 2)), np.log(constants.NO_PATCH))
            share = np.exp(terms - total[:, None, None])
            weight = share.sum(axis=0)
            log_prior = np.log((weight + 0.5) / (len(p) + 0.5 * weight.size))
            delta = _moved(p, share, patch)
    return LikeliestPatch(size, matrix, mean, margin, delta, log_prior - 0.5 * np.sum(delta**2))


def _images(x: Array, size: int, matrix: Array, mean: Array, margin: int) -> Array:
    """Whitened rows as images, (n, size + 2·margin, size + 2·margin), in single precision."""
    rows = ((np.nan_to_num(x) - mean) @ matrix).astype(np.float32)
    edges = ((0, 0), (margin, margin), (margin, margin))
    return np.pad(rows.reshape(-1, size, size), edges)


def _correlation(images: Array, pattern: Array) -> Array:
    """The product of the pattern with each patch of images (n, s, s): (n, places, places)."""
    places = images.shape[1] - len(pattern) + 1
    total = np.zeros((len(images), places, places), dtype=np.float32)
    for (row, column), weight in np.ndenumerate(pattern.astype(np.float32)):
        total += weight * images[:, row : row + places, column : column + places]
    return total


def _moved(images: Array, share: Array, patch: int) -> Array:
    """The mean patch, (patch, patch), if the patch of image i at j counts `share`[i, j] times."""
    places, total = share.shape[1], np.zeros((patch, patch))
    for row, column in np.ndindex(patch, patch):
        part = images[:, row : row + places, column : column + places]
        total[row, column] = np.einsum("ijk,ijk->", share, part)
    return total / share.sum()
