"""Check that a function has the form of a mechanism, and advise on functions of other forms."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from dpaudit._core import check
from dpaudit._core.types import describe
from dpaudit.errors import InvalidInput

NAME = "mechanism"
FORM = "a callable mechanism(data, size, *, rng)"
ONE_DRAW = (
    "a function that gives one output a call, f(data, *, rng), becomes a mechanism by "
    "dpaudit.adapters.one_draw(f), in a scenario by batched = false, by --one-draw of dpaudit audit"
)
SIZE = "pass size on to the noise, as in rng.laplace(size=(size, 1))"
ALL = "return all draws of a call together, as list(values)"
GLOBAL = (
    "from NumPy's or Python's global generators, it becomes one by "
    "dpaudit.adapters.one_draw(dpaudit.adapters.global_seeds(f))"
)
ESTIMATOR = (
    "an estimator becomes a mechanism by dpaudit.adapters.estimator(make, outputs=[...]), in a "
    'scenario by kind = "estimator"'
)
MAKER = (
    "a function that makes a mechanism is called with its parameters first: give --parameters of "
    "dpaudit audit, in a scenario a table of parameters"
)
OURS = ("size", "rng")
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
RANDOM = "it must take its random numbers from the keyword rng, a numpy Generator"
OTHER_RNG = ("generator", "key", "prng", "random", "random_state", "rand", "seed")
FRAME = (
    "a function of a data frame needs --kind frame in dpaudit audit, "
    'kind = "records" in a scenario, and dpaudit.adapters.records(f, columns) in Python'
)
# what NumPy says of an array that is used as a data frame
OF_FRAMES = ("'numpy.ndarray' object has no attribute", "only integers, slices (`:`), ellipsis")


def check_mechanism(mechanism: Any) -> None:
    """Raise `InvalidInput` if `mechanism` cannot be called as mechanism(data, size, *, rng).

    The error says what to do with a function of another form. If the signature cannot be read, as
    for some built-in functions, the check passes and the first call decides.
    """
    check.function(NAME, mechanism, FORM, ESTIMATOR if hasattr(mechanism, "fit") else "")
    signature = _signature(mechanism)
    if signature is not None and not _takes(signature, "data", "size", rng=None):
        got = f"{describe(mechanism)[0]}({', '.join(signature.parameters)})"
        message = f"{NAME} must be {FORM}, got {got}{_advice(signature)}"
        raise InvalidInput(message, argument=NAME)


def gives_one(function: Any) -> bool:
    """Whether a signature shows that a call gives one output: f(data, rng=...) or f(data), without
    a size. False for a class, since its call makes an object.
    """
    signature = None if isinstance(function, type) else _signature(function)
    if signature is None or _takes(signature, "data", "size", rng=None):
        return False
    return _takes(signature, "data", rng=None) or (
        "size" not in signature.parameters and _takes(signature, "data")
    )


def takes_frame(function: Any) -> bool:
    """Whether the annotation of the first parameter of a function names a DataFrame of pandas."""
    signature = _signature(function)
    first = next(iter(signature.parameters.values()), None) if signature else None
    annotation = None if first is None else first.annotation
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    module = getattr(annotation, "__module__", text)
    return text.split(".")[-1] == "DataFrame" and not module.startswith(("polars", "pl."))


def takes_data(function: Any, keywords: Mapping[str, Any]) -> bool:
    """Whether a function takes the data beside these keywords, and does without more than a size
    and rng. False for one that the keywords alone satisfy, since its call makes a mechanism.
    """
    signature = None if isinstance(function, type) else _signature(function)
    if signature is None or _takes(signature, **keywords):
        return False
    return gives_one(partial(function, **keywords)) or _takes(
        signature, "data", "size", rng=None, **keywords
    )


def with_advice(error: str) -> str:
    """The text of a mechanism's error, with advice if it took an array for a data frame."""
    if not any(text in error for text in OF_FRAMES):
        return error
    return f"{error}; the data came as an array; {FRAME}"


def takes_rng(function: Any) -> bool:
    """Whether a function takes the keyword rng; True if its signature cannot be read."""
    signature = _signature(function)
    return signature is None or _takes(signature, "data", rng=None)


def _signature(function: Any) -> inspect.Signature | None:
    """The signature of a function, or None for built-in functions that have none."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def advice_on(values: object, size: int) -> str:
    """Advice on a mechanism that returned these values instead of `size` draws; "" if their number
    seems to be right.
    """
    if callable(values[0] if isinstance(values, list) and values else values):
        return f"; {MAKER}"
    if isinstance(values, Iterator):
        return f"; {ALL}"
    shape = _shape(values)
    several = shape[:1] == (size,) or (len(shape) > 1 and shape[0] != 1)
    return "" if values is None or several else f"; {SIZE}; {ONE_DRAW}"


def _shape(values: object) -> tuple[int, ...]:
    """The shape of an array; of a list (n,), or (n, k) if it holds lists; else ()."""
    if isinstance(values, (list, tuple)):
        nested = bool(values) and isinstance(values[0], (list, tuple))
        return (len(values), len(values[0])) if nested else (len(values),)
    return tuple(getattr(values, "shape", ()))


def _takes(signature: inspect.Signature, *positional: object, **keywords: object) -> bool:
    try:
        signature.bind(*positional, **keywords)
    except TypeError:
        return False
    return True


def _advice(signature: inspect.Signature) -> str:
    needed = [
        value.name
        for value in list(signature.parameters.values())[1:]
        if value.default is value.empty and value.kind in NAMED and value.name not in OURS
    ]
    other = [name for name in needed if name in OTHER_RNG]
    if other and "rng" not in signature.parameters:
        return f"; {RANDOM}: rename {other[0]}"
    if needed:
        fixed = ", ".join(f"{name}=…" for name in needed)
        return (
            f"; give its parameters by functools.partial(f, {fixed}), by --parameters of dpaudit "
            "audit, in a scenario by a table of parameters"
        )
    if _takes(signature, "data", rng=None):
        return f"; {ONE_DRAW}"
    if _takes(signature, "data"):
        return f"; {RANDOM}, and {ONE_DRAW}; where it draws {GLOBAL}"
    return f"; {RANDOM}" if _takes(signature, "data", "size") else ""
