"""Tables of any common form as arrays: records, arrays, data frames, dicts of columns."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.outcomes.features import text_code
from dpaudit.outcomes.refused import NotOutcomes
from dpaudit.outcomes.tables import REAL

FORMS = "an array, a data frame, a list of records or a dict of columns"


@value_class(show_numbers=True)
class TableForm:
    """What reads a table as a float64 array (m, c).

    width : c. names : the columns in the order of the database, where tables name theirs; None
        for the order in the table. labels : the texts of a column, in the order of their codes
        0, 1, … in the database.
    """

    width: int
    names: tuple[str, ...] | None
    labels: Mapping[int, Sequence[str]]

    def __call__(self, table: Any) -> Array:
        """The table as numbers: a text without label is a hash, None and no value are NaN.

        Raises `NotOutcomes`.
        """
        if isinstance(table, np.ndarray) and not table.dtype.names and table.dtype.kind in REAL:
            plain = table[:, None] if table.ndim == 1 else table
            return self._checked(np.asarray(plain, dtype=np.float64))
        columns = self._columns(table)
        if len({len(column) for column in columns}) > 1:
            raise NotOutcomes("columns of one length", "columns of different lengths")
        coded = [self._numbers(column, number) for number, column in enumerate(columns)]
        return self._checked(np.array(coded, dtype=np.float64).T)

    def _checked(self, table: Array) -> Array:
        if table.size == 0:
            return np.empty((0, self.width))
        if table.ndim != 2 or table.shape[1] != self.width:
            raise NotOutcomes(f"a table of {self.width} columns", f"shape {table.shape}")
        return table

    def _columns(self, table: Any) -> list[Any]:
        """The columns of a table that is no array of numbers."""
        if isinstance(table, Mapping):
            return _named(table, self.names or tuple(table))
        if hasattr(table, "columns") and hasattr(table, "__getitem__"):  # a data frame
            return _named(table, self.names or tuple(table.columns))
        if isinstance(table, np.ndarray) and table.dtype.names:
            return _named(table, self.names or table.dtype.names)
        if isinstance(table, (list, tuple, np.ndarray)):
            return self._of_records(list(table))
        raise NotOutcomes(FORMS, f"a {type(table).__name__}")

    def _of_records(self, records: list[Any]) -> list[list[Any]]:
        if records and all(isinstance(one, Mapping) for one in records):
            names = self.names or tuple(records[0])
            return [[one.get(name) for one in records] for name in names]
        plain = [one if isinstance(one, (tuple, list, np.ndarray)) else (one,) for one in records]
        if any(len(one) != self.width for one in plain):
            raise NotOutcomes(f"records of {self.width} values", "records of other lengths")
        return [list(column) for column in zip(*plain, strict=True)]

    def _numbers(self, column: Any, number: int) -> list[float] | Array:
        plain = np.asarray(column)
        if plain.dtype.kind in REAL and plain.ndim == 1:
            return plain.astype(np.float64)
        codes = {label: float(code) for code, label in enumerate(self.labels.get(number, ()))}
        return [_number(value, codes) for value in column]


def _named(table: Any, names: Sequence[Any]) -> list[Any]:
    missing = next((name for name in names if name not in _names_of(table)), None)
    if missing is not None:
        raise NotOutcomes(f"a table with the column {missing!r}", "a table without it")
    return [np.asarray(table[name]) for name in names]


def _names_of(table: Any) -> Any:
    if isinstance(table, np.ndarray):
        return table.dtype.names
    return table.keys() if isinstance(table, Mapping) else table.columns


def _number(value: Any, codes: Mapping[str, float]) -> float:
    """A value of a column as a float. Raises `NotOutcomes`."""
    if value is None:
        return float("nan")
    if isinstance(value, str):
        return codes[value] if value in codes else text_code(str(value))
    if isinstance(value, (numbers.Real, np.bool_)):
        return float(value)
    raise NotOutcomes("a number, a text or None in each place", f"a {type(value).__name__}")
