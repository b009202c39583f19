"""Many blocks, in order, drawn by workers that joblib chooses: threads, processes, a cluster.

joblib hands out tasks as fast as workers finish them, however slowly the results are taken. So
blocks are asked for in windows: what was drawn and not yet taken stays below `HELD` bytes, or one
block a worker.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from dpaudit._core.shown.raised import Raised, shown
from dpaudit.errors import DpauditError, MechanismError
from dpaudit.sampling.block import SIDES, Blocks
from dpaudit.sampling.order import Block

HELD = 1 << 26  # bytes of draws that a window may hold
# blocks a worker in a window at most; workers wait for the last block of a window, and with this
# many that is a small part of their time
DEEP = 64
Drawn = tuple[Block, np.ndarray]


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
    blocks: Sequence[Blocks], wanted: Iterable[Block], n_jobs: int | None, store: BlockStore | None
) -> Iterator[Drawn]:
    """The blocks of `wanted`, each with its draws, in that order.

    blocks : those of M(D) and of M(D'). Blocks in the store are not drawn again; others are stored
    before they are given out. Raises `MechanismError`, and whatever the store raises.
    """
    left, jobs, room = iter(wanted), effective_n_jobs(n_jobs), 1
    with _parallel(n_jobs) as parallel:
        while window := list(islice(left, jobs * room)):
            largest = 1
            for one, part in _window(parallel, blocks, window, store):
                largest = max(largest, part.nbytes)
                yield one, part
            room = int(np.clip(HELD // (largest * jobs), 1, DEEP))


def _parallel(n_jobs: int | None) -> Parallel:
    """Results one at a time where the backend can; "multiprocessing" gives a window at once."""
    try:
        return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    except ValueError:
        return Parallel(n_jobs=n_jobs, prefer="threads")


def _window(
    parallel: Parallel, blocks: Sequence[Blocks], window: list[Block], store: BlockStore | None
) -> Iterator[Drawn]:
    kept = {one: _kept(store, one) for one in window}
    missing = [one for one in window if kept[one] is None]
    fresh = _results(parallel, (_task(blocks[one.side], one) for one in missing))
    try:
        for one in window:
            part = kept.pop(one)
            if part is None:
                part = _next(fresh, one.side)
                if store is not None:
                    store.put(one.side, one.number, part)
            yield one, part
        next(fresh, None)  # lets joblib end the call
    finally:
        _close(fresh)


def _task(blocks: Blocks, one: Block) -> Any:
    return delayed(blocks)(one.number, one.size)


def _kept(store: BlockStore | None, one: Block) -> np.ndarray | None:
    """The stored block, if it has the size that is wanted now."""
    found = None if store is None else store.get(one.side, one.number)
    return found if found is not None and found.shape[:1] == (one.size,) else None


def _next(fresh: Iterator[Any], side: int) -> np.ndarray:
    """The next block that workers have drawn.

    `Blocks` turns what a mechanism raises into a `DpauditError`. Any other error is that of
    a worker that was killed, ran out of memory, or could not receive the mechanism.
    """
    try:
        return np.asarray(next(fresh))
    except MechanismError as error:
        failure = error
    except DpauditError:
        raise
    except Exception as error:
        said = " ".join(Raised.of(error).line.split())
        failure = MechanismError(f"the workers failed to draw {SIDES[side]}: {said}")
    raise shown(failure)


def _results(parallel: Parallel, tasks: Iterable[Any]) -> Generator[Any, None, None]:
    yield from parallel(tasks)


def _close(fresh: Generator[Any, None, None]) -> None:
    """End the workers' call without joblib's warning that results were left untaken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fresh.close()
