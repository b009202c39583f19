"""Many parts, in order, made by workers that joblib chooses: threads, processes, a cluster.

joblib hands out tasks as fast as workers finish them, however slowly the results are taken. So
parts are asked for in windows: what was made and not yet taken stays below `HELD` bytes, or one
part a worker.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from dpaudit._core.shown.raised import Raised, shown
from dpaudit.errors import DpauditError, MechanismError
from dpaudit.sampling.block import SIDES, Blocks
from dpaudit.sampling.order import Block

HELD = 1 << 26  # bytes of results that a window may hold
# parts a worker in a window at most; workers wait for the last part of a window, and with this
# many that is a small part of their time
DEEP = 64
THREADS = "threads"  # where nothing else is set
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


class Sized(Protocol):
    """A result of a worker."""

    @property
    def nbytes(self) -> int:
        """Bytes that it holds."""
        ...


Part = TypeVar("Part")
Some = TypeVar("Some", contravariant=True)
Result = TypeVar("Result", bound=Sized)


class Work(Protocol[Some, Result]):
    """What is made of each part."""

    def kept(self, one: Some) -> Result | None:
        """The result, where the part need not be made."""
        ...

    def keep(self, one: Some, result: Result) -> None:
        """Keep a result that a worker has made."""
        ...

    def task(self, one: Some) -> Any:
        """A task of joblib that makes the result."""
        ...

    def what(self, one: Some) -> str:
        """What a worker does, for an error message."""
        ...


def made(
    work: Work[Part, Result], wanted: Iterable[Part], n_jobs: int | None
) -> Iterator[tuple[Part, Result]]:
    """The parts of `wanted`, each with its result, in that order.

    Results that are kept are not made again; others are kept before they are given out. Raises
    `MechanismError`, and whatever keeping them raises.
    """
    left, jobs, room = iter(wanted), effective_n_jobs(n_jobs), 1
    with _parallel(n_jobs) as parallel:
        while window := list(islice(left, jobs * room)):
            largest = 1
            for one, result in _window(parallel, work, window):
                largest = max(largest, result.nbytes)
                yield one, result
            room = int(np.clip(HELD // (largest * jobs), 1, DEEP))


def drawn(
    blocks: Sequence[Blocks], wanted: Iterable[Block], n_jobs: int | None, store: BlockStore | None
) -> Iterator[Drawn]:
    """The blocks of `wanted`, each with its draws, in that order; errors as of `made`.

    blocks : those of M(D) and of M(D').
    """
    return made(_Drawing(blocks, store), wanted, n_jobs)


@dataclass(frozen=True, eq=False, repr=False)
class _Drawing:
    """The work of drawing blocks."""

    blocks: Sequence[Blocks]
    store: BlockStore | None

    def kept(self, one: Block) -> np.ndarray | None:
        """The stored block, if it has the size that is wanted now."""
        found = None if self.store is None else self.store.get(one.side, one.number)
        return found if found is not None and found.shape[:1] == (one.size,) else None

    def keep(self, one: Block, result: np.ndarray) -> None:
        if self.store is not None:
            self.store.put(one.side, one.number, result)

    def task(self, one: Block) -> Any:
        return delayed(self.blocks[one.side])(one.number, one.size)

    def what(self, one: Block) -> str:
        return f"draw {SIDES[one.side]}"


def elsewhere(n_jobs: int | None) -> int:
    """How many workers joblib has in other processes; 0 where the workers share this memory."""
    backend, usual = get_active_backend(prefer=THREADS)
    if getattr(backend, "supports_sharedmem", False):
        return 0
    jobs = int(backend.effective_n_jobs(usual if n_jobs is None else n_jobs))
    return jobs if jobs > 1 else 0


def _parallel(n_jobs: int | None) -> Parallel:
    """Results one at a time where the backend can; "multiprocessing" gives a window at once."""
    try:
        return Parallel(n_jobs=n_jobs, prefer=THREADS, return_as="generator")
    except ValueError:
        return Parallel(n_jobs=n_jobs, prefer=THREADS)


def _window(
    parallel: Parallel, work: Work[Part, Result], window: list[Part]
) -> Iterator[tuple[Part, Result]]:
    kept = {one: work.kept(one) for one in window}
    missing = [one for one in window if kept[one] is None]
    fresh = _results(parallel, map(work.task, missing))
    try:
        for one in window:
            result = kept.pop(one)
            if result is None:
                result = answer(partial(next, fresh), work.what(one))
                work.keep(one, result)
            yield one, result
        next(fresh, None)  # lets joblib end the call
    finally:
        _close(fresh)


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
        said = " ".join(Raised.of(error).line.split())
        failure = MechanismError(f"the workers failed to {what}: {said}")
    raise shown(failure)


def _results(parallel: Parallel, tasks: Iterable[Any]) -> Generator[Any, None, None]:
    yield from parallel(tasks)


def _close(fresh: Generator[Any, None, None]) -> None:
    """End the workers' call without joblib's warning that results were left untaken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fresh.close()
