"""Drawing outputs of a mechanism: block by block, seeded by key, checked, in parallel, resumable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed

from dpaudit import outcomes
from dpaudit._check import Array
from dpaudit._random import Stream, describe, generator
from dpaudit.errors import MechanismError
from dpaudit.mechanisms.base import LawMechanism, Sampler

Progress = Callable[[str, int, int], None]
SIDES = ("M(D)", "M(D')")
LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 14, 1 << 8


class BlockStore(Protocol):
    """Keeps blocks that were drawn, by (side, block)."""

    def get(self, side: int, block: int) -> np.ndarray | None: ...

    def put(self, side: int, block: int, values: np.ndarray) -> None: ...


def sampler_of(mechanism: Any, data: Array) -> Sampler:
    """(size, rng) → draws, with what does not depend on the draw done once."""
    if isinstance(mechanism, LawMechanism):
        return mechanism.prepare(data)
    return partial(_call, mechanism, data)


def _call(mechanism: Any, data: Array, size: int, rng: np.random.Generator) -> Any:
    return mechanism(data, size, rng=rng)


def draw(
    mechanism: Any,
    data: Array,
    size: int,
    seed: np.random.SeedSequence,
    side: int,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    store: BlockStore | None = None,
) -> np.ndarray:
    """`size` draws of mechanism(data): (size, k) float64, or lists where their lengths differ (`outcomes.aligned`).

    Block b of side s is drawn from the generator at key (DRAW, s, b), so neither the number of workers nor an
    interruption changes a byte. Raises `MechanismError` when the mechanism raises or returns the wrong thing.
    """
    block = int(np.clip(size // 64, SMALLEST_BLOCK, LARGEST_BLOCK))
    sizes = (min(block, size - start) for start in range(0, size, block))
    work = partial(_block, sampler_of(mechanism, data), seed, side, store)
    parts = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(work)(number, count) for number, count in enumerate(sizes)
    )
    return _collect(parts, size, side, progress)


def _collect(parts: Iterator[np.ndarray], size: int, side: int, progress: Progress | None) -> np.ndarray:
    lists: list[np.ndarray] = []
    out, done = np.empty((0, 0)), 0
    for part in parts:
        if lists or outcomes.are_lists(part):
            lists = [*(lists or [out[:done]] * (done > 0)), part]
        else:
            out = np.empty((size, part.shape[1])) if done == 0 else out
            if part.shape[1] != out.shape[1]:
                raise MechanismError(_changed(part.shape[1], out.shape[1], side, done))
            out[done : done + len(part)] = part
        done += len(part)
        if progress is not None:
            progress(f"drawing {SIDES[side]}", done, size)
    try:
        return outcomes.joined(lists) if lists else out
    except outcomes.NotOutcomes as error:
        raise MechanismError(f"the mechanism must return {error} on {SIDES[side]}") from None


def _changed(columns: int, before: int, side: int, done: int) -> str:
    return (
        f"the mechanism must return the same number of columns each time, got {columns} after {before} on "
        f"{SIDES[side]}, draw {done}"
    )


def _block(
    sampler: Sampler,
    seed: np.random.SeedSequence,
    side: int,
    store: BlockStore | None,
    number: int,
    size: int,
) -> np.ndarray:
    kept = store.get(side, number) if store is not None else None
    if kept is not None and kept.shape[:1] == (size,):
        return kept
    key = (int(Stream.DRAW), side, number)
    where = f"{SIDES[side]}, block {number} ({size} draws, seed {describe(seed)}, key {key})"
    try:
        values = sampler(size, generator(seed, *key))
    except Exception as error:
        raise MechanismError(f"the mechanism raised on {where}: {type(error).__name__}: {error}") from error
    values = checked(values, size, where)
    if store is not None:
        store.put(side, number, values)
    return values


def checked(values: Any, size: int, where: str) -> np.ndarray:
    """The draws as rows (`outcomes.rows`), or a `MechanismError` that says what came instead."""
    try:
        return outcomes.rows(values, size)
    except outcomes.NotOutcomes as error:
        raise MechanismError(f"the mechanism must return {error} on {where}") from None
