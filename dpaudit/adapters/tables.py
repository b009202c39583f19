"""Package functions that take a database in a form of their own: values, records, data frames."""

from __future__ import annotations

import importlib
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.adapters.functions import OfFunction, OneDraw, one_draw, seed_keywords, seeds

LARGEST_COLUMN = 1 << 31
VALUE_FORMS = ("array", "list", "series")
TABLE_FORMS = ("frame", "dicts", "tuples", "array")
Dtype = str | type[float] | type[int] | type[bool] | Sequence[str]  # as users write it
DTYPE_NAMES = {"float": np.float64, "int": np.int64, "bool": np.bool_}
EXPECTED_DTYPE = '"float", "int", "bool", or a list of texts in the order of their codes 0, 1, …'


@value_class(show_numbers=True, eq=True)
class Columns:
    """How a database is handed over as one argument for each of some columns.

    numbers : the columns' numbers. coding : how their values are coded. form : one of
    `VALUE_FORMS`.
    """

    numbers: tuple[int, ...]
    coding: Coding
    form: str

    def whole(self, data: Array) -> tuple[Any, ...]:
        """The arguments of a call for all records: arrays, lists or pandas Series."""
        columns = self._columns(data)
        if self.form == "series":
            return tuple(map(importlib.import_module("pandas").Series, columns))
        return tuple(column.tolist() if self.form == "list" else column for column in columns)

    def single(self, data: Array, number: int) -> tuple[Any, ...]:
        """The arguments of a call for one record: Python numbers or texts."""
        return tuple(column[0].item() for column in self._columns(data[number : number + 1]))

    def _columns(self, data: Array) -> list[np.ndarray]:
        width = data.shape[1]
        outside = next((at for at in self.numbers if not -width <= at < width), None)
        if outside is not None:
            raise IndexError(f"column {outside} of a database with {width} columns")
        return [self.coding(data[:, number]) for number in self.numbers]

    @property
    def words(self) -> str:
        """What the function takes, for reports: "a list of float"."""
        kind = f"{self.form} of {self.coding.name}"
        article = "an" if self.form == "array" else "a"
        several = len(self.numbers) > 1
        return f"{len(self.numbers)} columns, {kind}" if several else f"{article} {kind}"


def values(
    function: Callable[..., Any],
    column: int | Sequence[int] = 0,
    *,
    dtype: Dtype = "float",
    form: str = "array",
    each: bool = False,
    record: int | None = None,
    timeout: float | None = None,
) -> OneDraw:
    """A mechanism from a function of one column's values: values in, a number or numbers out.

    Parameters
    ----------
    function : callable
        f(values) → an output of any type (`dpaudit.outcomes`). A keyword `rng` of it gets the
        draw's own generator; `random_state` and `seed` get an integer from there. Without one of
        them it has no seed, unless it uses global generators (`global_seeds`). Further arguments
        are fixed by `functools.partial`.
    column : int or sequence of int, default 0
        Number of the column. Several columns are arguments of their own each: f(x, y).
    dtype : {"float", "int", "bool"} or list of str, default "float"
        What the numbers of the database stand for; a list has texts in the order of their codes
        0, 1, … in the database.
    form : {"array", "list", "series"}, default "array"
        "array" (one-dimensional, NumPy), "list" (Python numbers or texts), "series" (pandas).
    each : bool, default False
        Call f(value) for each record by itself, as local randomisers ask for; released is the list
        of the outputs.
    record : int, optional
        Release only the output of this record, where there is an output for each. It is a function
        of the whole release, so a violation is one of the whole release too. What the other outputs
        tell of the record is not audited then.
    timeout : float, seconds, optional
        Time that one draw may take.

    Examples
    --------
    >>> import numpy as np
    >>> from functools import partial
    >>> import dpaudit as dp
    >>> def noisy_mean(values, epsilon, random_state=None):
    ...     noise = np.random.default_rng(random_state).laplace(scale=1 / (epsilon * len(values)))
    ...     return sum(values) / len(values) + noise
    >>> mechanism = dp.adapters.values(partial(noisy_mean, epsilon=1.0), column=1, form="list")
    >>> data = np.array([[1.0, 0.2], [1.0, 0.4]])
    >>> print(np.round(mechanism(data, 3, rng=0), 2))
    [-0.22 -0.06  0.41]
    """
    numbers = column_numbers("column", column)
    shape = Columns(numbers, coding("dtype", dtype), check.choice("form", form, VALUE_FORMS))
    return _handed(function, shape, timeout, each, record)


def column_numbers(name: str, column: object) -> tuple[int, ...]:
    """The number of a column or several, as a tuple. Raises `InvalidInput`."""
    several = column if isinstance(column, (list, tuple)) and column else (column,)
    return tuple(check.integer(name, number, -LARGEST_COLUMN) for number in several)


