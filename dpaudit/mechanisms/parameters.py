"""Annotations that say which values a field or an argument may have.

`epsilon: Positive` is a float to type checkers, and carries a check at run time. The base class of
mechanisms checks all fields of a new instance; the decorator `checked` checks the arguments of a
function. A parameter that may be None is annotated `Positive | None`. A subclass that declares a
field again with a plain type keeps the check of the base class.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ParamSpec, TypeVar, get_args

from dpaudit._core import check
from dpaudit._core.check import fail

P = ParamSpec("P")
R = TypeVar("R")
Test = Callable[[str, Any], Any]


@dataclass(frozen=True)
class Check:
    """An annotation with test(name, value), which returns the value or raises `InvalidInput`."""

    test: Test


def between(low: float, high: float, *, open_: bool = True) -> Check:
    """Finite and in (low, high), or in [low, high] if not `open_`."""
    return Check(lambda name, value: check.real(name, value, low, high, open_=open_))


def at_least(minimum: int) -> Check:
    """An integer ≥ `minimum`."""
    return Check(lambda name, value: check.integer(name, value, minimum))


def one_of(*words: str) -> Check:
    """One of `words`."""
    return Check(lambda name, value: check.choice(name, value, words))


def _up_to_one(name: str, value: Any) -> float:
    if check.real(name, value, 0.0, 1.0) == 0.0:
        fail(name, value, "a number in (0, 1]")
    return float(value)


Finite = Annotated[float, between(-math.inf, math.inf)]
Positive = Annotated[float, between(0.0, math.inf)]
NonNegative = Annotated[float, between(0.0, math.inf, open_=False)]
BelowOne = Annotated[float, between(0.0, 1.0)]  # in (0, 1)
UpToOne = Annotated[float, Check(_up_to_one)]  # in (0, 1]
Count = Annotated[int, at_least(1)]
Flag = Annotated[bool, Check(check.boolean)]
Release = Annotated[str, one_of("sketch", "gram")]  # a Gaussian sketch, or its Gram matrix


def check_fields(instance: object) -> None:
    """Check every field of a dataclass instance by its annotation; raises `InvalidInput`."""
    checks = _checks(type(instance))  # type: ignore[arg-type]  # a class is hashable
    for name in getattr(instance, "__dataclass_fields__", ()):
        if name in checks:
            checks[name](name, getattr(instance, name))


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that it checks its annotated arguments and raises `InvalidInput`."""
    signature = inspect.signature(function)
    checks = _own_checks(function)

    @functools.wraps(function)
    def with_checks(*args: P.args, **kwargs: P.kwargs) -> R:
        call = signature.bind(*args, **kwargs)
        for name, test in checks.items():
            if name in call.arguments:
                call.arguments[name] = test(name, call.arguments[name])
        return function(*call.args, **call.kwargs)

    return with_checks


@functools.cache
def _checks(kind: Any) -> dict[str, Test]:
    checks: dict[str, Test] = {}
    for base in reversed(kind.__mro__):
        checks.update(_own_checks(base))
    return checks


def _own_checks(annotated: Any) -> dict[str, Test]:
    """The tests in the annotations of a class or function, by name; {} if they do not evaluate."""
    try:
        hints = inspect.get_annotations(annotated, eval_str=True)
    except Exception:  # evaluating a user's annotations may raise anything
        return {}
    checks = {}
    for name, hint in hints.items():
        optional = type(None) in get_args(hint)
        kind = get_args(hint)[0] if optional else hint
        for part in getattr(kind, "__metadata__", ()):
            if isinstance(part, Check):
                checks[name] = functools.partial(_unless_none, part.test) if optional else part.test
    return checks


def _unless_none(test: Test, name: str, value: Any) -> Any:
    return None if value is None else test(name, value)
