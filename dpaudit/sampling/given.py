"""Draws that were made elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dpaudit import outcomes
from dpaudit.sampling.collected import Pair
from dpaudit.sampling.counted import Count
from dpaudit.sampling.held import Found, Held, Here

PART = 1 << 14  # draws a side that are counted together


class GivenDraws:
    """Draws of both sides in two arrays of equal length; the methods are those of `Draws`."""

    calls = None

    def __init__(self, P: np.ndarray, Q: np.ndarray) -> None:
        self.P, self.Q, self.done = P, Q, 0

    def peek(self, count: int) -> Pair:
        """The next `count` draws a side, which stay to be taken."""
        part = slice(self.done, self.done + count)
        return self.P[part], self.Q[part]

    def take(self, count: int) -> Pair:
        """The next `count` draws a side."""
        P, Q = map(_simplest, self.peek(count))
        self.done += count
        return P, Q

    def look(self, count: int, work: Callable[[Pair], Found]) -> Found:
        """What `work` makes of the next `count` draws a side, which stay to be taken."""
        return work(self.peek(count))

    def hold(self, count: int) -> Held:
        """The next `count` draws a side."""
        return Here(self.take(count))

    def rest(self, count: Count) -> Iterator[Pair]:
        """All draws that are left, in the parts that are counted together."""
        while self.done < len(self.P):
            yield self.take(min(PART, len(self.P) - self.done))


def _simplest(part: np.ndarray) -> np.ndarray:
    return part if outcomes.is_table(part) else outcomes.joined([part])
