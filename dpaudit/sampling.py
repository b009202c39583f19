"""Drawing outputs of a mechanism: block by block, seeded by key, checked, in parallel, resumable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed

from dpaudit._check import Array
from dpaudit._random import Stream, describe, generator
from dpaudit.errors import MechanismError
from dpaudit.mechanisms.base import LawMechanism, Sampler

Progress = Callable[[str, int, int], None]
SIDES = ("M(D)", "M(D')")
LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 14, 1 << 8


class BlockStore(Protocol):
    """Keeps blocks that were drawn, by (side, block)."""

    def get(self, side: int, block: int) -> Array | None: ...

    def put(self, side: int, block: int, values: Array) -> None: ...


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
) -> Array:
    """`size` draws of mechanism(data), shape (size, k) float64.

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


def _collect(parts: Iterator[Array], size: int, side: int, progress: Progress | None) -> Array:
    out, done = np.empty((0, 0)), 0
    for part in parts:
        if done == 0:
            out = np.empty((size, part.shape[1]))
        if part.shape[1] != out.shape[1]:
            raise MechanismError(
                f"the mechanism must return the same number of columns each time, got {part.shape[1]} "
                f"after {out.shape[1]} on {SIDES[side]}, draw {done}"
            )
        out[done : done + len(part)] = part
        done += len(part)
        if progress is not None:
            progress(f"drawing {SIDES[side]}", done, size)
    return out


def _block(
    sampler: Sampler,
    seed: np.random.SeedSequence,
    side: int,
    store: BlockStore | None,
    number: int,
    size: int,
) -> Array:
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


def checked(values: Any, size: int, where: str) -> Array:
    """A finite (size, k) float64 array, or a `MechanismError` that says what came instead."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise MechanismError(
            f"the mechanism must return shape ({size}, k), got rows of unequal length on {where}"
        ) from error
    if array.dtype.kind not in "fiub":
        raise MechanismError(f"the mechanism must return numbers, got dtype {array.dtype} on {where}")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[0] != size or array.shape[1] == 0:
        raise MechanismError(f"the mechanism must return shape ({size}, k), got {np.shape(values)} on {where}")
    array = np.asarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise MechanismError(
            f"the mechanism must return finite numbers, got {array[row, column]} in draw {row}, column {column}, "
            f"of {where}"
        )
    return array
