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

The curve. With the log-odds, the draws of both sides in each cell give a pair of laws. Its δ(ε) has
little variance, and the fit's error as bias. The sum of p − e^ε q over the counts of the cells
whose log-odds exceed ε has no such bias, and more variance the smaller δ is. The two are weighted
for the least mean square error if the log-odds miss by `MISS` nats in common. The cells are those
of one half of the draws and the counts those of the other, both ways: the largest of sums that
chance made would be too large where the loss is constant. The two directions are then drawn towards
their mean as far as counts allow them to be the same.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from scipy.special import betaln, expit, log_expit, ndtri, softmax

from dpaudit._core.seeds import generator
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
    MISS,
    NEWTON_GAIN,
    TRUSTED,
)
from dpaudit.certify.scores import ScoreCells, SortedScores, gammas
from dpaudit.scoring.models.logistic import newton

TINY = 1e-300
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
class Counted:
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
    ) -> Counted:
        """Add counts of further draws to those in `cells`. score : (c + 1,), mean score of each."""
        p, q = (fresh.p + cells.p).astype(float), (fresh.q + cells.q).astype(float)
        used = p + q > 0
        return cls(p[used], q[used], score[used], float(np.log(p.sum() / q.sum())), closed)

    @property
    def size(self) -> Array:
        """The number of draws of both sides in each cell, (c,)."""
        return self.p + self.q

    def halves(self) -> tuple[Counted, Counted]:
        """The same cells with a random half of the draws, and with the other half.

        The seed is fixed: equal counts have equal halves.
        """
        rng = generator(np.random.SeedSequence(0))
        p = rng.binomial(self.p.astype(int), 0.5).astype(float)
        q = rng.binomial(self.q.astype(int), 0.5).astype(float)
        return replace(self, p=p, q=q), replace(self, p=self.p - p, q=self.q - q)


def mean_scores(choose: SortedScores, threshold: Array) -> Array:
    """The mean score of the choosing draws in each cell, (c + 1,).

    No cell is empty, since each threshold lies between two of these scores.
    """
    scores = np.concatenate([choose.p, choose.q])
    cell = np.searchsorted(threshold, scores, side="left")
    count = np.bincount(cell, minlength=len(threshold) + 1)
    total = np.bincount(cell, weights=scores, minlength=len(threshold) + 1)
    return np.asarray(total / np.maximum(count, 1))


def estimated(cells: Counted, epsilon: Array) -> tuple[Array, Array]:
    """Estimates of δ(ε) forward and backward, (m,) each, in [0, 1], non-increasing, convex in e^ε.

    epsilon : (m,) ascending, nats.
    """
    fit, gamma = _Fit.of(cells), gammas(epsilon)
    forward = _convex(gamma, fit.delta_at(gamma))
    backward = _convex(gamma, fit.swapped().delta_at(gamma))
    mean, half = 0.5 * (forward + backward), 0.5 * fit.asymmetry() * (forward - backward)
    return mean + half, mean - half


@value_class
class _Fit:
    """The counts and the fitted laws of c cells, P against Q; (c,) each.

    p, q : draws of P and of Q. law_p, law_q : fitted probabilities of the cells, each of sum 1.
    loss : log-odds of P at equal numbers of draws. crossed : for each half of the draws, its fitted
    loss, and the counts of P and of Q in the other half.
    """

    p: Array
    q: Array
    law_p: Array
    law_q: Array
    loss: Array
    crossed: list[tuple[Array, Array, Array]]

    @classmethod
    def of(cls, cells: Counted) -> _Fit:
        """Fit the log-odds of all draws, and of each half with the likeliest setting of all."""
        first, second = cells.halves()
        odds, odds_of_halves = _log_odds(cells, (first, second))
        law_p, law_q = cells.size * expit(odds), cells.size * expit(-odds)
        return cls(
            cells.p,
            cells.q,
            law_p / law_p.sum(),
            law_q / law_q.sum(),
            odds - cells.offset,
            [
                (odds_of_halves[0] - cells.offset, second.p, second.q),
                (odds_of_halves[1] - cells.offset, first.p, first.q),
            ],
        )

    def swapped(self) -> _Fit:
        """The fit of Q against P."""
        crossed = [(-loss, q, p) for loss, p, q in self.crossed]
        return _Fit(self.q, self.p, self.law_q, self.law_p, -self.loss, crossed)

    def delta_at(self, gamma: Array) -> Array:
        """A weighted mean of δ of the fitted laws and δ of the counts, at each γ = e^ε, (m,)."""
        level, law_p, law_q = np.log(gamma), self.law_p, self.law_q
        ratio = np.log(np.maximum(law_p, TINY)) - np.log(np.maximum(law_q, TINY))
        p, q = _above(ratio, level, law_p, law_q)
        fitted = np.maximum(p - gamma * q, 0.0)
        slope = law_p * expit(-self.loss)  # what p gains, and q loses, per nat of all log-odds
        p, q, moved = _above(self.loss, level, law_p, law_q, slope)
        variance = p * (1.0 - p) / self.p.sum() + gamma**2 * q * (1.0 - q) / self.q.sum()
        bias = (MISS * (1.0 + gamma) * moved) ** 2
        weight = bias / np.maximum(bias + variance, TINY)
        hits = np.zeros((2, len(gamma)))
        for loss, count_p, count_q in self.crossed:
            hits += _above(loss, level, count_p, count_q)
        counted = hits[0] / self.p.sum() - gamma * hits[1] / self.q.sum()
        return np.asarray(np.clip(fitted + weight * (counted - fitted), 0.0, 1.0))

    def asymmetry(self) -> float:
        """The share, in [0, 1], of the difference between the directions that the estimate keeps.

        The expected squared error is least at 1 − k/χ², with χ² the squared length of k differences
        of counts in units of their errors (James and Stein 1961, but never drawn past the mean).
        The differences are taken at those |log-odds| that the shares `DIRECTION_NODES` of both laws
        exceed.
        """
        size = np.abs(self.loss)
        order = np.argsort(size)
        share = np.cumsum((self.law_p + self.law_q)[order]) / 2.0
        at = np.searchsorted(share, 1.0 - DIRECTION_NODES).clip(max=len(size) - 1)
        level = size[order][at][:, None]
        gamma = np.exp(np.minimum(level, LARGEST_SCORE))
        up, down = self.loss >= level, self.loss <= -level
        difference, spread = np.zeros(len(level)), np.zeros((len(level), len(level)))
        for weight, count, law in (
            (up + gamma * down, self.p, self.law_p),
            (-gamma * up - down, self.q, self.law_q),
        ):
            centred = weight - (weight @ law)[:, None]
            difference += weight @ count / count.sum()
            spread += (centred * law) @ centred.T / count.sum()
        scale = np.sqrt(np.maximum(np.diag(spread), TINY))
        correlation, standard = spread / np.outer(scale, scale), difference / scale
        root, _, freedom, _ = np.linalg.lstsq(correlation, standard, rcond=ALIKE)
        return 1.0 - 1.0 / max(1.0, float(standard @ root) / max(int(freedom), 1))


