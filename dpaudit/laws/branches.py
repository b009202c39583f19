"""Laws that first draw one of finitely many forms and then, given the form, numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.laws.base import Law
from dpaudit.laws.discrete import Discrete


@dataclass(frozen=True, eq=False)
class Branches:
    """Branch i has log probability `log_probability[i]` and gives the row `templates[i]` with
    numbers in its `slots`.

    templates : (m, k), NaN in the slots; no two rows alike. slots : for each branch the columns
        that its law fills.
    parts : for each branch the law of these numbers, or None where there are none. No part gives
        NaN.
    """

    templates: Array
    log_probability: Array
    slots: tuple[tuple[int, ...], ...]
    parts: tuple[Law | None, ...]

    @property
    def dim(self) -> int:
        return int(self.templates.shape[1])

    @property
    def tags(self) -> Array:
        """(m, 2k): each template, and beside it 1 where a slot is. What tells the branches apart."""
        return np.hstack([self.templates, self._open])

    @property
    def _open(self) -> Array:
        marks = np.zeros(self.templates.shape)
        for mark, slots in zip(marks, self.slots, strict=True):
            mark[list(slots)] = 1.0
        return marks

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        which = (
            Discrete(np.arange(float(len(self.templates))), self.log_probability)
            .sample(size, rng)[:, 0]
            .astype(int)
        )
        out = self.templates[which]
        for i, (slots, part) in enumerate(zip(self.slots, self.parts, strict=True)):
            chosen = np.flatnonzero(which == i)
            if part is not None and len(chosen):
                out[chosen[:, None], list(slots)] = part.sample(len(chosen), rng)
        return np.asarray(out)

    def log_density(self, x: Array) -> Array:
        value, missing = np.full(len(x), -np.inf), np.isnan(x)
        for i, (slots, part) in enumerate(zip(self.slots, self.parts, strict=True)):
            template, is_open = self.templates[i], self._open[i] == 1.0
            fits = np.where(
                is_open, ~missing, (x == template) | (missing & np.isnan(template))
            ).all(axis=1)
            if fits.any():
                own = 0.0 if part is None else part.log_density(x[fits][:, list(slots)])
                value[fits] = self.log_probability[i] + own
        return value
