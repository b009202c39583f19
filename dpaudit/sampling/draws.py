"""The draws of one side in their order, made when they are asked for, or all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Protocol

import numpy as np

from dpaudit import outcomes
from dpaudit._core.threads import one_thread
from dpaudit._core.types import Array, Mechanism
from dpaudit.errors import MechanismError
from dpaudit.sampling.block import SIDES, Blocks, Preparable, sampler_of
from dpaudit.sampling.parallel import BlockStore, drawn

Progress = Callable[[str, int, int], None]  # (step, done, wanted)
LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 14, 1 << 8
BLOCKS = 64  # a side, where these limits allow it


class Draws(Protocol):
    """Draws of one side, each given out once, as (n, k) float64 or lists (`outcomes.rows`)."""

    def peek(self, count: int) -> np.ndarray:
        """The next `count` draws or more, which stay to be taken."""
        ...

    def take(self, count: int) -> np.ndarray:
        """The next `count` draws."""
        ...

    def rest(self, chunk: int) -> Iterator[np.ndarray]:
        """All draws that are left, `chunk` at a time, the last time fewer."""
        ...


class GivenDraws:
    """Draws that were made elsewhere, in an array; the methods are those of `Draws`."""

    def __init__(self, draws: np.ndarray) -> None:
        self.draws, self.done = draws, 0

    def peek(self, count: int) -> np.ndarray:
        """The next `count` draws, which stay to be taken."""
        return self.draws[self.done : self.done + count]

    def take(self, count: int) -> np.ndarray:
        """The next `count` draws."""
        self.done += count
        part = self.draws[self.done - count : self.done]
        return part if outcomes.is_table(part) else outcomes.joined([part])

    def rest(self, chunk: int) -> Iterator[np.ndarray]:
        """All draws that are left, `chunk` at a time, the last time fewer."""
        while self.done < len(self.draws):
            yield self.take(min(chunk, len(self.draws) - self.done))


class MechanismDraws:
    """`size` draws of mechanism(data); in memory are only those asked for at a time.

    seed : the audit's; draws are seeded by key below it. side : 0 for M(D), 1 for M(D').
    n_jobs : parallel draws, as in joblib. progress : called as progress(step, done, wanted).
    store : keeps blocks of draws, so that an interrupted audit resumes.

    Neither the number or kind of workers nor an interruption changes a byte. Every method raises
    `MechanismError` where the mechanism raises or returns something else than outcomes. The
    methods are those of `Draws`.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        data: Array,
        size: int,
        seed: np.random.SeedSequence,
        side: int,
        *,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        store: BlockStore | None = None,
    ) -> None:
        self.blocks = Blocks(sampler_of(mechanism, data), seed, side)
        # a law's products are small; a user's mechanism may have large ones
        self.threads = one_thread if isinstance(mechanism, Preparable) else nullcontext
        self.size, self.side = size, side
        self.n_jobs, self.progress, self.store = n_jobs, progress, store
        self.block = int(np.clip(size // BLOCKS, SMALLEST_BLOCK, LARGEST_BLOCK))
        self.drawn = self.given = 0
        self.columns: int | None = None
        self.ahead: list[np.ndarray] = []  # drawn, not yet given

    def peek(self, count: int) -> np.ndarray:
        """The next `count` draws or more (whole blocks), which stay to be taken."""
        short = count - sum(map(len, self.ahead))
        self.ahead += self._fresh(min(short, self.size - self.drawn)) if short > 0 else []
        return self._joined(list(self.ahead))

    def take(self, count: int) -> np.ndarray:
        """The next `count` draws."""
        fresh = self._fresh(count - sum(map(len, self.ahead)))
        out = self._collected(self._parts(count, fresh), count)
        next(fresh, None)  # ends the drawing of blocks
        return out

    def rest(self, chunk: int) -> Iterator[np.ndarray]:
        """All draws that are left, `chunk` at a time, the last time fewer."""
        fresh = self._fresh(self.size - self.drawn)
        while self.given < self.size:
            count = min(chunk, self.size - self.given)
            yield self._collected(self._parts(count, fresh), count)
        next(fresh, None)  # ends the drawing of blocks

    def _fresh(self, count: int) -> Iterator[np.ndarray]:
        """Whole blocks, together `count` draws or more."""
        first, last = -(-self.drawn // self.block), -(-(self.drawn + max(count, 0)) // self.block)
        wanted = ((b, min(self.block, self.size - b * self.block)) for b in range(first, last))
        blocks = drawn(self.blocks, wanted, self.n_jobs, self.store)
        while True:
            with self.threads():
                part = next(blocks, None)
            if part is None:
                return
            self._check_columns(part)
            self.drawn += len(part)
            yield part

    def _check_columns(self, part: np.ndarray) -> None:
        if not outcomes.is_table(part):
            return
        if self.columns not in (None, part.shape[1]):
            where = self.blocks.where(self.drawn // self.block, len(part))
            raise MechanismError(
                "the mechanism must return the same number of columns each time, "
                f"got {part.shape[1]} after {self.columns} on {where}"
            )
        self.columns = part.shape[1]

    def _parts(self, count: int, fresh: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
        """Parts that make `count` draws: first those drawn ahead, then fresh blocks.

        What is left of the last block stays ahead.
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
        """One array of all parts, filled as they come; only lists are in memory twice."""
        lists: list[np.ndarray] = []
        out, done = np.empty((0, 0)), 0
        for part in parts:
            if lists or not outcomes.is_table(part):
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
    mechanism: Mechanism,
    data: Array,
    size: int,
    seed: np.random.SeedSequence,
    side: int,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    store: BlockStore | None = None,
) -> np.ndarray:
    """`size` draws of mechanism(data), (size, k) float64, or lists where their lengths differ.

    Lists become rows by `outcomes.aligned`. Parameters and errors as of `MechanismDraws`.
    """
    draws = MechanismDraws(
        mechanism, data, size, seed, side, n_jobs=n_jobs, progress=progress, store=store
    )
    return draws.take(size)
