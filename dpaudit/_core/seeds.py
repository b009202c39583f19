"""Seeds by key: a draw's generator depends on the draw's purpose, never on when it is created."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.types import RngLike


class Purpose(IntEnum):
    """The first element of a spawn key: the purpose of the random numbers."""

    DRAW = 0
    SCORE = 1
    SPLIT = 2  # reserved: draws are split in their order
    BATCH = 3  # the batches of a sequential audit
    SEARCH = 4
    ORDER = 5  # the order of the blocks of the two sides
    CHECK = 6  # draws that only test whether draws are independent
    COMMON = 7  # shared by both databases, to test whether their outputs differ at all
    CANARY = 8  # the rows of canaries
    COIN = 9  # which canaries are in the data


def root(rng: RngLike) -> np.random.SeedSequence:
    """The seed sequence behind any argument that `numpy.random.default_rng` accepts.

    This advances a Generator by one 128-bit draw; None takes fresh entropy from the system.
    """
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.BitGenerator):
        rng = np.random.Generator(rng)
    if isinstance(rng, np.random.Generator):
        words = rng.integers(0, 2**32, size=4, dtype=np.uint64)
        return np.random.SeedSequence([int(word) for word in words])
    try:
        return np.random.SeedSequence(rng)
    except (TypeError, ValueError):
        fail("rng", rng, "None, a non-negative integer, a SeedSequence or a Generator")


def as_generator(rng: RngLike) -> np.random.Generator:
    """`numpy.random.default_rng(rng)`, but the error for a bad `rng` names the argument."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        fail("rng", rng, "None, a non-negative integer, a SeedSequence or a Generator")


def below(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """The seed sequence that the spawn key `key` gives below `seed`."""
    path = (*seed.spawn_key, *map(int, key))
    return np.random.SeedSequence(seed.entropy, spawn_key=path, pool_size=seed.pool_size)


def generator(seed: np.random.SeedSequence, *key: int) -> np.random.Generator:
    """The generator from spawn key `key` below `seed`; different keys give independent streams."""
    return np.random.default_rng(below(seed, *key))


def describe(seed: np.random.SeedSequence) -> int | str:
    """What a reader needs to repeat the run: an integer, or the text of a seed sequence."""
    entropy = seed.entropy
    if isinstance(entropy, int) and not seed.spawn_key:
        return entropy if entropy < 2**53 else str(entropy)
    return f"SeedSequence(entropy={entropy}, spawn_key={seed.spawn_key})"
