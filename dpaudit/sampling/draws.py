"""Draws of both sides in step: made by a mechanism on request, or taken from arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any, Protocol

import numpy as np

from dpaudit import outcomes
from dpaudit._core.linalg import one_thread
from dpaudit._core.ticks import ticking
from dpaudit._core.types import Array, Mechanism, Wrapped
from dpaudit.errors import MechanismError
from dpaudit.sampling.block import SIDES, Block, Preparable, both_sides, in_turn, joined
from dpaudit.sampling.cluster import BlocksOnCluster
from dpaudit.sampling.counting import Count, Counts, counting, width
from dpaudit.sampling.parallel import BlockStore, dask_backend, drawn

Progress = Callable[[str, int, int], None]  # (step, done, wanted)
Pair = tuple[np.ndarray, np.ndarray]  # draws of M(D), and as many of M(D')
Learn = Callable[[Callable[[Pair], Any]], Any]  # function of `work` that returns work(draws)
LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 14, 1 << 8
BLOCKS = 64  # number of blocks a side, if the limits of their size allow it
CALLS = 256  # calls a side, unless the mechanism names another number: a call costs some 20 µs
PART = 1 << 14  # draws a side in each part of draws that were made elsewhere
STEP = "drawing M(D) and M(D')"


class Draws(Protocol):
    """A source of draws of both sides, which returns each draw once, as (n, k) float64 or lists
    (`outcomes.rows`).
    """

    @property
    def calls(self) -> tuple[int, ...] | None:
        """The sizes of the calls that make one block, the same for all blocks; None if unknown."""

    def peek(self, count: int) -> Pair:
        """Look at the next `count` draws a side or more, without taking them."""

    def take(self, count: int) -> Pair:
        """Take the next `count` draws a side."""

    def hold(self, count: int) -> Learn:
        """Take the next `count` draws a side where they are, perhaps in a worker: return a function
        that applies another function to them.
        """

    def rest(self, count: Count) -> Iterator[Pair | Counts]:
        """Yield all remaining draws in the parts that are counted together, or counts of them if
        workers in other processes have counted them.
        """


class GivenDraws:
    """`Draws` from two arrays."""

    calls = None

    def __init__(self, P: np.ndarray, Q: np.ndarray) -> None:
        self.P, self.Q, self.done = P, Q, 0

    def peek(self, count: int) -> Pair:
        part = slice(self.done, self.done + count)
        return self.P[part], self.Q[part]

    def take(self, count: int) -> Pair:
        P, Q = (
            part if outcomes.is_table(part) else outcomes.joined([part])
            for part in self.peek(count)
        )
        self.done += count
        return P, Q

    def hold(self, count: int) -> Learn:
        P, Q = self.take(count)
        return lambda work: work((P, Q))

    def rest(self, count: Count) -> Iterator[Pair]:
        while self.done < len(self.P):
            yield self.take(min(PART, len(self.P) - self.done))


class MechanismDraws:
    """`Draws` of a mechanism on two databases, `size` on each, made when a method asks for them.

    databases : D and D'. seed : the seed of the audit; draws are seeded by key below it.
    n_jobs : number of workers, as in joblib. progress : called as progress(step, done, wanted).
    store : keeps blocks of draws, so that an interrupted audit resumes.
    call : draws in each call, by default `call_size`. smallest : least number of draws in a block.

    The sides are drawn in turn, block by block (`in_turn`), so that a mechanism that changes with
    time changes on both. Neither the number or kind of workers nor an interruption changes a byte.
    Every method raises `MechanismError` if the mechanism raises or returns something other than
    outcomes.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        databases: Sequence[Array],
        size: int,
        seed: np.random.SeedSequence,
        *,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        store: BlockStore | None = None,
        call: int | None = None,
        smallest: int = SMALLEST_BLOCK,
    ) -> None:
        call = call or call_size(mechanism, size)
        self.blocks = both_sides(mechanism, databases, seed, call)
        # the matrix products of a law are small; those of a user's mechanism may be large
        self.threads = one_thread if isinstance(mechanism, Preparable) else nullcontext
        self.size, self.seed = size, seed
        self.n_jobs, self.progress, self.store = n_jobs, progress, store
        self.reported = -1  # the draws that `progress` knows of
        self.block = int(np.clip(size // BLOCKS, smallest, LARGEST_BLOCK))
        if call and (_most_calls(mechanism) or CALLS) < CALLS:
            self.block = min(call, LARGEST_BLOCK)  # costly calls: a block each, shared by workers
        self.calls = self.blocks[0].calls(self.block)
        self.drawn = 0  # draws a side that are made
        self.position = 0  # draws a side that callers have had
        self.ahead: list[Pair] = []  # draws that were made and not yet returned
        self.columns: dict[int, int] = {}  # number of columns of the first table of each side

    def peek(self, count: int) -> Pair:
        missing = count - self._drawn_ahead()
        if missing > 0:
            here = self._cluster() is not None  # a few blocks are not worth sending
            self.ahead += self._drawn_here(missing) if here else self._fresh(missing)
        P, Q = (joined([part[side] for part in self.ahead], SIDES[side]) for side in (0, 1))
        return P, Q

    def take(self, count: int) -> Pair:
        fresh = self._fresh(count - self._drawn_ahead())
        sides = Collected(count, 0), Collected(count, 1)
        for pair in self._parts(count, fresh):
            for side, part in zip(sides, pair, strict=True):
                side.add(part)
        next(fresh, None)  # ends the drawing of blocks
        return sides[0].all(), sides[1].all()

    def hold(self, count: int) -> Learn:
        # Without a store, workers of a Dask cluster keep the draws, and one of them applies the
        # function. The unused rest of the last block is then made again in this process.
        backend = self._cluster()
        if backend is None or self.position:
            drawn = self.take(count)
            return lambda work: work(drawn)
        self.drawn, self.ahead = 0, []
        blocks = list(self._next(count))
        away = BlocksOnCluster(backend, self.blocks, blocks, count, self._check_columns)
        self.position, self.drawn = count, count - count % self.block
        cut = count - self.drawn
        self.ahead = [(P[cut:], Q[cut:]) for P, Q in self._drawn_here(cut)]
        self._report()
        return away

    def rest(self, count: Count) -> Iterator[Pair | Counts]:
        # The first parts are the rests of blocks that were drawn before; then each part is the two
        # blocks of one number.
        left = self.size - self.drawn
        numbers = -(-left // self.block)
        work = counting(self.blocks, count, numbers, self.n_jobs, self.store)
        if work is None:
            fresh = self._fresh(left)
            yield from self._parts(self.size - self.position, fresh)
            next(fresh, None)  # ends the drawing of blocks
            return
        before = self.position
        yield from self._parts(self._drawn_ahead(), iter(()))
        results = work(self._next(left), self.position - before)
        while True:
            with self.threads(), ticking(self._report):
                group, counted = next(results, (None, None))
            if group is None or counted is None:
                return
            for block, columns in zip(group.blocks, counted.columns.tolist(), strict=True):
                self._check_columns(block, columns)
            self.drawn += group.draws
            self.position += group.draws
            yield counted.counts
            self._report()

    def _next(self, count: int) -> Iterator[Block]:
        """Yield the next blocks of both sides, together `count` draws a side or more."""
        first, end = -(-self.drawn // self.block), -(-(self.drawn + max(count, 0)) // self.block)
        sizes = ((b, min(self.block, self.size - b * self.block)) for b in range(first, end))
        return in_turn(sizes, self.seed)

    def _fresh(self, count: int) -> Iterator[Pair]:
        """Draw and yield pairs of whole blocks, together `count` draws a side or more."""
        return self._paired(drawn(self.blocks, self._next(count), self.n_jobs, self.store))

    def _drawn_here(self, count: int) -> Iterator[Pair]:
        """Draw pairs of whole blocks in this process, together `count` draws a side or more."""
        blocks = self._next(count)
        return self._paired((b, self.blocks[b.side](b.number, b.size)) for b in blocks)

    def _paired(self, blocks: Iterator[tuple[Block, np.ndarray]]) -> Iterator[Pair]:
        """Yield the draws of the two blocks of each number, which follow each other in `blocks`."""
        self._report()
        while True:
            pair: dict[int, np.ndarray] = {}
            with self.threads(), ticking(self._report):
                for block, part in islice(blocks, 2):
                    self._check_columns(block, width(part))
                    pair[block.side] = part
            if not pair:
                return
            self.drawn += len(pair[0])
            self._report()
            yield pair[0], pair[1]

    def _parts(self, count: int, fresh: Iterator[Pair]) -> Iterator[Pair]:
        """Yield parts of together `count` draws a side: first draws made ahead, then fresh blocks.

        The rest of the last block is kept in `ahead`.
        """
        while count > 0:
            P, Q = self.ahead.pop(0) if self.ahead else next(fresh)
            if len(P) > count:
                self.ahead.insert(0, (P[count:], Q[count:]))
            P, Q = P[:count], Q[:count]
            count -= len(P)
            self.position += len(P)
            yield P, Q
            self._report()

    def _check_columns(self, block: Block, columns: int) -> None:
        """Raise `MechanismError` if a block has another number of columns than the side's first
        table; `columns` is 0 if the block is not a table.
        """
        before = self.columns.setdefault(block.side, columns) if columns else 0
        if before != columns:
            where = self.blocks[block.side].where(block.number, block.size)
            raise MechanismError(
                "the mechanism must return the same number of columns each time, "
                f"got {columns} after {before} on {where}"
            )

    def _cluster(self) -> Any | None:
        """joblib's backend if it is a Dask cluster and no store keeps the draws; else None."""
        return None if self.store is not None else dask_backend(self.n_jobs)

    def _drawn_ahead(self) -> int:
        return sum(len(P) for P, _ in self.ahead)

    def _report(self, made: int = 0) -> None:
        """Report the draws that are used, or made ahead of their use but for the last one.

        made : draws of both sides in blocks that are not yet complete.
        """
        done = max(self.position, min(self.drawn + made // 2, self.size - 1))
        if self.progress is not None and done > self.reported:
            self.reported = done
            self.progress(STEP, done, self.size)


class Collected:
    """Collects the parts of one side, `size` draws in all, in one array.

    Tables are copied into it as they come; only lists and texts are in memory twice.
    """

    def __init__(self, size: int, side: int) -> None:
        self.size, self.side, self.done = size, side, 0
        self.table: np.ndarray | None = None
        self.others: list[np.ndarray] = []

    def add(self, part: np.ndarray) -> None:
        if self.others or not outcomes.is_table(part):
            self.others = [*(self.others or self._tables()), part]
        else:
            if self.table is None:
                self.table = np.empty((self.size, part.shape[1]))
            self.table[self.done : self.done + len(part)] = part
        self.done += len(part)

    def all(self) -> np.ndarray:
        return joined(self.others or self._tables(), SIDES[self.side])

    def _tables(self) -> list[np.ndarray]:
        return [] if self.table is None else [self.table[: self.done]]


def call_size(mechanism: Mechanism, size: int) -> int | None:
    """Draws in each call if an audit makes `size` draws a side; None if one call makes a block.

    Draws of one call may share randomness, which shows if there are many calls. A mechanism with an
    attribute `most_calls` gets at most that many calls a side. The result is None if that is None,
    or if the mechanism has a law, whose draws are made independently.
    """
    most = _most_calls(mechanism)
    return None if most is None else -(-size // most)


def _most_calls(mechanism: Mechanism) -> int | None:
    while isinstance(mechanism, Wrapped):
        mechanism = mechanism.mechanism
    by_law = isinstance(mechanism, Preparable)
    return None if by_law else getattr(mechanism, "most_calls", CALLS)
