"""One block of draws: made from a seed of its own, wherever that is, checked, and named where it
fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core.check import Array
from dpaudit._core.seeds import Stream, describe, generator
from dpaudit._core.user_code import Carried
from dpaudit.errors import MechanismError
from dpaudit.mechanisms.base import LawMechanism, Sampler

SIDES = ("M(D)", "M(D')")


def sampler_of(mechanism: Any, data: Array) -> Sampler:
    """(size, rng) → draws, with what does not depend on the draw done once."""
    if isinstance(mechanism, LawMechanism):
        return mechanism.prepare(data)
    return partial(_call, mechanism, data)


def _call(mechanism: Any, data: Array, size: int, rng: np.random.Generator) -> Any:
    return mechanism(data, size, rng=rng)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Block b of side s is drawn from the generator at key (DRAW, s, b): the same bytes whoever
    draws it, and when.

    In another process or on another machine its modules are looked for in the same folders as here.
    """

    sampler: Sampler
    seed: np.random.SeedSequence
    side: int

    def __call__(self, number: int, size: int) -> np.ndarray:
        """Rows of one block, as `outcomes.rows` gives them. Raises `MechanismError`."""
        where = self.where(number, size)
        try:
            values = self.sampler(size, generator(self.seed, *self._key(number)))
        except Exception as error:
            raise MechanismError(
                f"the mechanism raised on {where}: {type(error).__name__}: {error}"
            ) from error
        return checked(values, size, where)

    def where(self, number: int, size: int) -> str:
        """A block with what repeats it."""
        return f"{SIDES[self.side]}, block {number} ({size} draws, seed {describe(self.seed)}, key {self._key(number)})"

    def _key(self, number: int) -> tuple[int, int, int]:
        return int(Stream.DRAW), self.side, number

    @cached_property
    def _carried(self) -> Carried:
        return Carried(self.sampler)

    def __reduce__(self) -> tuple[Any, ...]:
        return Blocks, (self._carried, self.seed, self.side)


def checked(values: Any, size: int, where: str) -> np.ndarray:
    """The draws as rows (`outcomes.rows`), or a `MechanismError` that says what came instead."""
    try:
        return outcomes.rows(values, size)
    except outcomes.NotOutcomes as error:
        raise MechanismError(f"the mechanism must return {error} on {where}") from None
