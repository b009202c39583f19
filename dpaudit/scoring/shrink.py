"""Log odds of many cells at once, each drawn towards a smooth guess as far as the data say that the
guess is right.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, gammaln, logit

from dpaudit._core.check import Array

STRENGTHS = 10.0 ** np.arange(6.0)  # draws that the guess is worth; beside them, the guess itself
CAUTION = 10.0  # cells' worth of belief in the guess beforehand
ROUNDS = 60
STEEPEST = 20.0  # log odds beyond which a guess is no guess


def shrink(a: np.ndarray, b: np.ndarray, guess: Array) -> tuple[Array, float]:
    """(log odds (c,), gain in nats) from counts a of P and b of Q in c cells, equal numbers of
    draws a side in all.

    Empirical Bayes: the share of P in a cell is Beta(κp, κ(1 − p)) about the guess p =
    expit(guess), with κ from a mixture over `STRENGTHS` and κ = ∞ (the guess is exact) whose
    weights are fitted to all cells by EM. The result is the posterior mean's log odds, so a cell
    that contradicts its guess keeps its own odds, and one that does not keeps the guess: the noise
    of small cells is not learned. `gain` is the log marginal likelihood over that of the guess
    alone.
    """
    p = expit(np.clip(guess, -STEEPEST, STEEPEST))[:, None]
    a, b = (count.astype(np.float64)[:, None] for count in (a, b))
    relative = _log_marginal(a, b, p) - (a * np.log(p) + b * np.log1p(-p))
    relative = np.concatenate([relative, np.zeros_like(p)], axis=1)
    share, gain = _mixture(relative)
    means = np.concatenate([(a + STRENGTHS * p) / (a + b + STRENGTHS), p], axis=1)
    return logit(np.sum(share * means, axis=1)), gain


def _log_marginal(a: Array, b: Array, p: Array) -> Array:
    """log ∫ x^a (1 − x)^b Beta(x; κp, κ(1 − p)) dx, cells by strengths."""
    k = STRENGTHS
    after = gammaln(a + k * p) + gammaln(b + k * (1.0 - p)) - gammaln(a + b + k)
    return np.asarray(after - gammaln(k * p) - gammaln(k * (1.0 - p)) + gammaln(k))


def _mixture(relative: Array) -> tuple[Array, float]:
    """Each cell's posterior over the strengths, and the gain, at the weights that EM ends with."""
    top = relative.max(axis=1, keepdims=True)
    likelihood = np.exp(relative - top)
    weight = np.full(relative.shape[1], 1.0 / relative.shape[1])
    before = np.eye(relative.shape[1])[-1] * CAUTION
    for _ in range(ROUNDS):
        share = likelihood * weight
        share /= share.sum(axis=1, keepdims=True)
        weight = (share.sum(axis=0) + before) / (len(share) + CAUTION)
    mixed = likelihood * weight
    total = mixed.sum(axis=1, keepdims=True)
    return mixed / total, float(np.sum(np.log(total) + top))
