"""A mechanism made of a function that gives one output a call, known by its signature."""

from __future__ import annotations

from typing import Any

from dpaudit._core.form import FRAME, NAME, check_mechanism, gives_one, takes_frame, takes_rng
from dpaudit._core.types import Mechanism
from dpaudit.adapters.functions import one_draw
from dpaudit.adapters.global_seeds import global_seeds
from dpaudit.errors import InvalidInput


def as_mechanism(function: Any, *, timeout: float | None = None) -> Mechanism:
    """The mechanism that a function of the user is, or becomes by `one_draw`.

    f(data, size, *, rng) is a mechanism as it is, and `timeout` does not concern it. f(data, rng)
    and f(data, *, rng) give one output a call; f(data) too, from a seed of its own or from the
    global generators, which are then seeded for each call. Raises `InvalidInput` for other forms,
    and for a function whose annotation says that it takes a data frame, since an array has no names
    of columns.
    """
    if not gives_one(function):
        check_mechanism(function)
        mechanism: Mechanism = function
        return mechanism
    if takes_frame(function):
        raise InvalidInput(f"{NAME} must take an array, got a function of a data frame; {FRAME}")
    return one_draw(function if takes_rng(function) else global_seeds(function), timeout=timeout)
