"""The sparse vector technique that releases the noisy answers above the threshold themselves."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws import density
from dpaudit.laws.discrete import row_positions
from dpaudit.laws.noise import laplace_log_density
from dpaudit.laws.sparse_vector import TAIL, NoisyComparison, Pattern, panels, patterns

BLOCK = 1 << 12  # draws whose density is computed at a time


@value_class
class ReleasedAnswers:
    """Rows (number answered, the noisy answer of each query above, NaN for the other queries).

    The noisy answer that is compared with the threshold is the one that is released.

    Parameters
    ----------
    comparison : NoisyComparison
        Of queries and threshold.
    most : int
        It halts at the answer above of this number.
    """

    comparison: NoisyComparison
    most: int

    @property
    def dim(self) -> int:
        """n + 1."""
        return len(self.comparison.queries) + 1

    @property
    def patterns(self) -> list[Pattern]:
        """All patterns of answers that can occur."""
        return list(patterns(self.dim - 1, self.most))

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """(size, n + 1) independent draws."""
        law = self.comparison
        threshold = rng.laplace(law.threshold, law.threshold_scale, (size, 1))
        answers = law.queries + rng.laplace(0.0, law.query_scale, (size, self.dim - 1))
        above = answers >= threshold
        answered = np.asarray(np.cumsum(above, axis=1) - above < self.most)
        return np.hstack(
            [answered.sum(axis=1, keepdims=True), np.where(above & answered, answers, np.nan)]
        )

    def log_density(self, x: Array) -> Array:
        """Log density at the rows of x (m, n + 1); −∞ for a row of none of the patterns."""
        value = np.full(len(x), -np.inf)
        observed = np.column_stack([x[:, 0], ~np.isnan(x[:, 1:])])
        for pattern in self.patterns:
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
        """∫ from start to end over the threshold's noise, shape of start."""
        x, w = density.gauss_legendre(start, end)
        return np.asarray(np.sum(w * np.exp(self.comparison.log_others_below(x, *pattern)), axis=1))
