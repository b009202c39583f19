"""Answers to a row of queries against one noisy threshold (the sparse vector technique): laws by
quadrature over it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.check import Array
from dpaudit.laws import density
from dpaudit.laws.discrete import Discrete
from dpaudit.laws.noise import log_below, log_laplace

# scales of the threshold's noise that are integrated over on each side; e^{−60} is left out
TAIL = 60.0
# how many queries were answered, and which of these were above
Pattern = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Queries with Laplace noise of scale `query`, against a threshold with Laplace noise of scale
    `noise`.

    queries : (n,). Everything is by Gauss–Legendre panels over the threshold's noise, kinks at
        queries − threshold.
    """

    queries: Array
    threshold: float
    noise: float
    query: float

    @property
    def kinks(self) -> Array:
        """Where the noise makes the threshold meet a query, and 0."""
        return np.unique(np.concatenate([[0.0], self.queries - self.threshold]))

    def nodes(self) -> tuple[Array, Array]:
        """Values of the noise and the logs of their weights, density included."""
        x, w = density.gauss(*panels(self.kinks, TAIL * self.noise, min(self.noise, self.query)))
        return x.ravel(), np.log(w.ravel()) + self.log_noise(x.ravel())

    def log_noise(self, rho: Array) -> Array:
        """Log density of the threshold's noise."""
        return np.asarray(log_laplace(rho / self.noise) - np.log(self.noise))

    def log_stays(self, rho: Array, answered: int, ups: tuple[int, ...]) -> Array:
        """Log density of the noise rho times P(all queries before `answered` but `ups` stay below),
        shape of rho.
        """
        below = self.below(rho.ravel()).reshape(-1, *rho.shape)
        return np.asarray(
            self.log_noise(rho) + sum(below[i] for i in range(answered) if i not in ups)
        )

    def below(self, rho: Array) -> Array:
        """log P(query i stays below the threshold at noise rho), (n, m)."""
        return log_below((self.threshold + rho - self.queries[:, None]) / self.query)

    def above(self, rho: Array) -> Array:
        """log P(query i is above or equal), (n, m)."""
        return log_below((self.queries[:, None] - self.threshold - rho) / self.query)

    def stretch(self, first: int, last: int, ups: tuple[int, ...]) -> float:
        """log P(of the queries first ≤ i < last just `ups` are above), one threshold for all."""
        rho, weight = self.nodes()
        below, above = self.below(rho), self.above(rho)
        return float(
            logsumexp(weight + sum((above if i in ups else below)[i] for i in range(first, last)))
        )


def panels(kinks: Array, span: float, scale: float) -> tuple[Array, Array]:
    """Starts and ends of panels of at most two scales, through the kinks and so far beyond them."""
    ends = density.edges(kinks, scale, low=kinks[0] - span, high=kinks[-1] + span, width=2.0)
    return ends[:-1], ends[1:]


def patterns(count: int, most: int) -> Iterator[Pattern]:
    """All ways to answer `count` queries when the `most`-th one above halts."""
    for ups in range(most + 1):
        for which in combinations(range(count), ups):
            yield (which[-1] + 1 if ups == most else count), which


def halting(law: Thresholds, most: int, *, fresh: bool = False) -> Discrete:
    """Rows (answered, 1 or 0 for each, NaN beyond), halting at the `most`-th 1; `fresh`: a new
    threshold after each.
    """
    count = len(law.queries)
    rows, logs = [], []
    for answered, ups in patterns(count, most):
        row = np.full(count + 1, np.nan)
        row[: answered + 1] = answered, *(float(i in ups) for i in range(answered))
        rows.append(row)
        logs.append(sum(law.stretch(*part) for part in _stretches(answered, ups, fresh)))
    return Discrete(np.array(rows), np.array(logs))


def _stretches(
    answered: int, ups: tuple[int, ...], fresh: bool
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The queries that share a threshold: all, or those up to each one above and those after the
    last.
    """
    if not fresh:
        yield 0, answered, ups
        return
    start = 0
    for up in ups:
        yield start, up + 1, (up,)
        start = up + 1
    if start < answered:
        yield start, answered, ()


def unending(law: Thresholds) -> Discrete:
    """Rows of 1 or 0 for every query: all 2ⁿ of them."""
    count = len(law.queries)
    rows = ((np.arange(2**count)[:, None] >> np.arange(count)) & 1).astype(np.float64)
    rho, weight = law.nodes()
    logs = rows @ law.above(rho) + (1.0 - rows) @ law.below(rho)
    return Discrete(rows, logsumexp(weight + logs, axis=1))


def noiseless(queries: Array, threshold: float, noise: float) -> Discrete:
    """The same for queries without noise: the threshold falls between two of the sorted answers."""
    levels = np.unique(queries)
    rows = np.array(
        [queries >= level for level in levels] + [np.zeros(len(queries), dtype=bool)],
        dtype=np.float64,
    )
    cuts = (levels - threshold) / noise
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    return Discrete(rows, np.array([_between(a, b) for a, b in pairwise(ends)]))


def _between(a: float, b: float) -> float:
    """log P(a < Z ≤ b) of standard Laplace noise, from the side where no digits cancel."""
    if a >= 0.0:
        a, b = -b, -a
    low, high = (
        float(log_below(np.array(x))) if np.isfinite(x) else (0.0 if x > 0.0 else -np.inf)
        for x in (a, b)
    )
    return high + float(np.log1p(-np.exp(low - high)))
