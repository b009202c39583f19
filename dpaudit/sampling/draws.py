"""Draws of both sides in step: made by a mechanism when they are asked for, or given as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any, Protocol

import numpy as np

from dpaudit import outcomes
from dpaudit._core.linalg import one_thread
from dpaudit._core.types import Array, Mechanism, Wrapped
from dpaudit.errors import MechanismError
from dpaudit.sampling.block import SIDES, Block, Preparable, both_sides, in_turn, joined
from dpaudit.sampling.cluster import BlocksOnCluster, dask_backend
from dpaudit.sampling.counting import Count, Counts, counting, width
from dpaudit.sampling.parallel import BlockStore, drawn

Progress = Callable[[str, int, int], None]  # (step, done, wanted)
Pair = tuple[np.ndarray, np.ndarray]  # draws of M(D), and as many of M(D')
Learn = Callable[[Callable[[Pair], Any]], Any]  # work → what it makes of draws
LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 14, 1 << 8
BLOCKS = 64  # a side, where these limits allow it
CALLS = 256  # a side, where the mechanism names no other number: a call costs some 20 µs
PART = 1 << 14  # draws a side that are counted together, of draws that were made elsewhere
STEP = "drawing M(D) and M(D')"


class Draws(Protocol):
    """Draws of both sides, each given out once, as (n, k) float64 or lists (`outcomes.rows`)."""

    @property
    def calls(self) -> tuple[int, ...] | None:
        """The draws of the calls that make a block, block after block; None where unknown."""
        ...

    def peek(self, count: int) -> Pair:
        """The next `count` draws a side or more, which stay to be taken."""
        ...

    def take(self, count: int) -> Pair:
        """The next `count` draws a side."""
        ...

    def hold(self, count: int) -> Learn:
        """The next `count` draws a side, wherever they are: a function to learn from them."""
        ...

    def rest(self, count: Count) -> Iterator[Pair | Counts]:
        """All draws that are left, in the parts that are counted together, or their counts where
        workers of other processes have counted them.
        """
        ...


class GivenDraws:
    """Draws of both sides in two arrays; the methods are those of `Draws`."""

    calls = None

    def __init__(self, P: np.ndarray, Q: np.ndarray) -> None:
        self.P, self.Q, self.done = P, Q, 0

    def peek(self, count: int) -> Pair:
        """The next `count` draws a side, which stay to be taken."""
        part = slice(self.done, self.done + count)
        return self.P[part], self.Q[part]

    def take(self, count: int) -> Pair:
        """The next `count` draws a side; lists in their simplest form."""
        P, Q = (
            part if outcomes.is_table(part) else outcomes.joined([part])
            for part in self.peek(count)
        )
        self.done += count
        return P, Q

    def hold(self, count: int) -> Learn:
        """The next `count` draws a side: a function that gives what is made of them."""
        P, Q = self.take(count)
        return lambda work: work((P, Q))

    def rest(self, count: Count) -> Iterator[Pair]:
        """All draws that are left, in the parts that are counted together."""
        while self.done < len(self.P):
            yield self.take(min(PART, len(self.P) - self.done))


class MechanismDraws:
    """`size` draws of a mechanism on each of two databases; in memory are only those asked for.

    databases : D and D'. seed : the audit's; draws are seeded by key below it.
    n_jobs : parallel draws, as in joblib. progress : called as progress(step, done, wanted).
    store : keeps blocks of draws, so that an interrupted audit resumes.
    call : draws of each call, by default those of `call_size`. smallest : draws a block, at least.

    The sides are drawn in turn, block by block (`in_turn`), so that a mechanism that changes with
    time changes on both. Neither the number or kind of workers nor an interruption changes a byte.
    Every method raises `MechanismError` where the mechanism raises or returns something else than
    outcomes. The methods are those of `Draws`.
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
        # a law's products are small; a user's mechanism may have large ones
        self.threads = one_thread if isinstance(mechanism, Preparable) else nullcontext
        self.size, self.seed = size, seed
        self.n_jobs, self.progress, self.store = n_jobs, progress, store
        self.block = int(np.clip(size // BLOCKS, smallest, LARGEST_BLOCK))
        if call and (_most_calls(mechanism) or CALLS) < CALLS:
            self.block = min(call, LARGEST_BLOCK)  # costly calls: workers share them, each is kept
        self.calls = self.blocks[0].calls(self.block)
        self.drawn = self.given = 0  # draws a side
        self.ahead: list[Pair] = []  # drawn, not yet given
        self.columns: dict[int, int] = {}  # of the first table of each side

    def peek(self, count: int) -> Pair:
        """The next `count` draws a side or more (whole blocks), which stay to be taken."""
        missing = count - self._drawn_ahead()
        if missing > 0:
            here = self._cluster() is not None  # draws of a few blocks, which are not sent
            self.ahead += self._drawn_here(missing) if here else self._fresh(missing)
        P, Q = (joined([part[side] for part in self.ahead], SIDES[side]) for side in (0, 1))
        return P, Q

    def take(self, count: int) -> Pair:
        """The next `count` draws a side."""
        fresh = self._fresh(count - self._drawn_ahead())
        sides = Collected(count, 0), Collected(count, 1)
        for pair in self._parts(count, fresh):
            for side, part in zip(sides, pair, strict=True):
                side.add(part)
        next(fresh, None)  # ends the drawing of blocks
        return sides[0].all(), sides[1].all()

    def hold(self, count: int) -> Learn:
        """The next `count` draws a side: a function that gives what is made of them.

        Workers of a Dask cluster keep them, and one of these learns, unless a store wants the
        draws. What is left of the last block is then made again here.
        """
        backend = self._cluster()
        if backend is None or self.given:
            drawn = self.take(count)
            return lambda work: work(drawn)
        self.drawn, self.ahead = 0, []
        blocks = list(self._next(count))
        away = BlocksOnCluster(backend, self.blocks, blocks, count, self._check_columns)
        self.given, self.drawn = count, count - count % self.block
        cut = count - self.drawn
        self.ahead = [(P[cut:], Q[cut:]) for P, Q in self._drawn_here(cut)]
        self._report()
        return away

    def rest(self, count: Count) -> Iterator[Pair | Counts]:
        """All draws that are left, in the parts that are counted together, or their counts.

        The parts are what is left of the blocks before, then the two blocks of each number.
        """
        left = self.size - self.drawn
        numbers = -(-left // self.block)
        work = counting(self.blocks, count, numbers, self.n_jobs, self.store)
        if work is None:
            fresh = self._fresh(left)
            yield from self._parts(self.size - self.given, fresh)
            next(fresh, None)  # ends the drawing of blocks
            return
        before = self.given
        yield from self._parts(self._drawn_ahead(), iter(()))
        results = work.counted(self._next(left), numbers, self.given - before, self.n_jobs)
        while True:
            with self.threads():
                group, counted = next(results, (None, None))
            if group is None or counted is None:
                return
            for block, columns in zip(group.blocks, counted.columns.tolist(), strict=True):
                self._check_columns(block, columns)
            self.drawn += group.draws
            self.given += group.draws
            yield counted.counts
            self._report()

    def _next(self, count: int) -> Iterator[Block]:
        """The next blocks of both sides, together `count` draws a side or more."""
        first, end = -(-self.drawn // self.block), -(-(self.drawn + max(count, 0)) // self.block)
        sizes = ((b, min(self.block, self.size - b * self.block)) for b in range(first, end))
        return in_turn(sizes, self.seed)

    def _fresh(self, count: int) -> Iterator[Pair]:
        """Pairs of whole blocks, together `count` draws a side or more."""
        return self._paired(drawn(self.blocks, self._next(count), self.n_jobs, self.store))

    def _drawn_here(self, count: int) -> Iterator[Pair]:
        """Pairs of whole blocks, made by this process."""
        wanted = self._next(count)
        return self._paired((b, self.blocks[b.side](b.number, b.size)) for b in wanted)

    def _paired(self, blocks: Iterator[tuple[Block, np.ndarray]]) -> Iterator[Pair]:
        """The two blocks of each number, which come one after the other."""
        while True:
            pair: dict[int, np.ndarray] = {}
            with self.threads():
                for block, part in islice(blocks, 2):
                    self._check_columns(block, width(part))
                    pair[block.side] = part
            if not pair:
                return
            self.drawn += len(pair[0])
            yield pair[0], pair[1]

    def _parts(self, count: int, fresh: Iterator[Pair]) -> Iterator[Pair]:
        """Parts that make `count` draws a side: first those drawn ahead, then fresh blocks.

        What is left of the last block stays ahead.
        """
        while count > 0:
            P, Q = self.ahead.pop(0) if self.ahead else next(fresh)
            if len(P) > count:
                self.ahead.insert(0, (P[count:], Q[count:]))
            P, Q = P[:count], Q[:count]
            count -= len(P)
            self.given += len(P)
            yield P, Q
            self._report()

    def _check_columns(self, block: Block, columns: int) -> None:
        """Raise `MechanismError` at a table with other columns than before; 0 is no table."""
        before = self.columns.setdefault(block.side, columns) if columns else 0
        if before != columns:
            where = self.blocks[block.side].where(block.number, block.size)
            raise MechanismError(
                "the mechanism must return the same number of columns each time, "
                f"got {columns} after {before} on {where}"
            )

    def _cluster(self) -> Any | None:
        """joblib's backend, where it is a Dask cluster that may keep draws."""
        return None if self.store is not None else dask_backend(self.n_jobs)

    def _drawn_ahead(self) -> int:
        return sum(len(P) for P, _ in self.ahead)

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(STEP, self.given, self.size)


class Collected:
    """Parts of one side, `size` draws in all, copied into one array as they come.

    Only lists and texts are in memory twice.
    """

    def __init__(self, size: int, side: int) -> None:
        self.size, self.side, self.done = size, side, 0
        self.table: np.ndarray | None = None
        self.others: list[np.ndarray] = []

    def add(self, part: np.ndarray) -> None:
        """Add the next part."""
        if self.others or not outcomes.is_table(part):
            self.others = [*(self.others or self._tables()), part]
        else:
            if self.table is None:
                self.table = np.empty((self.size, part.shape[1]))
            self.table[self.done : self.done + len(part)] = part
        self.done += len(part)

    def all(self) -> np.ndarray:
        """All parts in one array."""
        return joined(self.others or self._tables(), SIDES[self.side])

    def _tables(self) -> list[np.ndarray]:
        return [] if self.table is None else [self.table[: self.done]]


def call_size(mechanism: Mechanism, size: int) -> int | None:
    """Draws of each call where an audit makes `size` draws a side; None where a call makes a block.

    Draws of one call may share randomness. Calls of one draw share none, and among many calls it
    shows. A mechanism with an attribute `most_calls` gets so many calls a side at most. It is None
    where each draw is made by itself, as those of a law are.
    """
    most = _most_calls(mechanism)
    return None if most is None else -(-size // most)


def _most_calls(mechanism: Mechanism) -> int | None:
    while isinstance(mechanism, Wrapped):
        mechanism = mechanism.mechanism
    by_law = isinstance(mechanism, Preparable)
    return None if by_law else getattr(mechanism, "most_calls", CALLS)


def draw(
    mechanism: Mechanism,
    data: Array,
    size: int,
    seed: np.random.SeedSequence,
    side: int,
    *,
    n_jobs: int | None = None,
    store: BlockStore | None = None,
) -> np.ndarray:
    """`size` draws of mechanism(data), (size, k) float64, or lists where their lengths differ.

    Lists become rows by `outcomes.aligned`. side : 0 for M(D), 1 for M(D'). The draws are those
    that `MechanismDraws` makes of this side; other parameters and errors are as there.
    """
    source, collected = MechanismDraws(mechanism, (data, data), size, seed), Collected(size, side)
    wanted = (block for block in source._next(size) if block.side == side)
    for block, part in drawn(source.blocks, wanted, n_jobs, store):
        source._check_columns(block, width(part))
        collected.add(part)
    return collected.all()
