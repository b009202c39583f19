"""Draws of both sides in step: made by a mechanism on request, or taken from arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any, Protocol

import numpy as np

from dpaudit import outcomes
from dpaudit._core.linalg import one_thread
from dpaudit._core.seeds import Purpose, generator
from dpaudit._core.ticks import ticking
from dpaudit._core.types import CALLS, Array, Mechanism, Wrapped, most_calls
from dpaudit.errors import MechanismError
from dpaudit.sampling.block import SIDES, Block, Preparable, Where, both_sides, joined
from dpaudit.sampling.cluster import BlocksOnCluster
from dpaudit.sampling.counting import Count, Counts, group_counter, width
from dpaudit.sampling.parallel import BlockStore, dask_backend, drawn, elsewhere

Progress = Callable[[str, int, int], None]  # (step, done, wanted)
Pair = tuple[np.ndarray, np.ndarray]  # draws of M(D), and as many of M(D')
Learn = Callable[[Callable[[Pair], Any]], Any]  # function of `work` that returns work(draws)
LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 14, 1 << 8
BLOCKS = 64  # number of blocks a side, if the limits of their size allow it
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

    The sides are drawn in turn, block by block (`_next`), so that a mechanism that changes with
    time changes on both. Neither the number or kind of workers nor an interruption changes a byte,
    but for the order of the keys of dicts, which is left out where several processes draw.
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
        self.blocks = both_sides(mechanism, databases, seed, call, elsewhere(n_jobs) > 0)
        # the matrix products of a law are small; those of a user's mechanism may be large
        self.threads = one_thread if isinstance(mechanism, Preparable) else nullcontext
        self.size, self.seed = size, seed
        self.n_jobs, self.progress, self.store = n_jobs, progress, store
        # joblib's backend, if it is a Dask cluster and no store keeps the draws
        self.cluster = None if store is not None else dask_backend(n_jobs)
        self.reported = -1  # the draws that `progress` knows of
        self.block = int(np.clip(size // BLOCKS, smallest, LARGEST_BLOCK))
        if call and (most_calls(mechanism) or CALLS) < CALLS:
            self.block = min(call, LARGEST_BLOCK)  # costly calls: a block each, shared by workers
        self.calls = self.blocks[0].calls(self.block)
        self.drawn = 0  # draws a side that are made
        self.position = 0  # draws a side that callers have had
        self.ahead: list[Pair] = []  # draws that were made and not yet returned
        self.columns: dict[int, int] = {}  # number of columns of the first table of each side

    def peek(self, count: int) -> Pair:
        missing = self.position + count - self.drawn
        if missing > 0:
            # a few blocks are not worth sending to a cluster
            self.ahead += self._fresh(missing, here=self.cluster is not None)
        P, Q = zip(*self.ahead, strict=True)
        return joined(P, SIDES[0]), joined(Q, SIDES[1])

    def take(self, count: int) -> Pair:
        fresh = self._fresh(self.position + count - self.drawn)
        drawn = collected(self._parts(count, fresh), count)
        next(fresh, None)  # ends the drawing of blocks
        return drawn

    def hold(self, count: int) -> Learn:
        # Without a store, workers of a Dask cluster keep the draws, and one of them applies the
        # function. The unused rest of the last block is then made again in this process.
        backend = self.cluster
        if backend is None or self.position:
            drawn = self.take(count)
            return lambda work: work(drawn)
        self.drawn, self.ahead = 0, []
        blocks = list(self._next(count))
        away = BlocksOnCluster(backend, self.blocks, blocks, count, self._check_columns)
        self.position, self.drawn = count, count - count % self.block
        cut = count - self.drawn
        self.ahead = [(P[cut:], Q[cut:]) for P, Q in self._fresh(cut, here=True)]
        self._report()
        return away

    def rest(self, count: Count) -> Iterator[Pair | Counts]:
        # The first parts are the rests of blocks that were drawn before; then each part is the two
        # blocks of one number.
        left = self.size - self.drawn
        numbers = -(-left // self.block)
        work = group_counter(self.blocks, count, numbers, self.n_jobs, self.store)
        if work is None:
            fresh = self._fresh(left)
            yield from self._parts(self.size - self.position, fresh)
            next(fresh, None)  # ends the drawing of blocks
            return
        before = self.position
        yield from self._parts(self.drawn - before, iter(()))
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
        """Yield the next blocks of both sides, together `count` draws a side or more, in the order
        of drawing.

        Four blocks of two successive numbers come as P Q Q P or as Q P P Q, by a coin at key
        (ORDER, number // 2) below the seed. So a change of the mechanism that is linear in time
        affects both sides equally, and any other change favours neither side.
        """
        first, end = -(-self.drawn // self.block), -(-(self.drawn + max(count, 0)) // self.block)
        for number in range(first, end):
            size = min(self.block, self.size - number * self.block)
            coin = int(generator(self.seed, Purpose.ORDER, number // 2).integers(2))
            side = (coin + number) % 2
            yield Block(side, number, size)
            yield Block(1 - side, number, size)

    def _fresh(self, count: int, *, here: bool = False) -> Iterator[Pair]:
        """Draw and yield pairs of whole blocks, together `count` draws a side or more. here : in
        this process, without workers.
        """
        upcoming = self._next(count)
        blocks: Iterator[tuple[Block, np.ndarray]]
        if here:
            blocks = ((b, self.blocks[b.side](b.number, b.size)) for b in upcoming)
        else:
            blocks = drawn(self.blocks, upcoming, self.n_jobs, self.store)
        self._report()
        while True:
            pair: dict[int, np.ndarray] = {}
            with self.threads(), ticking(self._report):
                for block, part in islice(blocks, 2):  # the two of a number follow each other
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
            where = Where(self.seed, (int(Purpose.DRAW), block.side, block.number), block.size)
            raise MechanismError(
                "the mechanism must return the same number of columns each time, "
                f"got {columns} after {before} on {where}"
            )

    def _report(self, made: int = 0) -> None:
        """Report the draws that are used, or made ahead of their use but for the last one.

        made : draws of both sides in blocks that are not yet complete.
        """
        done = max(self.position, min(self.drawn + made // 2, self.size - 1))
        if self.progress is not None and done > self.reported:
            self.reported = done
            self.progress(STEP, done, self.size)


def collected(parts: Iterable[Pair], size: int) -> Pair:
    """The draws of parts, `size` a side in all. Raises `MechanismError` if their forms differ.

    Tables are copied into one array as they come; only lists and texts are in memory twice.
    """
    tables: list[list[np.ndarray]] = [[], []]
    others: list[list[np.ndarray]] = [[], []]
    done = 0
    for pair in parts:
        for part, table, other in zip(pair, tables, others, strict=True):
            if other or not outcomes.is_table(part):
                if table:
                    other.append(table.pop()[:done])
                other.append(part)
                continue
            if not table:
                table.append(np.empty((size, part.shape[1])))
            table[0][done : done + len(part)] = part
        done += len(pair[0])
    return joined(others[0] or tables[0], SIDES[0]), joined(others[1] or tables[1], SIDES[1])


def call_size(mechanism: Mechanism, size: int) -> int | None:
    """Draws in each call if an audit makes `size` draws a side; None if one call makes a block.

    Draws of one call may share randomness, which shows if there are many calls. There are at most
    `most_calls` a side. The result is None if that is None, or if the mechanism has a law, whose
    draws are made independently.
    """
    inner = mechanism
    while isinstance(inner, Wrapped):
        inner = inner.mechanism
    most = None if isinstance(inner, Preparable) else most_calls(mechanism)
    return None if most is None else -(-size // most)
