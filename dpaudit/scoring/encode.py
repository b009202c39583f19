"""Outcomes that no arithmetic can use (NaN, infinities, overflows) and the bits of floats, made
into finite columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import Array
from dpaudit.scoring.base import CHUNK, Sides

LARGEST = 1e100  # beyond this a number counts as infinite


def usable(x: Array) -> np.ndarray:
    """Where arithmetic can use x."""
    return np.asarray(np.abs(x) <= LARGEST)


MARKS: tuple[Callable[[Array], np.ndarray], ...] = (
    np.isnan,
    lambda x: x > LARGEST,
    lambda x: x < -LARGEST,
)
MEDIAN_DRAWS = 20_000  # a side, for the neutral value
BIT_DRAWS = 20_000  # a side, to see which bits vary at all
MANTISSA = np.int64((1 << 52) - 1)
HIDDEN = np.int64(1 << 52)  # the leading one that normal numbers do not store
LOW_BITS = 4
NO_GRID = 1024.0  # zero lies on every grid: above the lowest set bit of any other number
NO_EXPONENT = -1100.0


@dataclass(frozen=True, eq=False)
class Encoder:
    """Rows (m, k) → finite rows (m, k'): the k columns, then indicator columns, then columns of
    bits.

    fill : (k,) value that stands for what is not finite; the training median of the column's finite
        entries.
    marks : (column, kind) of each indicator, kind a position in MARKS; only what occurred in
        training has one.
    floats : columns whose bits are read, kept : which columns of `bit_features` varied in training.
    """

    fill: Array
    marks: tuple[tuple[int, int], ...]
    floats: np.ndarray
    kept: np.ndarray

    @classmethod
    def fit(cls, train: Sides, bits: bool = False) -> Encoder:
        """Look through all training draws. bits : also read the floats' bits (lowest set bit,
        exponent, ...).
        """
        marks, fill = _marks(train), _fill(train)
        floats = _floats(train) if bits else np.empty(0, dtype=np.intp)
        return cls(fill, marks, floats, _varying(train, floats))

    def __call__(self, x: Array) -> Array:
        """Encoded rows; `x` itself, not a copy, when it is finite and there is nothing to add."""
        width = len(self.fill) + len(self.marks) + len(self.kept)
        if width == x.shape[1] and all(usable(part).all() for part in _chunks(x)):
            return x
        out = np.empty((len(x), width))
        for start in range(0, len(x), CHUNK):
            out[start : start + CHUNK] = self._rows(x[start : start + CHUNK])
        return out

    def sides(self, sides: Sides) -> Sides:
        return Sides(self(sides.P), self(sides.Q))

    def _rows(self, x: Array) -> Array:
        flags = [
            MARKS[kind](x[:, column]).astype(np.float64)[:, None] for column, kind in self.marks
        ]
        whole = np.where(usable(x), x, self.fill)
        bits = [bit_features(whole[:, self.floats])[:, self.kept]] if len(self.kept) else []
        return np.concatenate([whole, *flags, *bits], axis=1)


def bit_features(x: Array) -> Array:
    """What the bits of finite floats (m, k) show, (m, k·8), column by column of x.

    For each: the power of two of its lowest set bit, i.e. the coarsest grid 2^j ℤ that it lies on
    (after the floating point attack of Mironov, CCS 2012: sums round to the grid of the larger
    term, so the grid gives the term away); its exponent; the lowest 4 bits of its mantissa; whether
    it is exactly 0; whether that is −0.
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
    """Indicators needed; of several with the same values on all training draws the first is enough."""
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
    """Median of the finite entries of each column; 0 where there are none."""
    pooled = np.concatenate([train.P[:MEDIAN_DRAWS], train.Q[:MEDIAN_DRAWS]])
    finite = usable(pooled)
    columns = zip(pooled.T, finite.T, strict=True)
    return np.array([np.median(column[keep]) if keep.any() else 0.0 for column, keep in columns])


def _floats(train: Sides) -> np.ndarray:
    """Columns with a number that is no integer: of others the values say it all."""
    pooled = np.concatenate([train.P[:BIT_DRAWS], train.Q[:BIT_DRAWS]])
    finite = np.where(usable(pooled), pooled, 0.0)
    return np.flatnonzero((finite != np.rint(finite)).any(axis=0))


def _varying(train: Sides, floats: np.ndarray) -> np.ndarray:
    """Positions of the bit features that are not constant over the training draws."""
    if len(floats) == 0:
        return np.empty(0, dtype=np.intp)
    pooled = np.concatenate([train.P[:BIT_DRAWS], train.Q[:BIT_DRAWS]])[:, floats]
    features = bit_features(np.where(usable(pooled), pooled, 0.0))
    return np.flatnonzero(np.ptp(features, axis=0) > 0.0)