@value_class(show_numbers=True, eq=True)
class Table:
    """How a database is handed over as one argument that holds its records.

    columns : the name and coding of each column; None for "x0", "x1", … of floats.
    form : one of `TABLE_FORMS`.
    """

    columns: Mapping[str, Coding] | None
    form: str

    def whole(self, data: Array) -> tuple[Any, ...]:
        """The argument of a call for all records."""
        if self.form == "array":
            return (data.copy(),)
        width = data.shape[1]
        columns = self.columns or {f"x{number}": Coding() for number in range(width)}
        if len(columns) != width:
            raise ValueError(f"{len(columns)} columns are named, and the database has {width}")
        named = {name: kind(data[:, at]) for at, (name, kind) in enumerate(columns.items())}
        if self.form == "frame":
            return (importlib.import_module("pandas").DataFrame(named),)
        records = list(zip(*(column.tolist() for column in named.values()), strict=True))
        if self.form == "tuples":
            return (records,)
        return ([dict(zip(named, record, strict=True)) for record in records],)

    def single(self, data: Array, number: int) -> tuple[Any, ...]:
        """The argument of a call for one record: a dict, a tuple, an array (d,) or a frame."""
        (table,) = self.whole(data[number : number + 1])
        return (table,) if self.form == "frame" else (table[0],)

    @property
    def words(self) -> str:
        """What the function takes, for reports."""
        return {"frame": "a data frame", "array": "an array of records"}.get(
            self.form, f"records as {self.form}"
        )


def records(
    function: Callable[..., Any],
    columns: Mapping[str, Dtype] | Sequence[str] | None = None,
    *,
    form: str = "frame",
    each: bool = False,
    record: int | None = None,
    order: bool = True,
    timeout: float | None = None,
) -> OneDraw:
    """A mechanism from a function of records: a table in, a table or anything else out.

    Parameters
    ----------
    function : callable
        f(table) → an output of any type (`dpaudit.outcomes`), or a pandas DataFrame or Series. Its
        seed is set as in `values`.
    columns : sequence of str or dict, optional
        Names of the database's columns in their order, or {name: dtype} with dtypes as in `values`:
        "float" (of names alone), "int", "bool", or a list of texts. Without it the columns are
        "x0", "x1", … of floats.
    form : {"frame", "dicts", "tuples", "array"}, default "frame"
        The form of the table: "frame" (pandas), "dicts", "tuples", or "array" (n, d).
    each : bool, default False
        Call f(record) for each record by itself; released is the list of the outputs.
    record : int, optional
        Release only the output of this record, as in `values`. For a local randomiser, whose
        neighbours differ in one record's values, that is the only output that can tell of them as
        long as the function treats records separately: the other outputs then add noise to an audit
        and no power. Nothing is to be chosen with a database of one record.
    order : bool, default True
        Whether the order of the records in the output is information. If not, they are sorted. For
        a synthetic table, whose records do not stand for records of the database, `synthesizer`
        makes a stronger audit.
    timeout : float, seconds, optional
        Time that one draw may take.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> def flipped(people, rng):
    ...     return [person["smokes"] ^ (rng.random() < 0.25) for person in people]
    >>> mechanism = dp.adapters.records(flipped, {"age": "int", "smokes": "bool"}, form="dicts")
    >>> mechanism(np.array([[43.0, 1.0], [28.0, 0.0]]), 2, rng=0)
    [[True, False], [True, True]]
    """
    shape = Table(codings("columns", columns), check.choice("form", form, TABLE_FORMS))
    return _handed(function, shape, timeout, each, record, order)


def codings(name: str, columns: Any) -> dict[str, Coding] | None:
    """The coding of each column by its name. Raises `InvalidInput`."""
    if columns is None:
        return None
    expected = "names of the columns, or a dict from names to dtypes"
    if isinstance(columns, str) or not isinstance(columns, (Mapping, Sequence)):
        check.fail(name, columns, expected)
    names = list(columns)
    if not _are_different_texts(names):
        check.fail(name, columns, expected)
    named = columns if isinstance(columns, Mapping) else dict.fromkeys(names, "float")
    return {column: coding(f"{name}[{column!r}]", dtype) for column, dtype in named.items()}


def _are_different_texts(values: Sequence[Any]) -> bool:
    """Whether values are texts, at least one and none twice."""
    texts = all(isinstance(value, str) for value in values)
    return bool(values) and texts and len(set(values)) == len(values)


@value_class(show_numbers=True)
class Handed(OfFunction):
    """f(data, rng=...) → what a function returns for the database in another form.

    The fields are as in `values` and `records`; form : how the database is handed over. seeded :
    the function's keywords that take a seed.
    """

    function: Callable[..., Any]
    form: Columns | Table
    each: bool = False
    record: int | None = None
    order: bool = True
    seeded: tuple[str, ...] = ()

    def __call__(self, data: ArrayLike, *, rng: np.random.Generator) -> Any:
        """One output."""
        table = np.asarray(data, dtype=np.float64)
        if self.record is not None and self.record >= len(table):
            raise IndexError(f"record {self.record} of a database with {len(table)} records")

        def call(arguments: tuple[Any, ...]) -> Any:
            return plain(self.function(*arguments, **seeds(self.seeded, rng)))

        if self.each and self.record is not None:
            return call(self.form.single(table, self.record))
        if self.each:
            output = [call(self.form.single(table, number)) for number in range(len(table))]
        else:
            output = call(self.form.whole(table))
            if self.record is not None:
                return _of_record(output, self.record)
        return output if self.order else _sorted_records(output)

    @property
    def summary(self) -> str:
        """One line for reports: what goes in, and what is released."""
        calls = "called for each record" if self.each else f"takes {self.form.words}"
        only = "" if self.record is None else f"; audited is the output of record {self.record}"
        return f"{calls}{only}: {self.about}" if self.about else f"{calls}{only}"


