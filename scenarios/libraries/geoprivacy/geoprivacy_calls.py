"""What GeoPrivacy releases of a place, as mechanisms to audit: imported when one is called.

The database is one row, the two coordinates of a place, or the number of one of PLACES. The noise
of planar Laplace is drawn by numpy and random, whose global generators are seeded from the audit's,
so an audit comes again digit by digit; places are drawn by numpy from the package's matrix.
"""

from __future__ import annotations

import contextlib
import io
import random
from typing import Any

import numpy as np

PLACES = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 1.5)]
WEIGHTS = [3, 1, 3, 2]


def planar(epsilon: float) -> Any:
    """`size` places with random_laplace_noise(epsilon) added to their coordinates."""

    def noisy(data: Any, size: int, *, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        from GeoPrivacy.mechanism import random_laplace_noise

        _seed(rng)
        return data[0] + np.array([random_laplace_noise(epsilon) for _ in range(size)])

    return noisy


class Matrix:
    """`size` places drawn from the row of the user's place in the matrix of an optimal mechanism.

    build : "optql", "optql_graph_spanner" with delta, or "DataProcessor", which builds a model and
    draws from it by itself.
    """

    def __init__(self, build: str, epsilon: float, delta: float = 1.1) -> None:
        self.build, self.epsilon, self.delta = build, epsilon, delta

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        place = int(data[0, 0])
        with contextlib.redirect_stdout(io.StringIO()):
            made = self._processor() if self.build == "DataProcessor" else self._rows()
        _seed(rng)
        if self.build == "DataProcessor":
            return np.array([made.generate_point(place) for _ in range(size)])[:, None]
        return rng.choice(len(PLACES), size=(size, 1), p=made[place] / made[place].sum())

    def _rows(self) -> Any:
        from GeoPrivacy import mechanism
        from GeoPrivacy.metrics import euclidean

        if self.build == "optql":
            return mechanism.optql(PLACES, WEIGHTS, euclidean, epsilon=self.epsilon)[0]
        spanner = mechanism.generate_spanner(PLACES, euclidean, stretch=self.delta)
        return mechanism.optql_graph_spanner(
            PLACES, WEIGHTS, spanner, euclidean, epsilon=self.epsilon, delta=self.delta
        )[0]

    def _processor(self) -> Any:
        from GeoPrivacy.processor import DataProcessor

        processor = DataProcessor(PLACES, WEIGHTS)
        processor.choose_metric("euclidean")
        processor.build_model(self.epsilon, self.delta, "optimal")
        return processor


def _seed(rng: np.random.Generator) -> None:
    seed = int(rng.integers(2**32))
    np.random.seed(seed)  # noqa: NPY002 - the package draws from it
    random.seed(seed)
