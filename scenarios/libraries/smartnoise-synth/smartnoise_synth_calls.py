"""Calls of smartnoise-synth.

Its noise is opendp's or that of numpy's global generator. The latter is seeded from the draw's own
generator and put back afterwards; the former cannot be seeded.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class Covariance:
    """The covariances that DPcovariance releases, for columns within public ranges: (ε, 0)."""

    def __init__(self, epsilon: float, ranges: list[list[float]]) -> None:
        self.epsilon, self.ranges = epsilon, ranges

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        with _seeded(rng):
            return np.array([self._released(data) for _ in range(size)])

    def _released(self, data: Any) -> list[float]:
        import pandas as pd
        from snsynth.models.dp_covariance import DPcovariance

        columns = [f"c{number}" for number in range(len(self.ranges))]
        ranges = pd.DataFrame(np.transpose(self.ranges))
        made = DPcovariance(len(data), columns, ranges, self.epsilon)
        return made.release(pd.DataFrame(data, columns=columns))


class Mwem:
    """How often each combination of categories comes in a table of MWEM, whose transformer has
    learned the categories from public rows: (ε, 0).
    """

    def __init__(self, epsilon: float, sizes: list[int], records: int) -> None:
        self.epsilon, self.sizes, self.records = epsilon, sizes, records

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        with _seeded(rng), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = [tuple(int(cell) for cell in row) for row in data]
            return np.array([self._counts(rows) for _ in range(size)])

    def _counts(self, rows: Any) -> Any:
        from snsynth.mwem import MWEMSynthesizer
        from snsynth.transform import TableTransformer

        public = list(np.ndindex(*self.sizes))
        columns = list(range(len(self.sizes)))
        transformer = TableTransformer.create(public, style="cube", categorical_columns=columns)
        transformer.fit(public)
        made = MWEMSynthesizer(
            epsilon=self.epsilon, iterations=2, q_count=5, mult_weights_iterations=5
        )
        made.fit(rows, transformer=transformer)
        drawn = np.array(made.sample(self.records), dtype=int)
        cells = np.ravel_multi_index(tuple(drawn.T), self.sizes)
        return np.bincount(cells, minlength=int(np.prod(self.sizes)))


@contextmanager
def _seeded(rng: Any) -> Iterator[None]:
    """The global generators of numpy and Python, seeded from a generator, then put back."""
    before, plain = np.random.get_state(), random.getstate()  # noqa: NPY002
    np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002
    random.seed(int(rng.integers(2**32)))
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
        random.setstate(plain)
