"""Draws that are counted where they are made: counts are sent, and the draws are not.

Draws are scored in parts: those of both sides that have one number of a block. The parts depend on
the number of draws alone, and so do the counts of a group of parts, whoever draws and counts it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, runtime_checkable

import numpy as np

from dpaudit import outcomes
from dpaudit.sampling.order import Block

GROUPS = 1 << 12  # at most: a task for each of very many numbers would be too short


@dataclass(frozen=True, eq=False, repr=False)
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
        return sum(one.size for one in self.blocks) // 2


def grouped(blocks: Iterable[Block], numbers: int, before: int) -> Iterator[Group]:
    """The groups of blocks with so many numbers, which come in the order of drawing."""
    left, number = iter(blocks), 0
    while some := tuple(islice(left, 2 * group_size(numbers))):
        yield Group(number, some, before)
        number, before = number + 1, before + sum(one.size for one in some) // 2


def group_size(numbers: int) -> int:
    """Numbers of blocks in a group, where there are so many in all."""
    return -(-numbers // GROUPS)


@dataclass(frozen=True, eq=False, repr=False)
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
        return sum(one.nbytes for one in arrays)

    def __sizeof__(self) -> int:
        """As Dask asks, which counts what it holds and sends."""
        return object.__sizeof__(self) + self.nbytes


def counted(group: Group, drawn: Iterable[np.ndarray], count: Counter) -> Counted:
    """The counts of a group from its blocks, which come one by one in the order of drawing."""
    blocks, before = zip(group.blocks, drawn, strict=True), group.before
    sums, columns, parts = (hashlib.sha256(), hashlib.sha256()), [], []
    for two in zip(blocks, blocks, strict=True):
        for one, part in two:
            sums[one.side].update(part.tobytes())
            columns.append(width(part))
        P, Q = (part for _, part in sorted(two, key=lambda each: each[0].side))
        parts.append(count(P, Q, before))
        before += len(P)
    digests = np.frombuffer(b"".join(one.digest() for one in sums), dtype=np.uint8)
    return Counted(_total(parts), digests.reshape(2, -1), np.array(columns))


def width(draws: np.ndarray) -> int:
    """Numbers in a draw; 0 where the draws are no table."""
    return int(draws.shape[1]) if outcomes.is_table(draws) else 0


def _total(parts: Sequence[Counts]) -> Counts:
    """Counts of parts that follow each other, in the smallest integers that hold them."""
    cells = np.sum([part.cells for part in parts], axis=0)
    first = np.concatenate([part.first for part in parts], axis=1)
    undefined = sum(part.undefined for part in parts)
    return Counts(cells.astype(np.min_scalar_type(cells.max())), first, undefined)


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


@runtime_checkable
class ChecksumStore(Protocol):
    """A store of blocks that may keep their checksums instead."""

    @property
    def checksum(self) -> Callable[[np.ndarray], str] | None:
        """Of the draws of a block that may stay elsewhere; None where they are to be kept."""
        ...

    def note(self, side: int, block: int, checksum: str, draws: int) -> None:
        """Keep the checksum of a block. Raises where another one was kept."""
        ...
