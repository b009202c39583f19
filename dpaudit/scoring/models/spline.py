"""A smooth score in one or two dimensions that assumes no shape: penalised splines on normal
scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.ndimage import map_coordinates
from scipy.special import ndtr, ndtri

from dpaudit._core.check import Array
from dpaudit.scoring.base import Score, Sides
from dpaudit.scoring.models.logistic import GAIN_PER_DRAW, Regression, Stop, newton
from dpaudit.scoring.shrink import shrink
from dpaudit.scoring.whiten import Whitener

WIDEST = 2  # columns
BINS = {1: 512, 2: 64}  # a dimension
SEGMENTS = {1: 48, 2: 14}
TABLE = 1024  # points of the map to normal scores
TAIL_DRAWS = 5  # pooled draws beyond its last point
PENALTIES = 10.0 ** np.arange(-2.0, 5.0)
RIDGE = 1e-6
GAIN = 5.0  # nats of evidence that a bin's own odds must bring
SETTLED = 2.0  # nats: a weaker penalty must be better by this on the choosing draws to be taken


def fit_spline(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score | None:
    """Log odds by penalised splines (P-splines: Eilers and Marx 1996), or None in more than two
    dimensions.

    Each whitened coordinate becomes its normal score, so tails of any weight look alike; draws are
    counted in bins; a cubic (tensor) spline with penalised second differences is fitted to the
    counts, the penalty chosen on `choose`; where bins contradict the spline (jumps, ends of
    supports) they get odds of their own. NaN is not taken: encode.
    """
    if train.P.shape[1] > WIDEST:
        return None
    whiten = Whitener.fit(train.P, train.Q) if train.P.shape[1] > 1 else None
    ranks = NormalScores.fit(
        *(side if whiten is None else whiten(side) for side in (train.P, train.Q))
    )
    bins = BINS[ranks.dimension]

    def places(x: Array) -> Array:
        return ranks(x if whiten is None else whiten(x)) * bins - 0.5

    fitted, checked = (_counts(places, part, bins) for part in (train, choose))
    table = _supported(_surface(fitted, checked, ranks.dimension), fitted)
    own, gain = shrink(fitted[0].ravel(), fitted[1].ravel(), table.ravel())
    offset = own.reshape(table.shape) - table
    if gain < GAIN or _loss(table + offset, checked) > _loss(table, checked):
        offset = np.zeros_like(table)
    return Surface(places, table, offset)


@dataclass(frozen=True, eq=False)
class NormalScores:
    """Coordinates (m, d) → normal scores of their pooled training ranks, brought to [0, 1]."""

    points: tuple[tuple[Array, Array], ...]

    @classmethod
    def fit(cls, P: Array, Q: Array) -> NormalScores:
        return cls(tuple(_points(np.concatenate(pair)) for pair in zip(P.T, Q.T, strict=True)))

    @property
    def dimension(self) -> int:
        return len(self.points)

    def __call__(self, x: Array) -> Array:
        columns = zip(x.T, self.points, strict=True)
        return np.stack(
            [np.interp(column, knots, unit) for column, (knots, unit) in columns], axis=1
        )


def _points(values: Array) -> tuple[Array, Array]:
    """Quantiles at equal steps of the normal score, each distinct one once, at the middle of its
    steps.
    """
    top = -ndtri(min(TAIL_DRAWS / len(values), 0.1))
    scores = np.linspace(-top, top, TABLE)
    quantile = np.quantile(values, ndtr(scores))
    knots, first, count = np.unique(quantile, return_index=True, return_counts=True)
    return knots, (first + 0.5 * (count - 1)) / (TABLE - 1.0)


def _bin(places: Array, bins: int) -> np.ndarray:
    """Flat number of the bin of each row."""
    near = np.clip(np.rint(places), 0, bins - 1).astype(np.intp)
    return near[:, 0] if near.shape[1] == 1 else near[:, 0] * bins + near[:, 1]


def _counts(places: Score, sides: Sides, bins: int) -> tuple[Array, Array]:
    found = [places(side) for side in (sides.P, sides.Q)]
    shape = (bins,) * found[0].shape[1]
    p, q = (
        np.bincount(_bin(x, bins), minlength=bins ** len(shape)).reshape(shape).astype(float)
        for x in found
    )
    return p, q


@dataclass(frozen=True, eq=False)
class Surface:
    """A table of log odds, linear between bins, and what single bins add to it."""

    places: Score
    table: Array
    offset: Array

    def __call__(self, x: Array) -> Array:
        at = self.places(x)
        smooth = map_coordinates(self.table, at.T, order=1, mode="nearest")
        return np.asarray(smooth + self.offset.ravel()[_bin(at, len(self.table))])


def _loss(table: Array, counts: tuple[Array, Array]) -> float:
    """Mean logistic loss of the bins' odds on counts, nats a draw."""
    p, q = counts
    return float(
        np.sum(p * np.logaddexp(0.0, -table) + q * np.logaddexp(0.0, table)) / (p.sum() + q.sum())
    )


def _surface(fitted: tuple[Array, Array], checked: tuple[Array, Array], dimension: int) -> Array:
    """The log odds of each bin under the penalty with the least loss on `checked`, from none at all
    to pliant ones.
    """
    bins, segments = BINS[dimension], SEGMENTS[dimension]
    basis, rough = _basis(bins, segments)
    design: np.ndarray = basis
    penalty: np.ndarray = rough
    if dimension == 2:
        design = np.kron(basis, basis)
        penalty = np.kron(rough, np.eye(len(rough))) + np.kron(np.eye(len(rough)), rough)
    p, q = (count.ravel() for count in fitted)
    live = p + q > 0.0
    best: Array = np.zeros(bins**dimension)
    weights: Array = np.zeros(design.shape[1])
    least = float(np.log(2.0))
    settled = SETTLED / sum(count.sum() for count in checked)
    stop = Stop(GAIN_PER_DRAW * (p.sum() + q.sum()), steps=30, halvings=10)
    for strength in PENALTIES[::-1]:
        stiff = strength * penalty + RIDGE * np.eye(len(penalty))
        weights = newton(Regression(design[live], p[live], q[live], stiff), weights, stop).weights
        table = np.asarray(design @ weights)
        loss = _loss(table.reshape(fitted[0].shape), checked)
        if loss < least - settled:
            best, least = table, loss
    return best.reshape(fitted[0].shape)


def _supported(table: Array, counts: tuple[Array, Array]) -> Array:
    """The table, cut at the largest odds that any set of its highest (and any of its lowest) bins
    has in counts.

    Where one side has no draws the spline is pulled towards infinity, and would put its ends above
    better evidence.
    """
    order = np.argsort(table, axis=None)
    p, q = (count.ravel()[order] for count in counts)

    def most(p: Array, q: Array) -> float:
        return float(np.max(np.log((np.cumsum(p) + 0.5) / (np.cumsum(q) + 0.5))))

    return np.clip(table, min(-most(q, p), 0.0), max(most(p[::-1], q[::-1]), 0.0))


def _basis(bins: int, segments: int) -> tuple[Array, Array]:
    """Cubic B-splines on equal segments at the bins' centres, and the penalty on second
    differences.
    """
    knots = np.arange(-3, segments + 4) / segments
    centres = (np.arange(bins) + 0.5) / bins
    basis = BSpline.design_matrix(centres, knots, 3).toarray()
    second = np.diff(np.eye(basis.shape[1]), n=2, axis=0)
    return basis, second.T @ second
