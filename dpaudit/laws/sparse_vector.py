"""The sparse vector technique: noisy answers to queries compared with one noisy threshold.

Its laws are integrals over the threshold's noise, by Gauss–Legendre quadrature.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import Law
from dpaudit.laws.density import gauss_legendre, panel_edges
from dpaudit.laws.discrete import Discrete, row_positions
from dpaudit.laws.vectors import laplace_log_cdf, laplace_log_density

# Scales of the threshold's noise that are integrated over on each side; e^{−60} is left out.
TAIL = 60.0
BLOCK = 1 << 12  # draws whose density is computed at a time


class Pattern(NamedTuple):
    """One outcome: how many queries were answered, and the indices of those above the threshold."""

    answered: int
    above: tuple[int, ...]


@value_class
class NoisyComparison:
    """Queries with Laplace noise, compared with a threshold with Laplace noise.

    queries : (n,), the true answers. threshold_scale, query_scale : of the two noises. Quadrature
    is over ρ, the noise of the threshold.
    """

    queries: Array
    threshold: float
    threshold_scale: float
    query_scale: float

    @property
    def kinks(self) -> Array:
        """The ρ at which an integrand is not smooth: 0, and where the threshold meets a query."""
        return np.unique(np.concatenate([[0.0], self.queries - self.threshold]))

    def nodes(self) -> tuple[Array, Array]:
        """Quadrature nodes ρ, and the logarithms of their weights times the density of ρ."""
        width = min(self.threshold_scale, self.query_scale)
        x, w = gauss_legendre(*panels(self.kinks, TAIL * self.threshold_scale, width))
        return x.ravel(), np.log(w.ravel()) + self.log_noise(x.ravel())

    def log_noise(self, rho: Array) -> Array:
        scale = self.threshold_scale
        return np.asarray(laplace_log_density(rho / scale) - np.log(scale))

    def log_others_below(self, rho: Array, answered: int, above: tuple[int, ...]) -> Array:
        """Log density of ρ, times P(the first `answered` but those in `above` stay below)."""
        below = self.log_below(rho.ravel()).reshape(-1, *rho.shape)
        return np.asarray(
            self.log_noise(rho) + sum(below[i] for i in range(answered) if i not in above)
        )

    def log_below(self, rho: Array) -> Array:
        """log P(query i stays below the threshold | ρ), shape (n, m)."""
        return laplace_log_cdf((self.threshold + rho - self.queries[:, None]) / self.query_scale)

    def log_above(self, rho: Array) -> Array:
        """log P(query i reaches the threshold | ρ), shape (n, m)."""
        return laplace_log_cdf((self.queries[:, None] - self.threshold - rho) / self.query_scale)

    def log_probability(self, first: int, last: int, above: tuple[int, ...]) -> float:
        """log P(of the queries first ≤ i < last exactly those in `above` reach the threshold)."""
        rho, weight = self.nodes()
        up, down = self.log_above(rho), self.log_below(rho)
        return float(
            logsumexp(weight + sum((up if i in above else down)[i] for i in range(first, last)))
        )


def panels(kinks: Array, span: float, scale: float) -> tuple[Array, Array]:
    """Starts and ends of panels at most two scales wide, from `span` below the kinks to above."""
    ends = panel_edges(kinks, scale, low=kinks[0] - span, high=kinks[-1] + span, width=2.0)
    return ends[:-1], ends[1:]


def patterns(count: int, most: int) -> Iterator[Pattern]:
    """All patterns of `count` queries when the `most`-th query above the threshold halts."""
    for ups in range(most + 1):
        for above in combinations(range(count), ups):
            yield Pattern(above[-1] + 1 if ups == most else count, above)


def halting_law(comparison: NoisyComparison, most: int, *, fresh: bool = False) -> Discrete:
    """The law of rows (number answered, 1 above or 0 below, NaN after the `most`-th 1 halts).

    fresh : whether the threshold gets new noise after each 1.
    """
    count = len(comparison.queries)
    rows, logs = [], []
    for answered, above in patterns(count, most):
        row = np.full(count + 1, np.nan)
        row[: answered + 1] = answered, *(float(i in above) for i in range(answered))
        rows.append(row)
        # One draw of the threshold serves a run of queries, which each query above ends if `fresh`.
        log, start = 0.0, 0
        for up in above if fresh else ():
            log += comparison.log_probability(start, up + 1, (up,))
            start = up + 1
        if start < answered:
            log += comparison.log_probability(start, answered, () if fresh else above)
        logs.append(log)
    return Discrete(np.array(rows), np.array(logs))


def unlimited_law(comparison: NoisyComparison) -> Discrete:
    """The law of rows of 1 (above) or 0 (below) for n queries without a halt, all 2ⁿ rows."""
    count = len(comparison.queries)
    rows = ((np.arange(2**count)[:, None] >> np.arange(count)) & 1).astype(np.float64)
    rho, weight = comparison.nodes()
    logs = rows @ comparison.log_above(rho) + (1.0 - rows) @ comparison.log_below(rho)
    return Discrete(rows, logsumexp(weight + logs, axis=1))


def noiseless_law(queries: Array, threshold: float, threshold_scale: float) -> Discrete:
    """The law of rows of 1 (above) or 0 (below) when only the threshold has noise.

    The noisy threshold falls between two neighbours of the sorted answers, which decides the row.
    """
    levels = np.unique(queries)
    rows = np.array(
        [queries >= level for level in levels] + [np.zeros(len(queries), dtype=bool)],
        dtype=np.float64,
    )
    cuts = (levels - threshold) / threshold_scale
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    # An interval above 0 is mirrored, so that the difference of two probabilities is taken in the
    # lower tail, where both have full relative accuracy.
    mirrored = ends[:-1] >= 0.0
    low = laplace_log_cdf(np.where(mirrored, -ends[1:], ends[:-1]))
    high = laplace_log_cdf(np.where(mirrored, -ends[:-1], ends[1:]))
    return Discrete(rows, high + np.log1p(-np.exp(low - high)))


@value_class
class ReleasedAnswers(Law):
    """Rows (number answered, the noisy answer of each query above, NaN for the other queries).

    The noisy answer that is compared with the threshold is the one that is released; the mechanism
    halts after `most` of them.
    """

    comparison: NoisyComparison
    most: int

    @property
    def dim(self) -> int:
        return len(self.comparison.queries) + 1

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        law = self.comparison
        threshold = rng.laplace(law.threshold, law.threshold_scale, (size, 1))
        answers = law.queries + rng.laplace(0.0, law.query_scale, (size, self.dim - 1))
        above = answers >= threshold
        answered = np.asarray(np.cumsum(above, axis=1) - above < self.most)
        return np.hstack(
            [answered.sum(axis=1, keepdims=True), np.where(above & answered, answers, np.nan)]
        )

    def log_density(self, x: Array) -> Array:
        value = np.full(len(x), -np.inf)
        observed = np.column_stack([x[:, 0], ~np.isnan(x[:, 1:])])
        for pattern in patterns(self.dim - 1, self.most):
            expected = np.r_[
                float(pattern.answered), np.isin(np.arange(self.dim - 1), pattern.above)
            ]
            rows = np.flatnonzero(row_positions(expected[None], observed) == 0)
            columns = 1 + np.array(pattern.above, dtype=int)
            for start in range(0, len(rows), BLOCK):
                block = rows[start : start + BLOCK]
                value[block] = self.log_pattern_density(pattern, x[block][:, columns])
        return value

    def log_pattern_density(self, pattern: Pattern, values: Array) -> Array:
        """Log density of one pattern at the released values (m, len(pattern.above)), shape (m,)."""
        law, (answered, above) = self.comparison, pattern
        if not above:
            return np.full(len(values), law.log_probability(0, answered, ()))
        standard = (values - law.queries[list(above)]) / law.query_scale
        noise = laplace_log_density(standard) - np.log(law.query_scale)
        return np.asarray(
            noise.sum(axis=1) + self._log_threshold_integral(values.min(axis=1), pattern)
        )

    def _log_threshold_integral(self, least: Array, pattern: Pattern) -> Array:
        """log ∫ over thresholds up to the least released value of P(the other queries stay below).

        least : (m,). The integral is that over all panels below `least`, from one cumulative sum,
        plus that over the part of a panel up to `least`, for which each draw has nodes of its own.
        """
        law = self.comparison
        start, end = panels(
            law.kinks, TAIL * law.threshold_scale, min(law.threshold_scale, law.query_scale)
        )
        below = np.concatenate([[0.0], np.cumsum(self._integrals(start, end, pattern))])
        stop = np.clip(least - law.threshold, start[0], end[-1])
        panel = np.minimum(np.searchsorted(end, stop, side="left"), len(end) - 1)
        partial = self._integrals(start[panel], stop, pattern)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(below[panel] + partial))

    def _integrals(self, start: Array, end: Array, pattern: Pattern) -> Array:
        x, w = gauss_legendre(start, end)
        return np.asarray(np.sum(w * np.exp(self.comparison.log_others_below(x, *pattern)), axis=1))
