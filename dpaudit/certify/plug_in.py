"""The estimate of δ(ε): the exact curve of a pair of laws on cells of scores, fitted to all draws
that trained nothing.

Given the cell that a draw fell into, its side is a coin whose log-odds estimate the privacy loss
there. Counts alone are too few where δ is small, so each cell's odds are weighed between two
sources (empirical Bayes: each weight maximises the likelihood of the counts, and the weights are
those of least mean square error under the model):

1. A smooth function of the score: the score itself, if it is log-odds, plus a parabola and bends,
   by penalised logistic regression (Platt 1999, with bends).
2. The cell's own counts, under a beta prior about the smooth odds. It matters where cells hold
   plenty of draws, above all atoms.

The cells then have probabilities p and q that sum to 1 each, and the estimate is Σ (p − e^ε q)₊
over the cells. As the exact δ(ε) of a pair of laws it is in [0, 1], non-increasing and convex in
e^ε.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, expit, ndtri

from dpaudit._core.types import Array
from dpaudit.certify.cells import ScoreCells
from dpaudit.certify.scores import SortedScores
from dpaudit.scoring.models.logistic import JITTER, LogisticProblem, Stop, newton

LARGEST = 50.0  # nats; scores of any scale are clipped there
BENDS = (
    0.0003,
    0.001,
    0.003,
    0.01,
    0.03,
    *np.linspace(0.1, 0.9, 17),
    0.97,
    0.99,
    0.997,
    0.999,
    0.9997,
)
NEARLY_NONE = 1e-8  # prior variance of a weight that is held at 0
VARIANCE = (NEARLY_NONE, *np.geomspace(1e-6, 1e2, 9))  # prior variances that are tried
STRENGTH = np.geomspace(1.0, 1e8, 65)  # of the beta prior, in draws
MISFIT = 3.0  # nats of likelihood that cells of their own must gain
STOP = Stop(1e-6)


@dataclass(frozen=True, eq=False, repr=False)
class CellLaws:
    """Probabilities of cells under P and under Q, (c,) each, both of sum 1."""

    p: Array
    q: Array

    def delta_at(self, epsilon: Array) -> tuple[Array, Array]:
        """Σ (p − e^ε q)₊ and Σ (q − e^ε p)₊ at each ε in nats, (m,) each."""
        gamma = np.exp(epsilon)[:, None]
        ways = ((self.p, self.q), (self.q, self.p))
        forward, backward = (np.maximum(a - gamma * b, 0.0).sum(axis=1) for a, b in ways)
        return forward, backward


def fitted_laws(choose: SortedScores, cells: ScoreCells) -> CellLaws:
    """The laws of the cells, from the choosing and the certifying draws together."""
    chosen = ScoreCells.of(choose, cells.threshold)
    p, q = (np.asarray(a + b, dtype=float) for a, b in ((chosen.p, cells.p), (chosen.q, cells.q)))
    used = p + q > 0
    p, q, score = p[used], q[used], _means(choose, cells.threshold)[used]
    odds = _shrunk(p, q, _smooth_odds(p, q, score))
    left, right = (p + q) * expit(odds), (p + q) * expit(-odds)
    return CellLaws(left / left.sum(), right / right.sum())


def _means(choose: SortedScores, threshold: Array) -> Array:
    """The mean score of the choosing draws in each cell. None is empty: a threshold lies between
    two of their scores.
    """
    scores = np.concatenate([choose.p, choose.q])
    cell = np.searchsorted(threshold, scores, side="left")
    count = np.bincount(cell, minlength=len(threshold) + 1)
    return np.asarray(
        np.bincount(cell, weights=scores, minlength=len(threshold) + 1) / np.maximum(count, 1)
    )


def _shrunk(p: Array, q: Array, odds: Array) -> Array:
    """The cells' log-odds, (c,), posterior means under the beta prior about the smooth ones."""
    a, b = (np.maximum(expit(one), 1e-300) for one in (odds, -odds))
    k = STRENGTH[:, None]
    likelihood = (betaln(p + k * a, q + k * b) - betaln(k * a, k * b)).sum(axis=1)
    best = STRENGTH[np.argmax(likelihood - MISFIT * (STRENGTH[-1] > STRENGTH))]
    return np.log(p + best * a) - np.log(q + best * b)


def _smooth_odds(p: Array, q: Array, score: Array) -> Array:
    """Log-odds of P among the draws of each cell, (c,), as a smooth function of the score.

    The score is taken in its own unit and by its rank; the likelier of the two is kept.
    """
    size = p + q
    rank = ndtri((np.cumsum(size) - 0.5 * size) / size.sum())
    bases = (np.clip(score, -LARGEST, LARGEST), rank)
    fits = [_Calibration.best(p, q, base) for base in bases]
    return max(fits, key=lambda one: one.evidence).odds


@dataclass(frozen=True, eq=False, repr=False)
class _Calibration:
    """odds : (c,). evidence : log-likelihood of the counts, weights integrated out, by Laplace's
    approximation.
    """

    odds: Array
    evidence: float

    @classmethod
    def best(cls, p: Array, q: Array, base: Array) -> _Calibration:
        """The likeliest prior variances of the line, the square and the bends, one after the other
        and the line's again.
        """
        table = _features(base, p + q)
        offset = base + np.log(p.sum() / q.sum())
        variance = [NEARLY_NONE] * 3
        for group in (0, 1, 2, 0):
            fits = []
            for value in VARIANCE:
                tried = [*variance[:group], value, *variance[group + 1 :]]
                fits.append((cls.of(p, q, table, offset, tried), tried))
            found, variance = max(fits, key=lambda one: one[0].evidence)
        return found

    @classmethod
    def of(
        cls, p: Array, q: Array, table: Array, offset: Array, variance: list[float]
    ) -> _Calibration:
        """The posterior mode under normal priors of these variances."""
        ridge = 1.0 / np.repeat(variance, [2, 1, table.shape[1] - 3])
        problem = LogisticProblem(table, p, q, ridge, offset=offset, jitter=JITTER)
        found = newton(problem, np.zeros(len(ridge)), STOP)
        odds = problem.odds(found.weights)
        width = np.linalg.slogdet(problem.hessian(odds))[1]
        return cls(odds, float(0.5 * (np.log(ridge).sum() - width) - found.objective))


def _features(base: Array, size: Array) -> Array:
    """Ones, the standardised score, its square, its excess over each bend, (c, 3 + bends)."""
    mean = np.average(base, weights=size)
    deviation = np.sqrt(np.average((base - mean) ** 2, weights=size))
    standard = (base - mean) / (deviation or 1.0)
    at = np.searchsorted(np.cumsum(size) / size.sum(), BENDS)
    bends = np.maximum(standard[:, None] - standard[at], 0.0)
    return np.column_stack([np.ones_like(base), standard, standard**2, bends])
