"""Parts of draws put together as they come."""

from __future__ import annotations

import numpy as np

from dpaudit import outcomes
from dpaudit.sampling.block import SIDES, joined

Pair = tuple[np.ndarray, np.ndarray]  # draws of M(D), and as many of M(D')


class Collected:
    """Parts of one side, `size` draws in all, copied into one array as they come.

    Only lists and texts are in memory twice.
    """

    def __init__(self, size: int, side: int) -> None:
        self.size, self.side, self.done = size, side, 0
        self.table: np.ndarray | None = None
        self.others: list[np.ndarray] = []

    def add(self, part: np.ndarray) -> None:
        """Add the next part."""
        if not outcomes.is_table(part) and not self.others:
            self.others = self._parts()
        if self.others or not outcomes.is_table(part):
            self.others.append(part)
        else:
            self._copy(part)
        self.done += len(part)

    def all(self) -> np.ndarray:
        """All parts in one array."""
        return joined(self._parts(), SIDES[self.side])

    def _copy(self, part: np.ndarray) -> None:
        if self.table is None:
            self.table = np.empty((self.size, part.shape[1]))
        self.table[self.done : self.done + len(part)] = part

    def _parts(self) -> list[np.ndarray]:
        table = [] if self.table is None else [self.table[: self.done]]
        return self.others or table
