"""Logarithms of tail probabilities: hypergeometric, binomial, and Fisher's combination.

Each one is exact or an upper bound, so that a p-value made from it stays a p-value.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc, gammaln, xlogy

from dpaudit._core.types import Array

TERMS = 32  # of a tail that are summed at a time
NEGLIGIBLE = 1e-9  # what is left of a tail, as a share of its sum, once the summing stops
ROUNDING = 1e-6  # added to log p: `gammaln` of 1e7 is rounded by 2e-8
AT_ONCE = 1 << 13  # tails that are summed together, so that memory stays small
UNDERFLOW = 1e-290  # below this, a tail of the gamma law is bounded by a geometric series


def two_sided(total: Array, ones: Array, left: Array, count: Array) -> Array:
    """log p of `count` ones among the `left` first of `total` places, of which `ones` hold a one.

    All four broadcast together. p = min(1, 2·tail), the tail on the side of the mean on which the
    count lies. P(p ≤ u) ≤ u/2 + u/2.
    """
    shape = np.broadcast_shapes(*map(np.shape, (total, ones, left, count)))
    N, K, n, x = (
        np.broadcast_to(np.asarray(part, dtype=float), shape).ravel()
        for part in (total, ones, left, count)
    )
    above = x * N > n * K
    K, x = np.where(above, N - K, K), np.where(above, n - x, x)  # count zeros instead
    parts = [slice(start, start + AT_ONCE) for start in range(0, len(x), AT_ONCE)]
    tails = [_lower_tail(N[part], K[part], n[part], x[part]) for part in parts]
    log_p = np.log(2.0) + np.concatenate([*tails, np.empty(0)]) + ROUNDING
    return np.minimum(0.0, log_p).reshape(shape)


def _lower_tail(N: Array, K: Array, n: Array, x: Array) -> Array:
    """log P(X ≤ x) of a hypergeometric X, for x at most the mean.

    The ratios f(j − 1)/f(j) = j (N − K − n + j)/((K − j + 1)(n − j + 1)) fall with j, and none is
    above 1 up to the mean. So what is left after a term t is at most t·r/(1 − r), r the next ratio;
    this bound is added once it is negligible.
    """
    sums, term, active = np.ones_like(x), np.ones_like(x), np.arange(len(x))
    steps, lowest = np.arange(TERMS), np.maximum(0.0, n + K - N)
    place = x.copy()
    while len(active):
        a = active
        ratios = _ratio(N[a, None], K[a, None], n[a, None], place[a, None] - steps, lowest[a, None])
        terms = term[a, None] * np.cumprod(ratios, axis=1)
        sums[a] += terms.sum(axis=1)
        term[a], place[a] = terms[:, -1], place[a] - TERMS
        r = _ratio(N[a], K[a], n[a], place[a], lowest[a])
        left = np.divide(term[a] * r, 1.0 - r, out=np.full(len(a), np.inf), where=r < 1.0)
        done = left <= NEGLIGIBLE * sums[a]
        sums[a[done]] += left[done]
        active = a[~done]
    return np.log(sums) + _log_mass(N, K, n, x)


def _ratio(N: Array, K: Array, n: Array, j: Array, lowest: Array) -> Array:
    """f(j − 1)/f(j), and 0 from the lowest j on."""
    ratio = j * (N - K - n + j) / ((K - j + 1.0) * (n - j + 1.0))
    return np.where(j > lowest, ratio, 0.0)


def _log_mass(N: Array, K: Array, n: Array, x: Array) -> Array:
    """log P(X = x)."""
    return log_choose(K, x) + log_choose(N - K, n - x) - log_choose(N, n)


def log_choose(n: Array, k: Array) -> Array:
    """log of n over k."""
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def combined(sum_of_logs: Array, number: int) -> Array:
    """log p of Fisher's combination of `number` p-values, each one given those before it.

    sum_of_logs : Σ log p. If P(pᵢ ≤ u | p₁ … pᵢ₋₁) ≤ u, then −Σ log pᵢ is stochastically at most a
    sum of so many independent exponentials, a gamma variable Y of that shape. For y that is large,
    P(Y ≥ y) = Σ_{j < k} e^{−y} yʲ/j! is at most its last term over 1 − (k − 1)/y.
    """
    y = np.maximum(0.0, -np.asarray(sum_of_logs, dtype=float))
    tail = gammaincc(number, y) if number else np.ones_like(y)
    far = np.maximum(y, number + 1.0)  # where it is not far, the first branch counts
    bound = xlogy(number - 1.0, far) - far - gammaln(max(number, 1))
    bound -= np.log1p(-(number - 1.0) / far)
    return np.where(tail > UNDERFLOW, np.log(np.maximum(tail, UNDERFLOW)), bound)


def binomial_upper(count: int, trials: int, share: float) -> float:
    """A bound on log P(X ≥ count), X binomial: Chernoff's −n·KL(count/n, share)."""
    if share >= 1.0 or count <= trials * share:
        return 0.0
    seen = count / trials
    return -trials * float(
        xlogy(seen, seen / share) + xlogy(1.0 - seen, (1.0 - seen) / (1.0 - share))
    )
