"""The inputs of the tests: which draws a call returned together, and yes-or-no features of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class

CHUNKS, SMALLEST_CHUNK = 64, 16  # for draws made elsewhere: most chunks, least draws of a chunk
STRATUM = 256  # tests that allow for drift compare draws within strata of this many draws
AT_ONCE = 1 << 18  # entries in a block of columns
EXAMINED = 250  # columns, at most
FEATURES = 4  # number of features of a column
CUTS = (0.1, 0.25, 0.5, 0.75, 0.9)  # shares of the draws below the cuts
ABOVE_ALL = np.iinfo(np.int64).max - 1
HASHED = 1 << 17  # numbers hashed at a time, which fit a CPU cache


@value_class
class Calls:
    """Consecutive calls of one side.

    sizes : draws of each call, (B,), in order. known : False for chunks of draws made elsewhere.
    """

    sizes: np.ndarray
    known: bool = True

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
        return np.arange(self.sizes.sum()) - np.repeat(self.starts, self.sizes)

    @cached_property
    def strata(self) -> np.ndarray:
        """Starts of runs of whole calls, each of `STRATUM` draws or more if there are so many."""
        first, draws = [0], int(self.sizes.sum())
        for start in self.starts.tolist():
            if start - first[-1] >= STRATUM and draws - start >= STRATUM:
                first.append(start)
        return np.array(first)


def calls_of(sizes: Sequence[int] | np.ndarray | None, draws: int) -> Calls:
    """The calls that made the first `draws` draws; the last call may be cut short. For draws made
    elsewhere, `sizes` is None and up to 64 chunks of at least 16 draws stand for the calls.
    """
    if sizes is None:
        number = min(max(draws // SMALLEST_CHUNK, 1), CHUNKS)
        return Calls(np.diff(np.linspace(0, draws, number + 1).astype(np.int64)), known=False)
    ends = np.minimum(np.cumsum(np.asarray(sizes, dtype=np.int64)), draws)
    sizes_of_draws = np.diff(ends, prepend=0)
    return Calls(sizes_of_draws[sizes_of_draws > 0])


def keys_of(values: Array) -> np.ndarray:
    """Integers in the order of the values, different if bits differ; all NaN have one largest key.

    Read as integers, floats of positive sign are in order and those of negative sign in reverse.
    """
    bits = np.ascontiguousarray(values).view(np.int64)
    keys = bits >> np.int64(63)  # in place from here on: −1 where negative, else 0
    keys &= np.int64(np.iinfo(np.int64).max)
    keys ^= bits
    keys[np.isnan(values)] = ABOVE_ALL
    return keys


def column_blocks(P: Array, Q: Array) -> Iterator[tuple[list[int], list[np.ndarray]]]:
    """Yield a few columns at a time: their positions, and their keys, (c, n) and (c, m).

    Of more than `EXAMINED` columns a random part is taken, since kinds of columns may alternate. A
    certificate rests on the scores, which are examined, too.
    """
    columns = np.arange(P.shape[1])
    if len(columns) > EXAMINED:
        columns = np.sort(np.random.default_rng(0).choice(columns, EXAMINED, replace=False))
    width = max(1, AT_ONCE // max(1, len(P), len(Q)))
    for first in range(0, len(columns), width):
        part = columns[first : first + width]
        yield part.tolist(), [keys_of(P[:, part].T), keys_of(Q[:, part].T)]


def row_hashes(rows: Array) -> np.ndarray:
    """A 64-bit hash of each row (n, k) as an integer, (n,); all NaN are alike.

    A test is exact for any function of a draw, so a collision of hashes only costs power.
    """
    odd = np.random.default_rng(0).integers(1 << 63, size=rows.shape[1], dtype=np.uint64) * 2 + 1
    hashes = np.empty(len(rows), dtype=np.uint64)
    step = max(1, HASHED // max(rows.shape[1], 1))
    for start in range(0, len(rows), step):
        part = rows[start : start + step].copy()
        part[np.isnan(part)] = np.nan
        bits = part.view(np.uint64)
        # a multiplication carries upwards only, so high bits are copied to low ones before it
        bits ^= bits >> np.uint64(32)
        bits ^= bits >> np.uint64(16)
        hashes[start : start + step] = np.einsum("ij,j->i", bits, odd)  # faster than @
    hashes ^= hashes >> np.uint64(32)
    return hashes.view(np.int64)


def features(keys: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """Features of the draws in each column: whether a draw is above the median, outside the
    quartiles, in the highest tenth, and in the lowest tenth.

    keys : (c, n). ordered : (c, n), each column's keys ascending. Returns (4c, n) bool, first the c
    medians. The cuts depend on the values, not on their order. With ties, the share of draws below
    a cut is the possible one, neither 0 nor 1, that is nearest to the nominal share; so some
    features of a column of two values are constant.
    """
    draws, shares = ordered.shape[1], np.array(CUTS)
    at = (shares * draws).astype(int)
    value = ordered[:, at]
    below, upto = np.tile(at, (len(ordered), 1)), np.tile(at + 1, (len(ordered), 1))
    tied = (ordered[:, at - 1] == value) | (ordered[:, np.minimum(at + 1, draws - 1)] == value)
    for cut in np.flatnonzero(tied.any(axis=0)):
        some = np.flatnonzero(tied[:, cut])
        columns, least = ordered[some], value[some, cut, None]
        below[some, cut] = np.count_nonzero(columns < least, axis=1)
        upto[some, cut] = np.count_nonzero(columns <= least, axis=1)
    lower = (upto == draws) | ((below > 0) & (shares * draws - below <= upto - shares * draws))
    # the least key above each cut of each column, (cuts, c, 1)
    first, low, middle, high, last = np.where(lower, value, value + 1).T[:, :, None]
    outside = (keys < low) | (keys >= high)
    return np.concatenate([keys >= middle, outside, keys >= last, keys < first])