def _above(loss: Array, level: Array, *parts: Array) -> Array:
    """Sums of each part, (c,), over the cells whose loss exceeds each of m levels, (parts, m)."""
    order = np.argsort(loss)
    sums = np.cumsum(np.stack(parts)[:, order[::-1]], axis=1)[:, ::-1]
    sums = np.concatenate([sums, np.zeros((len(parts), 1))], axis=1)
    return np.asarray(sums[:, np.searchsorted(loss[order], level, side="right")])


def _log_odds(cells: Counted, parts: tuple[Counted, ...]) -> tuple[Array, list[Array]]:
    """The log-odds of P in each cell, (c,), averaged over all settings; and those of each of
    `parts` of the draws, by the likeliest setting.
    """
    score, size = np.clip(cells.score, -LARGEST_SCORE, LARGEST_SCORE), cells.size
    flat = score * (1.0 + (score / FLATTENED) ** 4) ** -0.125
    rank = ndtri((np.cumsum(size) - 0.5 * size) / size.sum())
    regressions = [_Regression.of(base, cells) for base in (score, flat, rank)]
    settings = CLOSED if cells.closed else SETTINGS
    fits = [regressions[base].fit(cells, trusted, bent) for base, trusted, bent in settings]
    evidence = np.array([fit[1] for fit in fits])
    odds = softmax(evidence) @ np.array([fit[0] for fit in fits])
    base, trusted, bent = settings[int(np.argmax(evidence))]
    likeliest = regressions[base]
    by_part = [_with_atoms(part, likeliest.fit(part, trusted, bent)[0]) for part in parts]
    return _with_atoms(cells, odds), by_part


def _with_atoms(cells: Counted, odds: Array) -> Array:
    """Log-odds, (c,), averaged by likelihood over whether a cell has the smooth odds or its own.

    One of the c cells is expected to have its own odds; their prior is Jeffreys's.
    """
    p, q = cells.p, cells.q
    own = betaln(p + 0.5, q + 0.5) - betaln(0.5, 0.5)
    smooth = p * log_expit(odds) + q * log_expit(-odds)
    share = expit(own - smooth - np.log(len(odds)))
    return np.asarray(odds + share * (np.log(p + 0.5) - np.log(q + 0.5) - odds))


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
    def of(cls, base: Array, cells: Counted) -> _Regression:
        """A regression on 1, the standardised base, its square, and its excess over each bend."""
        base, count, size = base + cells.offset, len(base), cells.size
        mean = np.average(base, weights=size)
        deviation = np.sqrt(np.average((base - mean) ** 2, weights=size))
        standard = (base - mean) / (deviation or 1.0)
        at = np.searchsorted(np.cumsum(size) / size.sum(), BENDS).clip(max=count - 1)
        bends = np.maximum(standard[:, None] - standard[at], 0.0)
        features = np.column_stack([np.ones_like(base), standard, standard**2, bends])
        group = np.arange(count) * min(FITTED, count) // count
        whole = np.bincount(group, weights=size)
        means = [
            np.bincount(group, weights=size * column) / whole for column in (base, *features.T)
        ]
        return cls(base, features, group, means[0], np.column_stack(means[1:]))

    def fit(self, cells: Counted, trusted: bool, bent: float) -> tuple[Array, float]:
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


def _convex(x: Array, y: Array) -> Array:
    """A convex and non-increasing function close to y, at each x, (m,).

    Values below a later value are raised to it, as later values have the smaller errors; the result
    is the largest convex function that is nowhere above them.
    """
    y = np.maximum.accumulate(y[::-1])[::-1]
    corners: list[int] = []
    for k in range(len(x)):
        while len(corners) > 1:
            i, j = corners[-2:]
            if (y[j] - y[i]) * (x[k] - x[i]) < (y[k] - y[i]) * (x[j] - x[i]):
                break  # point j lies below the line between points i and k
            corners.pop()
        corners.append(k)
    return np.asarray(np.interp(x, x[corners], y[corners]))
