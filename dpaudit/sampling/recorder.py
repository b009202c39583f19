"""Random generators that record their draws and replace those that a mechanism would use.

They replace the generator that the mechanism gets and its children, generators that it makes by
`numpy.random.default_rng`, and the global ones of `numpy.random` and `random`.

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

from dpaudit._core.value import value_class

MOST = 20_000  # most draws that are recorded in one call of the mechanism
# folders of code that is not the mechanism's own
PASSED = (__file__, os.path.dirname(np.__file__), os.path.dirname(scipy.__file__))
NO_DRAWS = ("seed", "get_state", "set_state", "getstate", "setstate", "spawn")
LOCK = RLock()  # the global generators belong to all threads together
Place = tuple[str, int]  # file and line
Token = float | str | None  # an argument of a draw, as it is compared


@value_class(show_numbers=True, eq=True)
class Drawn:
    """The record of one call of a generator's method.

    place : where the mechanism calls it. shape : the shape of the draws. argument : the name and
    value of the argument to compare between D and D', if it has one.
    """

    method: str
    place: Place
    shape: tuple[int, ...]
    argument: tuple[str, Token] | None


@dataclass(eq=False, repr=False)
class Log:
    """The records of the draws of one call of a mechanism, in their order, at most `MOST`."""

    seed: np.random.SeedSequence
    drawn: list[Drawn] = field(default_factory=list)
    inside: bool = False  # whether a method is running, which may call other methods

    def call(self, method: str, draw: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return draw(*args, **kwargs), and record the call unless it is part of another draw."""
        if self.inside or len(self.drawn) >= MOST:
            return draw(*args, **kwargs)
        self.inside = True
        try:
            argument = compared(method, args, kwargs)
            value = draw(*args, **kwargs)
        finally:
            self.inside = False
        place = _calling_place(sys._getframe(2))
        self.drawn.append(Drawn(method, place, np.shape(value), argument))
        return value

    def child(self) -> np.random.SeedSequence:
        """A new seed for a generator that would otherwise take entropy from the system."""
        return self.seed.spawn(1)[0]


def _calling_place(frame: FrameType | None) -> Place:
    """File and line of the innermost frame outside this file, NumPy and SciPy."""
    while frame is not None and frame.f_code.co_filename.startswith(PASSED):
        frame = frame.f_back
    return ("?", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _recording(own: type, base: type) -> None:
    """Give `own` the public methods of `base`, wrapped so that they record in `self.log`."""

    def noted(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self.log.call(name, draw.__get__(self), args, kwargs)

        method.__name__ = name
        return method

    for name in dir(base):
        draw = getattr(base, name)
        if not name.startswith("_") and name not in NO_DRAWS and callable(draw):
            setattr(own, name, noted(name, draw))


class _Generator(np.random.Generator):
    log: Log

    def spawn(self, n_children: int) -> list[Any]:
        """Children that record their draws in the same log."""
        return [_generator(self.log, child.bit_generator) for child in super().spawn(n_children)]


class _State(np.random.RandomState):
    log: Log


class _Random(random.Random):
    log: Log


for _own in (_Generator, _State, _Random):
    _recording(_own, _own.__mro__[1])


def _generator(log: Log, bits: np.random.BitGenerator) -> _Generator:
    generator = _Generator(bits)
    generator.log = log
    return generator


def generator(log: Log) -> np.random.Generator:
    return _generator(log, np.random.PCG64(log.seed))


@contextmanager
def recorded(log: Log) -> Iterator[None]:
    """A context in which the log records the draws of the global generators and of new ones.

    It replaces the global generators, so that their own states do not change.
    """
    with LOCK:
        state = _State(np.random.MT19937(log.child()))
        own = _Random(int(log.child().generate_state(1, np.uint64)[0]))
        state.log = own.log = log
        real = np.random.default_rng

        def default_rng(seed: Any = None) -> np.random.Generator:
            plain = real(log.child() if seed is None else seed)
            return plain if isinstance(plain, _Generator) else _generator(log, plain.bit_generator)

        numpy = _methods(np.random, np.random.mtrand._rand, state)
        recording: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
            (vars(np.random), {**numpy, "default_rng": default_rng}),
            (vars(np.random.mtrand), {"_rand": state}),
            (vars(random), _methods(random, random._inst, own)),
        )
        before = [{name: module[name] for name in names} for module, names in recording]
        try:
            for module, names in recording:
                module.update(names)
            yield
        finally:
            for (module, _), names in zip(recording, before, strict=True):
                module.update(names)


def _methods(module: Any, old: Any, new: Any) -> dict[str, Any]:
    """Methods of `new`, by the names of the functions of a module that are methods of `old`."""
    return {
        name: getattr(new, name)
        for name, function in vars(module).items()
        if getattr(function, "__self__", None) is old and hasattr(new, name)
    }


# --- arguments of draws that are compared

Reader = Callable[[tuple[Any, ...], Mapping[str, Any]], Any]


def _argument(position: int, *names: str, usual: Any = None) -> Reader:
    """A function that reads the argument at `position` or by a name; `usual` is its default."""

    def read(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if len(args) > position:
            return args[position]
        return next((kwargs[name] for name in names if name in kwargs), usual)

    return read


def _width(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The length of an interval, whose ends are 0 and 1 by default."""
    low = _argument(0, "low", "a", usual=0.0)(args, kwargs)
    return np.subtract(_argument(1, "high", "b", usual=1.0)(args, kwargs), low)


def _range(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The number of integers from the first end to the second, or below the first one if alone."""
    low = _argument(0, "low", "a", usual=0)(args, kwargs)
    high = _argument(1, "high", "b")(args, kwargs)
    return low if high is None else np.subtract(high, low)


def _length(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """The number of values to choose from: the argument, or its length if it is a sequence."""
    values: Any = args[0] if args else next(iter(kwargs.values()))
    return int(values) if np.ndim(values) == 0 else len(values)


SCALE, FIRST_SCALE = _argument(1, "scale", usual=1.0), _argument(0, "scale", usual=1.0)
SIGMA = _argument(1, "sigma", usual=1.0)
# the argument that a replay compares, for methods of NumPy's generators, old and new, and Python's
COMPARED: dict[str, tuple[str, Reader]] = {
    **dict.fromkeys(("normal", "laplace", "gumbel", "logistic", "gamma"), ("scale", SCALE)),
    **dict.fromkeys(("exponential", "rayleigh"), ("scale", FIRST_SCALE)),
    **dict.fromkeys(("lognormal", "gauss", "normalvariate", "lognormvariate"), ("sigma", SIGMA)),
    "expovariate": ("rate", _argument(0, "lambd", usual=1.0)),
    "geometric": ("probability", _argument(0, "p")),
    "multivariate_normal": ("covariance", _argument(1, "cov")),
    "uniform": ("width", _width),
    "integers": ("range", _range),
    "randint": ("range", _range),
    "choice": ("number of choices", _length),
}


def compared(
    method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[str, Token] | None:
    """The name of the argument of a call that a replay compares, and its value; None without one.

    The value is a number if all its entries are equal, else a digest of its shape and entries.
    """
    if method not in COMPARED:
        return None
    name, read = COMPARED[method]
    value = read(args, kwargs)
    if value is None:
        return name, None
    array = np.asarray(value)
    if array.size and array.dtype.kind in "biuf" and np.all(array == array.flat[0]):
        return name, float(array.flat[0])
    digest = hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16)
    return name, f"{array.shape} {digest.hexdigest()}"
