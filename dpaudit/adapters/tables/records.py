"""Functions that take records or a data frame: local randomisers, anonymisers, queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit.adapters.single import OneDraw, one_draw
from dpaudit.adapters.tables.dtypes import Coding, Dtype, coding
from dpaudit.adapters.tables.handed import handed, pandas

FORMS = ("frame", "dicts", "tuples", "array")


@dataclass(frozen=True)
class Table:
    """The records of a database as one argument.

    columns : the name and coding of each column; None for "x0", "x1", … of floats.
    form : of `FORMS`.
    """

    columns: Mapping[str, Coding] | None
    form: str

    __repr__ = short_repr

    def whole(self, data: Array) -> tuple[Any, ...]:
        """The table, alone."""
        if self.form == "array":
            return (data.copy(),)
        named = self._named(data)
        if self.form == "frame":
            return (pandas().DataFrame(named),)
        records = list(zip(*(column.tolist() for column in named.values()), strict=True))
        if self.form == "tuples":
            return (records,)
        return ([dict(zip(named, one, strict=True)) for one in records],)

    def single(self, data: Array, number: int) -> tuple[Any, ...]:
        """One record: a dict, a tuple, an array (d,), or a data frame of one row."""
        (table,) = self.whole(data[number : number + 1])
        return (table,) if self.form == "frame" else (table[0],)

    def _named(self, data: Array) -> dict[str, Any]:
        width = data.shape[1]
        columns = self.columns or {f"x{number}": Coding() for number in range(width)}
        if len(columns) != width:
            raise ValueError(f"{len(columns)} columns are named, and the database has {width}")
        return {name: kind(data[:, at]) for at, (name, kind) in enumerate(columns.items())}

    @property
    def words(self) -> str:
        """The form of the table."""
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
        Of the table: "frame" (pandas), "dicts", "tuples", or "array" (n, d).
    each : bool, default False
        Call f(record) for each record by itself; released is the list of the outputs.
    record : int, optional
        Release only the output of this record, as in `values`. For a local randomiser, whose
        neighbours differ in one record's values, that is the only output that can tell of them as
        long as the function treats records separately: the other outputs then add noise to an audit
        and no power. Nothing is to be chosen with a database of one record.
    order : bool, default True
        Whether the order of the records in the output is information. If not, they are sorted. Of a
        synthetic table, whose records stand for none of the database, `synthesizer` makes a
        stronger audit.
    timeout : float, seconds, optional
        Time that one draw may take.

    Returns
    -------
    OneDraw

    Raises
    ------
    InvalidInput
        When an argument is not as described.

    Notes
    -----
    Errors of the function are as in `one_draw`.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> def flipped(people, rng):
    ...     return [one["smokes"] ^ (rng.random() < 0.25) for one in people]
    >>> mechanism = dp.adapters.records(flipped, {"age": "int", "smokes": "bool"}, form="dicts")
    >>> mechanism(np.array([[43.0, 1.0], [28.0, 0.0]]), 2, rng=0)
    [[True, False], [True, True]]
    """
    shape = Table(codings("columns", columns), check.choice("form", form, FORMS))
    return one_draw(handed(function, shape, each, record, order), timeout=timeout)


def codings(name: str, columns: Any) -> dict[str, Coding] | None:
    """Codings by name. Raises `InvalidInput`."""
    if columns is None:
        return None
    expected = "names of the columns, or a dict from names to dtypes"
    if isinstance(columns, str) or not isinstance(columns, (Mapping, Sequence)):
        check.fail(name, columns, expected)
    names = list(columns)
    if not names or not all(isinstance(one, str) for one in names) or len(set(names)) < len(names):
        check.fail(name, columns, expected)
    named = columns if isinstance(columns, Mapping) else dict.fromkeys(names, "float")
    return {one: coding(f"{name}[{one!r}]", dtype) for one, dtype in named.items()}
