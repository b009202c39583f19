"""The draws of a batch, and how draws of several batches become rows of equal width."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

import numpy as np

from dpaudit import outcomes
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Mechanism
from dpaudit.auditing.independence import call_sizes
from dpaudit.auditing.sequential.record import batch_sizes
from dpaudit.auditing.settings import Drawing, Settings
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import SIDES, BlockStore, GivenDraws, MechanismDraws, Pair, call_size, joined
from dpaudit.scoring import Sides

BLOCK = 32  # draws of a block, at least: workers share a batch


@dataclass(frozen=True, eq=False)
class Batch:
    """Fresh draws of both sides. calls : sizes of the calls that made each, None where unknown."""

    draws: Pair
    calls: np.ndarray | None

    __repr__ = short_repr

    @property
    def size(self) -> int:
        """Draws a side."""
        return len(self.draws[0])


class BatchSource(Protocol):
    """Where the batches of a sequential audit come from."""

    def batch(self, number: int, size: int) -> Batch:
        """Batch `number`, of `size` draws a side; they are asked for in order."""
        ...


class MechanismBatches:
    """Batches of a mechanism's draws. Batch b is drawn at key (BATCH, b), block by block.

    Calls grow with the audit, as those of one that makes so many draws at once (`call_size`). The
    number and kind of workers change no byte.
    """

    def __init__(
        self, mechanism: Mechanism, pair: NeighbourPair, settings: Settings, drawing: Drawing
    ) -> None:
        self.mechanism, self.databases = mechanism, (pair.left, pair.right)
        self.settings, self.drawing = settings, drawing
        self.store = None if drawing.store is None else _NumberedStore(drawing.store)

    def batch(self, number: int, size: int) -> Batch:
        """Batch `number`, of `size` draws a side."""
        made = sum(islice(batch_sizes(self.settings.samples), number + 1))
        source = MechanismDraws(
            self.mechanism,
            self.databases,
            size,
            below(self.settings.seed, Purpose.BATCH, number),
            n_jobs=self.drawing.n_jobs,
            store=self.store,
            call=self.settings.call or call_size(self.mechanism, made),
            smallest=BLOCK,
        )
        draws = source.take(size)
        if self.store is not None:
            self.store.close_batch()
        return Batch(draws, call_sizes(size, source.calls))


class GivenBatches:
    """Batches of draws made elsewhere, in their order."""

    def __init__(self, P: np.ndarray, Q: np.ndarray) -> None:
        self.source = GivenDraws(P, Q)

    def batch(self, number: int, size: int) -> Batch:
        """The next `size` draws a side."""
        return Batch(self.source.take(size), None)


@dataclass(repr=False)
class _NumberedStore:
    """A store whose blocks are numbered through all batches."""

    store: BlockStore
    first: int = 0
    used: int = 0

    def get(self, side: int, block: int) -> np.ndarray | None:
        self.used = max(self.used, block + 1)
        return self.store.get(side, self.first + block)

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        self.store.put(side, self.first + block, values)

    def close_batch(self) -> None:
        self.first, self.used = self.first + self.used, 0


@dataclass(repr=False)
class Past:
    """All draws so far, as they came, and the columns that they have."""

    parts: list[Pair] = field(default_factory=list)
    calls: list[np.ndarray | None] = field(default_factory=list)
    columns: outcomes.Columns | None = None

    def add(self, fresh: Batch) -> None:
        """Add a batch. Raises `MechanismError` where its draws do not fit the earlier ones."""
        self.parts = [(self._side(0, fresh.draws), self._side(1, fresh.draws))]
        self.calls.append(fresh.calls)

    @property
    def size(self) -> int:
        """Draws a side."""
        return len(self.parts[0][0]) if self.parts else 0

    def call_sizes(self) -> np.ndarray | None:
        """Sizes of all calls so far; None where they are unknown."""
        known = [sizes for sizes in self.calls if sizes is not None]
        return np.concatenate(known) if len(known) == len(self.calls) else None

    def rows(self) -> Sides:
        """As float64 rows, by the columns that distinguish any two of the draws."""
        self.columns = outcomes.columns(*self.parts[0])
        return Sides(*(self.columns(side) for side in self.parts[0]))

    def like(self, fresh: Batch) -> Sides:
        """Fresh draws as rows of the columns that `rows` found last. Other columns of theirs are
        left out.
        """
        assert self.columns is not None
        for side in (0, 1):
            self._side(side, (fresh.draws[0][:1], fresh.draws[1][:1]), rows=1)
        return Sides(*(self.columns(side) for side in fresh.draws))

    def _side(self, side: int, fresh: Pair, rows: int | None = None) -> np.ndarray:
        """The past draws (the first `rows` of them) and the fresh ones."""
        return joined([*(part[side][:rows] for part in self.parts), fresh[side]], SIDES[side])
