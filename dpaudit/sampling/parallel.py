"""Many parts, in order, made by workers that joblib chooses: threads, processes, a cluster.

joblib hands out tasks as fast as workers finish them, however slowly the results are taken. So
parts are asked for in windows: what was made and not yet taken stays below `WINDOW` bytes, or one
part a worker.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from dpaudit._core.raised import Raised, shown
from dpaudit.errors import DpauditError, MechanismError
from dpaudit.sampling.block import SIDES, Block, Blocks

WINDOW = 1 << 26  # bytes of results that a window may hold
# parts a worker in a window at most; workers wait for the last part of a window, and with this
# many that is a small part of their time
DEEP = 64
THREADS = "threads"  # where nothing else is set


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


class Sized(Protocol):
    """A result of a worker."""

    @property
    def nbytes(self) -> int:
        """Bytes that it holds."""
        ...


Part = TypeVar("Part")
Result = TypeVar("Result", bound=Sized)


def made(
    parts: Iterable[Part],
    n_jobs: int | None,
    task: Callable[[Part], Any],
    doing: Callable[[Part], str],
    load: Callable[[Part], Result | None],
    keep: Callable[[Part, Result], None],
) -> Iterator[tuple[Part, Result]]:
    """The parts, each with its result, in order. Raises `MechanismError`, and what `keep` raises.

    task : joblib's task that makes a result. doing : what it does, for an error message.
    load : the result of a part that need not be made. keep : keeps one that was made, before it
    is given out.
    """
    left, jobs, room = iter(parts), effective_n_jobs(n_jobs), 1
    with _parallel(n_jobs) as parallel:
        while window := list(islice(left, jobs * room)):
            loaded, largest = {part: load(part) for part in window}, 1
            fresh = _results(parallel, [task(part) for part in window if loaded[part] is None])
            try:
                for part in window:
                    result = loaded.pop(part)
                    if result is None:
                        result = answer(partial(next, fresh), doing(part))
                        keep(part, result)
                    largest = max(largest, result.nbytes)
                    yield part, result
                next(fresh, None)  # lets joblib end the call
            finally:
                with warnings.catch_warnings():  # joblib warns of results that were left untaken
                    warnings.simplefilter("ignore")
                    fresh.close()
            room = int(np.clip(WINDOW // (largest * jobs), 1, DEEP))


def drawn(
    sides: Sequence[Blocks], wanted: Iterable[Block], n_jobs: int | None, store: BlockStore | None
) -> Iterator[tuple[Block, np.ndarray]]:
    """The blocks of `wanted`, each with its draws, in that order; errors as of `made`.

    sides : the blocks of M(D) and of M(D').
    """

    def keep(block: Block, draws: np.ndarray) -> None:
        if store is not None:
            store.put(block.side, block.number, draws)

    return made(
        wanted,
        n_jobs,
        lambda block: delayed(sides[block.side])(block.number, block.size),
        lambda block: f"draw {SIDES[block.side]}",
        lambda block: stored(store, block),
        keep,
    )


def stored(store: BlockStore | None, block: Block) -> np.ndarray | None:
    """The stored draws of a block, if it has the size that is wanted now."""
    draws = None if store is None else store.get(block.side, block.number)
    return draws if draws is not None and draws.shape[:1] == (block.size,) else None


def elsewhere(n_jobs: int | None) -> int:
    """How many workers joblib has in other processes; 0 where the workers share this memory."""
    backend, usual = get_active_backend(prefer=THREADS)
    if getattr(backend, "supports_sharedmem", False):
        return 0
    jobs = int(backend.effective_n_jobs(usual if n_jobs is None else n_jobs))
    return jobs if jobs > 1 else 0


def answer(ask: Callable[[], Any], what: str) -> Any:
    """What workers answer. Raises `MechanismError`. what : they do, for the error message.

    `Blocks` turns what a mechanism raises into a `DpauditError`. Any other error is that of
    a worker that was killed, ran out of memory, or could not receive the mechanism.
    """
    try:
        return ask()
    except MechanismError as error:
        failure = error
    except DpauditError:
        raise
    except Exception as error:
        line = " ".join(Raised.of(error).line.split())
        failure = MechanismError(f"the workers failed to {what}: {line}")
    raise shown(failure)


def _parallel(n_jobs: int | None) -> Parallel:
    """Results one at a time where the backend can; "multiprocessing" gives a window at once."""
    try:
        return Parallel(n_jobs=n_jobs, prefer=THREADS, return_as="generator")
    except ValueError:
        return Parallel(n_jobs=n_jobs, prefer=THREADS)


def _results(parallel: Parallel, tasks: Sequence[Any]) -> Generator[Any, None, None]:
    """The results of the tasks; workers begin when the first one is asked for."""
    yield from parallel(tasks)
