"""Scores of one or two columns: penalised splines, fitted to counts of normal scores."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Sides
from dpaudit.scoring.models.logistic import newton
from dpaudit.scoring.shrink import shrink
from dpaudit.scoring.whiten import Whitener

Counts = tuple[Array, Array]  # of P and of Q in each bin, (bins,) or (bins, bins)


@value_class
class NormalScores:
    """The map of coordinates (m, d) to normal scores of their ranks in the pooled draws, in [0, 1].

    points : for each coordinate, ascending values (t,) and their images (t,); linear between them.
    """

    points: list[tuple[Array, Array]]

    @classmethod
    def fit(cls, P: Array, Q: Array) -> NormalScores:
        """The map from draws (n, d) of both sides.

        Its points are quantiles at equal steps of the normal score. A quantile that occurs at
        several steps is used once, at their middle.
        """
        size, points = constants.NORMAL_SCORES, []
        for pair in zip(P.T, Q.T, strict=True):
            values = np.concatenate(pair)
            top = -ndtri(min(constants.TAIL_DRAWS / len(values), 0.1))
            quantile = np.quantile(values, ndtr(np.linspace(-top, top, size)))
            knots, first, count = np.unique(quantile, return_index=True, return_counts=True)
            points.append((knots, (first + 0.5 * (count - 1)) / (size - 1.0)))
        return cls(points)

    def __call__(self, x: Array) -> Array:
        """The scores, (m, d), of coordinates (m, d)."""
        scores = np.empty(x.shape)
        for place, (knots, unit) in enumerate(self.points):
            order = np.argsort(x[:, place])  # `np.interp` of ascending values is much faster
            scores[order, place] = np.interp(x[order, place], knots, unit)
        return scores


@value_class
class Surface:
    """The score that interpolates a table of log-odds between bins and adds each bin's offset.

    whiten : applied before the normal scores, unless None. table, offset : (bins,) or (bins, bins).
    """

    whiten: Whitener | None
    ranks: NormalScores
    table: Array
    offset: Array

    def __call__(self, x: Array) -> Array:
        """The log-odds, (m,), in nats, of rows (m, k)."""
        places = self.places(x)
        inside = np.clip(places, 0.0, len(self.table) - 1.0)
        below = np.minimum(inside.astype(np.intp), len(self.table) - 2)
        smooth, share = 0.0, inside - below
        for corner in product((0, 1), repeat=places.shape[1]):  # multilinear interpolation
            weight = np.where(corner, share, 1.0 - share).prod(axis=1)
            smooth = smooth + weight * self.table[tuple((below + corner).T)]
        return np.asarray(smooth + self.offset.ravel()[self.bins_of(places)])

    def places(self, x: Array) -> Array:
        """The places of rows (m, k) in units of bins, (m, d)."""
        coordinates = x if self.whiten is None else self.whiten(x)
        return self.ranks(coordinates) * len(self.table) - 0.5

    def bins_of(self, places: Array) -> np.ndarray:
        """The flat index of the bin of each place, (m,)."""
        near = np.clip(np.rint(places), 0, len(self.table) - 1).astype(np.intp)
        return near[:, 0] if near.shape[1] == 1 else near[:, 0] * len(self.table) + near[:, 1]

    def counts(self, sides: Sides) -> Counts:
        """The number of draws of either side in each bin."""
        shape, size = self.table.shape, self.table.size
        p = np.bincount(self.bins_of(self.places(sides.P)), minlength=size)
        q = np.bincount(self.bins_of(self.places(sides.Q)), minlength=size)
        return p.reshape(shape).astype(float), q.reshape(shape).astype(float)


def fit_spline(train: Sides, choose: Sides) -> Surface:
    """Fit log-odds of one or two columns by penalised splines (P-splines: Eilers and Marx 1996).

    Each whitened coordinate becomes its normal score, so tails of any weight look alike. Draws are
    counted in bins. A cubic (tensor) spline with penalised second differences is fitted to the
    counts, its penalty chosen on `choose`. Bins that contradict the spline, as at jumps and at the
    ends of supports, get odds of their own. train, choose : finite rows (encode others first).
    """
    whiten = Whitener.fit(train.P, train.Q) if train.P.shape[1] > 1 else None
    white = train if whiten is None else Sides(whiten(train.P), whiten(train.Q))
    ranks, dimension = NormalScores.fit(white.P, white.Q), white.P.shape[1]
    nothing = np.zeros((constants.SPLINE_BINS[dimension],) * dimension)
    blank = Surface(whiten, ranks, nothing, nothing)
    fitted, checked = blank.counts(train), blank.counts(choose)
    table = _supported(_smooth_odds(fitted, checked), fitted)
    own, gain = shrink(fitted[0].ravel(), fitted[1].ravel(), table.ravel())
    offset = own.reshape(table.shape) - table
    if gain < constants.BIN_GAIN or _loss(table + offset, checked) > _loss(table, checked):
        offset = nothing
    return Surface(whiten, ranks, table, offset)


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
