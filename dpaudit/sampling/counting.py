"""Draws that are counted where they are made: counts are sent, and the draws are not.

Draws are scored in parts: those of both sides that have one number of a block. The parts depend on
the number of draws alone, and so do the counts of a group of parts, whoever draws and counts it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

import numpy as np
from joblib import delayed

from dpaudit import outcomes
from dpaudit._core.user_code import Carried
from dpaudit._core.value import value_class
from dpaudit.sampling.block import Block, Blocks
from dpaudit.sampling.parallel import BlockStore, elsewhere, made, stored

GROUPS = 1 << 12  # at most: a task for each of very many numbers would be too short
# With fewer groups a worker, single blocks keep the workers busier. So many groups are enough for
# any number of workers.
A_WORKER, ENOUGH = 2, 1 << 10
LARGEST = 1 << 22  # bytes: a function that is larger is not sent with each task


@value_class
class Counts:
    """What draws of both sides are reduced to.

    cells : (2, c) integers, how many scores of each side are in each cell. first : (2, k) float32,
    scores in the order of the draws, k = 0 where they are not wanted. undefined : how many scores
    of both sides were NaN.
    """

    cells: np.ndarray
    first: np.ndarray
    undefined: int = 0

    @property
    def draws(self) -> int:
        """Draws a side."""
        return int(self.cells[0].sum())


class Count(Protocol):
    """A rule by which draws are reduced, the same in every process."""

    @property
    def key(self) -> str:
        """Letters and digits that tell these counts from other counts of the same draws."""
        ...

    def __call__(self, P: np.ndarray, Q: np.ndarray, before: int) -> Counts:
        """Counts of one part. before : draws a side that are counted before it."""
        ...


# draws of both sides, and how many a side are counted before them → their counts
Counter = Callable[[np.ndarray, np.ndarray, int], Counts]


@dataclass(frozen=True)
class Group:
    """Successive numbers of blocks, which are counted in one task.

    number : of the group. blocks : of both sides in the order of drawing, the two of each number
    together. before : draws a side that are counted before it.
    """

    number: int
    blocks: tuple[Block, ...]
    before: int

    @property
    def draws(self) -> int:
        """Draws a side."""
        return sum(block.size for block in self.blocks) // 2


def group_size(numbers: int) -> int:
    """Numbers of blocks in a group, where there are so many in all."""
    return -(-numbers // GROUPS)


@value_class
class Counted:
    """What comes back of a group.

    counts : of all its draws. sums : (2, 32) uint8, the SHA-256 of each side's draws.
    columns : numbers in a draw of each block, in the order of drawing; 0 where they are no table.
    """

    counts: Counts
    sums: np.ndarray
    columns: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        arrays = (self.counts.cells, self.counts.first, self.sums, self.columns)
        return sum(array.nbytes for array in arrays)

    def __sizeof__(self) -> int:
        """As Dask asks, which counts what it holds and sends."""
        return object.__sizeof__(self) + self.nbytes


def counted(group: Group, draws: Iterable[np.ndarray], count: Counter) -> Counted:
    """The counts of a group from its blocks, which come one by one in the order of drawing."""
    sums, columns, parts = (hashlib.sha256(), hashlib.sha256()), [], []
    before, pair = group.before, {}
    for block, part in zip(group.blocks, draws, strict=True):
        sums[block.side].update(part.tobytes())
        columns.append(width(part))
        pair[block.side] = part
        if len(pair) == len(sums):
            parts.append(count(pair[0], pair[1], before))
            before, pair = before + block.size, {}
    digests = np.frombuffer(b"".join(side.digest() for side in sums), dtype=np.uint8)
    cells = np.sum([part.cells for part in parts], axis=0)
    counts = Counts(
        cells.astype(np.min_scalar_type(cells.max())),
        np.concatenate([part.first for part in parts], axis=1),
        sum(part.undefined for part in parts),
    )
    return Counted(counts, digests.reshape(2, -1), np.array(columns))


def width(draws: np.ndarray) -> int:
    """Numbers in a draw; 0 where the draws are no table."""
    return int(draws.shape[1]) if outcomes.is_table(draws) else 0


class GroupStore(Protocol):
    """Keeps what came of groups, by their number."""

    def __bool__(self) -> bool:
        """Whether anything is kept."""
        ...

    def get(self, number: int) -> Counted | None:
        """What came of a group; None where it is not kept."""
        ...

    def put(self, number: int, made: Counted) -> None:
        """Keep what came of a group."""
        ...


@runtime_checkable
class CountStore(Protocol):
    """A store of blocks that may keep counts instead."""

    def get(self, side: int, block: int) -> np.ndarray | None:
        """As of every `BlockStore`."""
        ...

    def counts(self, key: str) -> GroupStore | None:
        """The store of counts with a key; None where the draws themselves are to be kept."""
        ...


def counting(
    blocks: Sequence[Blocks],
    count: Count,
    numbers: int,
    n_jobs: int | None,
    store: BlockStore | None,
) -> Counting | None:
    """How workers count the blocks of both sides with so many numbers; None where they only draw.

    They count where they do not share the memory of this process, unless the store wants the draws,
    or workers cannot be kept busy, or `count` cannot be sent to them. They also count, of whatever
    kind they are, where counts are kept already.
    """
    groups = store.counts(count.key) if isinstance(store, CountStore) else None
    if numbers == 0 or (store is not None and groups is None):
        return None
    work = Counting(blocks, Carried(_OneAtATime(count), name=uuid4().hex), store, groups)
    workers, tasks = elsewhere(n_jobs), -(-numbers // group_size(numbers))
    if workers and not sendable(work.count):
        return None
    return work if groups or 0 < min(A_WORKER * workers, ENOUGH) <= tasks else None


def sendable(work: Carried) -> bool:
    """Whether a function can be sent to another process, and is not too large."""
    try:
        return len(work.parcel) <= LARGEST
    except Exception:  # what a user's own score raises when it is pickled
        return False


@value_class
class Counting:
    """How groups are drawn and counted by workers.

    store : may hold blocks of the same draws. groups : keeps what comes of groups.
    """

    blocks: Sequence[Blocks]
    count: Carried
    store: BlockStore | None
    groups: GroupStore | None

    def counted(
        self, blocks: Iterator[Block], numbers: int, before: int, n_jobs: int | None
    ) -> Iterator[tuple[Group, Counted]]:
        """What comes of the blocks, which have so many numbers, group by group.

        before : draws a side that are counted before them. Raises as `parallel.made`.
        """
        task = delayed(_DrawnAndCounted(tuple(self.blocks), self.count))
        groups = _grouped(blocks, group_size(numbers), before)
        return made(
            groups, n_jobs, task, lambda _: "draw and count M(D) and M(D')", self._load, self._keep
        )

    def _load(self, group: Group) -> Counted | None:
        """What was kept of the group; else what its blocks give, if all of them were kept."""
        if self.store is None or self.groups is None:
            return None
        kept = self.groups.get(group.number)
        if kept is not None:
            return kept
        draws: list[np.ndarray] = []
        for block in group.blocks:
            part = stored(self.store, block)
            if part is None:
                return None
            draws.append(part)
        return counted(group, draws, self.count)

    def _keep(self, group: Group, result: Counted) -> None:
        if self.groups is not None:
            self.groups.put(group.number, result)


def _grouped(blocks: Iterator[Block], numbers: int, before: int) -> Iterator[Group]:
    """Groups of so many numbers of blocks, which come in the order of drawing."""
    number = 0
    while members := tuple(islice(blocks, 2 * numbers)):
        group = Group(number, members, before)
        yield group
        number, before = number + 1, before + group.draws


@value_class
class _DrawnAndCounted:
    """Draws a group and counts it. Raises `MechanismError`, and what the count raises."""

    blocks: Sequence[Blocks]
    count: Counter

    def __call__(self, group: Group) -> Counted:
        draws = (self.blocks[block.side](block.number, block.size) for block in group.blocks)
        return counted(group, draws, self.count)


class _OneAtATime:
    """A count for several threads: a score need not be made for them."""

    def __init__(self, count: Counter) -> None:
        self.count, self.lock = count, Lock()

    def __call__(self, P: np.ndarray, Q: np.ndarray, before: int) -> Counts:
        with self.lock:
            return self.count(P, Q, before)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process has a lock of its own."""
        return _OneAtATime, (self.count,)
