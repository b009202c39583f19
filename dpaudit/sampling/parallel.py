"""Many blocks, in order, drawn by workers that joblib chooses: threads, processes, a cluster.

joblib hands out tasks as fast as workers finish them, however slowly the results are taken. So
blocks are asked for in windows: what was drawn and not yet taken stays below `HELD` bytes, or one
block a worker.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from dpaudit.errors import DpauditError, MechanismError
from dpaudit.sampling.block import SIDES, Blocks

HELD = 1 << 26  # bytes of draws that a window may hold
# blocks a worker in a window at most; workers wait for the last block of a window, and with this
# many that is a small part of their time
DEEP = 64


class BlockStore(Protocol):
    """Keeps blocks that were drawn, by (side, block).

    Only one thread asks it, in the process that audits.
    """

    def get(self, side: int, block: int) -> np.ndarray | None:
        """The block, or None where it was not stored."""
        ...

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        """Store a block."""
        ...


def drawn(
    blocks: Blocks, wanted: Iterable[tuple[int, int]], n_jobs: int | None, store: BlockStore | None
) -> Iterator[np.ndarray]:
    """The blocks of `wanted`, each (number, size), in that order.

    Blocks in the store are not drawn again; others are stored before they are given out. Raises
    `MechanismError`, and whatever the store raises.
    """
    left, jobs, room = iter(wanted), effective_n_jobs(n_jobs), 1
    with _parallel(n_jobs) as parallel:
        while window := list(islice(left, jobs * room)):
            largest = 1
            for part in _window(parallel, blocks, window, store):
                largest = max(largest, part.nbytes)
                yield part
            room = int(np.clip(HELD // (largest * jobs), 1, DEEP))


def _parallel(n_jobs: int | None) -> Parallel:
    """Results one at a time where the backend can; "multiprocessing" gives a window at once."""
    try:
        return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    except ValueError:
        return Parallel(n_jobs=n_jobs, prefer="threads")


def _window(
    parallel: Parallel, blocks: Blocks, window: list[tuple[int, int]], store: BlockStore | None
) -> Iterator[np.ndarray]:
    kept = {number: _kept(store, blocks.side, number, size) for number, size in window}
    missing = [(number, size) for number, size in window if kept[number] is None]
    fresh = _results(parallel, (delayed(blocks)(number, size) for number, size in missing))
    try:
        for number, _ in window:
            part = kept.pop(number)
            if part is None:
                part = _next(fresh, blocks.side)
                if store is not None:
                    store.put(blocks.side, number, part)
            yield part
        next(fresh, None)  # lets joblib end the call
    finally:
        _close(fresh)


def _kept(store: BlockStore | None, side: int, number: int, size: int) -> np.ndarray | None:
    """The stored block, if it has the size that is wanted now."""
    found = None if store is None else store.get(side, number)
    return found if found is not None and found.shape[:1] == (size,) else None


def _next(fresh: Iterator[Any], side: int) -> np.ndarray:
    """The next block that workers have drawn.

    `Blocks` turns what a mechanism raises into a `DpauditError`. Any other error is that of
    a worker that was killed, ran out of memory, or could not receive the mechanism.
    """
    try:
        return np.asarray(next(fresh))
    except DpauditError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        raise MechanismError(
            f"the workers failed to draw {SIDES[side]}: {type(error).__name__}: {said}"
        ) from error


def _results(parallel: Parallel, tasks: Iterable[Any]) -> Generator[Any, None, None]:
    yield from parallel(tasks)


def _close(fresh: Generator[Any, None, None]) -> None:
    """End the workers' call without joblib's warning that results were left untaken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fresh.close()
