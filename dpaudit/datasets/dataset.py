"""A regression data set, and the table of numbers that it comes from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and a target; unpacks as `X, y = dataset`.

    X, y : (n, p) and (n,) float64; the first column of X is the constant where one was added.
    name, features, target : names of the data set, of the columns of X and of y.
    source : where the numbers come from, in one line.
    dropped : how many rows were left out on load, by reason. Row i is the i-th row that was kept.
    """

    X: Array = field(repr=False)
    y: Array = field(repr=False)
    name: str
    features: tuple[str, ...]
    target: str
    source: str
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Array]:
        """X, then y."""
        return iter((self.X, self.y))

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def database(self) -> Array:
        """The (n, p + 1) database [X, y], the label last, as mechanisms take it; read-only."""
        database = np.column_stack([self.X, self.y])
        database.setflags(write=False)
        return database

    def shrunk(self, row_bound: float) -> Dataset:
        """A copy in which rows [x, y] longer than `row_bound` are scaled to that norm.

        Mechanisms with a public bound on the row norms need such data. Raises `InvalidInput`.
        """
        # imported here because it loads SciPy, which reading a data set does not need
        from dpaudit._core.linalg import shrinkage

        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        factor = shrinkage(self.database, bound)
        source = f"{self.source}; {np.count_nonzero(factor < 1.0):,} rows shrunk to norm {bound:g}"
        return dataclasses.replace(
            self, X=self.X * factor[:, None], y=self.y * factor, source=source
        )


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of finite numbers, (n, k) float64, before one of them is made the target."""

    name: str
    columns: tuple[str, ...]
    values: Array = field(repr=False)
    source: str
    dropped: Mapping[str, int] = field(default_factory=dict)

    def dataset(self, target: str, constant: bool) -> Dataset:
        """Split into features and target, with a constant feature added if `constant`.

        Raises `InvalidInput` when `target` is no column, or when no feature is left.
        """
        if target not in self.columns:
            fail("target", target, f"the name of a column of {self.name}: {self.listing()}")
        at = self.columns.index(target)
        X, y = np.delete(self.values, at, axis=1), self.values[:, at].copy()
        features = self.columns[:at] + self.columns[at + 1 :]
        if constant and not _spans_constant(X):
            X, features = np.column_stack([np.ones(len(X)), X]), ("constant", *features)
        self._check_features(features, target)
        return Dataset(X, y, self.name, features, target, self.source, self.dropped)

    def listing(self, most: int = 30) -> str:
        """The column names for an error message, at most `most` of them."""
        shown = ", ".join(map(repr, self.columns[:most]))
        return shown if len(self.columns) <= most else f"{shown}, ... ({len(self.columns)} columns)"

    def _check_features(self, features: tuple[str, ...], target: str) -> None:
        if not features:
            raise InvalidInput(
                f"{self.name} must have a column besides the target {target!r}, got none"
            )
        if len(set(features)) < len(features):
            raise InvalidInput(
                f"{self.name}: column 'constant' must be the same in every row, got one that varies"
            )


def _spans_constant(X: Array) -> bool:
    """Whether a column is one nonzero number throughout."""
    return bool(((X.max(axis=0) == X.min(axis=0)) & (X[0] != 0)).any())
