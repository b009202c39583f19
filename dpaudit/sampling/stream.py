"""The draws of one side in their order, made when they are asked for; and all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from dpaudit import outcomes
from dpaudit._core.check import Array
from dpaudit.errors import MechanismError
from dpaudit.sampling.block import SIDES, Blocks, sampler_of
from dpaudit.sampling.parallel import BlockStore, drawn

Progress = Callable[[str, int, int], None]
LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 14, 1 << 8


class Draws(Protocol):
    """Draws of one side, each given out once, as (n, k) float64 or lists (`outcomes.rows`)."""

    def peek(self, count: int) -> np.ndarray:
        """The next `count` or more, which stay."""
        ...

    def take(self, count: int) -> np.ndarray:
        """The next `count`."""
        ...

    def rest(self, chunk: int) -> Iterator[np.ndarray]:
        """All that are left, `chunk` at a time, the last time fewer."""
        ...


class Given:
    """Draws made elsewhere."""

    def __init__(self, draws: np.ndarray) -> None:
        self.draws, self.done = draws, 0

    def peek(self, count: int) -> np.ndarray:
        return self.draws[self.done : self.done + count]

    def take(self, count: int) -> np.ndarray:
        self.done += count
        part = self.draws[self.done - count : self.done]
        return outcomes.joined([part]) if outcomes.are_lists(part) else part

    def rest(self, chunk: int) -> Iterator[np.ndarray]:
        while self.done < len(self.draws):
            yield self.take(min(chunk, len(self.draws) - self.done))


class Stream:
    """`size` draws of mechanism(data), no more of them in memory than are asked for at a time.

    Neither the number or kind of workers nor an interruption changes a byte. Raises
    `MechanismError` when the mechanism raises or returns the wrong thing.
    """

    def __init__(
        self,
        mechanism: Any,
        data: Array,
        size: int,
        seed: np.random.SeedSequence,
        side: int,
        *,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        store: BlockStore | None = None,
    ) -> None:
        self.blocks, self.size, self.side = (
            Blocks(sampler_of(mechanism, data), seed, side),
            size,
            side,
        )
        self.n_jobs, self.progress, self.store = n_jobs, progress, store
        self.block = int(np.clip(size // 64, SMALLEST_BLOCK, LARGEST_BLOCK))
        self.drawn = self.given = 0
        self.columns: int | None = None
        self.ahead: list[np.ndarray] = []  # drawn, not yet given

    def peek(self, count: int) -> np.ndarray:
        short = count - sum(map(len, self.ahead))
        self.ahead += self._fresh(min(short, self.size - self.drawn)) if short > 0 else []
        return self._joined(list(self.ahead))

    def take(self, count: int) -> np.ndarray:
        fresh = self._fresh(count - sum(map(len, self.ahead)))
        out = self._collected(self._parts(count, fresh), count)
        next(fresh, None)  # ends what drew
        return out

    def rest(self, chunk: int) -> Iterator[np.ndarray]:
        fresh = self._fresh(self.size - self.drawn)
        while self.given < self.size:
            count = min(chunk, self.size - self.given)
            yield self._collected(self._parts(count, fresh), count)
        next(fresh, None)

    def _fresh(self, count: int) -> Iterator[np.ndarray]:
        """Whole blocks, `count` draws or more."""
        first, last = -(-self.drawn // self.block), -(-(self.drawn + max(count, 0)) // self.block)
        wanted = ((b, min(self.block, self.size - b * self.block)) for b in range(first, last))
        for part in drawn(self.blocks, wanted, self.n_jobs, self.store):
            self._check(part)
            self.drawn += len(part)
            yield part

    def _check(self, part: np.ndarray) -> None:
        if outcomes.are_lists(part):
            return
        if self.columns not in (None, part.shape[1]):
            where = self.blocks.where(self.drawn // self.block, len(part))
            raise MechanismError(
                f"the mechanism must return the same number of columns each time, got {part.shape[1]} after "
                f"{self.columns} on {where}"
            )
        self.columns = part.shape[1]

    def _parts(self, count: int, fresh: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
        """Parts that make `count` draws: what was left over, then fresh ones, of which the rest is
        left over.
        """
        while count > 0:
            part = self.ahead.pop(0) if self.ahead else next(fresh)
            if len(part) > count:
                self.ahead.insert(0, part[count:])
            part = part[:count]
            count -= len(part)
            self.given += len(part)
            yield part
            if self.progress is not None:
                self.progress(f"drawing {SIDES[self.side]}", self.given, self.size)

    def _collected(self, parts: Iterator[np.ndarray], size: int) -> np.ndarray:
        """One array of them all, that never is in memory twice; of lists it is."""
        lists: list[np.ndarray] = []
        out, done = np.empty((0, 0)), 0
        for part in parts:
            if lists or outcomes.are_lists(part):
                lists = [*(lists or [out[:done]] * (done > 0)), part]
            else:
                out = np.empty((size, part.shape[1])) if done == 0 else out
                out[done : done + len(part)] = part
            done += len(part)
        return self._joined(lists) if lists else out

    def _joined(self, parts: list[np.ndarray]) -> np.ndarray:
        try:
            return outcomes.joined(parts)
        except outcomes.NotOutcomes as error:
            raise MechanismError(
                f"the mechanism must return {error} on {SIDES[self.side]}"
            ) from None


def draw(
    mechanism: Any,
    data: Array,
    size: int,
    seed: np.random.SeedSequence,
    side: int,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    store: BlockStore | None = None,
) -> np.ndarray:
    """`size` draws of mechanism(data): (size, k) float64, or lists where their lengths differ
    (`outcomes.aligned`).

    Parameters and errors as of `Stream`.
    """
    return Stream(
        mechanism, data, size, seed, side, n_jobs=n_jobs, progress=progress, store=store
    ).take(size)
