"""Where the draws of a wave come from, and how draws of several waves become rows of equal width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core.seeds import Stream, below
from dpaudit.errors import MechanismError
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import SIDES, BlockStore, draw
from dpaudit.scoring import Sides

Raw = tuple[np.ndarray, np.ndarray]
# (wave, size) → fresh draws of both sides, as `sampling.draw` gives them
Source = Callable[[int, int], Raw]


def of_mechanism(
    mechanism: Any,
    pair: NeighbourPair,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    store: BlockStore | None,
) -> Source:
    """Wave w of either side is drawn at key (WAVE, w), block by block: the same bytes whatever the
    workers.
    """
    shelf = None if store is None else _Shelf(store)

    def wave(number: int, size: int) -> Raw:
        key = below(seed, Stream.WAVE, number)
        left, right = (
            draw(mechanism, data, size, key, side, n_jobs=n_jobs, store=shelf)
            for side, data in enumerate((pair.left, pair.right))
        )
        if shelf is not None:
            shelf.close_wave()
        return left, right

    return wave


def of_arrays(P: np.ndarray, Q: np.ndarray) -> Source:
    """Draws made elsewhere, in their order."""
    done = 0

    def wave(number: int, size: int) -> Raw:
        nonlocal done
        done += size
        return P[done - size : done], Q[done - size : done]

    return wave


@dataclass
class _Shelf:
    """A store's blocks, numbered through the waves."""

    store: BlockStore
    first: int = 0
    used: int = 0

    def get(self, side: int, block: int) -> np.ndarray | None:
        self.used = max(self.used, block + 1)
        return self.store.get(side, self.first + block)

    def put(self, side: int, block: int, values: np.ndarray) -> None:
        self.store.put(side, self.first + block, values)

    def close_wave(self) -> None:
        self.first, self.used = self.first + self.used, 0


@dataclass
class Past:
    """All draws so far, as they came, and the columns that they have."""

    parts: list[Raw] = field(default_factory=list)
    columns: outcomes.Columns | None = None

    def add(self, fresh: Raw) -> None:
        self.parts = [(self._side(0, fresh), self._side(1, fresh))]

    def rows(self) -> Sides:
        """As float64 rows, by the columns that tell any two of them apart."""
        self.columns = outcomes.columns(*self.parts[0])
        return Sides(*(self.columns(side) for side in self.parts[0]))

    def like(self, fresh: Raw) -> Sides:
        """Fresh draws as rows of the columns that `rows` found last: what they have beyond these is
        left out.
        """
        assert self.columns is not None
        for side in (0, 1):
            self._side(side, (fresh[0][:1], fresh[1][:1]), rows=1)
        return Sides(*(self.columns(side) for side in fresh))

    def _side(self, side: int, fresh: Raw, rows: int | None = None) -> np.ndarray:
        """The past and the fresh draws, or so many rows of the past. Raises `MechanismError` where
        they do not fit.
        """
        try:
            return outcomes.joined([part[side][:rows] for part in self.parts] + [fresh[side]])
        except outcomes.NotOutcomes as error:
            raise MechanismError(f"the mechanism must return {error} on {SIDES[side]}") from None
