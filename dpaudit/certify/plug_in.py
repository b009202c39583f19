"""The point estimate of δ(ε), from counts of scores in cells. Nothing here is certified.

Log-odds of P in each cell. Given the cell that a draw fell into, its side is a coin whose log-odds
estimate the privacy loss there. Counts alone are too few where δ is small, so a cell's log-odds are
the score itself plus a line, a parabola and bends, by penalised logistic regression (Platt 1999,
with bends). The score enters as it is; flattened at its ends, where few draws could train it and
scores overstate the loss; and by its rank, for scores in another unit. The fits by each of these
and by each prior variance are averaged by evidence (MacKay, Bayesian interpolation, Neural
Computation 1992). The log-ratio of two normal laws needs no draws at its ends: if the outputs are
normal, it is right there as it is. If it bends elsewhere, the outputs are not normal, and then
nothing vouches for its ends.

With the log-odds, the draws of both sides in each cell give a pair of laws, whose δ(ε) is the
estimate. The sum of p − e^ε q over counts would have no bias from the fit, but much more variance:
weighing it in did not lower the error. The two directions are averaged as far as counts allow them
to be the same.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
from scipy.special import betaln, expit, log_expit, ndtri, softmax

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.constants import (
    ALIKE,
    BENDS,
    BENT,
    DIRECTION_NODES,
    FITTED,
    FLATTENED,
    FREE,
    LARGEST_SCORE,
    NEWTON_GAIN,
    TRUSTED,
)
from dpaudit.certify.scores import ScoreCells, SortedScores, gammas
from dpaudit.scoring.models.logistic import newton

SCORE, FLAT, RANK = range(3)  # the base that a regression starts from, as ordered in `_log_odds`
# each setting: the base, whether it is trusted as log-odds, and the prior variance of its bends
SETTINGS = tuple(product((SCORE, FLAT, RANK), (True, False), BENT))
# a closed form starts as it is if it does not bend, and flattened if it does
CLOSED = tuple(
    (base, trusted, bent)
    for base, trusted, bent in SETTINGS
    if base == RANK or (base == SCORE) == (bent == BENT[0])
)


@value_class
class CellCounts:
    """The counts of draws in the cells that are not empty.

    p, q : (c,) draws of P and of Q. score : (c,) their mean score, ascending. offset : log-odds of
    P among all draws, from the numbers of draws of both sides. closed : whether the score is the
    log-ratio of two fitted normal laws.
    """

    p: Array
    q: Array
    score: Array
    offset: float
    closed: bool = False

    @classmethod
    def of(
        cls, score: Array, fresh: ScoreCells, cells: ScoreCells, closed: bool = False
    ) -> CellCounts:
        """Add counts of further draws to those in `cells`. score : (c + 1,), mean score of each."""
        p, q = (fresh.p + cells.p).astype(float), (fresh.q + cells.q).astype(float)
        used = p + q > 0
        return cls(p[used], q[used], score[used], float(np.log(p.sum() / q.sum())), closed)

    @property
    def size(self) -> Array:
        """The number of draws of both sides in each cell, (c,)."""
        return self.p + self.q


def mean_scores(choose: SortedScores, threshold: Array) -> Array:
    """The mean score of the choosing draws in each cell, (c + 1,).

    No cell is empty, since each threshold lies between two of these scores.
    """
    scores = np.concatenate([choose.p, choose.q])
    cell = np.searchsorted(threshold, scores, side="left")
    count = np.bincount(cell, minlength=len(threshold) + 1)
    total = np.bincount(cell, weights=scores, minlength=len(threshold) + 1)
    return np.asarray(total / np.maximum(count, 1))


def estimated(cells: CellCounts, epsilon: Array) -> tuple[Array, Array]:
    """Estimates of δ(ε) forward and backward, (m,) each, in [0, 1], non-increasing, convex in e^ε.

    epsilon : (m,) nats.
    """
    odds, gamma = _log_odds(cells), gammas(epsilon)[:, None]
    p, q = cells.size * expit(odds), cells.size * expit(-odds)
    p, q = p / p.sum(), q / q.sum()
    forward = np.maximum(p - gamma * q, 0.0).sum(axis=1)
    backward = np.maximum(q - gamma * p, 0.0).sum(axis=1)
    mean, half = 0.5 * (forward + backward), 0.5 * (forward - backward)
    half *= _asymmetry(cells, p, q, odds - cells.offset)
    return mean + half, mean - half


def _asymmetry(cells: CellCounts, p: Array, q: Array, loss: Array) -> float:
    """The Akaike weight, in [0, 1], of directions that differ against directions that are the same.

    p, q, loss : (c,), the fitted laws and log-odds. The counts' p − e^ε q forward less that
    backward, at the |log-odds| that the shares `DIRECTION_NODES` of both laws exceed, is 0 but for
    chance if they are the same. χ² is its squared length in units of its covariance, of rank k; the
    weight is that of χ² nats with k parameters (Akaike 1978), expit(χ²/2 − k).
    """
    size = np.abs(loss)
    order = np.argsort(size)
    share = np.cumsum((p + q)[order]) / 2.0
    at = np.searchsorted(share, 1.0 - DIRECTION_NODES).clip(max=len(size) - 1)
    level = size[order][at][:, None]
    gamma = np.exp(np.minimum(level, LARGEST_SCORE))
    up, down = loss >= level, loss <= -level
    difference, spread = np.zeros(len(level)), np.zeros((len(level), len(level)))
    for weight, count, law in (
        (up + gamma * down, cells.p, p),
        (-gamma * up - down, cells.q, q),
    ):
        centred = weight - (weight @ law)[:, None]
        difference += weight @ count / count.sum()
        spread += (centred * law) @ centred.T / count.sum()
    scale = np.sqrt(np.maximum(np.diag(spread), np.finfo(float).tiny))
    correlation, standard = spread / np.outer(scale, scale), difference / scale
    root, _, rank, _ = np.linalg.lstsq(correlation, standard, rcond=ALIKE)
    return float(expit(0.5 * standard @ root - rank))


def _log_odds(cells: CellCounts) -> Array:
    """The log-odds of P in each cell, (c,), averaged over all settings by evidence, and then by
    likelihood over whether a cell has these smooth odds or its own.

    One of the c cells is expected to have its own odds; their prior is Jeffreys's.
    """
    score, size = np.clip(cells.score, -LARGEST_SCORE, LARGEST_SCORE), cells.size
    p, q = cells.p, cells.q
    flat = score * (1.0 + (score / FLATTENED) ** 4) ** -0.125
    rank = ndtri((np.cumsum(size) - 0.5 * size) / size.sum())
    regressions = tuple(map(partial(_Regression.of, cells), (score, flat, rank)))
    odds, evidence = [], []
    for base, trusted, bent in CLOSED if cells.closed else SETTINGS:
        fitted, log_evidence = regressions[base].fit(cells, trusted, bent)
        odds.append(fitted)
        evidence.append(log_evidence)
    smooth = softmax(evidence) @ np.array(odds)
    by_own = betaln(p + 0.5, q + 0.5) - betaln(0.5, 0.5)
    by_smooth = p * log_expit(smooth) + q * log_expit(-smooth)
    share = expit(by_own - by_smooth - np.log(len(smooth)))
    return np.asarray(smooth + share * (np.log(p + 0.5) - np.log(q + 0.5) - smooth))


@value_class
class _Regression:
    """A logistic regression on cells, fitted to groups of neighbouring cells.

    base : (c,) log-odds before any feature counts. features : (c, k). group : (c,), the group of
    each cell. group_base, group_features : the means of base and features over each group.
    """

    base: Array
    features: Array
    group: np.ndarray
    group_base: Array
    group_features: Array

    @classmethod
    def of(cls, cells: CellCounts, base: Array) -> _Regression:
        """A regression on 1, the standardised base, its square, and its excess over each bend."""
        base, count, size = base + cells.offset, len(base), cells.size
        mean = np.average(base, weights=size)
        deviation = np.sqrt(np.average((base - mean) ** 2, weights=size))
        standard = (base - mean) / (deviation or 1.0)
        at = np.searchsorted(np.cumsum(size) / size.sum(), BENDS).clip(max=count - 1)
        bends = np.maximum(standard[:, None] - standard[at], 0.0)
        features = np.column_stack([np.ones_like(base), standard, standard**2, bends])
        group = np.arange(count) * min(FITTED, count) // count
        means = np.empty((features.shape[1] + 1, group[-1] + 1))
        for row, column in zip(means, (base, *features.T), strict=True):
            row[:] = np.bincount(group, weights=size * column)
        means /= np.bincount(group, weights=size)
        return cls(base, features, group, means[0], np.ascontiguousarray(means[1:].T))

    def fit(self, cells: CellCounts, trusted: bool, bent: float) -> tuple[Array, float]:
        """The cells' log-odds, (c,), and the log evidence of the counts: their log-likelihood with
        the weights integrated out by Laplace's approximation.

        trusted : whether the base is taken as log-odds. bent : prior variance of the bends.
        """
        p = np.bincount(self.group, weights=cells.p).astype(float)
        q = np.bincount(self.group, weights=cells.q).astype(float)
        first = TRUSTED / cells.size.sum() if trusted else FREE
        bends = np.full(self.features.shape[1] - len(first), bent)
        ridge = 1.0 / np.concatenate([first, bends])
        best = newton(self.group_features, p, q, ridge, offset=self.group_base, gain=NEWTON_GAIN)
        width = np.linalg.slogdet(best.hessian)[1]
        evidence = 0.5 * (np.log(ridge).sum() - width) - best.objective
        return self.base + self.features @ best.weights, float(evidence)
