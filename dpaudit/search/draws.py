"""Draws with common random numbers: every neighbour from the generators that M(D) had, so that
noise cancels.

Where a mechanism takes the same random numbers whatever the data, an output of M(D') differs from
its partner of M(D) by what the row does and by nothing else. Such draws are good to choose by, and
certify nothing: the final audit's are independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core.check import Array
from dpaudit._core.seeds import describe, generator
from dpaudit.errors import DpauditError, MechanismError
from dpaudit.sampling import checked, sampler_of

BLOCK = 1 << 14  # draws made in one call


def draw_common(
    mechanism: Any, data: Array, size: int, seed: np.random.SeedSequence, what: str
) -> np.ndarray:
    """`size` rows of draws of mechanism(data), (size, k); block b from the generator at key (b,)
    below `seed`.

    what : the database in words, for errors. Raises `MechanismError`, and what preparing the
        mechanism raises.
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
    try:
        return outcomes.joined(parts)
    except outcomes.NotOutcomes as error:
        raise MechanismError(f"the mechanism must return {error} on {what}") from None


def _block(
    sampler: Any, size: int, seed: np.random.SeedSequence, number: int, what: str
) -> np.ndarray:
    where = f"{what}, block {number} ({size} draws, seed {describe(seed)}, key ({number},))"
    try:
        values = sampler(size, generator(seed, number))
    except Exception as error:
        raise MechanismError(
            f"the mechanism raised on {where}: {type(error).__name__}: {error}"
        ) from error
    return checked(values, size, where)


def aligned(P: np.ndarray, Q: np.ndarray) -> tuple[Array, Array]:
    """Both sides as float64 rows of one width. Raises `MechanismError` where the widths alone tell
    them apart.
    """
    P, Q = outcomes.aligned(P, Q)
    if P.shape[1] != Q.shape[1]:
        raise MechanismError(
            f"M(D) has {P.shape[1]} columns and M(D') {Q.shape[1]}: the size gives it away"
        )
    return P, Q
