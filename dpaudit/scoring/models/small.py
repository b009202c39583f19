"""A score for a handful of draws: logistic regression on ranks, its strength averaged over, its
doubts kept.

Ranks among the pooled draws need no scale and fear no outlier; the Legendre polynomials of a rank
are the components of Neyman's smooth test. The log-odds are those of the posterior mean of the
class probability, so that few draws give small ones and a bet on them is small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from dpaudit._core.check import Array
from dpaudit.scoring.base import Score, Sides
from dpaudit.scoring.encode import Encoder

SCALES = np.array([0.1, 0.3, 1.0])  # prior standard deviation of the first component's weight, nats
PRIOR = np.array([0.03, 0.07, 0.9])
DEGREES = ((1, 12), (4, 6), (16, 3), (100, 2))  # up to so many columns, so many polynomials of each
RADIAL = 4  # polynomials of the rank of the distance from the pooled median
COLUMNS = 100  # of the output that are looked at: those whose ranks differ most
NEWTON, HALVINGS = 25, 6


@dataclass(frozen=True, eq=False)
class Ranks:
    """Legendre polynomials, of unit variance for uniform ranks, of each column's rank among sorted
    draws (n, k).
    """

    ordered: Array
    degree: int

    @classmethod
    def fit(cls, pooled: Array, degree: int) -> Ranks:
        return cls(np.sort(pooled, axis=0), degree)

    def __call__(self, x: Array) -> Array:
        """(m, k) to (m, k·degree)."""
        columns = [
            _rank(ordered, column) for ordered, column in zip(self.ordered.T, x.T, strict=True)
        ]
        rank = 2.0 * np.stack(columns, axis=1) - 1.0
        below, terms = np.ones_like(rank), [rank]
        for k in range(1, self.degree):
            below, nxt = terms[-1], ((2 * k + 1) * rank * terms[-1] - k * below) / (k + 1)
            terms.append(nxt)
        return np.concatenate([np.sqrt(2 * k + 3.0) * term for k, term in enumerate(terms)], axis=1)


def _rank(ordered: Array, x: Array) -> Array:
    """Place of x among n sorted values, in (0, 1): the middle of its ties, or by proportion between
    two neighbours.
    """
    n = len(ordered)
    left, right = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    low, high = ordered[np.maximum(left - 1, 0)], ordered[np.minimum(left, n - 1)]
    gap = np.where(high > low, high - low, 1.0)
    inside = np.where((left > 0) & (left < n), np.clip((x - low) / gap, 0.0, 1.0), 0.5)
    return np.asarray(
        (np.where(left == right, left + inside, 0.5 * (left + right + 1)) + 0.0) / (n + 1)
    )


@dataclass(frozen=True, eq=False)
class _Features:
    columns: np.ndarray
    centre: Array
    spread: Array
    own: Ranks
    radial: Ranks | None

    @classmethod
    def fit(cls, pooled: Array, columns: np.ndarray) -> _Features:
        x = pooled[:, columns]
        centre = np.median(x, axis=0)
        spread = np.median(np.abs(x - centre), axis=0)
        degree = next(degree for most, degree in DEGREES if len(columns) <= most)
        plain = cls(
            columns, centre, np.where(spread > 0.0, spread, 1.0), Ranks.fit(x, degree), None
        )
        if len(columns) == 1:
            return plain
        return cls(columns, centre, plain.spread, plain.own, Ranks.fit(plain._radius(x), RADIAL))

    def _radius(self, x: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.minimum(
                (((x - self.centre) / self.spread) ** 2).sum(axis=1, keepdims=True),
                np.finfo(float).max,
            )

    def __call__(self, x: Array) -> Array:
        x = x[:, self.columns]
        parts = (
            [self.own(x)] if self.radial is None else [self.own(x), self.radial(self._radius(x))]
        )
        return np.concatenate(parts, axis=1)

    @property
    def steepness(self) -> Array:
        """Prior precision of each weight over that of the first component: k² for degree k, shared
        by the columns.
        """
        own = np.repeat(np.arange(1, self.own.degree + 1) ** 2.0, len(self.columns)) * len(
            self.columns
        )
        return (
            own if self.radial is None else np.concatenate([own, np.arange(1, RADIAL + 1) ** 2.0])
        )


def fit_small(train: Sides, bits: bool = False) -> Score:
    """The score for few draws a side, two at least; (n, k) outputs of any scale. bits : as in
    `Encoder.fit`.
    """
    encoder = Encoder.fit(train, bits)
    finite = _fit(encoder.sides(train))
    return lambda x: finite(encoder(x))


def _fit(train: Sides) -> Score:
    pooled, label = train.stacked()
    features = _Features.fit(pooled, _columns(pooled, label))
    table = features(pooled)
    posteriors = [_posterior(table, label, features.steepness / scale**2) for scale in SCALES]
    evidence = np.array([posterior[2] for posterior in posteriors]) + np.log(PRIOR)
    weights = np.exp(evidence - evidence.max())
    return _Average(
        features, [(mean, spread) for mean, spread, _ in posteriors], weights / weights.sum()
    )


@dataclass(frozen=True, eq=False)
class _Average:
    """Log-odds of the average over models of the expected probability, each by MacKay's
    approximation.
    """

    features: _Features
    posteriors: list[tuple[Array, Array]]
    weights: Array

    def __call__(self, x: Array) -> Array:
        table, p = self.features(x), np.zeros(len(x))
        for weight, (mean, root) in zip(self.weights, self.posteriors, strict=True):
            variance = ((table @ root) ** 2).sum(axis=1)
            p += weight * expit(table @ mean / np.sqrt(1.0 + np.pi / 8.0 * variance))
        return np.asarray(logit(np.clip(p, 1e-12, 1.0 - 1e-12)))


def _columns(pooled: Array, label: np.ndarray) -> np.ndarray:
    if pooled.shape[1] <= COLUMNS:
        return np.arange(pooled.shape[1])
    rank = pooled.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    differ = np.abs(rank[label == 1].mean(axis=0) - rank[label == 0].mean(axis=0))
    return np.sort(np.argsort(-differ, kind="stable")[:COLUMNS])


Posterior = tuple[Array, Array, float]


def _posterior(
    table: Array, label: np.ndarray, precision: Array, start: Array | float = 0.0
) -> Posterior:
    """Mode, root of the covariance there, and log evidence (Laplace) of the weights, by Newton's
    method.

    The log-odds are start + table·weights, the weights normal about 0 with these precisions.
    """
    mean = np.zeros(table.shape[1])
    value = _log_posterior(table, label, precision, start, mean)
    for _ in range(NEWTON):
        p = expit(start + table @ mean)
        curvature = (table.T * (p * (1.0 - p))) @ table + np.diag(precision)
        step = np.linalg.solve(curvature, table.T @ (label - p) - precision * mean)
        for halving in range(HALVINGS):
            after = _log_posterior(table, label, precision, start, mean + 0.5**halving * step)
            if after >= value:
                break
        gain, value = after - value, max(after, value)
        if gain <= 1e-8:
            break
        mean = mean + 0.5**halving * step
    root = np.linalg.inv(np.linalg.cholesky(curvature)).T
    return (
        mean,
        root,
        value + 0.5 * float(np.log(precision).sum()) + float(np.log(np.diag(root)).sum()),
    )


def _log_posterior(
    table: Array, label: np.ndarray, precision: Array, start: Array | float, mean: Array
) -> float:
    odds = start + table @ mean
    return float(label @ odds - np.logaddexp(0.0, odds).sum() - 0.5 * precision @ mean**2)


def calibrated(x: Array, y: Array) -> tuple[float, float]:
    """(a, b) such that a + b·score is the log-odds of a draw whose score is known: Platt's logistic
    fit.

    x, y : scores (n,) of draws of M(D) and of M(D') that trained nothing. A normal prior about (0,
    1) keeps a perfectly separating score finite.
    """
    score, label = np.concatenate([x, y]), np.repeat([1.0, 0.0], [len(x), len(y)])
    table = np.column_stack([np.ones_like(score), score])
    mean, _, _ = _posterior(table, label, np.ones(2), score)
    return float(mean[0]), 1.0 + float(mean[1])
