"""A score for few draws: logistic regression on ranks, averaged over its own uncertainty.

Ranks among the pooled draws do not depend on the scale and bound the effect of an outlier. The
Legendre polynomials of a rank are the components of Neyman's smooth test. The log-odds are those of
the posterior mean of the class probability, so few draws give small ones, and a bet on them is
small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides
from dpaudit.scoring.encode import Encoder, most_different
from dpaudit.scoring.models.logistic import (
    LogisticProblem,
    Stop,
    elimination,
    loss_by_likelihood,
    newton,
)

SCALES = np.array([0.1, 0.3, 1.0])  # prior standard deviation of the first component's weight, nats
PRIOR = np.array([0.03, 0.07, 0.9])  # prior probability of each scale
DEGREES = ((1, 12), (4, 6), (16, 3), (100, 2))  # up to so many columns, so many polynomials of each
RADIAL = 4  # polynomials of the rank of the distance from the pooled median
COLUMNS = 100  # most columns of the output that are used: those whose ranks differ most
STOP = Stop(gain=1e-8, halvings=5)
SMALLEST_PROBABILITY = 1e-12


def fit_few_draws(train: Sides, bits: bool = False) -> Score:
    """The score of few draws, at least two a side; (n, k) outputs of any scale.

    bits : as in `Encoder.fit`.
    """
    encoder = Encoder.fit(train, bits)
    finite = _fit(encoder.sides(train))
    return lambda x: finite(encoder(x))


@dataclass(frozen=True, eq=False, repr=False)
class LegendreRanks:
    """Legendre polynomials of each column's rank among sorted draws (n, k).

    Those of uniform ranks have mean 0 and variance 1.
    """

    ordered: Array
    degree: int

    @classmethod
    def fit(cls, pooled: Array, degree: int) -> LegendreRanks:
        """Ranks among the rows of `pooled`, (n, k)."""
        return cls(np.sort(pooled, axis=0), degree)

    def __call__(self, x: Array) -> Array:
        """(m, k) to (m, k·degree), by degree and within it by column."""
        columns = [
            _rank(ordered, column) for ordered, column in zip(self.ordered.T, x.T, strict=True)
        ]
        rank = 2.0 * np.stack(columns, axis=1) - 1.0
        below, terms = np.ones_like(rank), [rank]
        for k in range(1, self.degree):  # (k + 1) P_{k+1} = (2k + 1) t P_k − k P_{k−1}
            below, term = terms[-1], ((2 * k + 1) * rank * terms[-1] - k * below) / (k + 1)
            terms.append(term)
        return np.concatenate([np.sqrt(2 * k + 3.0) * term for k, term in enumerate(terms)], axis=1)


def _rank(ordered: Array, x: Array) -> Array:
    """Rank of x among n sorted values, in (0, 1).

    The middle of the values that equal x; by linear interpolation where none does.
    """
    n = len(ordered)
    left, right = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    low, high = ordered[np.maximum(left - 1, 0)], ordered[np.minimum(left, n - 1)]
    gap = np.where(high > low, high - low, 1.0)
    inside = np.where((left > 0) & (left < n), np.clip((x - low) / gap, 0.0, 1.0), 0.5)
    place = np.where(left == right, left + inside, 0.5 * (left + right + 1))
    return np.asarray((place + 0.0) / (n + 1))


@dataclass(frozen=True, eq=False, repr=False)
class _RankFeatures:
    """Polynomials of the ranks of chosen columns and of the distance from the pooled median.

    The distance is in units of each column's median absolute deviation; one column has none.
    """

    columns: np.ndarray
    centre: Array
    spread: Array
    own: LegendreRanks
    radial: LegendreRanks | None

    @classmethod
    def fit(cls, pooled: Array, columns: np.ndarray) -> _RankFeatures:
        x = pooled[:, columns]
        centre = np.median(x, axis=0)
        spread = np.median(np.abs(x - centre), axis=0)
        spread = np.where(spread > 0.0, spread, 1.0)
        degree = next(degree for most, degree in DEGREES if len(columns) <= most)
        plain = cls(columns, centre, spread, LegendreRanks.fit(x, degree), None)
        if len(columns) == 1:
            return plain
        radial = LegendreRanks.fit(plain._radius(x), RADIAL)
        return cls(columns, centre, spread, plain.own, radial)

    def _radius(self, x: Array) -> Array:
        """Squared distance, (m, 1)."""
        with np.errstate(over="ignore"):
            squares = (((x - self.centre) / self.spread) ** 2).sum(axis=1, keepdims=True)
            return np.minimum(squares, np.finfo(float).max)

    def __call__(self, x: Array) -> Array:
        x = x[:, self.columns]
        own = self.own(x)
        if self.radial is None:
            return own
        return np.concatenate([own, self.radial(self._radius(x))], axis=1)

    @property
    def precision(self) -> Array:
        """Prior precision of each weight for a prior scale of 1: k² for degree k.

        Times the number of columns for their own polynomials, which share the prior variance.
        """
        columns = len(self.columns)
        own = np.repeat(np.arange(1, self.own.degree + 1) ** 2.0, columns) * columns
        if self.radial is None:
            return own
        return np.concatenate([own, np.arange(1, RADIAL + 1) ** 2.0])


@dataclass(frozen=True, eq=False, repr=False)
class _Posterior:
    """The weights' posterior by Laplace's approximation at its mode.

    root : (k, k), root·rootᵀ is the covariance. evidence : log marginal likelihood, nats.
    """

    mode: Array
    root: Array
    evidence: float

    @classmethod
    def fit(cls, table: Array, label: np.ndarray, precision: Array) -> _Posterior:
        """Log-odds table·weights, the weights normal about 0 with these precisions."""
        problem = LogisticProblem(
            table, label, 1 - label, precision, loss=loss_by_likelihood, solver=elimination
        )
        found = newton(problem, np.zeros(table.shape[1]), STOP)
        root = np.linalg.inv(np.linalg.cholesky(found.hessian)).T
        half_log_precision = 0.5 * float(np.log(precision).sum())
        half_log_covariance = float(np.log(np.diag(root)).sum())
        evidence = -found.objective + half_log_precision + half_log_covariance
        return cls(found.before, root, evidence)

    def probability(self, table: Array) -> Array:
        """Posterior mean of the probability of P (MacKay's approximation)."""
        variance = ((table @ self.root) ** 2).sum(axis=1)
        return np.asarray(expit(table @ self.mode / np.sqrt(1.0 + np.pi / 8.0 * variance)))


@dataclass(frozen=True, eq=False, repr=False)
class _Average:
    """Log-odds of the mean probability over the prior scales, weighted by their evidence."""

    features: _RankFeatures
    posteriors: list[_Posterior]
    weights: Array

    def __call__(self, x: Array) -> Array:
        table, p = self.features(x), np.zeros(len(x))
        for weight, posterior in zip(self.weights, self.posteriors, strict=True):
            p += weight * posterior.probability(table)
        return np.asarray(logit(np.clip(p, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)))


def _fit(train: Sides) -> Score:
    pooled, label = train.stacked()
    features = _RankFeatures.fit(pooled, _columns(train))
    table = features(pooled)
    posteriors = [_Posterior.fit(table, label, features.precision / scale**2) for scale in SCALES]
    evidence = np.array([posterior.evidence for posterior in posteriors]) + np.log(PRIOR)
    weights = np.exp(evidence - evidence.max())
    return _Average(features, posteriors, weights / weights.sum())


def _columns(train: Sides) -> np.ndarray:
    """Positions of the columns that are used, ascending."""
    size = train.P.shape[1]
    return np.arange(size) if size <= COLUMNS else most_different(train, COLUMNS)
