"""What a report says of a function: its name, its first line, and the arguments that are fixed."""

from __future__ import annotations

import inspect
from typing import Any

from dpaudit._core.shown.short_repr import brief
from dpaudit._core.types import Described, describe


def name_of(function: Any) -> str:
    """The name; of a functools.partial that of the function inside."""
    return describe(_inner(function))[0]


def first_line(function: Any) -> str:
    """The first line of the summary or docstring, or ""."""
    inner = _inner(function)
    said = getattr(inner, "summary", "") or inspect.getdoc(inner) or ""
    return next(iter(str(said).strip().splitlines()), "")


def fixed(function: Any) -> dict[str, Any]:
    """The keyword arguments of a functools.partial, or the parameters that an object names."""
    if isinstance(function, Described) and not isinstance(function, type):
        return function.parameters()
    given = getattr(function, "keywords", None) or {}
    return {
        name: value if isinstance(value, (bool, int, float, str)) else brief(value)
        for name, value in given.items()
    }


def _inner(function: Any) -> Any:
    return getattr(function, "func", function)
