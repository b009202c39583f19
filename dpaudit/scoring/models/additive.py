"""A score of each column by itself, added up with weights: bits, counts and reals side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.scoring.base import Score, Sides, log_loss
from dpaudit.scoring.models.spline import fit_spline

DRAWS = 100_000  # a side
STRENGTH = 1e2  # inverse ridge, on features of unit spread
GAIN = 1.0  # nats that a column must bring on the choosing draws, to be more than noise


@dataclass(frozen=True, eq=False)
class Additive:
    """constant + x[:, pairs]·weights + Σ_j weight_j s_j(x_j), j over `columns`."""

    constant: float
    pairs: np.ndarray
    slopes: Array
    columns: tuple[tuple[int, float, Score], ...]

    def __call__(self, x: Array) -> Array:
        out = self.constant + x[:, self.pairs] @ self.slopes
        for column, weight, score in self.columns:
            out = out + weight * score(x[:, column : column + 1])
        return np.asarray(out)


def fit_additive(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Additive:
    """Log odds that are a sum over columns: a spline score of each alone, weighted by logistic
    regression.

    Exact up to the splines when the columns are independent (the weights are then 1); the weights
    keep columns that repeat each other from being counted twice. A column with two values enters as
    it is. Takes finite rows (m, k).
    """
    train = train.head(DRAWS)
    middle, binary = _binary(train)
    scores = {int(j): _column(train, choose, seed, int(j)) for j in np.flatnonzero(~binary)}
    kept = {j: score for j, score in scores.items() if score is not None}
    pairs = np.flatnonzero(binary & (np.ptp(train.P, axis=0) + np.ptp(train.Q, axis=0) > 0.0))
    pairs = np.union1d(pairs, np.flatnonzero(binary & (train.P[0] != train.Q[0]))).astype(np.intp)
    if len(pairs) + len(kept) == 0:
        return Additive(0.0, pairs, np.empty(0), ())

    def features(x: Array) -> Array:
        own = [score(x[:, j : j + 1])[:, None] for j, score in kept.items()]
        return np.concatenate([x[:, pairs] - middle[pairs], *own], axis=1)

    weights, constant = _weights(Sides(features(train.P), features(train.Q)))
    slopes, rest = weights[: len(pairs)], weights[len(pairs) :]
    columns = tuple((j, float(w), score) for (j, score), w in zip(kept.items(), rest, strict=True))
    return Additive(constant - float(slopes @ middle[pairs]), pairs, slopes, columns)


def _binary(train: Sides) -> tuple[Array, np.ndarray]:
    """Middle of each column's range, and whether it has no values but the ends."""
    low, high = (
        f(np.stack([f(train.P, axis=0), f(train.Q, axis=0)]), axis=0) for f in (np.min, np.max)
    )
    ends = [((side == low) | (side == high)).all(axis=0) for side in (train.P, train.Q)]
    return low + 0.5 * (high - low), ends[0] & ends[1]


def _column(train: Sides, choose: Sides, seed: np.random.SeedSequence, j: int) -> Score | None:
    """The column's own score, None where it brings nothing."""
    alone, check = (Sides(part.P[:, j : j + 1], part.Q[:, j : j + 1]) for part in (train, choose))
    score = fit_spline(alone, check, seed)
    if score is None or log_loss(score, check) > np.log(2.0) - GAIN / (2.0 * len(choose.P)):
        return None
    return score


def _weights(table: Sides) -> tuple[Array, float]:
    """Weights of the features as they are, fitted at unit spread."""
    from sklearn.linear_model import LogisticRegression

    x, label = table.stacked()
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread == 0.0] = 1.0
    model = LogisticRegression(C=STRENGTH, solver="newton-cholesky", tol=1e-6).fit(
        (x - centre) / spread, label
    )
    weights = model.coef_[0] / spread
    return weights, float(model.intercept_[0] - weights @ centre)
