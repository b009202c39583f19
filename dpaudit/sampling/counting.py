"""Where the draws that are left are counted: here, or by the workers that draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
from joblib import delayed

from dpaudit._core.user_code import Carried
from dpaudit.sampling.block import Blocks
from dpaudit.sampling.counted import (
    Count,
    Counted,
    Counter,
    Counts,
    CountStore,
    Group,
    GroupStore,
    counted,
    group_size,
)
from dpaudit.sampling.parallel import BlockStore, elsewhere

# With fewer groups a worker, single blocks keep the workers busier. So many groups are enough for
# any number of workers.
A_WORKER, ENOUGH = 2, 1 << 10
LARGEST = 1 << 22  # bytes: a function that is larger is not sent with each task


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


@dataclass(frozen=True, eq=False, repr=False)
class Counting:
    """The work of drawing and counting groups (`parallel.Work`).

    store : may hold blocks of the same draws. groups : keeps what comes of groups.
    """

    blocks: Sequence[Blocks]
    count: Carried
    store: BlockStore | None
    groups: GroupStore | None

    def kept(self, one: Group) -> Counted | None:
        """What was kept of the group; else what its blocks give, if all of them were kept."""
        if self.store is None or self.groups is None:
            return None
        found = self.groups.get(one.number)
        return self._of_kept_blocks(one, self.store) if found is None else found

    def keep(self, one: Group, result: Counted) -> None:
        """Keep what a worker sent."""
        if self.groups is not None:
            self.groups.put(one.number, result)

    def task(self, one: Group) -> Any:
        """A task of joblib that draws the group and counts it."""
        return delayed(_DrawnAndCounted(tuple(self.blocks), self.count))(one)

    def what(self, one: Group) -> str:
        """What a worker does, for an error message."""
        return "draw and count M(D) and M(D')"

    def _of_kept_blocks(self, one: Group, store: BlockStore) -> Counted | None:
        drawn: list[np.ndarray] = []
        for block in one.blocks:
            part = store.get(block.side, block.number)
            if part is None or part.shape[:1] != (block.size,):
                return None
            drawn.append(part)
        return counted(one, drawn, self.count)


@dataclass(frozen=True, eq=False, repr=False)
class _DrawnAndCounted:
    blocks: Sequence[Blocks]
    count: Counter

    def __call__(self, group: Group) -> Counted:
        """What comes of a group. Raises `MechanismError`, and what the count raises."""
        drawn = (self.blocks[one.side](one.number, one.size) for one in group.blocks)
        return counted(group, drawn, self.count)


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
