"""A table of numbers, and the regression data set that is made of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import field

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import InvalidInput

CONSTANT = "constant"


@value_class
class Dataset:
    """Features and a target; unpacks as `X, y = dataset`.

    Attributes
    ----------
    X : array of shape (n, p)
        Float64; the first column is the constant if one was added.
    y : array of shape (n,)
        Float64, the target.
    name, target : str
        Names of the data set and of y.
    features : tuple of str
        Names of the columns of X.
    source : str
        Where the numbers come from, in one line.
    dropped : dict
        How many rows were left out on load, by reason. Row i is the i-th remaining row.
    """

    X: Array = field(repr=False)
    y: Array = field(repr=False)
    name: str
    features: tuple[str, ...]
    target: str
    source: str
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.n} × {self.X.shape[1] + 1})"

    def __iter__(self) -> Iterator[Array]:
        return iter((self.X, self.y))

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def database(self) -> Array:
        """The (n, p + 1) database [X, y], as mechanisms take it; read-only."""
        database = np.column_stack([self.X, self.y])
        database.setflags(write=False)
        return database

    def shrunk(self, row_bound: float) -> Dataset:
        """A copy in which rows [x, y] of a Euclidean norm above `row_bound` are scaled to it.

        Mechanisms with a public bound on the row norms need such data.
        """
        factor, source = _shrinkage(self, row_bound)
        return dataclasses.replace(
            self, X=self.X * factor[:, None], y=self.y * factor, source=source
        )


@value_class
class Table:
    """Named columns of finite numbers: a database as a mechanism sees it.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    values : array of shape (n, d)
        Float64.
    name, source, dropped : str, str, dict
        The same as in `Dataset`.
    target : str or None
        The name of the last column if it is the one to predict, else None.
    changes : tuple of str
        The changes that were made to the columns of the source, a phrase for each.
    types : dict
        The type of each column, for `dpaudit.adapters.records`: "float", "int", "bool", or the
        texts that the codes 0, 1, … stand for. A column that is not named holds floats.
    """

    name: str
    columns: tuple[str, ...]
    values: Array = field(repr=False)
    source: str
    dropped: Mapping[str, int] = field(default_factory=dict)
    target: str | None = None
    changes: tuple[str, ...] = ()
    types: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {len(self.values)} × {len(self.columns)})"

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def features(self) -> tuple[str, ...]:
        return self.columns if self.target is None else self.columns[:-1]

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """The texts of each column that holds texts, by its name, in the order of their codes."""
        return {name: kind for name, kind in self.types.items() if isinstance(kind, tuple)}

    @property
    def database(self) -> Array:
        database = np.array(self.values, order="C")
        database.setflags(write=False)
        return database

    def predicting(self, target: str) -> Table:
        """The table with the column `target` last. Raises `InvalidInput` if there is none."""
        if target not in self.columns:
            fail("target", target, f"the name of a column of {self.name}: {self.listing()}")
        at, last = self.columns.index(target), len(self.columns) - 1
        order = [place for place in range(last + 1) if place != at] + [at]
        moved = () if at == last else (f"{target!r} moved last",)
        return dataclasses.replace(
            self,
            columns=tuple(self.columns[place] for place in order),
            values=self.values[:, order],
            target=target,
            changes=(*self.changes, *moved),
        )

    def with_constant(self) -> Table:
        """The table with a column of ones first, called "constant".

        The table stays as it is if a feature is one nonzero number throughout, since the features
        would be linearly dependent. Raises `InvalidInput` if another column has the name.
        """
        features = self.values[:, : len(self.features)]
        if np.any((features.max(axis=0) == features.min(axis=0)) & (features[0] != 0)):
            return self
        if CONSTANT in self.columns:
            raise InvalidInput(
                f"{self.name}: column 'constant' must be the same in every row, got one that varies"
            )
        return dataclasses.replace(
            self,
            columns=(CONSTANT, *self.columns),
            values=np.column_stack([np.ones(self.n), self.values]),
            changes=(*self.changes, "a column of ones added first"),
        )

    def shrunk(self, row_bound: float) -> Table:
        factor, source = _shrinkage(self, row_bound)
        return dataclasses.replace(self, values=self.values * factor[:, None], source=source)

    def dataset(self, target: str, constant: bool) -> Dataset:
        """Split into features and `target`, the column to predict.

        constant : whether to add a column of ones first, as `with_constant` does.
        """
        table = self.predicting(target)
        table = table.with_constant() if constant else table
        if not table.features:
            raise InvalidInput(
                f"{self.name} must have a column besides the target {target!r}, got none"
            )
        X, y = table.values[:, :-1].copy(), table.values[:, -1].copy()
        return Dataset(X, y, self.name, table.features, target, self.source, self.dropped)

    def listing(self, most: int = 30) -> str:
        names = ", ".join(map(repr, self.columns[:most]))
        return names if len(self.columns) <= most else f"{names}, ... ({len(self.columns)} columns)"


def _shrinkage(data: Dataset | Table, row_bound: float) -> tuple[Array, str]:
    # imported here because it loads SciPy, which reading a data set does not need
    from dpaudit._core.linalg import shrinkage

    bound = check.real("row_bound", row_bound, 0.0, open_=True)
    factor = shrinkage(data.database, bound)
    shrunk = f"{np.count_nonzero(factor < 1.0):,} rows shrunk to norm {bound:g}"
    return factor, f"{data.source}; {shrunk}"
