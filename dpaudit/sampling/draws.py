"""Draws of both sides in step, made when they are asked for; or those of one side at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Protocol

import numpy as np

from dpaudit._core.threads import one_thread
from dpaudit._core.types import Array, Mechanism, Wrapped
from dpaudit.errors import MechanismError
from dpaudit.sampling.block import SIDES, Blocks, Preparable, both_sides, joined
from dpaudit.sampling.collected import Collected, Pair
from dpaudit.sampling.counted import ChecksumStore, Count, Counts, grouped, width
from dpaudit.sampling.counting import Counting, counting
from dpaudit.sampling.held import Away, Facts, Found, Held, Here, dask
from dpaudit.sampling.order import Block, in_turn
from dpaudit.sampling.parallel import BlockStore, Drawn, drawn, made

Progress = Callable[[str, int, int], None]  # (step, done, wanted)
LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 14, 1 << 8
BLOCKS = 64  # a side, where these limits allow it
CALLS = 256  # a side, where the mechanism names no other number: a call costs some 20 µs
STEP = "drawing M(D) and M(D')"
MINUTE = 60.0  # seconds of one worker: draws that take longer come where a store can keep them


class Left(Protocol):
    """Draws of both sides that are left when others have been given out."""

    def rest(self, count: Count) -> Iterator[Pair | Counts]:
        """All draws that are left, in the parts that are counted together, or their counts where
        workers of other processes have counted them.
        """
        ...


class Draws(Left, Protocol):
    """Draws of both sides, each given out once, as (n, k) float64 or lists (`outcomes.rows`)."""

    @property
    def calls(self) -> tuple[int, ...] | None:
        """The draws of the calls that make a block, block after block; None where unknown."""
        ...

    def look(self, count: int, work: Callable[[Pair], Found]) -> Found:
        """What `work` makes of the next `count` draws a side or more, which stay to be taken."""
        ...

    def take(self, count: int) -> Pair:
        """The next `count` draws a side."""
        ...

    def hold(self, count: int) -> Held:
        """The next `count` draws a side, wherever they are."""
        ...


class MechanismDraws:
    """`size` draws of a mechanism on each of two databases; in memory are only those asked for.

    databases : D and D'. seed : the audit's; draws are seeded by key below it.
    n_jobs : parallel draws, as in joblib. progress : called as progress(step, done, wanted).
    store : keeps blocks of draws, so that an interrupted audit resumes.
    call : draws of each call, by default those of `call_size`. smallest : draws a block, at least.

    The sides are drawn in turn, block by block (`sampling.order`), so that a mechanism that changes
    with time changes on both. Neither the number or kind of workers nor an interruption changes a
    byte. Every method raises `MechanismError` where the mechanism raises or returns something else
    than outcomes. The methods are those of `Draws`.
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
        self.block = block_size(size, smallest)
        if call and (_most_calls(mechanism) or CALLS) < CALLS:
            self.block = min(call, LARGEST_BLOCK)  # costly calls: workers share them, each is kept
        self.calls = self.blocks[0].calls(self.block)
        self.drawn = self.given = 0
        self.even = EvenColumns(self.blocks)
        self.ahead: list[Pair] = []  # drawn, not yet given
        self.away: Away | None = None  # the same, where workers have them
        self.took: dict[Block, float] = {}  # seconds, of blocks that workers have

    def peek(self, count: int) -> Pair:
        """The next `count` draws a side or more (whole blocks), which stay to be taken."""
        self._fetch()
        short = min(count - self._ahead(), self.size - self.drawn)
        self.ahead += self._fresh(short) if short > 0 else []
        P, Q = (joined([part[side] for part in self.ahead], SIDES[side]) for side in (0, 1))
        return P, Q

    def take(self, count: int) -> Pair:
        """The next `count` draws a side."""
        self._fetch()
        fresh = self._fresh(count - self._ahead())
        out = self._collected(count, fresh)
        next(fresh, None)  # ends the drawing of blocks
        return out

    def look(self, count: int, work: Callable[[Pair], Found]) -> Found:
        """What `work` makes of the next `count` draws a side or more, which stay to be taken.

        Where nothing was drawn before, workers of a Dask cluster keep the draws (`Away`), unless
        the store wants them or they take long.
        """
        away = self._away(count)
        return work(self.peek(count)) if away is None else away(work)

    def hold(self, count: int) -> Held:
        """The next `count` draws a side, wherever they are (`look`)."""
        if self.away is not None and self._costly(count):
            self._fetch()
        away = self._away(count)
        if away is None:
            return Here(self.take(count))
        held, self.away = away.split(count)
        self.given += count
        return held

    def rest(self, count: Count) -> Iterator[Pair | Counts]:
        """All draws that are left, in the parts that are counted together, or their counts.

        The parts are what is left of the blocks before, then the two blocks of each number.
        """
        start, numbers = self.given, self._numbers(self.size - self.drawn)
        work = counting(self.blocks, count, len(numbers), self.n_jobs, self.store)
        if work is None:
            self._fetch()
            fresh = self._fresh(self.size - self.drawn)
            yield from self._parts(self.size - self.given, fresh)
            next(fresh, None)  # ends the drawing of blocks
        else:
            yield from self._parts(self._ahead(), iter(()))
            yield from self._counted_away(count)
            yield from self._counted(work, numbers, self.given - start)

    def _away(self, count: int) -> Away | None:
        """The next `count` draws a side or more, where workers keep them."""
        if self.away is None and not self.drawn and (backend := dask(self.n_jobs)):
            checksum = self.store.checksum if isinstance(self.store, ChecksumStore) else None
            if self.store is None or checksum is not None:
                self.away = Away(backend, self.block, checksum, self._known)
        if self.away is not None:
            numbers = self._numbers(min(count - self.away.size, self.size - self.drawn))
            self.away = self.away.more(self.blocks, self._in_turn(numbers), self._told)
            self.drawn = self.away.stop
        return self.away

    def _known(self, one: Block, facts: Facts) -> None:
        """Of a block that workers keep. Raises `MechanismError`, and what the store raises."""
        self.even.check(one, facts.columns)
        self.took[one] = facts.seconds
        if isinstance(self.store, ChecksumStore):
            self.store.note(one.side, one.number, facts.checksum, one.size)

    def _costly(self, count: int) -> bool:
        """Whether `count` draws a side are to be kept, which workers have begun to draw."""
        drawn = sum(one.size for one in self.took)
        return self.store is not None and 2 * count * sum(self.took.values()) > MINUTE * drawn

    def _told(self, done: int) -> None:
        if self.progress is not None:
            self.progress(STEP, done, self.size)

    def _fetch(self) -> None:
        """Bring the draws that workers keep."""
        if self.away is not None and self.away.size:
            parts = self.away.parts()
            for (one, _), part in zip(self.away.blocks, parts, strict=True):
                if self.store is not None:
                    self.store.put(one.side, one.number, part)
            self.ahead.append(self.away.pair(parts))
        self.away = None

    def _counted_away(self, count: Count) -> Iterator[Counts]:
        """The counts of the draws that workers keep."""
        if self.away is not None and self.away.size:
            found = self.away(partial(_counts, count))
            self.given += found.draws
            yield found
            self._told(self.given)

    def _ahead(self) -> int:
        return sum(len(P) for P, _ in self.ahead)

    def _fresh(self, count: int) -> Iterator[Pair]:
        """Whole blocks of both sides, together `count` draws a side or more."""
        wanted = self._in_turn(self._numbers(count))
        blocks = self.even(drawn(self.blocks, wanted, self.n_jobs, self.store))
        while True:
            with self.threads():
                two = {one.side: part for one, part in (next(blocks, _END), next(blocks, _END))}
            if _END[0].side in two:
                return
            self.drawn += len(two[0])
            yield two[0], two[1]

    def _numbers(self, count: int) -> range:
        """The numbers of the next blocks, together `count` draws a side or more."""
        done = self.drawn
        return range(-(-done // self.block), -(-(done + max(count, 0)) // self.block))

    def _in_turn(self, numbers: range) -> Iterator[Block]:
        sizes = ((number, min(self.block, self.size - number * self.block)) for number in numbers)
        return in_turn(sizes, self.seed)

    def _counted(self, work: Counting, numbers: range, before: int) -> Iterator[Counts]:
        """Counts of the blocks of these numbers, made by workers or kept."""
        groups = grouped(self._in_turn(numbers), len(numbers), before)
        results = made(work, groups, self.n_jobs)
        while True:
            with self.threads():
                group, found = next(results, (None, None))
            if group is None or found is None:
                return
            for one, columns in zip(group.blocks, found.columns.tolist(), strict=True):
                self.even.check(one, columns)
            self.drawn += group.draws
            self.given += group.draws
            yield found.counts
            self._told(self.given)

    def _collected(self, count: int, fresh: Iterator[Pair]) -> Pair:
        """`count` draws a side in two arrays, filled as blocks come."""
        left, right = Collected(count, 0), Collected(count, 1)
        for P, Q in self._parts(count, fresh):
            left.add(P)
            right.add(Q)
        return left.all(), right.all()

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
            self._told(self.given)


def _counts(count: Count, drawn: Pair) -> Counts:
    return count(*drawn, 0)


class EvenColumns:
    """Passes blocks on. Raises `MechanismError` at a table with other columns than before."""

    def __init__(self, blocks: Sequence[Blocks]) -> None:
        self.blocks = blocks
        self.columns: dict[int, int] = {}

    def __call__(self, parts: Iterator[Drawn]) -> Iterator[Drawn]:
        """The blocks as they come."""
        for one, part in parts:
            self.check(one, width(part))
            yield one, part

    def check(self, one: Block, columns: int) -> None:
        """Check a block of so many columns, 0 where it is no table."""
        before = self.columns.setdefault(one.side, columns) if columns else 0
        if before != columns:
            where = self.blocks[one.side].where(one.number, one.size)
            raise MechanismError(
                "the mechanism must return the same number of columns each time, "
                f"got {columns} after {before} on {where}"
            )


_END = Block(-1, 0, 0), np.empty((0, 0))  # stands for a block when there are no more


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


def block_size(size: int, smallest: int = SMALLEST_BLOCK) -> int:
    """Draws a block where `size` draws a side are made."""
    return int(np.clip(size // BLOCKS, smallest, LARGEST_BLOCK))


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
    source, found = MechanismDraws(mechanism, (data, data), size, seed), Collected(size, side)
    wanted = (one for one in source._in_turn(source._numbers(size)) if one.side == side)
    for _, part in source.even(drawn(source.blocks, wanted, n_jobs, store)):
        found.add(part)
    return found.all()
