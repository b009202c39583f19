"""Draws on both databases with the same random numbers, which show whether they differ at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dpaudit import outcomes
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.types import Array, Mechanism
from dpaudit.errors import MechanismError
from dpaudit.sampling.block import Blocks, sampler_of

STAGES = (4, 28)  # draws of the first calls: hardly any mechanism needs more to differ


def same_outputs(
    mechanism: Mechanism,
    databases: Sequence[Array],
    size: int,
    seed: np.random.SeedSequence,
    *,
    call: int | None = None,
) -> bool:
    """Whether all of `size` draws are the same on both databases under the same random numbers.

    They are drawn at key COMMON below the seed, few at first, and no more once they differ. False
    where the mechanism fails. call : draws of each call, None for as many as are looked at.
    """
    own = below(seed, Purpose.COMMON)
    sides = [Blocks(sampler_of(mechanism, data), own, 0, call=call) for data in databases]
    try:
        return all(
            outcomes.equal(*(side(number, part) for side in sides))
            for number, part in enumerate(_stages(size))
        )
    except MechanismError:
        return False


def _stages(size: int) -> Iterator[int]:
    for part in (*STAGES, size):
        if size > 0:
            yield min(part, size)
            size -= part
