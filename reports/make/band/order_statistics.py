"""Bands of error curves from thinned order statistics: beta bands and Berk–Jones.

Both error curves are bounded at RANKS order statistics. The critical value of their largest
deviation is that of a finite sample: their joint law is exact, its quantile simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import betainc, betaincinv, xlogy

from dpaudit._core.types import Array
from dpaudit.certify.scores import SortedScores

SHOWN = np.array([0.0, 0.5, 1.0, 2.0])  # ε at which certified δ are compared
LEVEL = 0.95
Band = Callable[[SortedScores, SortedScores], Array]  # choosing, certifying → δ on SHOWN, (4,)
RANKS, TRIALS = 400, 4000  # thinned order statistics; simulations for their critical value
BETA, BERK_JONES = "beta", "Berk–Jones"


def order_band(kind: str) -> Band:
    """The band of one kind, BETA or BERK_JONES."""

    def band(choose: SortedScores, certify: SortedScores) -> Array:
        p, q = certify.p, certify.q
        return np.maximum(_low(p, q, kind), _low(-q[::-1], -p[::-1], kind))

    return band


def _low(p: Array, q: Array, kind: str) -> Array:
    """Certified δ of the sets {score ≥ the i-th of the sorted p}, for all thinned i at once."""
    at = p[ranks(len(p)) - 1]
    have = 1.0 - limits(len(p), kind)[1]
    below = np.searchsorted(ranks(len(q)), np.searchsorted(q, at, side="left"), side="right")
    most = 1.0 - np.concatenate([[0.0], limits(len(q), kind)[0]])[below]
    return np.clip(np.max(have - np.exp(SHOWN)[:, None] * most, axis=1), 0.0, 1.0)


def ranks(n: int) -> np.ndarray:
    """The thinned ranks: all near both ends, then in geometric steps; also evenly spaced ones."""
    ends = np.unique(np.geomspace(1, n / 2, RANKS // 3).astype(int))
    return np.unique(
        np.concatenate([ends, n + 1 - ends, np.linspace(1, n, RANKS // 3).astype(int)])
    )


@lru_cache
def limits(n: int, kind: str) -> tuple[Array, Array]:
    """Lower and upper limit of the cdf at each thinned order statistic of n draws."""
    rank, critical = ranks(n), _critical(n, kind)
    if kind == BERK_JONES:
        return _far(rank / n, critical, 0.0), _far(rank / n, critical, 1.0)
    low, high = (betaincinv(rank, n + 1.0 - rank, at) for at in (-critical, 1.0 + critical))
    return low, high


def _far(centre: Array, critical: float, end: float) -> Array:
    """The q between `centre` and `end` at which the divergence of centre from q is critical."""
    inner, outer = centre.copy(), np.full_like(centre, end)
    for _ in range(60):
        middle = 0.5 * (inner + outer)
        with np.errstate(divide="ignore", invalid="ignore"):
            near = _divergence(centre, middle) <= critical
        inner, outer = np.where(near, middle, inner), np.where(near, outer, middle)
    return outer


@lru_cache
def _critical(n: int, kind: str) -> float:
    """The critical value at error (1 − LEVEL)/2 of the largest deviation of n uniforms.

    The joint law of the thinned order statistics is that of sums of exponentials; two standard
    errors of the simulated quantile are added to its rank.
    """
    rank, rng = ranks(n), np.random.default_rng(7)
    steps = np.diff(np.concatenate([[0], rank, [n + 1]]))
    sums = np.cumsum(rng.gamma(steps, size=(TRIALS, len(steps))), axis=1)
    uniform = sums[:, :-1] / sums[:, -1:]
    if kind == BERK_JONES:
        worst = np.max(_divergence(rank / n, uniform), axis=1)
    else:
        below = betainc(rank, n + 1.0 - rank, uniform)
        worst = -np.min(np.minimum(below, 1.0 - below), axis=1)
    error = 0.5 * (1.0 - LEVEL)
    keep = TRIALS * (1.0 - error) + 2.0 * np.sqrt(TRIALS * error)
    return float(np.sort(worst)[int(keep)])


def _divergence(p: Array, q: Array) -> Array:
    """Kullback–Leibler divergence of Bernoulli(p) from Bernoulli(q)."""
    return np.asarray(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p) - xlogy(p, q) - xlogy(1.0 - p, 1.0 - q))
