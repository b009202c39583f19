"""The order in which the blocks of both sides are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dpaudit._core.seeds import Purpose, generator


@dataclass(frozen=True)
class Block:
    """A block of draws: its side (0 for M(D), 1 for M(D')), its number, and its size."""

    side: int
    number: int
    size: int


def in_turn(sizes: Iterable[tuple[int, int]], seed: np.random.SeedSequence) -> Iterator[Block]:
    """The blocks of both sides, from (number, size) in ascending order.

    Blocks of one number follow each other. Four blocks of two successive numbers come as P Q Q P or
    as Q P P Q, by a coin at key (ORDER, number // 2) below `seed`. So a change of the mechanism
    that is linear in time affects both sides equally, and any other change favours neither side.
    """
    for number, size in sizes:
        coin = int(generator(seed, Purpose.ORDER, number // 2).integers(2))
        first = (coin + number) % 2
        yield Block(first, number, size)
        yield Block(1 - first, number, size)
