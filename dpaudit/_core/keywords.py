"""Functions of the public API refuse unknown keywords in their own name.

The traceback of an error that dpaudit raises on purpose begins at the function that the user
called.
"""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from dpaudit.errors import DpauditError, InvalidInput

# other names, of the command line or of other tools, for keywords
OTHER_NAMES = {"seed": "rng", "delta": "claim", "confidence": "level"}

P = ParamSpec("P")
R = TypeVar("R")


def refuse_unknown(function_name: str, keywords: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise a TypeError for the first of the keywords that is not in `allowed`.

    >>> refuse_unknown("audit", {"darws": 10}, ("draws", "claim"))
    Traceback (most recent call last):
        ...
    TypeError: audit() got an unknown keyword 'darws'; did you mean 'draws'?
    >>> refuse_unknown("audit", {"claim": None}, ("draws", "claim"))
    """
    __tracebackhide__ = True
    known = list(allowed)
    for name in keywords:
        if name not in known:
            meant = OTHER_NAMES.get(name, name)
            advice = did_you_mean(meant, known) or f"it takes {', '.join(known)}"
            raise TypeError(f"{function_name}() got an unknown keyword {name!r}; {advice}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question "did you mean ...?" with the known name nearest to `name`; "" if none is."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def known_keywords(*passed_to: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that refuses unknown keywords, and accepts `samples` as a name of `draws`.

    passed_to : the functions to which the decorated function passes its **options.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        allowed = _keywords(function)
        for receiver in passed_to:
            allowed |= _keywords(receiver, inspect.Parameter.KEYWORD_ONLY)

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            if "samples" in kwargs and "draws" in allowed:  # its name until 0.1
                if "draws" in kwargs:
                    message = "draws and samples are two names of one number; give one of them"
                    raise InvalidInput(message, argument="draws")
                warnings.warn("samples is now called draws", DeprecationWarning, stacklevel=2)
                kwargs["draws"] = kwargs.pop("samples")
            refuse_unknown(function.__name__, kwargs, allowed)
            try:
                return function(*args, **kwargs)
            except DpauditError as error:  # raised on purpose: dpaudit's own frames explain nothing
                raise error.with_traceback(None) from error.__cause__

        return called

    return decorated


def _keywords(
    function: Callable[..., Any],
    *kinds: inspect._ParameterKind,
) -> dict[str, None]:
    """The names of parameters that callers may pass by keyword, in the order of the signature."""
    accepted = kinds or (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return dict.fromkeys(value.name for value in parameters if value.kind in accepted)