def _handed(
    function: Callable[..., Any],
    form: Columns | Table,
    timeout: float | None,
    each: bool,
    record: int | None,
    order: bool = True,
) -> OneDraw:
    """The mechanism of `Handed`, whose arguments are checked. Raises `InvalidInput`."""
    check.function("function", function, "a callable that takes the values or records")
    number = None if record is None else check.integer("record", record, 0)
    each, order = check.boolean("each", each), check.boolean("order", order)
    handed = Handed(function, form, each, number, order, seed_keywords(function))
    return one_draw(handed, timeout=timeout)


def plain(output: Any) -> Any:
    """A function's output without pandas: a data frame as a dict of lists, a column as a list.

    An index that is not 0, 1, … is released too, as "index": it may tell which rows were kept.
    Arrays of other packages become NumPy's.
    """
    if hasattr(output, "iloc"):
        index = output.index.tolist()
        named = {} if index == list(range(len(index))) else {"index": index}
        if hasattr(output, "columns"):
            columns = zip(output.columns, output.to_numpy(dtype=object).T.tolist(), strict=True)
            return {**named, **{str(name): values for name, values in columns}}
        return {**named, "values": output.tolist()} if named else output.tolist()
    foreign = hasattr(output, "__array__") and not isinstance(output, (np.ndarray, np.generic))
    return np.asarray(output) if foreign else output


def _of_record(output: Any, number: int) -> Any:
    """The entry or row of one record; for a dict of columns, a dict of its entries."""
    if isinstance(output, Mapping):
        return {name: _of_record(values, number) for name, values in output.items()}
    return output[number]


def _sorted_records(output: Any) -> list[Any]:
    """The records of a table in an order that depends on their values alone.

    output : a list or array of records or of values, or a dict of columns.
    """
    if isinstance(output, Mapping):
        output = zip(*output.values(), strict=True)
    records = [row.tolist() if isinstance(row, np.ndarray) else row for row in output]
    return sorted(records, key=_sort_key)


def _sort_key(record: Any) -> tuple[Any, ...]:
    """A key that sorts values of any types: numbers, then NaN, then texts, then all else."""
    if isinstance(record, Mapping):
        record = [part for name in sorted(record, key=str) for part in (str(name), record[name])]
    if isinstance(record, (list, tuple)):
        return tuple(part for value in record for part in _sort_key(value))
    if isinstance(record, (numbers.Real, np.bool_)):
        value = float(record)
        return ((1, 0.0, "") if math.isnan(value) else (0, value, ""),)
    return ((2, 0.0, record) if isinstance(record, str) else (3, 0.0, repr(record)),)


@dataclass(frozen=True)
class Coding:
    """How a column of float64 becomes a column of another type.

    name : a key of `DTYPE_NAMES`, or "text". texts : what the codes 0, 1, … of "text" stand for.
    """

    name: str = "float"
    texts: tuple[str, ...] = ()

    def __call__(self, column: Array) -> np.ndarray:
        """(n,) numbers as (n,) values. Raises ValueError where a number stands for no value."""
        if self.name == "float":
            return np.array(column, dtype=np.float64)
        largest = {"bool": 2, "text": len(self.texts)}.get(self.name, 1 << 53)
        whole = np.isfinite(column) & (np.floor(column) == column)
        if not whole.all():
            raise ValueError(f"a column of dtype {self.name} holds numbers that are not whole")
        if np.any((np.abs(column) if self.name == "int" else column) >= largest):
            raise ValueError(f"a column of dtype {self.name} holds numbers from {largest} on")
        if self.name != "int" and np.any(column < 0):
            raise ValueError(f"a column of dtype {self.name} holds negative numbers")
        codes = column.astype(np.int64)
        return np.array(self.texts)[codes] if self.texts else codes.astype(DTYPE_NAMES[self.name])


def coding(name: str, value: object) -> Coding:
    """The coding that a dtype stands for. Raises `InvalidInput`.

    >>> coding("dtype", ["no", "yes"])(np.array([1.0, 0.0])).tolist()
    ['yes', 'no']
    >>> coding("dtype", int)(np.array([1.0, 0.0])).dtype.name
    'int64'
    """
    if isinstance(value, type):
        value = value.__name__
    if isinstance(value, str) and value in DTYPE_NAMES:
        return Coding(value)
    texts = () if isinstance(value, str) or not isinstance(value, Sequence) else tuple(value)
    if not _are_different_texts(texts):
        check.fail(name, value, EXPECTED_DTYPE)
    return Coding("text", texts)
