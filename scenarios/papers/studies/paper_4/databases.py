"""The databases of paper 4's experiments: drawn block by block, with only their moments kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.papers.algorithm import shrunk

BLOCK = 1 << 14  # rows at a time


class BlockwiseData:
    """What both experiments share: rows longer than B are shrunk to B, B² = bound·d."""

    bound: float

    @property
    def dim(self) -> int:
        """d, the number of columns."""
        raise NotImplementedError

    def block(self, count: int, rng: np.random.Generator) -> Array:
        """(count, dim) rows, not yet shrunk."""
        raise NotImplementedError

    @property
    def row_bound(self) -> float:
        """B."""
        return float(np.sqrt(self.bound * self.dim))

    def grams(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[tuple[int, Array]]:
        """(n, AᵀA of the first n rows) for ascending sizes."""
        total, done = np.zeros((self.dim, self.dim)), 0
        for n in sizes:
            while done < n:
                rows = shrunk(self.block(min(BLOCK, n - done), rng), self.row_bound)
                total = total + rows.T @ rows
                done += len(rows)
            yield n, total

    @property
    def shrunk_share(self) -> float:
        """The share of rows that are longer than B, estimated by 10,000 rows of a fixed seed."""
        rows = self.block(10_000, np.random.default_rng(0))
        return float(np.mean(np.linalg.norm(rows, axis=1) > self.row_bound))


@dataclass(frozen=True, eq=False)
class SingleLabel(BlockwiseData):
    """Rows (x, 1, y), x ~ N(0, I_p), y = (x, 1)ᵀβ + noise·N(0, 1). coef : β, (p + 1,)."""

    coef: Array
    noise: float
    bound: float

    @property
    def dim(self) -> int:
        """p + 2."""
        return len(self.coef) + 1

    def block(self, count: int, rng: np.random.Generator) -> Array:
        """(count, p + 2) rows."""
        x = np.ones((count, len(self.coef)))
        x[:, :-1] = rng.standard_normal((count, len(self.coef) - 1))
        return np.column_stack([x, x @ self.coef + self.noise * rng.standard_normal(count)])


@dataclass(frozen=True, eq=False)
class SeveralLabels(BlockwiseData):
    """Rows (x, 1, y₁, …, y_k), y_i = (x, 1)ᵀβ_i + noise·N(0, 1).

    coefs : β₁, …, β_k as columns, (p + 1, k). y₁ is the label of the regressions.
    """

    coefs: Array
    noise: float
    bound: float

    @property
    def dim(self) -> int:
        """p + 1 + k."""
        return sum(self.coefs.shape)

    def block(self, count: int, rng: np.random.Generator) -> Array:
        """(count, p + 1 + k) rows."""
        regressors, labels = self.coefs.shape
        x = np.ones((count, regressors))
        x[:, :-1] = rng.standard_normal((count, regressors - 1))
        noise = self.noise * rng.standard_normal((count, labels))
        return np.column_stack([x, x @ self.coefs + noise])

    def columns(self, extra: int) -> np.ndarray:
        """Indices of the features, the intercept, `extra` other labels, and y₁ last."""
        regressors = len(self.coefs)
        return np.r_[np.arange(regressors), regressors + 1 + np.arange(extra), regressors]

    def truth(self, extra: int) -> Array:
        """β₁, and 0 for the other labels."""
        return np.concatenate([self.coefs[:, 0], np.zeros(extra)])
