"""A table of numbers, a regression data set where it has a target."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import InvalidInput

CONSTANT = "constant"


@value_class
class Table:
    """Named columns of finite numbers: a database as a mechanism sees it.

    With a target it unpacks as `X, y = table`. Without one this raises `InvalidInput`.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    values : array of shape (n, d)
        Float64.
    name, source : str
        Name of the data set, and where the numbers come from, in one line.
    dropped : dict
        How many rows were left out on load, by reason. Row i is the i-th remaining row.
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

    @cached_property
    def X(self) -> Array:  # noqa: N802
        """The features, (n, p)."""
        return self._with_target()[:, :-1].copy()

    @cached_property
    def y(self) -> Array:
        """The target, (n,)."""
        return self._with_target()[:, -1].copy()

    def _with_target(self) -> Array:
        if self.target is None:
            raise InvalidInput(
                f"{self.name} must have a target to be split into X and y, got none; "
                "predicting(column) names one, and values has all columns"
            )
        return self.values

    def __iter__(self) -> Iterator[Array]:
        return iter((self.X, self.y))

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.values)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns without the target."""
        return self.columns if self.target is None else self.columns[:-1]

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """The texts of each column that holds texts, by its name, in the order of their codes."""
        return {name: kind for name, kind in self.types.items() if isinstance(kind, tuple)}

    @property
    def database(self) -> Array:
        """The values, (n, d), as mechanisms take them; read-only."""
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
        """A copy in which rows of a Euclidean norm above `row_bound` are scaled to it."""
        # imported here because it loads SciPy, which reading a data set does not need
        from dpaudit._core.linalg import shrinkage

        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        factor = shrinkage(self.values, bound)
        shrunk = f"{np.count_nonzero(factor < 1.0):,} rows shrunk to norm {bound:g}"
        return dataclasses.replace(
            self, values=self.values * factor[:, None], source=f"{self.source}; {shrunk}"
        )

    def listing(self, most: int = 30) -> str:
        names = ", ".join(map(repr, self.columns[:most]))
        return names if len(self.columns) <= most else f"{names}, ... ({len(self.columns)} columns)"
