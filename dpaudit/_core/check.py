"""One-line argument validators. Each error names the argument, its value and what was expected."""

from __future__ import annotations

import math
import numbers
from os import PathLike
from typing import Any, NoReturn

import numpy as np

from dpaudit._core.text import with_article
from dpaudit._core.types import Array as Array
from dpaudit._core.value import brief
from dpaudit.errors import InvalidInput

SHOWN = 8  # names of columns that an error shows
FILE = "a CSV file of numbers is read by dpaudit.datasets.read_rows(path)"


class Words(str):
    """A description of a value, which an error shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def fail(name: str, got: object, expected: str, advice: str = "") -> NoReturn:
    """Raise `InvalidInput`, without values of an array or list. advice : what to do next."""
    next_step = f"; {advice}" if advice else ""
    description = brief(got, article=True)
    raise InvalidInput(f"{name} must be {expected}, got {description}{next_step}", argument=name)


def function(name: str, value: object, expected: str, advice: str = "") -> None:
    """Check that a value is callable and not a class."""
    if isinstance(value, type) or not callable(value):
        fail(name, value, expected, advice)


def integer(name: str, value: Any, minimum: int) -> int:
    """Check that a value is an integer ≥ `minimum` and return it; bools and floats are refused."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        fail(name, value, f"an integer >= {minimum}")
    return int(value)


def count(name: str, value: Any, minimum: int) -> int:
    """Check for a number of draws ≥ `minimum`, also as a float without a fraction, as 1e5."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return integer(name, value, minimum)


def real(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, open_: bool = False
) -> float:
    """Check for a finite number in [low, high], or strictly inside if `open_`; return a float."""
    if high < math.inf:
        interval = f"({low:g}, {high:g})" if open_ else f"[{low:g}, {high:g}]"
        expected = f"a finite number in {interval}"
    elif low > -math.inf:
        expected = f"a finite number {'>' if open_ else '>='} {low:g}"
    else:
        expected = "a finite number"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        fail(name, value, expected)
    number = nearest_float(value)
    if not math.isfinite(number) or not (low < number < high if open_ else low <= number <= high):
        fail(name, value, expected)
    return number


def nearest_float(value: Any) -> float:
    """The float nearest to a real number; infinite where the number is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def epsilon(value: Any, name: str = "epsilon") -> Array:
    """Check for ε in nats, a finite scalar or 1-D array ≥ 0; return float64 of the same shape."""
    expected = "a finite number >= 0 (nats), or a 1-D array of them"
    array = floats(name, value, expected)
    if array.ndim > 1 or array.size == 0 or not np.all(np.isfinite(array)) or np.any(array < 0):
        fail(name, value, expected)
    return array


def floats(name: str, value: Any, expected: str) -> Array:
    """Check for real numbers and return float64; text, bools and complex are refused."""
    try:
        array = np.asarray(value)
        number = array.dtype.kind in "fiu" or all(
            isinstance(entry, numbers.Real) and not isinstance(entry, (bool, np.bool_))
            for entry in array.flat
        )
        if number:
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    fail(name, value, expected)


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Check that a value is one of the `allowed` words, and return it."""
    if not isinstance(value, str) or value not in allowed:
        several = "one of " if len(allowed) > 1 else ""
        fail(name, value, several + ", ".join(repr(word) for word in allowed))
    return value


def boolean(name: str, value: Any) -> bool:
    """Check that a value is True or False, not merely something truthy, and return a bool."""
    if not isinstance(value, (bool, np.bool_)):
        fail(name, value, "True or False")
    return bool(value)


def array_of_numbers(name: str, value: Any, expected: str) -> np.ndarray:
    """Check for a real numeric array; text, objects, ragged lists and complex numbers are refused.

    For a pandas DataFrame, or a row of one, the error names the columns that are refused.
    """
    if _is_pandas(value, "DataFrame"):
        value = _frame_of_numbers(name, value, expected)
    elif _is_pandas(value, "Series") and value.dtype.kind == "O":  # a row of mixed columns
        value = _frame_of_numbers(name, value.to_frame().T.infer_objects(), expected)[0]
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        fail(name, value, expected)
    if array.dtype.kind not in "fiub":
        kind = "texts" if array.dtype.kind == "U" else f"dtype {array.dtype}"
        if array.ndim == 0:  # its type, since a text or number may be one of the data
            kind = "None" if value is None else with_article(type(value).__name__)
        fail(name, Words(kind), expected)
    return array


def vector(name: str, values: Any, expected: str, size: int | None = None) -> Array:
    """Check for `size` (if None: at least one) finite numbers in one dimension; return float64."""
    numbers = np.asarray(array_of_numbers(name, values, expected), dtype=np.float64)
    if numbers.ndim != 1 or numbers.size == 0 or size not in (None, len(numbers)):
        fail(name, Words(f"shape {numbers.shape}"), expected)
    if not np.all(np.isfinite(numbers)):
        fail(name, Words("numbers that are not finite"), expected)
    return numbers


def matrix(name: str, value: Any, min_rows: int = 1, min_columns: int = 1) -> Array:
    """Check for a finite 2-D array with at least this many rows and columns; return float64."""
    expected = f"a 2-D array of finite numbers, at least {min_rows} x {min_columns}"
    if isinstance(value, (str, PathLike)):
        fail(name, Words("a text"), expected, FILE)
    if isinstance(getattr(value, "database", None), np.ndarray):  # a table of `dpaudit.datasets`
        fail(name, value, expected, "give its .database")
    array = np.asarray(array_of_numbers(name, value, expected), dtype=np.float64)
    if array.ndim != 2 or array.shape[0] < min_rows or array.shape[1] < min_columns:
        column = f"make rows of one number with {name}.reshape(-1, 1)"
        fail(name, Words(f"shape {array.shape}"), expected, column * (array.ndim == 1))
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        place = repr(value.columns[column]) if _is_pandas(value, "DataFrame") else column
        raise InvalidInput(
            f"{name} must be {expected}, got {array[row, column]} at row {row}, column {place}",
            argument=name,
        )
    return array


def _is_pandas(value: object, name: str) -> bool:
    """Whether a value is a pandas object of the class `name`, found without importing pandas."""
    kind = type(value)
    return kind.__name__ == name and kind.__module__.partition(".")[0] == "pandas"


def _frame_of_numbers(name: str, frame: Any, expected: str) -> np.ndarray:
    """A DataFrame as (n, d) float64, missing values as NaN. Raises `InvalidInput`."""
    kinds = [getattr(dtype, "kind", "O") for dtype in frame.dtypes]
    wrong = [
        repr(name) for name, kind in zip(frame.columns, kinds, strict=True) if kind not in "fiub"
    ]
    if wrong:
        more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise InvalidInput(
            f"{name} must be {expected}, got columns that are not numbers: "
            f"{', '.join(wrong[:SHOWN])}{more}; drop them, code them as numbers, or "
            "take .database of dpaudit.datasets.read_table(frame), and a mechanism made by "
            "dpaudit.adapters.records(f, table.types)",
            argument=name,
        )
    return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
