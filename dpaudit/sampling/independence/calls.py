"""Which draws a mechanism returned together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.value import value_class

CHUNKS, SMALLEST_CHUNK = 64, 16  # of draws made elsewhere
STRATUM = 256  # draws that are compared with each other in the tests that allow for drift


@value_class
class Calls:
    """Consecutive calls of one side.

    sizes : draws of each call, (B,), in order. known : False for chunks of draws made elsewhere.
    """

    sizes: np.ndarray
    known: bool = True

    @cached_property
    def draws(self) -> int:
        """Draws of all calls."""
        return int(self.sizes.sum())

    @cached_property
    def starts(self) -> np.ndarray:
        """The first draw of each call, (B,)."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def number(self) -> np.ndarray:
        """The call of each draw, (n,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def offset(self) -> np.ndarray:
        """The place of each draw in its call, (n,)."""
        return np.arange(self.draws) - np.repeat(self.starts, self.sizes)

    @cached_property
    def fellows(self) -> tuple[np.ndarray, np.ndarray, Calls]:
        """Draws of calls 0, 2, 4, …, those at the same places of calls 1, 3, 5, …, and how many
        each pair of calls has.
        """
        even = len(self.sizes) // 2 * 2
        common = np.minimum(self.sizes[0:even:2], self.sizes[1:even:2])
        place = Calls(common).offset
        left, right = (np.repeat(self.starts[k:even:2], common) + place for k in (0, 1))
        return left, right, Calls(common)

    @cached_property
    def strata(self) -> np.ndarray:
        """Starts of runs of whole calls, each of `STRATUM` draws or more if there are so many."""
        kept = [0]
        for start in self.starts.tolist():
            if start - kept[-1] >= STRATUM and self.draws - start >= STRATUM:
                kept.append(start)
        return np.array(kept)


def calls_of(sizes: Sequence[int] | np.ndarray, draws: int) -> Calls:
    """The calls that made the first `draws` draws; the last one counts with what is left of it.

    Raises `InvalidInput` where the sizes are not positive or make fewer draws.
    """
    ends = np.cumsum(np.asarray(sizes, dtype=np.int64))
    kept = np.diff(np.minimum(ends, draws), prepend=0)
    if np.any(np.diff(ends, prepend=0) <= 0) or kept.sum() != draws:
        fail("calls", list(sizes), f"positive sizes that make {draws} draws or more")
    return Calls(kept[kept > 0])


def chunks_of(draws: int) -> Calls:
    """Up to 64 chunks of at least 16 draws, for draws whose calls are not known."""
    number = min(max(draws // SMALLEST_CHUNK, 1), CHUNKS)
    ends = np.linspace(0, draws, number + 1).astype(np.int64)
    return Calls(np.diff(ends), known=False)
