"""The sparse vector technique that releases the noisy answers above the threshold themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.laws import density
from dpaudit.laws.discrete import find
from dpaudit.laws.noise import log_laplace
from dpaudit.laws.sparse import TAIL, Pattern, Thresholds, panels, patterns

BLOCK = 1 << 12  # draws whose density is worked out at a time


@dataclass(frozen=True, eq=False)
class ReleasedAnswers:
    """Rows (answered, the noisy answer of each query that is above, NaN for one below or not
    answered).

    The same noise decides and is released. Halts at the `most`-th answer above.
    """

    law: Thresholds
    most: int

    @property
    def dim(self) -> int:
        return len(self.law.queries) + 1

    @property
    def patterns(self) -> list[Pattern]:
        return list(patterns(self.dim - 1, self.most))

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        law = self.law
        rho = rng.laplace(law.threshold, law.noise, (size, 1))
        answers = law.queries + rng.laplace(0.0, law.query, (size, self.dim - 1))
        above = answers >= rho
        answered = np.asarray(np.cumsum(above, axis=1) - above < self.most)
        return np.hstack(
            [answered.sum(axis=1, keepdims=True), np.where(above & answered, answers, np.nan)]
        )

    def log_density(self, x: Array) -> Array:
        value = np.full(len(x), -np.inf)
        for answered, ups in self.patterns:
            form = np.r_[float(answered), np.isin(np.arange(self.dim - 1), ups)]
            rows = np.flatnonzero(
                find(form[None], np.column_stack([x[:, 0], ~np.isnan(x[:, 1:])])) == 0
            )
            for start in range(0, len(rows), BLOCK):
                part = rows[start : start + BLOCK]
                value[part] = self.log_form(answered, ups, x[part][:, 1 + np.array(ups, dtype=int)])
        return value

    def log_form(self, answered: int, ups: tuple[int, ...], values: Array) -> Array:
        """Log density of one form at the released values, (m, len(ups))."""
        if not ups:
            return np.full(len(values), self.law.stretch(0, answered, ()))
        noise = log_laplace((values - self.law.queries[list(ups)]) / self.law.query) - np.log(
            self.law.query
        )
        return np.asarray(noise.sum(axis=1) + self._log_room(values.min(axis=1), answered, ups))

    def _log_room(self, least: Array, answered: int, ups: tuple[int, ...]) -> Array:
        """log ∫ over thresholds up to the least released value: whole panels, then what is left of
        one.
        """
        law = self.law
        start, end = panels(law.kinks, TAIL * law.noise, min(law.noise, law.query))
        x, w = density.gauss(start, end)
        whole = np.sum(w * np.exp(law.log_stays(x, answered, ups)), axis=1)
        below = np.concatenate([[0.0], np.cumsum(whole)])
        stop = np.clip(least - law.threshold, start[0], end[-1])
        panel = np.minimum(np.searchsorted(end, stop, side="left"), len(end) - 1)
        x, w = density.gauss(start[panel], stop)
        rest = np.sum(w * np.exp(law.log_stays(x, answered, ups)), axis=1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(below[panel] + rest))
