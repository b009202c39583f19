"""Mixtures whose components differ visibly in form: a form is drawn, then the numbers in it."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import Law
from dpaudit.laws.discrete import Discrete


@value_class
class Branches:
    """Branch i, of log probability `log_probability[i]`: row `templates[i]` with `slots` drawn.

    Parameters
    ----------
    templates : array of shape (m, k)
        NaN in the slots; no two rows alike.
    log_probability : array of shape (m,)
        Of the branches.
    slots : tuple of tuple of int
        For each branch the columns that its law fills.
    parts : tuple of (Law or None)
        For each branch the law of these numbers, or None where there are none. No part draws NaN.
    """

    templates: Array
    log_probability: Array
    slots: tuple[tuple[int, ...], ...]
    parts: tuple[Law | None, ...]

    @property
    def dim(self) -> int:
        """Dimension of an output, k."""
        return int(self.templates.shape[1])

    @property
    def tags(self) -> Array:
        """What distinguishes the branches: each template, then 1 for a slot and 0 for the others.

        Shape (m, 2k).
        """
        return np.hstack([self.templates, self._is_slot])

    @property
    def _is_slot(self) -> Array:
        """(m, k), 1 in the slots and 0 elsewhere."""
        marks = np.zeros(self.templates.shape)
        for mark, slots in zip(marks, self.slots, strict=True):
            mark[list(slots)] = 1.0
        return marks

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """(size, k) independent draws."""
        number = Discrete(np.arange(float(len(self.templates))), self.log_probability)
        which = number.sample(size, rng)[:, 0].astype(int)
        out = self.templates[which]
        for i, (slots, part) in enumerate(zip(self.slots, self.parts, strict=True)):
            chosen = np.flatnonzero(which == i)
            if part is not None and len(chosen):
                out[chosen[:, None], list(slots)] = part.sample(len(chosen), rng)
        return np.asarray(out)

    def log_density(self, x: Array) -> Array:
        """Log probability of a row's branch plus the log density of the numbers in its slots.

        −∞ for a row of x (m, k) that fits no branch.
        """
        value = np.full(len(x), -np.inf)
        is_slot = self._is_slot == 1.0
        for i, (slots, part) in enumerate(zip(self.slots, self.parts, strict=True)):
            fits = _fits(x, self.templates[i], is_slot[i])
            if fits.any():
                own = 0.0 if part is None else part.log_density(x[fits][:, list(slots)])
                value[fits] = self.log_probability[i] + own
        return value


def _fits(x: Array, template: Array, is_slot: np.ndarray) -> np.ndarray:
    """Whether each row of x has numbers in the slots and equals the template elsewhere, (m,)."""
    missing = np.isnan(x)
    equal = (x == template) | (missing & np.isnan(template))
    return np.asarray(np.where(is_slot, ~missing, equal).all(axis=1))
