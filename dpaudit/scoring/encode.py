"""Finite columns for every outcome: NaN, infinities and overflows are marked, bits are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import CHUNK, Sides

LARGEST = 1e100  # beyond this a number counts as infinite: squares must not overflow


def usable(x: Array) -> np.ndarray:
    """Where x is a finite number of at most `LARGEST` in magnitude."""
    return np.asarray(np.abs(x) <= LARGEST)


# the kinds of entries that are not usable
MARKS: tuple[Callable[[Array], np.ndarray], ...] = (
    np.isnan,
    lambda x: x > LARGEST,
    lambda x: x < -LARGEST,
)
MEDIAN_DRAWS = 20_000  # a side, for the median that stands for entries that are not usable
BIT_DRAWS = 20_000  # a side, to see which bits vary at all
MANTISSA = np.int64((1 << 52) - 1)
HIDDEN = np.int64(1 << 52)  # the leading one that normal numbers do not store
LOW_BITS = 4
NO_GRID = 1024.0  # for zero, which lies on every grid: above the lowest bit of any other number
NO_EXPONENT = -1100.0  # for zero: below the exponent of any other number


@dataclass(frozen=True, eq=False)
class Encoder:
    """Rows (m, k) → finite rows (m, k'): the k columns, then indicators, then columns of bits.

    fill : (k,) what replaces entries that are not usable: the training median of the usable ones.
    marks : (column, kind) of each indicator, kind a position in MARKS; only kinds that occurred in
        training have one.
    floats : columns whose bits are read. kept : the columns of `bit_features` that varied in
        training.
    """

    fill: Array
    marks: tuple[tuple[int, int], ...]
    floats: np.ndarray
    kept: np.ndarray

    @classmethod
    def fit(cls, train: Sides, bits: bool = False) -> Encoder:
        """What the training draws need, all of them read.

        bits : also encode the bits of floats (`bit_features`).
        """
        marks, fill = _marks(train), _fill(train)
        floats = _floats(train) if bits else np.empty(0, dtype=np.intp)
        return cls(fill, marks, floats, _varying(train, floats))

    def __call__(self, x: Array) -> Array:
        """Encoded rows; `x` itself, not a copy, where it is usable and has no column to add."""
        width = len(self.fill) + len(self.marks) + len(self.kept)
        if width == x.shape[1] and all(usable(part).all() for part in _chunks(x)):
            return x
        out = np.empty((len(x), width))
        for start in range(0, len(x), CHUNK):
            out[start : start + CHUNK] = self._rows(x[start : start + CHUNK])
        return out

    def sides(self, sides: Sides) -> Sides:
        """The encoded rows of both sides."""
        return Sides(self(sides.P), self(sides.Q))

    def _rows(self, x: Array) -> Array:
        flags = [
            MARKS[kind](x[:, column]).astype(np.float64)[:, None] for column, kind in self.marks
        ]
        whole = np.where(usable(x), x, self.fill)
        bits = [bit_features(whole[:, self.floats])[:, self.kept]] if len(self.kept) else []
        return np.concatenate([whole, *flags, *bits], axis=1)


def bit_features(x: Array) -> Array:
    """Eight numbers on the bits of each finite float, (m, k) → (m, 8k), column by column.

    The exponent j of its lowest set bit, so 2^j ℤ is the coarsest grid that it lies on; its own
    exponent; the lowest 4 bits of its mantissa; whether it is 0; whether it is −0. The grid is what
    Mironov's attack reads (CCS 2012): a sum is rounded to the grid of its larger term, and so
    reveals it.
    """
    raw = np.ascontiguousarray(x).view(np.int64)
    stored, power = raw & MANTISSA, (raw >> 52) & 0x7FF
    whole = np.where(power > 0, stored | HIDDEN, stored)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # exact: a power of two
    zero = whole == 0
    exponent = np.maximum(power, 1) - 1023
    columns = [
        np.where(zero, NO_GRID, exponent - 52.0 + lowest),
        np.where(zero, NO_EXPONENT, exponent),
        *((stored >> bit) & 1 for bit in range(LOW_BITS)),
        zero,
        zero & (raw < 0),
    ]
    return np.stack(columns, axis=2, dtype=np.float64).reshape(len(x), -1)


def _chunks(x: Array) -> list[Array]:
    return [x[start : start + CHUNK] for start in range(0, len(x), CHUNK)]


def _marks(train: Sides) -> tuple[tuple[int, int], ...]:
    """The indicators; of several that are equal on all training draws only the first."""
    seen = np.zeros((len(MARKS), train.P.shape[1]), dtype=bool)
    for part in (*_chunks(train.P), *_chunks(train.Q)):
        if not usable(part).all():
            seen |= np.stack([mark(part).any(axis=0) for mark in MARKS])
    distinct: dict[bytes, tuple[int, int]] = {}
    for kind, column in np.argwhere(seen):
        flags = [np.packbits(MARKS[kind](side[:, column])).tobytes() for side in (train.P, train.Q)]
        distinct.setdefault(b"|".join(flags), (int(column), int(kind)))
    return tuple(sorted(distinct.values()))


def _fill(train: Sides) -> Array:
    """Median of the usable entries of each column; 0 where there are none."""
    pooled = np.concatenate([train.P[:MEDIAN_DRAWS], train.Q[:MEDIAN_DRAWS]])
    finite = usable(pooled)
    columns = zip(pooled.T, finite.T, strict=True)
    return np.array([np.median(column[keep]) if keep.any() else 0.0 for column, keep in columns])


def _floats(train: Sides) -> np.ndarray:
    """Positions of the columns with a number that is not an integer; the others need no bits."""
    pooled = np.concatenate([train.P[:BIT_DRAWS], train.Q[:BIT_DRAWS]])
    finite = np.where(usable(pooled), pooled, 0.0)
    return np.flatnonzero((finite != np.rint(finite)).any(axis=0))


def _varying(train: Sides, floats: np.ndarray) -> np.ndarray:
    """Positions of the bit features that vary over the training draws."""
    if len(floats) == 0:
        return np.empty(0, dtype=np.intp)
    pooled = np.concatenate([train.P[:BIT_DRAWS], train.Q[:BIT_DRAWS]])[:, floats]
    features = bit_features(np.where(usable(pooled), pooled, 0.0))
    return np.flatnonzero(np.ptp(features, axis=0) > 0.0)
