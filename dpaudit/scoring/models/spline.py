"""A nonparametric score in one or two dimensions: penalised splines on normal scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import map_coordinates
from scipy.special import ndtr, ndtri

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides
from dpaudit.scoring.models.logistic import GAIN_PER_DRAW, LogisticProblem, Stop, newton
from dpaudit.scoring.shrink import shrink
from dpaudit.scoring.whiten import Whitener

WIDEST = 2  # columns at most
BINS = {1: 512, 2: 64}  # in each dimension, by the number of dimensions
SEGMENTS = {1: 48, 2: 14}  # of the spline, likewise
TABLE = 1024  # points of the map to normal scores
TAIL_DRAWS = 5  # pooled draws beyond the last point of that map
PENALTIES = 10.0 ** np.arange(-2.0, 5.0)
RIDGE = 1e-6  # added to the penalty, which is 0 for linear functions
GAIN = 5.0  # nats of evidence that the bins' own odds must gain to be used
SETTLED = 2.0  # nats that a weaker penalty must gain on all choosing draws to be taken


def fit_spline(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score | None:
    """Log-odds by penalised splines (P-splines: Eilers and Marx 1996); None beyond two columns.

    Each whitened coordinate becomes its normal score, so tails of any weight look alike. Draws are
    counted in bins. A cubic (tensor) spline with penalised second differences is fitted to the
    counts, its penalty chosen on `choose`. Bins that contradict the spline, as at jumps and at the
    ends of supports, get odds of their own. Takes finite rows (encode others first).
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


@dataclass(frozen=True, eq=False, repr=False)
class NormalScores:
    """Coordinates (m, d) → normal scores of their ranks in the pooled training draws, in [0, 1].

    points : for each coordinate the values (t,), ascending, and what they map to, (t,); linear
        between them.
    """

    points: tuple[tuple[Array, Array], ...]

    @classmethod
    def fit(cls, P: Array, Q: Array) -> NormalScores:
        """From draws (n, d) of both sides."""
        return cls(tuple(_points(np.concatenate(pair)) for pair in zip(P.T, Q.T, strict=True)))

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.points)

    def __call__(self, x: Array) -> Array:
        """The scores, (m, d), of coordinates (m, d)."""
        columns = zip(x.T, self.points, strict=True)
        return np.stack(
            [np.interp(column, knots, unit) for column, (knots, unit) in columns], axis=1
        )


def _points(values: Array) -> tuple[Array, Array]:
    """Quantiles at equal steps of the normal score, and their places in [0, 1].

    A quantile that occurs at several steps is kept once, at their middle.
    """
    top = -ndtri(min(TAIL_DRAWS / len(values), 0.1))
    scores = np.linspace(-top, top, TABLE)
    quantile = np.quantile(values, ndtr(scores))
    knots, first, count = np.unique(quantile, return_index=True, return_counts=True)
    return knots, (first + 0.5 * (count - 1)) / (TABLE - 1.0)


def _bin(places: Array, bins: int) -> np.ndarray:
    """The flat index of each row's bin, (m,)."""
    near = np.clip(np.rint(places), 0, bins - 1).astype(np.intp)
    return near[:, 0] if near.shape[1] == 1 else near[:, 0] * bins + near[:, 1]


def _counts(places: Score, sides: Sides, bins: int) -> tuple[Array, Array]:
    """Draws of P and of Q in each bin, (bins,) or (bins, bins)."""
    found = [places(side) for side in (sides.P, sides.Q)]
    shape = (bins,) * found[0].shape[1]
    p, q = (
        np.bincount(_bin(x, bins), minlength=bins ** len(shape)).reshape(shape).astype(float)
        for x in found
    )
    return p, q


@dataclass(frozen=True, eq=False, repr=False)
class Surface:
    """Log-odds from a table, interpolated linearly between bins, plus an offset of each bin.

    places : rows → their places in units of bins.
    """

    places: Score
    table: Array
    offset: Array

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k)."""
        at = self.places(x)
        smooth = map_coordinates(self.table, at.T, order=1, mode="nearest")
        return np.asarray(smooth + self.offset.ravel()[_bin(at, len(self.table))])


def _loss(table: Array, counts: tuple[Array, Array]) -> float:
    """Mean logistic loss of the bins' log-odds on counts, nats a draw."""
    p, q = counts
    return float(
        np.sum(p * np.logaddexp(0.0, -table) + q * np.logaddexp(0.0, table)) / (p.sum() + q.sum())
    )


def _surface(fitted: tuple[Array, Array], checked: tuple[Array, Array], dimension: int) -> Array:
    """The log-odds of each bin, by the penalty with the least loss on `checked`.

    Penalties are tried from the heaviest on; log-odds of 0 are what the first is compared with.
    """
    design, rough = _design(dimension)
    p, q = (count.ravel() for count in fitted)
    live = p + q > 0.0
    best: Array = np.zeros(len(design))
    weights: Array = np.zeros(design.shape[1])
    least = float(np.log(2.0))
    settled = SETTLED / sum(count.sum() for count in checked)
    stop = Stop(GAIN_PER_DRAW * (p.sum() + q.sum()), steps=30, halvings=10)
    for penalty in PENALTIES[::-1]:
        stiff = penalty * rough + RIDGE * np.eye(len(rough))
        weights = newton(
            LogisticProblem(design[live], p[live], q[live], stiff), weights, stop
        ).weights
        table = np.asarray(design @ weights)
        loss = _loss(table.reshape(fitted[0].shape), checked)
        if loss < least - settled:
            best, least = table, loss
    return best.reshape(fitted[0].shape)


def _design(dimension: int) -> tuple[Array, Array]:
    """The (tensor) spline basis at all bins, (bins^d, b^d), and its penalty, (b^d, b^d)."""
    basis, rough = _basis(BINS[dimension], SEGMENTS[dimension])
    if dimension == 1:
        return basis, rough
    same = np.eye(len(rough))
    return np.asarray(np.kron(basis, basis)), np.asarray(
        np.kron(rough, same) + np.kron(same, rough)
    )


def _supported(table: Array, counts: tuple[Array, Array]) -> Array:
    """The table, clipped at the largest log-odds that counts support.

    These are the largest odds of counts in any set of its highest bins, and in any set of its
    lowest ones. Where one side has no draws the spline grows towards infinity, and its ends would
    rank above bins with better evidence.
    """
    order = np.argsort(table, axis=None)
    p, q = (count.ravel()[order] for count in counts)

    def most(p: Array, q: Array) -> float:
        return float(np.max(np.log((np.cumsum(p) + 0.5) / (np.cumsum(q) + 0.5))))

    return np.clip(table, min(-most(q, p), 0.0), max(most(p[::-1], q[::-1]), 0.0))


def _basis(bins: int, segments: int) -> tuple[Array, Array]:
    """Cubic B-splines on equal segments at the bins' centres, (bins, b), and their penalty (b, b).

    The penalty is the sum of squared second differences of neighbouring coefficients.
    """
    from scipy.interpolate import BSpline  # here: slow to import

    knots = np.arange(-3, segments + 4) / segments
    centres = (np.arange(bins) + 0.5) / bins
    basis = BSpline.design_matrix(centres, knots, 3).toarray()
    second = np.diff(np.eye(basis.shape[1]), n=2, axis=0)
    return basis, second.T @ second
