"""A weighted sum of scores of single columns: for bits, counts and reals side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides, log_loss
from dpaudit.scoring.models.screen import Screen, strongest, surplus
from dpaudit.scoring.models.spline import fit_spline

DRAWS = 100_000  # a side
SUMMANDS = 16  # columns up to which each takes part; of more, those that differ by themselves
MOST = 32  # of these
INVERSE_RIDGE = 1e2  # on features of unit spread
GAIN = 1.0  # nats that a column's score must gain on the choosing draws; less may be noise


@dataclass(frozen=True, eq=False, repr=False)
class Additive:
    """constant + x[:, binary]·slopes + Σ_j weight_j s_j(x_j), (j, weight_j, s_j) in `columns`."""

    constant: float
    binary: np.ndarray
    slopes: Array
    columns: tuple[tuple[int, float, Score], ...]

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k)."""
        out = self.constant + x[:, self.binary] @ self.slopes
        for column, weight, score in self.columns:
            out = out + weight * score(x[:, column : column + 1])
        return np.asarray(out)


def fit_additive(
    train: Sides, choose: Sides, seed: np.random.SeedSequence, screen: Screen = surplus
) -> Additive | None:
    """Log-odds that are a sum over columns: a spline score of each, weighted by regression.

    Exact up to the splines where the columns are independent (the weights are then 1). The weights
    keep columns that repeat each other from being counted twice. A column with two values enters as
    it is. Of more than `SUMMANDS` columns, those that show a difference by themselves are summed;
    None where these are none or more than half. Takes finite rows (m, k). screen : of the columns.
    """
    train = train.head(DRAWS)
    seen = _seen(train, screen)
    if seen is None:
        return None
    middle, binary, reals = _kinds(train, np.flatnonzero(seen))
    columns = [_Column.of(train, choose, seed, int(j)) for j in reals]
    kept = [one for one in columns if one.gained(len(choose.P))]
    if len(binary) + len(kept) == 0:
        return Additive(0.0, binary, np.empty(0), ())

    def features(x: Array) -> Array:
        own = [one.score(x[:, one.place : one.place + 1])[:, None] for one in kept]
        return np.concatenate([x[:, binary] - middle, *own], axis=1)

    weights, constant = _weights(Sides(features(train.P), features(train.Q)))
    slopes, of_scores = weights[: len(binary)], weights[len(binary) :]
    summands = tuple(
        (one.place, float(weight), one.score) for one, weight in zip(kept, of_scores, strict=True)
    )
    added = Additive(constant - float(slopes @ middle), binary, slopes, summands)
    best = min(kept, key=lambda one: one.loss, default=None)
    return added if best is None or log_loss(added, choose) < best.loss else best.alone


@dataclass(frozen=True, eq=False, repr=False)
class _Column:
    """A column's own score, and its loss on the choosing draws, nats a draw."""

    place: int
    score: Score
    loss: float

    @classmethod
    def of(cls, train: Sides, choose: Sides, seed: np.random.SeedSequence, j: int) -> _Column:
        """By a spline."""
        seen, check = (
            Sides(part.P[:, j : j + 1], part.Q[:, j : j + 1]) for part in (train, choose)
        )
        score = fit_spline(seen, check, seed)
        assert score is not None  # of one column there always is one
        return cls(j, score, log_loss(score, check))

    def gained(self, draws: int) -> bool:
        """Whether the score gains enough on so many choosing draws a side."""
        return self.loss <= np.log(2.0) - GAIN / (2.0 * draws)

    @property
    def alone(self) -> Additive:
        """The score itself: one column may hold all of the difference, and others that follow it
        would only split its ties.
        """
        none = np.empty(0, dtype=np.intp)
        return Additive(0.0, none, np.empty(0), ((self.place, 1.0, self.score),))


def _seen(train: Sides, screen: Screen) -> np.ndarray | None:
    """Whether a column takes part, (k,); None where few of many do not tell the sides apart."""
    size = train.P.shape[1]
    if size <= SUMMANDS:
        return np.ones(size, dtype=bool)
    evidence = screen(train)
    if not 0 < (evidence > 0.0).sum() <= size // 2:
        return None
    return np.isin(np.arange(size), strongest(evidence, MOST)) & (evidence > 0.0)


def _kinds(train: Sides, seen: np.ndarray) -> tuple[Array, np.ndarray, np.ndarray]:
    """Middles of the columns with two values, these columns, and those with more values."""
    P, Q = train.P[:, seen], train.Q[:, seen]
    low, high = (f(np.stack([f(P, axis=0), f(Q, axis=0)]), axis=0) for f in (np.min, np.max))
    ends = [((side == low) | (side == high)).all(axis=0) for side in (P, Q)]
    few = ends[0] & ends[1]
    two = few & (low < high)
    return (low + 0.5 * (high - low))[two], seen[two], seen[~few]


def _weights(table: Sides) -> tuple[Array, float]:
    """(weights (f,), constant) of the features, by a ridge on features of unit spread."""
    from sklearn.linear_model import LogisticRegression

    x, label = table.stacked()
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread == 0.0] = 1.0
    model = LogisticRegression(C=INVERSE_RIDGE, solver="newton-cholesky", tol=1e-6).fit(
        (x - centre) / spread, label
    )
    weights = model.coef_[0] / spread
    return weights, float(model.intercept_[0] - weights @ centre)
