"""The regression data of paper 3, appendices J and K: synthetic designs, or splits of real data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpaudit import datasets
from dpaudit._core.types import Array

SYNTHETIC = {
    "gaussian": "Gaussian of low rank",
    "neural": "a random network's features",
    "uniform": "uniform",
}
NOISE = 0.1  # of the labels
LATENT, HIDDEN, BIAS = 2, 100, 1e-3  # the network's inputs, its width, its biases' deviation
TEST = 0.2  # share of the rows of real data


@dataclass(frozen=True, eq=False)
class Design:
    """Training and test databases, the label last.

    name : one of SYNTHETIC, or a data set. rows, dim, rank, tests : of a synthetic design: n, d,
    the rank of the Gaussian one, and the number of test rows.
    """

    name: str
    rows: int
    dim: int
    rank: int
    tests: int

    @property
    def title(self) -> str:
        """For the panels and sentences."""
        return SYNTHETIC.get(self.name, self.name)

    def sample(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """(n, d + 1) training and (m, d + 1) test rows.

        Both are scaled so that the longest training x and the largest training |y| are 1.
        """
        train, test = self._synthetic(rng) if self.name in SYNTHETIC else self._split(rng)
        longest, largest = np.linalg.norm(train[:, :-1], axis=1).max(), np.abs(train[:, -1]).max()
        scale = np.append(np.full(train.shape[1] - 1, longest), largest)
        return train / scale, test / scale

    def _synthetic(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """y = xᵀθ₀ + 0.1·Unif(−1, 1), θ₀ uniform on the sphere."""
        x = self._features(rng, self.rows + self.tests)
        truth = rng.standard_normal(self.dim)
        y = x @ truth / np.linalg.norm(truth) + NOISE * rng.uniform(-1.0, 1.0, len(x))
        data = np.column_stack([x, y])
        return data[: self.rows], data[self.rows :]

    def _features(self, rng: np.random.Generator, count: int) -> Array:
        if self.name == "uniform":
            return rng.uniform(-1.0, 1.0, (count, self.dim))
        if self.name == "gaussian":
            axes = np.linalg.qr(rng.standard_normal((self.dim, self.rank)))[0]
            return np.asarray(rng.standard_normal((count, self.rank)) @ axes.T)
        inner = rng.standard_normal((HIDDEN, LATENT))
        outer = rng.standard_normal((self.dim, HIDDEN))
        biases = BIAS * rng.standard_normal(HIDDEN), BIAS * rng.standard_normal(self.dim)
        hidden = expit(rng.standard_normal((count, LATENT)) @ inner.T + biases[0])
        return np.asarray(expit(hidden @ outer.T + biases[1]))

    def _split(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """A random fifth is the test."""
        found = datasets.load(self.name, constant=False)
        data = np.column_stack([found.X, found.y])[rng.permutation(len(found.y))]
        tests = round(TEST * len(data))
        return data[tests:], data[:tests]
