"""Frozen dataclasses, and short descriptions of values, that show no number of the data.

A dataclass of Python's own prints its arrays, and an array its first rows. So each class that may
hold data, or numbers computed from data, is a `@value_class`; tests/hostile/test_private.py finds
those that are not.
"""

from __future__ import annotations

import dataclasses
import inspect
import numbers
from collections.abc import Callable
from enum import Enum
from html import escape
from pathlib import PurePath
from typing import Any, TypeVar, dataclass_transform, overload

from dpaudit._core.text import with_article

MOST = 80  # characters of a text that are shown
Class = TypeVar("Class", bound=type[Any])


@overload
def value_class(cls: Class, /) -> Class: ...
@overload
def value_class(*, show_numbers: bool = False, eq: bool = False) -> Callable[[Class], Class]: ...
@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(dataclasses.field,))
def value_class(cls: Any = None, /, *, show_numbers: bool = False, eq: bool = False) -> Any:
    """Make a class a frozen dataclass whose repr shows no array and no number of the data.

    The repr is `Type(field=..., ...)`, with words and whole numbers as they are, and the type and
    shape of all else. A field declared with `repr=False` is left out. A `__repr__` that the class
    or one of its bases defines stays. Notebooks show the repr, too.

    show_numbers : show real numbers as well, because they are parameters that anyone may see.
    eq : compare instances by their fields; otherwise each equals only itself.
    """

    def make(cls: Any) -> Any:
        if show_numbers:
            cls.__repr__ = short_repr
        elif cls.__repr__ is object.__repr__:
            cls.__repr__ = shape_repr
        if not hasattr(cls, "_repr_html_"):
            cls._repr_html_ = html_repr
        return dataclasses.dataclass(frozen=True, eq=eq, repr=False)(cls)

    return make if cls is None else make(cls)


def short_repr(self: Any, describe: Callable[[object], str] | None = None) -> str:
    """A dataclass as `Type(field=..., ...)`: numbers and words are shown, else type and shape."""
    parts = (
        f"{field.name}={(describe or brief)(getattr(self, field.name))}"
        for field in dataclasses.fields(self)
        if field.repr
    )
    return f"{type(self).__qualname__}({', '.join(parts)})"


def shape_repr(self: Any) -> str:
    """Like `short_repr`, but without real numbers, which are computed from the data."""

    def describe(value: object) -> str:
        is_real = isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral)
        return "..." if is_real else brief(value)

    return short_repr(self, describe)


class Text(str):
    """A text of several lines that an interactive Python and a notebook show as it prints."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def html_repr(self: Any) -> str:
    return f"<pre>{escape(repr(self))}</pre>"


def brief(value: object, *, article: bool = False) -> str:
    """A value in a few words. article : whether "a" or "an" precedes the type of a value that is
    not shown.

    Numbers, words and names are shown. Arrays, tables and collections of anything but words are
    described by type and shape, other objects that are not dpaudit's by their type.

    >>> import numpy as np
    >>> brief(np.zeros((60, 4))), brief([73.1, 2.0])
    ('(60, 4) float64 array', 'list of 2')
    >>> print(brief(("x", "y")), brief(0.5))
    ('x', 'y') 0.5
    """
    import numpy as np  # not above: the command line, whose --help is quick, has such classes

    named = with_article if article else str
    if value is None or isinstance(value, (bool, str, bytes, PurePath, Enum)):
        return _cut(repr(value))
    if isinstance(value, numbers.Number):
        return _number(value)
    if isinstance(value, type) or inspect.isroutine(value):
        return str(getattr(value, "__qualname__", value.__name__))
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        name = "array" if isinstance(value, np.ndarray) else type(value).__name__
        scalar = isinstance(value, np.generic)
        return _number(value) if scalar else named(f"{value.shape} {value.dtype} {name}")
    if hasattr(value, "shape") and hasattr(value, "dtypes"):
        return named(f"{value.shape} {type(value).__name__}")
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        words = not isinstance(value, dict) and all(isinstance(entry, str) for entry in value)
        if len(value) == 0 or (words and len(repr(value)) <= MOST):
            return repr(value)
        return named(f"{type(value).__name__} of {len(value):,}")
    kind = type(value)
    ours = kind.__module__.partition(".")[0] == "dpaudit"
    safe = ours and kind.__repr__ is not object.__repr__
    return repr(value) if safe else named(kind.__qualname__)


def _number(value: Any) -> str:
    try:
        return _cut(repr(value.item() if hasattr(value, "item") else value))
    except ValueError:  # an integer of thousands of digits
        return f"{type(value).__name__} too long to show"


def _cut(text: str) -> str:
    return text if len(text) <= MOST else f"{text[: MOST - 3]}..."
