"""Log-odds of many cells at once, shrunk towards a guess by empirical Bayes."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, gammaln, logit

from dpaudit._core.types import Array
from dpaudit.scoring import constants

# κ, the prior's weight in draws; a further component of the mixture is κ = ∞, the guess itself
PRIOR_DRAWS = 10.0 ** np.arange(6.0)
PRIOR_CELLS = 10.0  # how many cells the prior on the weights counts as; all favour κ = ∞
ROUNDS = 60  # rounds of EM
STEEPEST = 20.0  # log-odds at which guesses are clipped
SWEEPS, SETTLED = 10, 0.05  # rounds over the weights; standard errors of a change that is the last


def shrink(a: np.ndarray, b: np.ndarray, guess: Array) -> tuple[Array, float]:
    """The log-odds (c,) of c cells with counts a of P and b of Q, and the gain in nats over
    `guess`.

    a, b : (c,), of equal sums, since both sides have equally many draws. guess : log-odds (c,).

    Empirical Bayes: the share of P in a cell has the prior Beta(κp, κ(1 − p)) about p =
    expit(guess), with κ from a mixture over `PRIOR_DRAWS` and κ = ∞ (the guess is exact) whose
    weights are fitted to all cells by EM. The result is the log-odds of the posterior mean. So a
    cell that contradicts its guess keeps its own odds and any other keeps the guess: the noise of
    small cells is not learned. The gain is the log marginal likelihood less the log likelihood of
    the guess alone.
    """
    p = expit(np.clip(guess, -STEEPEST, STEEPEST))[:, None]
    a, b, k = a.astype(np.float64)[:, None], b.astype(np.float64)[:, None], PRIOR_DRAWS
    # log ∫ x^a (1 − x)^b Beta(x; κp, κ(1 − p)) dx, (cells, values of κ)
    marginal = gammaln(a + k * p) + gammaln(b + k * (1.0 - p)) - gammaln(a + b + k)
    marginal += gammaln(k) - gammaln(k * p) - gammaln(k * (1.0 - p))
    relative = marginal - (a * np.log(p) + b * np.log1p(-p))
    relative = np.concatenate([relative, np.zeros_like(p)], axis=1)
    share, gain = _mixture(relative)
    means = np.concatenate([(a + PRIOR_DRAWS * p) / (a + b + PRIOR_DRAWS), p], axis=1)
    return logit(np.sum(share * means, axis=1)), gain


def _mixture(relative: Array) -> tuple[Array, float]:
    """Each row's posterior over the components, and the gain, nats, at the weights after EM.

    relative : (rows, components), log marginal likelihoods; the prior favours the last component.
    """
    top = relative.max(axis=1, keepdims=True)
    likelihood = np.exp(relative - top)
    weight = np.full(relative.shape[1], 1.0 / relative.shape[1])
    before = np.eye(relative.shape[1])[-1] * PRIOR_CELLS
    for _ in range(ROUNDS):
        share = likelihood * weight
        share /= share.sum(axis=1, keepdims=True)
        weight = (share.sum(axis=0) + before) / (len(share) + PRIOR_CELLS)
    mixed = likelihood * weight
    total = mixed.sum(axis=1, keepdims=True)
    return mixed / total, float(np.sum(np.log(total) + top))


def shrink_normal(values: Array, variance: float) -> Array:
    """The posterior means of many numbers, (k,), each observed with a normal error of this
    variance.

    Empirical Bayes: the numbers are drawn from a mixture of normals about 0 with scales from a grid
    that contains 0, whose weights are fitted by EM (Stephens 2017). Few large numbers among zeros
    stay large and the zeros are shrunk; many small numbers are all shrunk by one factor.
    """
    prior = _prior_variances(values, variance)
    total = prior + variance
    share, _ = _mixture(-0.5 * (np.log(total / variance) + values[:, None] ** 2 / total))
    return np.asarray(values * (share @ (prior / total)))


def shrink_regression(x: Array, y: Array, variance: float) -> Array:
    """The fit x·w, (n,), of a regression y = x·w + error, with w by the prior of `shrink_normal`.

    x : (n, k). y : (n,), each with a normal error of this variance. The weights of columns of unit
    length get their posterior means in turn, and the mixture its own after each round (variational
    empirical Bayes: Kim, Wang, Carbonetto and Stephens 2024).
    """
    x = np.clip(x, -constants.LARGEST, constants.LARGEST)  # squares may overflow
    length = np.linalg.norm(x, axis=0)
    columns = np.ascontiguousarray((x / np.where(length > 0.0, length, 1.0)).T)
    prior = _prior_variances(columns @ y, variance)
    total = prior + variance
    level, factor = -0.5 * np.log(total / variance), prior / total
    weights, share, rest = np.zeros(len(columns)), np.full(len(prior), 1.0 / len(prior)), y.copy()
    for _ in range(SWEEPS):
        shares, before = np.full(len(prior), 1e-12), weights.copy()  # no share becomes 0
        for j, column in enumerate(columns):
            seen = weights[j] + column @ rest
            relative = level + 0.5 * seen**2 / variance * factor
            posterior = share * np.exp(relative - relative.max())
            posterior /= posterior.sum()
            shares += posterior
            weight = seen * (posterior @ factor)
            rest -= column * (weight - weights[j])
            weights[j] = weight
        shares[-1] += PRIOR_CELLS
        share = shares / shares.sum()
        if np.abs(weights - before).max() <= SETTLED * np.sqrt(variance):
            break
    return y - rest


def _prior_variances(values: Array, variance: float) -> Array:
    """A grid of prior variances for numbers observed with an error of this variance; 0 is last."""
    largest = max(float(np.max(values**2)) / variance, 1.0)
    return variance * np.append(2.0 ** np.arange(-4.0, np.log2(largest) + 1.0), 0.0)
