"""Random generators that record their draws and replace those that a mechanism would use.

They replace the generator that the mechanism gets and its children, generators that it makes by
`numpy.random.default_rng`, and the global ones of `numpy.random` and `random`. They do not record
code that reads the bits of a generator itself, as compiled code does, nor functions that were
imported before (`from numpy.random import laplace`).

Noise that is centred at an answer has a location that depends on the data, as it should; so may the
probabilities of a choice. A textbook's proof assumes that the width of the noise and the number of
values to choose from do not depend on the data. A record of a draw holds these arguments.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from types import FrameType
from typing import Any

import numpy as np
import scipy

from dpaudit._core.value import short_repr, value_class

MOST = 20_000  # most draws that are recorded in one call of the mechanism
# folders of code that is not the mechanism's own
PASSED = (__file__, os.path.dirname(np.__file__), os.path.dirname(scipy.__file__))
NO_DRAWS = ("seed", "get_state", "set_state", "getstate", "setstate", "spawn")
LOCK = RLock()  # the global generators belong to all threads together
Place = tuple[str, int]  # file and line
Token = float | int | str | tuple[int, ...] | None  # an argument of a draw, as it is compared


@value_class(show_numbers=True, eq=True)
class Drawn:
    """The record of one call of a generator's method.

    method : the name of the method. place : where the mechanism calls it. shape : the shape of the
    draws. arguments : the arguments to compare between D and D', by name.
    """

    method: str
    place: Place
    shape: tuple[int, ...]
    arguments: dict[str, Token]


@dataclass(eq=False)
class Log:
    """The records of the draws of one call of a mechanism, in their order, at most `MOST`."""

    seed: np.random.SeedSequence
    drawn: list[Drawn] = field(default_factory=list)
    inside: bool = False  # whether a method is running, which may call other methods

    __repr__ = short_repr

    def call(
        self, method: str, python: bool, draw: Callable[..., Any], args: Any, kwargs: Any
    ) -> Any:
        """Return draw(*args, **kwargs), and record the call unless it is part of another draw."""
        if self.inside or len(self.drawn) >= MOST:
            return draw(*args, **kwargs)
        self.inside = True
        try:
            arguments = compared(method, args, kwargs, python=python)
            value = draw(*args, **kwargs)
        finally:
            self.inside = False
        place = _calling_place(sys._getframe(2))
        self.drawn.append(Drawn(method, place, np.shape(value), arguments))
        return value

    def child(self) -> np.random.SeedSequence:
        """A new seed for a generator that would otherwise take entropy from the system."""
        return self.seed.spawn(1)[0]


def _calling_place(frame: FrameType | None) -> Place:
    """File and line of the innermost frame outside this file, NumPy and SciPy."""
    while frame is not None and frame.f_code.co_filename.startswith(PASSED):
        frame = frame.f_back
    return ("?", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _recording(cls: type, *, python: bool = False) -> dict[str, Any]:
    """The public methods of a class of generators, wrapped so that they record in `self.log`."""

    def noted(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self.log.call(name, python, draw.__get__(self), args, kwargs)

        method.__name__ = name
        return method

    return {
        name: noted(name, draw)
        for name in dir(cls)
        if not name.startswith("_") and name not in NO_DRAWS
        if callable(draw := getattr(cls, name)) and not isinstance(draw, type)
    }


class _Generator(np.random.Generator):
    """A `numpy.random.Generator` that records its draws."""

    log: Log

    def spawn(self, n_children: int) -> list[Any]:
        """Children that record their draws in the same log."""
        return [_generator(self.log, child.bit_generator) for child in super().spawn(n_children)]


class _State(np.random.RandomState):
    """A `numpy.random.RandomState` that records its draws."""

    log: Log


class _Random(random.Random):
    """A `random.Random` that records its draws."""

    log: Log


for _own, _base in ((_Generator, np.random.Generator), (_State, np.random.RandomState)):
    for _name, _method in _recording(_base).items():
        setattr(_own, _name, _method)
for _name, _method in _recording(random.Random, python=True).items():
    setattr(_Random, _name, _method)


def _generator(log: Log, bits: np.random.BitGenerator) -> _Generator:
    generator = _Generator(bits)
    generator.log = log
    return generator


def generator(log: Log) -> np.random.Generator:
    """The generator that is passed to the mechanism, seeded by `log.seed`."""
    return _generator(log, np.random.PCG64(log.seed))


@contextmanager
def recorded(log: Log) -> Iterator[None]:
    """A context in which the log records the draws of the global generators and of new ones.

    It replaces the global generators, so that their own states do not change.
    """
    with LOCK:
        state = _state(log)
        changed = [
            (np.random, _numpy_global(log, state)),
            (np.random.mtrand, {"_rand": state}),
            (random, _python_global(log)),
        ]
        before = [
            (module, {name: getattr(module, name) for name in names}) for module, names in changed
        ]
        try:
            _put(changed)
            yield
        finally:
            _put(before)


def _put(changed: list[tuple[Any, dict[str, Any]]]) -> None:
    for module, names in changed:
        for name, value in names.items():
            setattr(module, name, value)


def _state(log: Log) -> _State:
    state = _State(np.random.MT19937(log.child()))
    state.log = log
    return state


def _numpy_global(log: Log, state: _State) -> dict[str, Any]:
    """Replacements for `numpy.random` while recording: functions of one state, `default_rng`."""
    real = np.random.default_rng

    def default_rng(seed: Any = None) -> np.random.Generator:
        plain = real(log.child() if seed is None else seed)
        return plain if isinstance(plain, _Generator) else _generator(log, plain.bit_generator)

    old = np.random.mtrand._rand
    functions = {
        name: getattr(state, name)
        for name, function in vars(np.random).items()
        if getattr(function, "__self__", None) is old and hasattr(state, name)
    }
    return {**functions, "default_rng": default_rng}


def _python_global(log: Log) -> dict[str, Any]:
    """Replacements for `random` while recording: the functions of one generator."""
    own = _Random(int(log.child().generate_state(1, np.uint64)[0]))
    own.log = log
    return {
        name: getattr(own, name)
        for name, function in vars(random).items()
        if getattr(function, "__self__", None) is random._inst and hasattr(own, name)
    }


# --- arguments of draws that are compared


def token(value: Any) -> Token:
    """The number if all entries of a value are equal, else a digest of its shape and entries."""
    array = np.asarray(value)
    if array.size and array.dtype.kind in "biuf" and np.all(array == array.flat[0]):
        return float(array.flat[0])
    digest = hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16)
    return f"{array.shape} {digest.hexdigest()}"


def _argument(position: int, name: str, usual: float | None = None) -> Callable[..., Token]:
    """A function that reads the argument at `position` or by `name`; `usual` is its default."""

    def read(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Token:
        value = args[position] if len(args) > position else kwargs.get(name, usual)
        return None if value is None else token(value)

    return read


def _between(first: str, second: str) -> Callable[..., Token]:
    """A function that reads the difference of two arguments, whose defaults are 0 and 1."""

    def read(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Token:
        low = args[0] if args else kwargs.get(first, 0.0)
        high = args[1] if len(args) > 1 else kwargs.get(second, 1.0)
        return token(np.subtract(high, low))

    return read


def _range(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Token:
    """The number of integers from `low` to `high`, or below the first argument if it is alone."""
    low = args[0] if args else kwargs.get("low", 0)
    high = args[1] if len(args) > 1 else kwargs.get("high")
    return token(low if high is None else np.subtract(high, low))


def _length(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Token:
    """The number of values to choose from: the argument, or its length if it is a sequence."""
    values: Any = args[0] if args else next(iter(kwargs.values()))
    return int(values) if np.ndim(values) == 0 else len(values)


SCALE = {"scale": _argument(1, "scale", 1.0)}
FIRST_SCALE = {"scale": _argument(0, "scale", 1.0)}
RANGE = {"range": _range}
CHOICES = {"number of choices": _length}
# for each method of NumPy's generators, old and new, the readers of its arguments by name
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
    method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, python: bool = False
) -> dict[str, Token]:
    """The arguments of a call that a replay compares, by name."""
    known = PYTHON if python else NUMPY
    return {name: read(args, kwargs) for name, read in known.get(method, {}).items()}
