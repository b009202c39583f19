"""Mechanisms made of functions that take the database as values, records or a data frame."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.adapters.functions import OfFunction, OneDraw, one_draw, seed_keywords, seeds
from dpaudit.errors import InvalidInput

LARGEST_COLUMN = 1 << 31
VALUE_FORMS = ("array", "list", "series")
TABLE_FORMS = ("frame", "dicts", "tuples", "array")
OF_PANDAS = ("series", "frame")
Dtype = str | type[float] | type[int] | type[bool] | Sequence[str]  # a dtype as a user writes it
DTYPE_NAMES = {"float": np.float64, "int": np.int64, "bool": np.bool_}
EXPECTED_DTYPE = '"float", "int", "bool", or a list of texts in the order of their codes 0, 1, …'


@value_class(show_numbers=True, eq=True)
class Columns:
    """Passes columns of a database to a function, each column as one argument.

    numbers : the numbers of the columns. coding : the conversion of their values. form : the type
    of the arguments, one of `VALUE_FORMS`.
    """

    numbers: tuple[int, ...]
    coding: Coding
    form: str

    def whole(self, data: Array) -> tuple[Any, ...]:
        """The function's arguments for all records: arrays, lists or pandas Series."""
        columns = self._columns(data)
        if self.form == "series":
            return tuple(map(importlib.import_module("pandas").Series, columns))
        return tuple(column.tolist() if self.form == "list" else column for column in columns)

    def single(self, data: Array, number: int) -> tuple[Any, ...]:
        """The function's arguments for record `number` alone: Python numbers or texts."""
        return tuple(column[0].item() for column in self._columns(data[number : number + 1]))

    def _columns(self, data: Array) -> list[np.ndarray]:
        """The converted columns. Raises IndexError for a column that the database lacks."""
        width = data.shape[1]
        outside = next((at for at in self.numbers if not -width <= at < width), None)
        if outside is not None:
            raise IndexError(f"column {outside} of a database with {width} columns")
        return [self.coding(data[:, number]) for number in self.numbers]

    @property
    def words(self) -> str:
        """The type of the function's arguments in words, such as "a list of float"."""
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
    """Make a mechanism from a function of the values in one or several columns.

    Parameters
    ----------
    function : callable
        f(values) → an output of any type (`dpaudit.outcomes`). If it has a keyword `rng`, it gets
        the draw's own generator; `random_state` and `seed` get an integer from this generator. A
        function without any of them cannot be seeded, unless it uses global generators
        (`global_seeds`). Fix further arguments by `functools.partial`.
    column : int or sequence of int, default 0
        The number of the column. Each of several columns is passed as its own argument: f(x, y).
    dtype : {"float", "int", "bool"} or list of str, default "float"
        The type of the values that the numbers of the database stand for. A list has the texts that
        the codes 0, 1, … in the database stand for.
    form : {"array", "list", "series"}, default "array"
        "array" (one-dimensional, NumPy), "list" (Python numbers or texts), "series" (pandas).
    each : bool, default False
        Call f(value) for each record separately, as a local randomiser requires, and release the
        list of the outputs.
    record : int, optional
        Release only the output of this record, if there is one output per record. It is a function
        of the whole release, so a violation that it shows is a violation of the whole release. But
        the audit then ignores what the other outputs reveal about the record.
    timeout : float, seconds, optional
        The time that one draw may take.

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
    return _mechanism(function, shape, timeout, each, record)


def column_numbers(name: str, column: object) -> tuple[int, ...]:
    """The column number or numbers of an argument as a tuple. Raises `InvalidInput`."""
    several = column if isinstance(column, (list, tuple)) and column else (column,)
    return tuple(check.integer(name, number, -LARGEST_COLUMN) for number in several)


@value_class(show_numbers=True, eq=True)
class Table:
    """Passes a database to a function as one argument that holds all records.

    columns : the name and conversion of each column; None means "x0", "x1", … with floats.
    form : the type of the argument, one of `TABLE_FORMS`.
    """

    columns: Mapping[str, Coding] | None
    form: str

    def whole(self, data: Array) -> tuple[Any, ...]:
        """The function's argument for all records, as a tuple of one."""
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
        """The function's argument for one record: a dict, a tuple, an array (d,) or a frame."""
        (table,) = self.whole(data[number : number + 1])
        return (table,) if self.form == "frame" else (table[0],)

    @property
    def words(self) -> str:
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
    timeout: float | None = None,
) -> OneDraw:
    """Make a mechanism from a function of a table of records.

    Parameters
    ----------
    function : callable
        f(table) → an output of any type (`dpaudit.outcomes`), or a pandas DataFrame or Series. It
        is seeded as in `values`. For a synthetic table `synthesizer` makes a stronger audit.
    columns : sequence of str or dict, optional
        The names of the database's columns in their order, or {name: dtype} with dtypes as in
        `values`: "float", "int", "bool", or a list of texts. Names alone mean "float". By default
        the columns are "x0", "x1", … with floats.
    form : {"frame", "dicts", "tuples", "array"}, default "frame"
        The form of the table: "frame" (pandas), "dicts", "tuples", or "array" (n, d).
    each, record, timeout : optional
        As in `values`. The neighbours of a local randomiser differ in one record's values. If the
        function treats records separately, only this record's output depends on the difference,
        and the others add noise to an audit but no power.

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
    return _mechanism(function, shape, timeout, each, record)


def codings(name: str, columns: Any) -> dict[str, Coding] | None:
    """The conversion of each column by its name, or None for None. Raises `InvalidInput`."""
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
    """Whether `values` is not empty and holds only texts, all of them different."""
    texts = all(isinstance(value, str) for value in values)
    return bool(values) and texts and len(set(values)) == len(values)


@value_class(show_numbers=True)
class Handed(OfFunction):
    """f(data, rng=...) → the output of `function` for the database in the form that it expects.

    form : passes the database to the function. each, record : as in `values` and `records`.
    seeded : the function's keywords that take a seed.
    """

    function: Callable[..., Any]
    form: Columns | Table
    each: bool = False
    record: int | None = None
    seeded: tuple[str, ...] = ()

    def __call__(self, data: ArrayLike, *, rng: np.random.Generator) -> Any:
        """One output of the function, or its part for one record."""
        table = np.asarray(data, dtype=np.float64)
        if self.record is not None and self.record >= len(table):
            raise IndexError(f"record {self.record} of a database with {len(table)} records")

        def call(arguments: tuple[Any, ...]) -> Any:
            return plain(self.function(*arguments, **seeds(self.seeded, rng)))

        if self.each and self.record is not None:
            return call(self.form.single(table, self.record))
        if self.each:
            return [call(self.form.single(table, number)) for number in range(len(table))]
        output = call(self.form.whole(table))
        return output if self.record is None else _of_record(output, self.record)

    @property
    def summary(self) -> str:
        calls = "called for each record" if self.each else f"takes {self.form.words}"
        only = "" if self.record is None else f"; audited is the output of record {self.record}"
        return f"{calls}{only}: {self.about}" if self.about else f"{calls}{only}"


def _mechanism(
    function: Callable[..., Any],
    form: Columns | Table,
    timeout: float | None,
    each: bool,
    record: int | None,
) -> OneDraw:
    check.function("function", function, "a callable that takes the values or records")
    if form.form in OF_PANDAS and importlib.util.find_spec("pandas") is None:
        needed = 'needs pandas: pip install "dpaudit[pandas]", or choose another form'
        raise InvalidInput(f'form "{form.form}" {needed}', argument="form")
    number = None if record is None else check.integer("record", record, 0)
    adapted = Handed(function, form, check.boolean("each", each), number, seed_keywords(function))
    return one_draw(adapted, timeout=timeout)


def plain(output: Any) -> Any:
    """Convert a function's output: a data frame to a dict of lists, a pandas Series to a list.

    An index other than 0, 1, … is included as "index", since it may reveal which rows were kept.
    Arrays of other packages become NumPy arrays, and all else is returned unchanged.
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
    """The part of an output for record `number`: an entry, a row, or a dict of entries."""
    if isinstance(output, Mapping):
        return {name: _of_record(values, number) for name, values in output.items()}
    return output[number]


@dataclass(frozen=True)
class Coding:
    """Converts a column of float64 to a column of another type.

    name : a key of `DTYPE_NAMES`, or "text". texts : the texts that the codes 0, 1, … stand for.
    """

    name: str = "float"
    texts: tuple[str, ...] = ()

    def __call__(self, column: Array) -> np.ndarray:
        """Convert numbers (n,) to values (n,). Raises ValueError for a number without a value."""
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
    """The conversion for a dtype as a user writes it. Raises `InvalidInput`.

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
