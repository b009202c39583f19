"""Generators that note each of their draws, in place of those that a mechanism would use.

Recorded are the generator that the mechanism gets and its children, those that it makes by
`numpy.random.default_rng`, and the global ones of `numpy.random` and `random`. Code that takes the
bits of a generator by itself, as compiled code does, and names that were imported before
(`from numpy.random import laplace`) draw as ever, unrecorded.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from types import FrameType
from typing import Any

import numpy as np
import scipy

from dpaudit._core.shown.short_repr import short_repr
from dpaudit.sampling.replay.parameters import Token, compared

MOST = 20_000  # draws of one call that are noted
HERE = os.path.dirname(__file__)
# no code of the mechanism's
PASSED = (HERE, os.path.dirname(np.__file__), os.path.dirname(scipy.__file__))
NO_DRAWS = ("seed", "get_state", "set_state", "getstate", "setstate", "spawn")
LOCK = RLock()  # the global generators belong to all threads together
Place = tuple[str, int]  # file and line


@dataclass(frozen=True)
class Drawn:
    """One call of a generator: its method, the place of the call in the mechanism, the shape of
    what was drawn, and the arguments that are compared.
    """

    method: str
    place: Place
    shape: tuple[int, ...]
    arguments: dict[str, Token]

    __repr__ = short_repr


@dataclass(eq=False)
class Log:
    """The draws of one call of a mechanism, in their order, at most `MOST`."""

    seed: np.random.SeedSequence
    drawn: list[Drawn] = field(default_factory=list)
    inside: bool = False  # a draw may make others

    __repr__ = short_repr

    def call(
        self, method: str, python: bool, draw: Callable[..., Any], given: Any, named: Any
    ) -> Any:
        """What `draw` returns; noted unless it is part of another draw."""
        if self.inside or len(self.drawn) >= MOST:
            return draw(*given, **named)
        self.inside = True
        try:
            arguments = compared(method, given, named, python=python)
            value = draw(*given, **named)
        finally:
            self.inside = False
        place = _place(sys._getframe(2))
        self.drawn.append(Drawn(method, place, np.shape(value), arguments))
        return value

    def child(self) -> np.random.SeedSequence:
        """A seed for a generator that would take entropy from the system."""
        return self.seed.spawn(1)[0]


def _place(frame: FrameType | None) -> Place:
    """The nearest call outside this folder, NumPy and SciPy."""
    while frame is not None and frame.f_code.co_filename.startswith(PASSED):
        frame = frame.f_back
    return ("?", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _recording(cls: type, *, python: bool = False) -> dict[str, Any]:
    """The public methods of a generator, each noting its calls in `self.log`."""

    def noted(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, *given: Any, **named: Any) -> Any:
            return self.log.call(name, python, draw.__get__(self), given, named)

        method.__name__ = name
        return method

    return {
        name: noted(name, draw)
        for name in dir(cls)
        if not name.startswith("_") and name not in NO_DRAWS
        if callable(draw := getattr(cls, name)) and not isinstance(draw, type)
    }


class _Generator(np.random.Generator):
    """`numpy.random.Generator` that notes its draws."""

    log: Log

    def spawn(self, n_children: int) -> list[Any]:
        """Children that note theirs in the same log."""
        return [_generator(self.log, child.bit_generator) for child in super().spawn(n_children)]


class _State(np.random.RandomState):
    """`numpy.random.RandomState` that notes its draws."""

    log: Log


class _Random(random.Random):
    """`random.Random` that notes its draws."""

    log: Log


for _own, _base in ((_Generator, np.random.Generator), (_State, np.random.RandomState)):
    for _name, _method in _recording(_base).items():
        setattr(_own, _name, _method)
for _name, _method in _recording(random.Random, python=True).items():
    setattr(_Random, _name, _method)


def _generator(log: Log, bits: np.random.BitGenerator) -> _Generator:
    made = _Generator(bits)
    made.log = log
    return made


def generator(log: Log) -> np.random.Generator:
    """The generator that the mechanism gets, at the log's own seed."""
    return _generator(log, np.random.PCG64(log.seed))


@contextmanager
def recorded(log: Log) -> Iterator[None]:
    """Inside, what Python code draws from global generators and from new ones goes into the log.

    The global generators are others meanwhile, and their own states are untouched by it.
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
    made = _State(np.random.MT19937(log.child()))
    made.log = log
    return made


def _numpy_global(log: Log, state: _State) -> dict[str, Any]:
    """What stands in `numpy.random`: the functions of one state, and both makers of generators."""
    real = np.random.default_rng

    def default_rng(seed: Any = None) -> np.random.Generator:
        made = real(log.child() if seed is None else seed)
        return made if isinstance(made, _Generator) else _generator(log, made.bit_generator)

    old = np.random.mtrand._rand
    functions = {
        name: getattr(state, name)
        for name, one in vars(np.random).items()
        if getattr(one, "__self__", None) is old and hasattr(state, name)
    }
    return {**functions, "default_rng": default_rng}


def _python_global(log: Log) -> dict[str, Any]:
    """What stands in `random`: the functions of one generator."""
    own = _Random(int(log.child().generate_state(1, np.uint64)[0]))
    own.log = log
    return {
        name: getattr(own, name)
        for name, one in vars(random).items()
        if getattr(one, "__self__", None) is random._inst and hasattr(own, name)
    }
