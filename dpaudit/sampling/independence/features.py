"""What the tests see of the draws: which were returned together, and yes-or-no features of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.linalg import transposed
from dpaudit._core.types import Array
from dpaudit._core.value import value_class

CHUNKS, SMALLEST_CHUNK = 64, 16  # of draws made elsewhere
STRATUM = 256  # draws that are compared with each other in the tests that allow for drift
AT_ONCE = 1 << 20  # entries of a block of columns
FEATURES = 4  # of a column
CUTS = (0.1, 0.25, 0.5, 0.75, 0.9)  # shares of the draws below
ABOVE_ALL = np.iinfo(np.int64).max - 1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying modulo 2^64 loses nothing


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
        first = [0]
        for start in self.starts.tolist():
            if start - first[-1] >= STRATUM and self.draws - start >= STRATUM:
                first.append(start)
        return np.array(first)


def calls_of(sizes: Sequence[int] | np.ndarray, draws: int) -> Calls:
    """The calls that made the first `draws` draws; the last one counts with what is left of it.

    Raises `InvalidInput` where the sizes are not positive or make fewer draws.
    """
    ends = np.cumsum(np.asarray(sizes, dtype=np.int64))
    sizes_of_draws = np.diff(np.minimum(ends, draws), prepend=0)
    if np.any(np.diff(ends, prepend=0) <= 0) or sizes_of_draws.sum() != draws:
        fail("calls", list(sizes), f"positive sizes that make {draws} draws or more")
    return Calls(sizes_of_draws[sizes_of_draws > 0])


def chunks_of(draws: int) -> Calls:
    """Up to 64 chunks of at least 16 draws, for draws whose calls are not known."""
    number = min(max(draws // SMALLEST_CHUNK, 1), CHUNKS)
    ends = np.linspace(0, draws, number + 1).astype(np.int64)
    return Calls(np.diff(ends), known=False)


def keys_of(values: Array) -> np.ndarray:
    """Integers in the order of the values, and different where bits differ; NaN is above all.

    Read as integers, floats of positive sign are in order and those of negative sign in reverse.
    """
    bits = np.ascontiguousarray(values).view(np.int64)
    keys = bits >> np.int64(63)  # in place from here on: −1 where negative, else 0
    keys &= np.int64(np.iinfo(np.int64).max)
    keys ^= bits
    keys[np.isnan(values)] = ABOVE_ALL
    return keys


def column_blocks(*sides: Array) -> Iterator[list[np.ndarray]]:
    """The keys of a few columns at a time: for each side (c, n)."""
    columns = sides[0].shape[1]
    width = max(1, AT_ONCE // max(1, *map(len, sides)))
    for first in range(0, columns, width):
        yield [keys_of(transposed(side[:, first : first + width])) for side in sides]


def folded(rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """A hash of each whole row, taken on by more columns. rows : (n,) uint64. keys : (c, n).

    A test is exact for any function of a draw, so that a collision costs power at most.
    """
    for column in keys.view(np.uint64):
        rows = (rows ^ column) * MULTIPLIER
        rows ^= rows >> np.uint64(32)
    return rows


def features(keys: np.ndarray) -> np.ndarray:
    """For each column whether a draw is above the median, outside the quartiles, in the highest
    tenth, and in the lowest.

    keys : (c, n). Returns (4c, n) bool, first the c medians. The cuts depend on the values, not on
    their order. With ties, a cut has the share of draws below it that is nearest to the share asked
    for and neither 0 nor 1, so a column of two values has features that are constant.
    """
    ordered = np.sort(keys, axis=1)
    first, low, middle, high, last = (_cut(keys, ordered, share) for share in CUTS)
    outside = (keys < low) | (keys >= high)
    return np.concatenate([keys >= middle, outside, keys >= last, keys < first])


def _cut(keys: np.ndarray, ordered: np.ndarray, share: float) -> np.ndarray:
    """The least key above the cut of each column, (c, 1)."""
    draws = keys.shape[1]
    value = ordered[:, int(share * draws), None]
    below = np.count_nonzero(keys < value, axis=1)[:, None]
    upto = np.count_nonzero(keys <= value, axis=1)[:, None]
    lower = (upto == draws) | ((below > 0) & (share * draws - below <= upto - share * draws))
    return np.where(lower, value, value + 1)
