"""Scores of one or two columns: penalised splines, fitted to counts of normal scores."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit._core.types import Array
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides
from dpaudit.scoring.models.logistic import newton
from dpaudit.scoring.shrink import shrink
from dpaudit.scoring.whiten import Whitener

Counts = tuple[Array, Array]  # of P and of Q in each bin, (bins,) or (bins, bins)


def normal_scores(P: Array, Q: Array) -> Score:
    """The map of coordinates (m, d) to normal scores of their ranks in the draws (n, d) of both
    sides, in [0, 1].

    It is linear between quantiles at equal steps of the normal score. A quantile that occurs at
    several steps is used once, at their middle.
    """
    size, points = constants.NORMAL_SCORES, []
    for pair in zip(P.T, Q.T, strict=True):
        values = np.concatenate(pair)
        top = -ndtri(min(constants.TAIL_DRAWS / len(values), 0.1))
        quantile = np.quantile(values, ndtr(np.linspace(-top, top, size)))
        knots, first, count = np.unique(quantile, return_index=True, return_counts=True)
        points.append((knots, (first + 0.5 * (count - 1)) / (size - 1.0)))

    def to_scores(x: Array) -> Array:
        scores = np.empty(x.shape)
        for place, (knots, unit) in enumerate(points):
            order = np.argsort(x[:, place])  # `np.interp` of ascending values is much faster
            scores[order, place] = np.interp(x[order, place], knots, unit)
        return scores

    return to_scores


def fit_spline(train: Sides, choose: Sides) -> Score:
    """Fit log-odds of one or two columns by penalised splines (P-splines: Eilers and Marx 1996).

    Each whitened coordinate becomes its normal score, so tails of any weight look alike. Draws are
    counted in bins. A cubic (tensor) spline with penalised second differences is fitted to the
    counts, its penalty chosen on `choose`; the score interpolates between bins. Bins that
    contradict the spline, as at jumps and at the ends of supports, get odds of their own. train,
    choose : finite rows (encode others first).
    """
    whiten = Whitener.fit(train.P, train.Q) if train.P.shape[1] > 1 else lambda x: x
    white = whiten(train.P), whiten(train.Q)
    ranks, dimension = normal_scores(*white), white[0].shape[1]
    bins = constants.SPLINE_BINS[dimension]
    shape = (bins,) * dimension

    def place_of(x: Array) -> tuple[Array, tuple[np.ndarray, ...]]:
        """The places of rows (m, k) in units of bins, (m, d), and the bin of each."""
        place = ranks(whiten(x)) * bins - 0.5
        return place, tuple(np.clip(np.rint(place), 0, bins - 1).astype(np.intp).T)

    def count(x: Array) -> Array:
        cell = np.ravel_multi_index(place_of(x)[1], shape)
        return np.bincount(cell, minlength=bins**dimension).reshape(shape).astype(float)

    fitted, checked = ((count(side.P), count(side.Q)) for side in (train, choose))
    table = _supported(_smooth_odds(fitted, checked), fitted)
    own, gain = shrink(fitted[0].ravel(), fitted[1].ravel(), table.ravel())
    offset = own.reshape(shape) - table
    if gain < constants.BIN_GAIN or _loss(table + offset, checked) > _loss(table, checked):
        offset = np.zeros(shape)

    def log_odds(x: Array) -> Array:
        place, cell = place_of(x)
        inside = np.clip(place, 0.0, bins - 1.0)
        below = np.minimum(inside.astype(np.intp), bins - 2)
        smooth, share = 0.0, inside - below
        for corner in product((0, 1), repeat=dimension):  # multilinear interpolation
            weight = np.where(corner, share, 1.0 - share).prod(axis=1)
            smooth = smooth + weight * table[tuple((below + corner).T)]
        return np.asarray(smooth + offset[cell])

    return log_odds


def _loss(table: Array, counts: Counts) -> float:
    """The mean logistic loss of the bins' log-odds on counts, nats a draw."""
    p, q = counts
    return float(
        np.sum(p * np.logaddexp(0.0, -table) + q * np.logaddexp(0.0, table)) / (p.sum() + q.sum())
    )


def _smooth_odds(fitted: Counts, checked: Counts) -> Array:
    """The log-odds of each bin, by the penalty with the least loss on `checked`.

    Penalties are tried from the heaviest on; the first is compared with log-odds of 0. The penalty
    is the sum of squared second differences of neighbouring coefficients.
    """
    shape = fitted[0].shape
    dimension, bins = len(shape), shape[0]
    segments = constants.SPLINE_SEGMENTS[dimension]
    design = _cubic_basis((np.arange(bins) + 0.5) / bins, segments)
    second = np.diff(np.eye(design.shape[1]), n=2, axis=0)
    rough = second.T @ second
    if dimension == 2:
        same = np.eye(len(rough))
        design, rough = np.kron(design, design), np.kron(rough, same) + np.kron(same, rough)
    p, q = fitted[0].ravel(), fitted[1].ravel()
    live, draws = p + q > 0.0, p.sum() + q.sum()
    best, least = np.zeros(shape), float(np.log(2.0))
    weights = np.zeros(design.shape[1])
    settled = constants.PENALTY_GAIN / (checked[0].sum() + checked[1].sum())
    for penalty in constants.SPLINE_PENALTIES[::-1]:
        stiffness = penalty * rough + constants.SPLINE_RIDGE * np.eye(len(rough))
        weights = newton(
            design[live],
            p[live],
            q[live],
            stiffness,
            start=weights,
            gain=constants.GAIN_PER_DRAW * draws,
            steps=30,
        ).weights
        table = (design @ weights).reshape(shape)
        loss = _loss(table, checked)
        if loss < least - settled:
            best, least = table, loss
    return best


def _cubic_basis(x: Array, segments: int) -> np.ndarray:
    """The cubic B-splines of equal segments of [0, 1] at x in [0, 1), (n,): (n, segments + 3).

    Four of them are not 0 at a point; these are their polynomials in its place t in its segment.
    """
    start = np.floor(x * segments).astype(int)
    t, basis = x * segments - start, np.zeros((len(x), segments + 3))
    rest = 1.0 - t
    shapes = rest**3, 4.0 - 3.0 * t**2 * (1.0 + rest), 4.0 - 3.0 * rest**2 * (1.0 + t), t**3
    for shift, shape in enumerate(shapes):
        basis[np.arange(len(x)), start + shift] = shape / 6.0
    return basis


def _supported(table: Array, counts: Counts) -> Array:
    """The table of log-odds, clipped to the range that the counts support.

    The upper end is the largest log-odds of the total counts in any set of its highest bins, and
    the lower end the least in any set of its lowest bins. Where one side has no draws the spline
    grows towards infinity, and its ends would rank above bins with better evidence.
    """
    order = np.argsort(table, axis=None)
    p, q = counts[0].ravel()[order], counts[1].ravel()[order]
    lowest = np.min(np.log((np.cumsum(p) + 0.5) / (np.cumsum(q) + 0.5)))
    highest = np.max(np.log((np.cumsum(p[::-1]) + 0.5) / (np.cumsum(q[::-1]) + 0.5)))
    return np.clip(table, min(lowest, 0.0), max(highest, 0.0))
