"""Count draws in the process that makes them, so that it sends counts instead of draws.

A part is scored at a time: the blocks of both sides with one number. The number of draws alone
decides the parts, so the counts of a group of parts are the same whichever process makes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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

GROUPS = 1 << 12  # most groups: a task for each of very many block numbers would be too short
# Workers count if there are A_WORKER groups for each of them, or ENOUGH groups in all. With fewer
# groups, drawing single blocks keeps the workers busier.
A_WORKER, ENOUGH = 2, 1 << 10
LARGEST = 1 << 22  # bytes: a larger function is not sent with each task


@value_class
class Counts:
    """The counts to which draws of both sides are reduced.

    cells : (2, c) integers, how many scores of each side are in each cell. first : (2, k) float32,
    the scores of the first draws in their order; k = 0 if they are not needed. undefined : how many
    scores of both sides were NaN.
    """

    cells: np.ndarray
    first: np.ndarray
    undefined: int = 0

    @property
    def draws(self) -> int:
        """Draws a side."""
        return int(self.cells[0].sum())


class Count(Protocol):
    """A rule that reduces draws to counts in the same way in every process."""

    @property
    def key(self) -> str:
        """Letters and digits that distinguish these counts from other counts of the same draws."""

    def __call__(self, P: np.ndarray, Q: np.ndarray, before: int) -> Counts:
        """The counts of one part. before : number of draws a side in the parts before it."""


# function of the draws of both sides, and the number a side before them, that returns their counts
Counter = Callable[[np.ndarray, np.ndarray, int], Counts]


@dataclass(frozen=True)
class Group:
    """Blocks with successive numbers, which are counted in one task.

    blocks : those of both sides in the order of drawing. before : draws a side in the groups before
    it.
    """

    number: int
    blocks: tuple[Block, ...]
    before: int

    @property
    def draws(self) -> int:
        """Draws a side."""
        return sum(block.size for block in self.blocks) // 2


def group_size(numbers: int) -> int:
    """How many block numbers a group has if there are `numbers` in all."""
    return -(-numbers // GROUPS)


@value_class
class GroupCounts:
    """The result of drawing and counting one group.

    counts : the counts of all its draws. sums : (2, 32) uint8, the SHA-256 of each side's draws.
    columns : the number of columns of each block in the order of drawing, 0 for a block that is not
    a table.
    """

    counts: Counts
    sums: np.ndarray
    columns: np.ndarray

    @property
    def nbytes(self) -> int:
        arrays = (self.counts.cells, self.counts.first, self.sums, self.columns)
        return sum(array.nbytes for array in arrays)

    def __sizeof__(self) -> int:
        """The size in bytes, from which Dask computes how much it holds and sends."""
        return object.__sizeof__(self) + self.nbytes


def count_group(group: Group, draws: Iterable[np.ndarray], count: Counter) -> GroupCounts:
    """Count a group. draws : the draws of its blocks, one by one in the order of drawing."""
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
    return GroupCounts(counts, digests.reshape(2, -1), np.array(columns))


def width(draws: np.ndarray) -> int:
    """The number of columns of draws; 0 if they are not a table."""
    return int(draws.shape[1]) if outcomes.is_table(draws) else 0


@runtime_checkable
class CountStore(Protocol):
    """A store of blocks that may keep counts instead."""

    def get(self, side: int, block: int) -> np.ndarray | None:
        """The stored block, as in `BlockStore`."""

    def counts(self, key: str) -> Any:
        """The store of the counts with this key, or None if the draws themselves are to be kept.

        It keeps a `GroupCounts` for each group, by get(number) and put(number, counts), and is true
        if it had any at the start.
        """


def group_counter(
    blocks: Sequence[Blocks],
    count: Count,
    numbers: int,
    n_jobs: int | None,
    store: BlockStore | None,
) -> Callable[[Iterator[Block], int], Iterator[tuple[Group, GroupCounts]]] | None:
    """A function by which workers count `numbers` blocks a side; None if they shall only draw.

    It takes these blocks and the number of draws a side before them, and yields each group with its
    result. It raises what `parallel.made` does. Workers count if they do not share the memory of
    this process, unless the store keeps the draws, there are too few groups to keep the workers
    busy, or `count` cannot be sent. If the store has counts of these draws already, workers of
    every kind count.
    """
    groups = store.counts(count.key) if isinstance(store, CountStore) else None
    if numbers == 0 or (store is not None and groups is None):
        return None
    workers, tasks = elsewhere(n_jobs), -(-numbers // group_size(numbers))
    if not groups and not 0 < min(A_WORKER * workers, ENOUGH) <= tasks:
        return None
    carried = Carried(_OneAtATime(count), name=uuid4().hex)
    if workers and not sendable(carried):
        return None

    def load(group: Group) -> GroupCounts | None:
        """The stored result of a group, or its count from stored blocks; None if one is missing."""
        if store is None or groups is None:
            return None
        result: GroupCounts | None = groups.get(group.number)
        if result is None:
            parts = (stored(store, block) for block in group.blocks)
            draws = [part for part in parts if part is not None]
            if len(draws) == len(group.blocks):
                result = count_group(group, draws, carried)
        return result

    def keep(group: Group, result: GroupCounts) -> None:
        if groups is not None:
            groups.put(group.number, result)

    def results(upcoming: Iterator[Block], before: int) -> Iterator[tuple[Group, GroupCounts]]:
        parts = _grouped(upcoming, group_size(numbers), before)
        task = delayed(partial(_drawn_and_counted, tuple(blocks), carried))
        doing = "draw and count M(D) and M(D')"  # a group has blocks of both sides
        return made(parts, n_jobs, task, lambda _: doing, load, keep)

    return results


def sendable(work: Carried) -> bool:
    """Whether a function can be pickled for another process, and is not too large."""
    try:
        return len(work.parcel) <= LARGEST
    except Exception:  # pickling a user's own score may raise anything
        return False


def _grouped(blocks: Iterator[Block], numbers: int, before: int) -> Iterator[Group]:
    """Yield groups of `numbers` block numbers each, from blocks in the order of drawing."""
    number = 0
    while members := tuple(islice(blocks, 2 * numbers)):
        group = Group(number, members, before)
        yield group
        number, before = number + 1, before + group.draws


def _drawn_and_counted(sides: Sequence[Blocks], count: Counter, group: Group) -> GroupCounts:
    """Draw a group and count it. Raises `MechanismError`, and what the count raises."""
    draws = (sides[block.side](block.number, block.size) for block in group.blocks)
    return count_group(group, draws, count)


class _OneAtATime:
    """Calls a count in one thread at a time, since a user's score may not be thread-safe."""

    def __init__(self, count: Counter) -> None:
        self.count, self.lock = count, Lock()

    def __call__(self, P: np.ndarray, Q: np.ndarray, before: int) -> Counts:
        with self.lock:
            return self.count(P, Q, before)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the lock, since each process has its own."""
        return _OneAtATime, (self.count,)
