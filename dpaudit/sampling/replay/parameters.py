"""Which arguments of a random draw are compared, and as what.

Noise that is centred at an answer has a location that depends on the data, as it should; so may the
probabilities of a choice. What a textbook's proof takes from outside is how wide the noise is, and
how many values there are to choose from. These are compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Token = float | int | str | tuple[int, ...] | None


def token(value: Any) -> Token:
    """The value where it is one number throughout, else a digest of shape and values."""
    array = np.asarray(value)
    if array.size and array.dtype.kind in "biuf" and np.all(array == array.flat[0]):
        return float(array.flat[0])
    digest = hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16)
    return f"{array.shape} {digest.hexdigest()}"


def _argument(position: int, name: str, usual: float | None = None) -> Callable[..., Token]:
    """The argument at a position or by name; `usual` where it is not given."""

    def read(given: tuple[Any, ...], named: Mapping[str, Any]) -> Token:
        value = given[position] if len(given) > position else named.get(name, usual)
        return None if value is None else token(value)

    return read


def _between(first: str, second: str) -> Callable[..., Token]:
    """The distance between two arguments, by default 0 and 1."""

    def read(given: tuple[Any, ...], named: Mapping[str, Any]) -> Token:
        low = given[0] if given else named.get(first, 0.0)
        high = given[1] if len(given) > 1 else named.get(second, 1.0)
        return token(np.subtract(high, low))

    return read


def _range(given: tuple[Any, ...], named: Mapping[str, Any]) -> Token:
    """Of integers from `low` to `high`, or below the first argument where that is the only one."""
    low = given[0] if given else named.get("low", 0)
    high = given[1] if len(given) > 1 else named.get("high")
    return token(low if high is None else np.subtract(high, low))


def _length(given: tuple[Any, ...], named: Mapping[str, Any]) -> Token:
    """The number of values to choose from: a number, or the length of a sequence."""
    values: Any = given[0] if given else next(iter(named.values()))
    return int(values) if np.ndim(values) == 0 else len(values)


SCALE = {"scale": _argument(1, "scale", 1.0)}
FIRST_SCALE = {"scale": _argument(0, "scale", 1.0)}
RANGE = {"range": _range}
CHOICES = {"number of choices": _length}
# by method of numpy's generators, old and new, and then of Python's
NUMPY: dict[str, dict[str, Callable[..., Token]]] = {
    "normal": SCALE,
    "laplace": SCALE,
    "gumbel": SCALE,
    "logistic": SCALE,
    "gamma": SCALE,
    "exponential": FIRST_SCALE,
    "rayleigh": FIRST_SCALE,
    "lognormal": {"sigma": _argument(1, "sigma", 1.0)},
    "geometric": {"probability": _argument(0, "p")},
    "uniform": {"width": _between("low", "high")},
    "multivariate_normal": {"covariance": _argument(1, "cov")},
    "integers": RANGE,
    "randint": RANGE,
    "choice": CHOICES,
}
PYTHON: dict[str, dict[str, Callable[..., Token]]] = {
    "gauss": {"sigma": _argument(1, "sigma", 1.0)},
    "normalvariate": {"sigma": _argument(1, "sigma", 1.0)},
    "lognormvariate": {"sigma": _argument(1, "sigma")},
    "expovariate": {"rate": _argument(0, "lambd", 1.0)},
    "uniform": {"width": _between("a", "b")},
    "randint": {"range": _between("a", "b")},
    "choice": {"number of choices": _length},
}


def compared(
    method: str, given: tuple[Any, ...], named: Mapping[str, Any], *, python: bool = False
) -> dict[str, Token]:
    """The arguments of a call that are compared, by name."""
    known = PYTHON if python else NUMPY
    return {name: read(given, named) for name, read in known.get(method, {}).items()}
