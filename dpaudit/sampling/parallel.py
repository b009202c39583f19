"""Make many parts in order with the workers that joblib provides: threads, processes, a cluster.

joblib hands out tasks as fast as workers finish them, however slowly the results are consumed. So
tasks are handed out in windows: the results that wait to be consumed stay below `WINDOW` bytes, or
below one part for each worker.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from multiprocessing import util
from pickle import PicklingError
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import get_reusable_executor
from joblib.parallel import get_active_backend

from dpaudit._core.raised import Raised, with_cause
from dpaudit.errors import DpauditError, MechanismError
from dpaudit.sampling.block import SIDES, Block, Blocks

WINDOW = 1 << 26  # bytes of results that a window may hold
# Most parts in a window for each worker. Workers wait for the last part of a window, which takes
# little of their time if it has this many.
DEEP = 64
CANNOT_PICKLE = re.compile(r"cannot pickle '[\w.]+' object")  # as Python says it, of a type
FIRST = 100  # the priority of ending workers, above that of closing the queue to them
THREADS = "threads"  # used if the user has set no other backend of joblib


class BlockStore(Protocol):
    """Keeps blocks that were drawn, by (side, block). It is called from one thread of the auditing
    process.
    """

    def get(self, side: int, block: int) -> np.ndarray | None:
        """The draws of the block, or None if it was not stored."""

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        """Store a block."""


Part = TypeVar("Part")
Result = TypeVar("Result", bound=Any)  # has its size in bytes, `nbytes`


def made(
    parts: Iterable[Part],
    n_jobs: int | None,
    task: Callable[[Part], Any],
    doing: Callable[[Sequence[Part]], str],
    load: Callable[[Part], Result | None] | None = None,
    keep: Callable[[Part, Result], None] | None = None,
) -> Iterator[tuple[Part, Result]]:
    """Yield the parts in order, each with its result. Raises `MechanismError`, and what `keep`
    raises.

    task : returns joblib's task that makes the result of a part. doing : what the tasks of some
    parts do, for the error about a worker that died with one of them. load : returns a result that
    exists already, or None. keep : stores a new result before it is yielded.
    """
    left, jobs, room = iter(parts), effective_n_jobs(n_jobs), 1
    with workers(n_jobs) as parallel:
        while window := list(islice(left, jobs * room)):
            loaded = {} if load is None else {part: load(part) for part in window}
            missing = [part for part in window if loaded.get(part) is None]
            fresh = results_of(parallel, [task(part) for part in missing])
            largest = 1
            try:
                for part in window:
                    result = loaded.pop(part, None)
                    if result is None:
                        result = answer(partial(next, fresh), partial(doing, missing))
                        del missing[0]
                        if keep is not None:
                            keep(part, result)
                    largest = max(largest, result.nbytes)
                    yield part, result
                next(fresh, None)  # lets joblib end the call
            finally:
                with warnings.catch_warnings():  # joblib warns of results that nobody consumed
                    warnings.simplefilter("ignore")
                    fresh.close()
            room = int(np.clip(WINDOW // (largest * jobs), 1, DEEP))


def drawn(
    sides: Sequence[Blocks], blocks: Iterable[Block], n_jobs: int | None, store: BlockStore | None
) -> Iterator[tuple[Block, np.ndarray]]:
    """Yield the blocks in order, each with its draws. Raises what `made` raises.

    sides : the blocks of M(D) and of M(D').
    """

    def task(block: Block) -> Any:
        return delayed(sides[block.side])(block.number, block.size)

    if store is None:
        return made(blocks, n_jobs, task, drawing)

    def keep(block: Block, draws: np.ndarray) -> None:
        store.put(block.side, block.number, draws)

    return made(blocks, n_jobs, task, drawing, partial(stored, store), keep)


def drawing(blocks: Iterable[Block]) -> str:
    """What workers do that draw these blocks, for people: "draw M(D)"."""
    return f"draw {' and '.join(SIDES[side] for side in sorted({block.side for block in blocks}))}"


def stored(store: BlockStore, block: Block) -> np.ndarray | None:
    """The stored draws of a block if there are `block.size` of them; else None."""
    draws = store.get(block.side, block.number)
    return draws if draws is not None and draws.shape[:1] == (block.size,) else None


def elsewhere(n_jobs: int | None) -> int:
    """How many workers joblib has in other processes; 0 if they share the memory of this one."""
    backend, usual = get_active_backend(prefer=THREADS)
    if getattr(backend, "supports_sharedmem", False):
        return 0
    jobs = int(backend.effective_n_jobs(usual if n_jobs is None else n_jobs))
    return jobs if jobs > 1 else 0


def dask_backend(n_jobs: int | None) -> Any | None:
    """The active backend of joblib if it is a Dask cluster of several workers; else None."""
    backend = get_active_backend(prefer=THREADS)[0]
    return backend if hasattr(backend, "client") and elsewhere(n_jobs) else None


def answer(ask: Callable[[], Any], doing: Callable[[], str]) -> Any:
    """Return ask(), the answer of workers. Raises `MechanismError`, which says by `doing` what
    the workers failed to do, because one was killed, ran out of memory, or could not receive the
    mechanism.
    """
    try:
        return ask()
    except MechanismError as error:
        failure = error
    except DpauditError:
        raise
    except Exception as error:
        line = " ".join(Raised.of(error).line.split())
        failure = MechanismError(f"the workers failed to {doing()}: {line}{_unsent(error)}")
    raise with_cause(failure)


def _unsent(error: Exception) -> str:
    """What cannot be sent to workers, and what to do; "" for an error of another kind."""
    cause = str(error.__cause__) if isinstance(error, PicklingError) else ""
    match = CANNOT_PICKLE.search(cause)
    advice = "; make the object inside the mechanism, or draw in threads"
    return f" {match[0]}{advice}" if match else ""


@cache
def let_process_end(process: int) -> None:
    """Let this process, if multiprocessing or a `ProcessPoolExecutor` started it, end its workers
    when it ends. It waits for all processes that it started, and loky's wait minutes for work.

    For workers in other processes alone: else it would start loky only to end it.
    process : the id of this process, since a forked one has the cache of another.
    """
    if multiprocessing.parent_process() is not None:
        util.Finalize(
            None, lambda: get_reusable_executor(reuse=True).shutdown(), exitpriority=FIRST
        )


def workers(n_jobs: int | None) -> Parallel:
    """joblib's object that yields results one by one, or a whole window at once if the backend
    ("multiprocessing") cannot.
    """
    if elsewhere(n_jobs):
        let_process_end(os.getpid())
    try:
        return Parallel(n_jobs=n_jobs, prefer=THREADS, return_as="generator")
    except ValueError:
        return Parallel(n_jobs=n_jobs, prefer=THREADS)


def results_of(parallel: Parallel, tasks: Sequence[Any]) -> Generator[Any, None, None]:
    """Yield the results of the tasks; the workers begin when the first result is requested."""
    yield from parallel(tasks)
