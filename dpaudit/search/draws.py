"""Draws with common random numbers: M(D') is drawn from the generators that M(D) had.

If a mechanism takes the same random numbers whatever the data, an output of M(D') differs from its
partner, the output of M(D) from the same generator, only by the effect of the change: the noise
cancels. Such draws are good for choosing, but certify nothing, as they are not independent. The
draws of the final audit are.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.seeds import describe, generator
from dpaudit._core.types import Array, Mechanism, Sampler
from dpaudit.errors import DpauditError
from dpaudit.sampling import checked, joined, outputs, sampler_of

BLOCK = 1 << 14  # draws made in one call


def draw_common(
    mechanism: Mechanism, data: Array, size: int, seed: np.random.SeedSequence, what: str
) -> np.ndarray:
    """`size` draws of mechanism(data), (size, k); block b from the generator at key (b,) of `seed`.

    what : the database in words, for errors.

    Raises `MechanismError`, and what preparing the mechanism raises.
    """
    try:
        sampler = sampler_of(mechanism, data)
    except DpauditError as error:
        raise type(error)(f"{what}: {error}") from error
    starts = range(0, size, BLOCK)
    parts = [
        _block(sampler, min(BLOCK, size - start), seed, number, what)
        for number, start in enumerate(starts)
    ]
    return joined(parts, what)


def _block(
    sampler: Sampler, size: int, seed: np.random.SeedSequence, number: int, what: str
) -> np.ndarray:
    where = f"{what}, block {number} ({size} draws, seed {describe(seed)}, key ({number},))"
    return checked(outputs(sampler, size, generator(seed, number), where), size, where)
