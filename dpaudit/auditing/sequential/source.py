"""The draws of a batch, and how draws of several batches become rows of equal width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dpaudit import outcomes
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.types import Mechanism
from dpaudit.auditing.settings import Drawing
from dpaudit.errors import MechanismError
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import SIDES, BlockStore, draw
from dpaudit.scoring import Sides

Batch = tuple[np.ndarray, np.ndarray]
# (number, size) ↦ fresh draws of both sides, as `sampling.draw` gives them
BatchSource = Callable[[int, int], Batch]


def of_mechanism(
    mechanism: Mechanism, pair: NeighbourPair, seed: np.random.SeedSequence, drawing: Drawing
) -> BatchSource:
    """Batch b of either side is drawn at key (BATCH, b), block by block. The number and kind of
    workers change no byte.
    """
    store = None if drawing.store is None else _NumberedStore(drawing.store)

    def batch(number: int, size: int) -> Batch:
        key = below(seed, Purpose.BATCH, number)
        left, right = (
            draw(mechanism, data, size, key, side, n_jobs=drawing.n_jobs, store=store)
            for side, data in enumerate((pair.left, pair.right))
        )
        if store is not None:
            store.close_batch()
        return left, right

    return batch


def of_arrays(P: np.ndarray, Q: np.ndarray) -> BatchSource:
    """Draws made elsewhere, in their order."""
    done = 0

    def batch(number: int, size: int) -> Batch:
        nonlocal done
        done += size
        return P[done - size : done], Q[done - size : done]

    return batch


@dataclass
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


@dataclass
class Past:
    """All draws so far, as they came, and the columns that they have."""

    parts: list[Batch] = field(default_factory=list)
    columns: outcomes.Columns | None = None

    def add(self, fresh: Batch) -> None:
        """Add a batch. Raises `MechanismError` where its draws do not fit the earlier ones."""
        self.parts = [(self._side(0, fresh), self._side(1, fresh))]

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
            self._side(side, (fresh[0][:1], fresh[1][:1]), rows=1)
        return Sides(*(self.columns(side) for side in fresh))

    def _side(self, side: int, fresh: Batch, rows: int | None = None) -> np.ndarray:
        """The past draws (the first `rows` of them) and the fresh ones."""
        try:
            return outcomes.joined([part[side][:rows] for part in self.parts] + [fresh[side]])
        except outcomes.NotOutcomes as error:
            raise MechanismError(f"the mechanism must return {error} on {SIDES[side]}") from None
