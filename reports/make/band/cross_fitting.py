"""Cross-fitting: each fold of the draws certifies with sets that the other folds chose.

Counts pooled over folds would not be binomial: each fold's draws shape the sets in which the others
are counted. Valid are Bonferroni over the folds and twice the mean of their p-values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpaudit._core.types import Array
from dpaudit.certify.estimate import certify
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.sets import CandidateSets
from reports.make.band.order_statistics import LEVEL, SHOWN

STATEMENTS = 8  # four ε in two directions share the level
CrossFit = Callable[[Array, Array], Array]  # scores of P and of Q → certified δ on SHOWN


def one_split(p: Array, q: Array) -> Array:
    """No crossing: a quarter of the draws chooses and three quarters certify."""
    cut = len(p) // 4
    choose, certifying = SortedScores.of(p[:cut], q[:cut]), SortedScores.of(p[cut:], q[cut:])
    return certify(choose, certifying, SHOWN, 1.0 - LEVEL).low


def bonferroni(folds: int) -> CrossFit:
    """The largest of the folds' bounds, each at its share of the level."""
    alpha = (1.0 - LEVEL) / folds

    def band(p: Array, q: Array) -> Array:
        lows = [certify(*one, SHOWN, alpha).low for one in _folds(p, q, folds)]
        return np.asarray(np.max(lows, axis=0))

    return band


def mean_p_value(folds: int) -> CrossFit:
    """The bound at which twice the mean of the folds' p-values is the share of one statement.

    The p-values are those of normal estimates, for the comparison only.
    """
    return lambda p, q: _twice_the_mean(np.array([_normal(*one) for one in _folds(p, q, folds)]))


def _folds(p: Array, q: Array, folds: int) -> Iterator[tuple[SortedScores, SortedScores]]:
    """For each fold the scores of the others, which choose, and its own, which certify."""
    parts = [np.array_split(side, folds) for side in (p, q)]
    for k in range(folds):
        others = [np.concatenate([*side[:k], *side[k + 1 :]]) for side in parts]
        yield SortedScores.of(*others), SortedScores.of(*(side[k] for side in parts))


def _normal(choose: SortedScores, certifying: SortedScores) -> Array:
    """Estimates and standard errors, (2 numbers, 2 directions, 4 ε)."""
    candidates = CandidateSets.of(choose, SHOWN, min(certifying.sizes), 1.0 - LEVEL)
    counts = certifying.above(candidates.best_thresholds(SHOWN))
    p, q = (count / size for count, size in zip(counts, certifying.sizes, strict=True))
    p, q = np.stack([p[0], 1.0 - q[1]]), np.stack([q[0], 1.0 - p[1]])
    gamma, n = np.exp(SHOWN), min(certifying.sizes)
    return np.array([p - gamma * q, np.sqrt((p * (1 - p) + gamma**2 * q * (1 - q)) / n + 1e-18)])


def _twice_the_mean(folds: Array) -> Array:
    """folds : (folds, 2 numbers, 2 directions, 4 ε), as `_normal` has them."""
    low = np.zeros((2, len(SHOWN)))
    for place in np.ndindex(low.shape):
        value, error = (folds[:, number, *place] for number in (0, 1))

        def excess(delta: float, value: Array = value, error: Array = error) -> float:
            p_values = ndtr((delta - value) / error)
            return float(2.0 * np.mean(p_values) - (1.0 - LEVEL) / STATEMENTS)

        low[place] = brentq(excess, float(np.min(value - 9.0 * error)), 1.0)
    return np.clip(low.max(axis=0), 0.0, 1.0)


CROSS_FITTED: dict[str, CrossFit] = {
    "(b) weighted joint inversion on 3/4 of N, 4 ε": one_split,
    "(f) cross-fitting, 2 folds, Bonferroni, 4 ε": bonferroni(2),
    "(f) cross-fitting, 5 folds, Bonferroni, 4 ε": bonferroni(5),
    "(f) cross-fitting, 2 folds, 2 × mean p, 4 ε": mean_p_value(2),
    "(f) cross-fitting, 5 folds, 2 × mean p, 4 ε": mean_p_value(5),
}
