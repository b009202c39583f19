"""Reprs and error messages without a value of the data: types, shapes and public parameters.

A dataclass would print its arrays, and an array its first rows. A class that may hold data, or what
was computed from them, says `__repr__ = short_repr` or `__repr__ = shape_repr` in its body; a test
finds those that do not (tests/hostile/test_private.py).
"""

from __future__ import annotations

import dataclasses
import inspect
import numbers
from collections.abc import Callable
from enum import Enum
from html import escape
from pathlib import PurePath
from typing import Any

import numpy as np

MOST = 80  # characters of a text that are shown


def short_repr(self: Any) -> str:
    """A dataclass as `Type(field=..., ...)`: numbers and words are shown, else type and shape."""
    return _with_fields(self, brief)


def shape_repr(self: Any) -> str:
    """Like `short_repr`, but without real numbers, which are computed from the data."""
    return _with_fields(self, lambda value: "..." if _is_real(value) else brief(value))


def html_repr(self: Any) -> str:
    """The repr as a notebook shows it."""
    return f"<pre>{escape(repr(self))}</pre>"


def brief(value: object, article: str = "") -> str:
    """A value in a few words. article : stands before the type of a value that is not shown.

    Numbers, words and names are shown. Arrays, tables and collections of anything but words are
    described by type and shape, other objects that are not dpaudit's by their type.

    >>> brief(np.zeros((60, 4))), brief([73.1, 2.0])
    ('(60, 4) float64 array', 'list of 2')
    >>> print(brief(("x", "y")), brief(0.5))
    ('x', 'y') 0.5
    """
    if value is None or isinstance(value, (bool, str, bytes, PurePath, Enum)):
        return _cut(repr(value))
    if isinstance(value, numbers.Number):
        return _number(value)
    if isinstance(value, type) or inspect.isroutine(value):
        return str(getattr(value, "__qualname__", value.__name__))
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        name = "array" if isinstance(value, np.ndarray) else type(value).__name__
        scalar = isinstance(value, np.generic)
        return _number(value) if scalar else f"{article}{value.shape} {value.dtype} {name}"
    if hasattr(value, "shape") and hasattr(value, "dtypes"):
        return f"{article}{value.shape} {type(value).__name__}"
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return _collection(value, article)
    kind = type(value)
    ours = kind.__module__.partition(".")[0] == "dpaudit"
    safe = ours and kind.__repr__ is not object.__repr__
    return repr(value) if safe else f"{article}{kind.__qualname__}"


def _with_fields(record: Any, shown: Callable[[object], str]) -> str:
    parts = (
        f"{field.name}={shown(getattr(record, field.name))}"
        for field in dataclasses.fields(record)
        if field.repr
    )
    return f"{type(record).__qualname__}({', '.join(parts)})"


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (numbers.Integral, np.bool_))


def _number(value: Any) -> str:
    try:
        return _cut(repr(value.item() if isinstance(value, np.generic) else value))
    except ValueError:  # an integer of thousands of digits
        return f"{type(value).__name__} too long to show"


def _collection(value: Any, article: str) -> str:
    words = not isinstance(value, dict) and all(isinstance(entry, str) for entry in value)
    if len(value) == 0 or (words and len(repr(value)) <= MOST):
        return repr(value)
    return f"{article}{type(value).__name__} of {len(value):,}"


def _cut(text: str) -> str:
    return text if len(text) <= MOST else f"{text[: MOST - 3]}..."
