"""Unknown keywords are refused by the function that the user called.

The error is a TypeError, like Python's own, and suggests the nearest known keyword. The traceback
of an error that dpaudit raises on purpose begins at that function too.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from dpaudit.errors import DpauditError, InvalidInput

# names that the command line, or another tool, uses for a keyword
OTHER_NAMES = {"seed": "rng", "delta": "claim", "confidence": "level"}

P = ParamSpec("P")
R = TypeVar("R")


def refuse_unknown(function_name: str, keywords: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise a TypeError for the first of the keywords that is not one of `allowed`.

    >>> refuse_unknown("audit", {"smaples": 10}, ("samples", "claim"))
    Traceback (most recent call last):
        ...
    TypeError: audit() got an unknown keyword 'smaples'; did you mean 'samples'?
    >>> refuse_unknown("audit", {"claim": None}, ("samples", "claim"))
    """
    __tracebackhide__ = True
    known = list(allowed)
    unknown = next((name for name in keywords if name not in known), None)
    if unknown is None:
        return
    meant = OTHER_NAMES.get(unknown, unknown)
    advice = did_you_mean(meant, known) or f"it takes {', '.join(known)}"
    raise TypeError(f"{function_name}() got an unknown keyword {unknown!r}; {advice}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "did you mean 'samples'?" with the nearest known name; "" where none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def refuse_both(keywords: Mapping[str, Any], name: str, other: str) -> None:
    """Raise `InvalidInput` where a number is passed under both of its names."""
    if name in keywords and other in keywords:
        raise InvalidInput(
            f"{other} and {name} are two names of one number; give one of them", argument=other
        )


def known_keywords(*passed_to: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that refuses unknown keywords, and `samples` together with `draws`.

    passed_to : the functions to which the decorated one passes its **options.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        allowed = _keywords(function)
        for other in passed_to:
            allowed |= _keywords(other, inspect.Parameter.KEYWORD_ONLY)

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            refuse_unknown(function.__name__, kwargs, allowed)
            refuse_both(kwargs, "samples", "draws")
            try:
                return function(*args, **kwargs)
            except DpauditError as error:  # raised on purpose: frames of our own explain nothing
                raise error.with_traceback(None) from error.__cause__

        return called

    return decorated


def _keywords(
    function: Callable[..., Any],
    *kinds: inspect._ParameterKind,
) -> dict[str, None]:
    """The names that may be given by keyword, in the order of the signature."""
    wanted = kinds or (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return dict.fromkeys(value.name for value in parameters if value.kind in wanted)
