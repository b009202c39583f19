"""Functions that take the values of columns: means, quantiles, histograms, randomisers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit.adapters.single import OneDraw, one_draw
from dpaudit.adapters.tables.dtypes import Coding, Dtype, coding
from dpaudit.adapters.tables.handed import handed, pandas

LARGEST = 1 << 31
FORMS = ("array", "list", "series")


@dataclass(frozen=True)
class Columns:
    """The values of columns, one argument each.

    numbers : of the columns. coding : of their values. form : of `FORMS`.
    """

    numbers: tuple[int, ...]
    coding: Coding
    form: str

    __repr__ = short_repr

    def whole(self, data: Array) -> tuple[Any, ...]:
        """Each column as an array, a list or a pandas Series."""
        return tuple(self._formed(column) for column in self._columns(data))

    def single(self, data: Array, number: int) -> tuple[Any, ...]:
        """The values of one record, each a Python number or text."""
        return tuple(column[0].item() for column in self._columns(data[number : number + 1]))

    def _columns(self, data: Array) -> list[np.ndarray]:
        width = data.shape[1]
        outside = next((one for one in self.numbers if not -width <= one < width), None)
        if outside is not None:
            raise IndexError(f"column {outside} of a database with {width} columns")
        return [self.coding(data[:, number]) for number in self.numbers]

    def _formed(self, column: np.ndarray) -> Any:
        if self.form == "series":
            return pandas().Series(column)
        return column.tolist() if self.form == "list" else column

    @property
    def words(self) -> str:
        """The form of the values."""
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
        Number of the column; of several, each is an argument of its own: f(x, y).
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
    shape = Columns(numbers, coding("dtype", dtype), check.choice("form", form, FORMS))
    return one_draw(handed(function, shape, each, record), timeout=timeout)


def column_numbers(name: str, column: object) -> tuple[int, ...]:
    """The number of a column or several, as a tuple. Raises `InvalidInput`."""
    several = column if isinstance(column, (list, tuple)) and column else (column,)
    return tuple(check.integer(name, one, -LARGEST) for one in several)
