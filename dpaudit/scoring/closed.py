"""Closed-form scores: Gaussian log-ratio, elliptical log-ratio, logistic on quadratic features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dpaudit._check import Array
from dpaudit.scoring.base import CHUNK, Score, Sides
from dpaudit.scoring.whiten import Whitener

LOGISTIC_DRAWS = 50_000  # a side; quadratic features are k(k+3)/2 columns
ELLIPTICAL_DRAWS = 100_000
RIDGE = 1e-9  # of the whitened scale: a side may be constant
FARTHEST = 1e9  # squared Mahalanobis distance beyond which two sides are simply apart


@dataclass(frozen=True, eq=False)
class Side:
    """Mean and inverse root of the covariance of one side, in whitened coordinates."""

    mean: Array
    root: Array  # ‖root(x − mean)‖² is the Mahalanobis distance
    log_det: float

    @classmethod
    def fit(cls, x: Array, whiten: Whitener) -> Side:
        mean, covariance = _moments(x, whiten)
        size = len(mean)
        factor = np.linalg.cholesky(covariance + RIDGE * (1.0 + np.trace(covariance) / size) * np.eye(size))
        root = solve_triangular(factor, np.eye(size), lower=True)
        return cls(mean, root, float(np.sum(np.log(np.diag(root)))))

    def distance(self, x: Array) -> Array:
        white = (x - self.mean) @ self.root.T
        return np.asarray(np.einsum("ij,ij->i", white, white))


def _moments(x: Array, whiten: Whitener) -> tuple[Array, Array]:
    """Mean and covariance of the whitened draws, a chunk at a time, about a first guess at the mean."""
    size = whiten.turn.shape[1]
    guess = whiten(x[:CHUNK]).mean(axis=0)
    first, second = np.zeros(size), np.zeros((size, size))
    for start in range(0, len(x), CHUNK):
        part = whiten(x[start : start + CHUNK]) - guess
        first += part.sum(axis=0)
        second += part.T @ part
    mean = first / len(x)
    return guess + mean, second / len(x) - np.outer(mean, mean)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """log N(x; P's moments) − log N(x; Q's moments)."""

    whiten: Whitener
    p: Side
    q: Side

    def distances(self, x: Array) -> tuple[Array, Array]:
        white = self.whiten(x)
        return self.p.distance(white), self.q.distance(white)

    def __call__(self, x: Array) -> Array:
        p, q = self.distances(x)
        return 0.5 * (q - p) + self.p.log_det - self.q.log_det


def fit_qda(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Quadratic:
    """Quadratic discriminant analysis in closed form, on all training draws."""
    whiten = Whitener.fit(train.P, train.Q)
    return Quadratic(whiten, Side.fit(train.P, whiten), Side.fit(train.Q, whiten))


def fit_elliptical(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    """Logistic on the two Mahalanobis distances and their logs: exact for Gaussian and for Student pairs.

    A multivariate t pair has loss c + a·ln(1 + d_Q²/ν) − a·ln(1 + d_P²/ν); several ν span the unknown one.
    """
    quadratic = fit_qda(train, choose, seed)
    size = quadratic.p.mean.size

    def features(x: Array) -> Array:
        p, q = (np.minimum(distance, FARTHEST) for distance in quadratic.distances(x))
        logs = [np.log1p(d / (size * nu)) for nu in (0.3, 3.0, 30.0) for d in (p, q)]
        return np.column_stack([q - p, *logs, p])

    return _logistic(features, train.head(ELLIPTICAL_DRAWS), 1e3)


def fit_logistic(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    """Logistic regression on linear, square and interaction features of the whitened output."""
    whiten = Whitener.fit(train.P, train.Q)
    rows, columns = np.triu_indices(whiten.turn.shape[1])

    def features(x: Array) -> Array:
        white = whiten(x)
        return np.concatenate([white, white[:, rows] * white[:, columns]], axis=1)

    return _logistic(features, train.head(LOGISTIC_DRAWS), 1e2)


def _logistic(features: Callable[[Array], Array], train: Sides, strength: float) -> Score:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=300, tol=1e-5))
    x, label = Sides(features(train.P), features(train.Q)).stacked()
    model.fit(x, label)
    return lambda x: np.asarray(model.decision_function(features(x)))
