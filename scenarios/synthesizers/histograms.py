"""Synthesizers of small tables of categories, with noise on the counts of all combinations.

Neighbouring databases differ in one record that is added or removed, so one count moves by 1, and
Laplace noise of scale 1/ε on each count is (ε, 0)-differentially private (Dwork & Roth 2014,
section 3.3). How many records are released is public: a number that is given. All that follows the
noise is post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

LEAST = (
    1e-9  # the least weight of a cell, so that some cell can be drawn where no noise is positive
)


class NoisyHistogram:
    """A histogram over a public domain: (ε, 0).

    sizes : number of values of each column, 0, 1, …; another value counts as the nearest of these.
    records : how many are released. scale : of the noise, 1/ε if not given.
    """

    def __init__(
        self, epsilon: float, sizes: Sequence[int], records: int, scale: float | None = None
    ) -> None:
        self.sizes, self.records = tuple(sizes), records
        self.scale = 1.0 / epsilon if scale is None else scale

    def fit(self, data: Any, rng: np.random.Generator) -> Any:
        """Shares of all cells, (prod(sizes),)."""
        cells = np.ravel_multi_index(tuple(data.astype(int).T), self.sizes, mode="clip")
        counts = np.bincount(cells, minlength=int(np.prod(self.sizes)))
        return _shares(counts, self.scale, rng)

    def sample(self, model: Any, rng: np.random.Generator) -> Any:
        """A table, (records, c)."""
        cells = rng.choice(len(model), self.records, p=model)
        return np.column_stack(np.unravel_index(cells, self.sizes))


class ObservedHistogram:
    """The same over the combinations that the data hold. It is not private.

    A record whose combination is new makes a cell of its own, and no synthetic table without this
    record in its data can hold such a combination.
    """

    def __init__(self, epsilon: float, records: int) -> None:
        self.records, self.scale = records, 1.0 / epsilon

    def fit(self, data: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """The combinations, (k, c), and their shares, (k,)."""
        cells, counts = np.unique(data, axis=0, return_counts=True)
        return cells, _shares(counts, self.scale, rng)

    def sample(self, model: tuple[Any, Any], rng: np.random.Generator) -> Any:
        """A table, (records, c)."""
        cells, shares = model
        return cells[rng.choice(len(cells), self.records, p=shares)]


def _shares(counts: Any, scale: float, rng: np.random.Generator) -> Any:
    """Noisy counts that are not negative, as shares of their sum."""
    noisy = np.maximum(counts + rng.laplace(scale=scale, size=len(counts)), LEAST)
    return noisy / noisy.sum()
