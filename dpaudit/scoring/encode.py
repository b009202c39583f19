"""Finite columns for every outcome.

NaN, infinities, overflows and the sign of zero are marked; tiny numbers are enlarged; residues
that differ and bits are read. Of very many columns those are kept that differ most between the
sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import CHUNK, LARGEST, Sides, usable
from dpaudit.scoring.digits.bits import bit_features
from dpaudit.scoring.digits.residues import Residue, residue, residues

TINY, ENLARGED = 2.0**-900, 2.0**600  # numbers below TINY are multiplied by ENLARGED, exactly


def _all_usable(x: Array) -> bool:
    """The same of all entries, without a copy of them; a NaN makes both comparisons false."""
    return x.size == 0 or bool(x.max() <= LARGEST and x.min() >= -LARGEST)


# the kinds of entries that have a mark: the first three are not usable
MARKS: tuple[Callable[[Array], np.ndarray], ...] = (
    np.isnan,
    lambda x: x > LARGEST,
    lambda x: x < -LARGEST,
    lambda x: (x == 0.0) & np.signbit(x),
)
MINUS_ZERO = 3  # position in MARKS
# numbers a side, in at most so many draws, for the median that stands for entries not usable
MEDIAN_NUMBERS, MEDIAN_DRAWS = 2_000_000, 20_000
BIT_DRAWS = 20_000  # a side, to see which bits vary at all
MOST = 1000  # columns that are kept, since closed forms take the cube of their number
RANKED = 1000  # draws a side that show which columns differ most


@dataclass(frozen=True, eq=False, repr=False)
class Encoder:
    """Rows (m, k) → finite rows (m, k'): the kept columns, then indicators, then other columns.

    taken : positions of the columns that are kept, None for all of them; other positions are
        among these. scale : (k,) 1, or `ENLARGED` for columns of tiny numbers.
    fill : (k,) what replaces entries that are not usable: the training median of the usable ones.
    marks : (column, kind) of each indicator, kind a position in MARKS; only kinds that occurred in
        training have one.
    huge : columns with finite numbers beyond `LARGEST`, which get their exponent and mantissa.
    rests : the residues that are read, of columns as they come.
    floats : columns whose bits are read. kept : the columns of `bit_features` that varied in
        training.
    """

    taken: np.ndarray | None
    scale: Array
    fill: Array
    marks: tuple[tuple[int, int], ...]
    huge: np.ndarray
    rests: tuple[Residue, ...]
    floats: np.ndarray
    kept: np.ndarray

    @classmethod
    def fit(cls, train: Sides, bits: bool = False) -> Encoder:
        """What the training draws need, all of them read.

        bits : also encode the bits of floats (`bit_features`).
        """
        rests = residues(train)
        taken = most_different(train, MOST) if train.P.shape[1] > MOST else None
        train = train if taken is None else Sides(train.P[:, taken], train.Q[:, taken])
        marks, fill, scale = _marks(train), _fill(train), _scale(train)
        floats = _floats(train) if bits else np.empty(0, dtype=np.intp)
        kept = _varying(train, floats)
        return cls(taken, scale, fill * scale, marks, _huge(train, marks), rests, floats, kept)

    def __call__(self, x: Array) -> Array:
        """Encoded rows; `x` itself, not a copy, where it is usable and nothing is to be changed."""
        width = len(self.fill) + len(self.marks) + 2 * len(self.huge)
        width += len(self.rests) + len(self.kept)
        plain = self.taken is None and not np.any(self.scale != 1.0)
        if plain and width == x.shape[1] and all(map(_all_usable, _chunks(x))):
            return x
        out = np.empty((len(x), width))
        for start in range(0, len(x), CHUNK):
            out[start : start + CHUNK] = self._rows(x[start : start + CHUNK])
        return out

    def sides(self, sides: Sides) -> Sides:
        """The encoded rows of both sides."""
        return Sides(self(sides.P), self(sides.Q))

    def _rows(self, x: Array) -> Array:
        rests = [residue(x[:, column], modulus)[:, None] for column, modulus in self.rests]
        x = x if self.taken is None else x[:, self.taken]
        flags = [
            MARKS[kind](x[:, column]).astype(np.float64)[:, None] for column, kind in self.marks
        ]
        scaled = x * self.scale
        whole = np.where(usable(scaled), scaled, self.fill)
        large = [_halves(x[:, self.huge])] if len(self.huge) else []
        read = np.where(usable(x), x, self.fill)[:, self.floats]
        bits = [bit_features(read)[:, self.kept]] if len(self.kept) else []
        return np.concatenate([whole, *flags, *large, *rests, *bits], axis=1)


def most_different(train: Sides, most: int) -> np.ndarray:
    """Positions of the `most` columns in which the sides differ most, ascending.

    By the ranks of the values among the first draws of both sides, and by the ranks of their
    distances from the median. Columns that are constant are left out, but for the first one.
    """
    pooled, label = train.head(RANKED).stacked()
    parts = np.array_split(pooled, -(-pooled.shape[1] // MOST), axis=1)
    gaps = np.concatenate([_rank_gaps(part, label) for part in parts])
    best = np.argsort(-gaps, kind="stable")[:most]
    return np.sort(best[: max(1, int(np.sum(gaps[best] >= 0.0)))])


def _rank_gaps(x: Array, label: np.ndarray) -> Array:
    """The larger difference of the sides' mean ranks in each column; −1 where it is constant."""
    bits = np.ascontiguousarray(x).view(np.int64)
    ordered = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)  # −0.0 below 0.0, NaN last
    whole = np.clip(np.where(np.isnan(x), np.inf, x), -LARGEST, LARGEST)
    far = np.abs(whole - np.median(whole, axis=0))
    gaps = np.maximum(_mean_ranks_apart(ordered, label), _mean_ranks_apart(far, label))
    return np.where(np.all(ordered == ordered[0], axis=0), -1.0, gaps)


def _mean_ranks_apart(x: np.ndarray, label: np.ndarray) -> Array:
    """The difference of the sides' mean ranks in each column; equal values share their ranks."""
    order = np.argsort(x, axis=0)
    sorted_ = np.take_along_axis(x, order, axis=0)
    place = np.broadcast_to(np.arange(len(x))[:, None], x.shape)
    new = np.vstack([np.ones((1, x.shape[1]), dtype=bool), sorted_[1:] != sorted_[:-1]])
    last = np.vstack([new[1:], np.ones((1, x.shape[1]), dtype=bool)])
    first = np.maximum.accumulate(np.where(new, place, 0), axis=0)
    end = np.minimum.accumulate(np.where(last, place, len(x))[::-1], axis=0)[::-1]
    weight = np.where(label == 1, 1.0 / np.sum(label == 1), -1.0 / np.sum(label == 0))
    return np.asarray(np.abs(np.sum(0.5 * (first + end) * weight[order], axis=0)))


def _halves(x: Array) -> Array:
    """Mantissa and exponent of finite numbers beyond `LARGEST`, (m, k) → (m, 2k); 0 for others."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(x) & ~usable(x), x, 0.0))
    return np.concatenate([mantissa, exponent], axis=1)


def _chunks(x: Array) -> list[Array]:
    return [x[start : start + CHUNK] for start in range(0, len(x), CHUNK)]


def _marks(train: Sides) -> tuple[tuple[int, int], ...]:
    """The indicators; of several that are equal on all training draws only the first.

    Those of entries that are not usable, and of −0.0 where 0.0 occurs too.
    """
    seen = np.zeros((len(MARKS), train.P.shape[1]), dtype=bool)
    plus = np.zeros(train.P.shape[1], dtype=bool)
    for part in (*_chunks(train.P), *_chunks(train.Q)):
        if not _all_usable(part):
            seen[:MINUS_ZERO] |= np.stack([mark(part).any(axis=0) for mark in MARKS[:MINUS_ZERO]])
        if (part == 0.0).any():
            seen[MINUS_ZERO] |= MARKS[MINUS_ZERO](part).any(axis=0)
            plus |= ((part == 0.0) & ~np.signbit(part)).any(axis=0)
    seen[MINUS_ZERO] &= plus
    distinct: dict[bytes, tuple[int, int]] = {}
    for kind, column in np.argwhere(seen):
        flags = [np.packbits(MARKS[kind](side[:, column])).tobytes() for side in (train.P, train.Q)]
        distinct.setdefault(b"|".join(flags), (int(column), int(kind)))
    return tuple(sorted(distinct.values()))


def _fill(train: Sides) -> Array:
    """Median of the usable entries of each column; 0 where there are none."""
    few = train.head(min(MEDIAN_DRAWS, MEDIAN_NUMBERS // max(train.P.shape[1], 1)))
    pooled = np.concatenate([few.P, few.Q])
    finite = usable(pooled)
    columns = zip(pooled.T, finite.T, strict=True)
    return np.array([np.median(column[keep]) if keep.any() else 0.0 for column, keep in columns])


def _scale(train: Sides) -> Array:
    """`ENLARGED` for columns of tiny numbers and zeros alone, else 1."""
    most = np.zeros(train.P.shape[1])
    for part in (*_chunks(train.P), *_chunks(train.Q)):
        part = part if _all_usable(part) else np.where(usable(part), part, 0.0)
        most = np.maximum(most, np.maximum(part.max(axis=0), -part.min(axis=0)))
    return np.where((most > 0.0) & (most < TINY), ENLARGED, 1.0)


def _huge(train: Sides, marks: tuple[tuple[int, int], ...]) -> np.ndarray:
    """Positions of the columns with finite numbers beyond `LARGEST`."""
    if not any(kind in (1, 2) for _, kind in marks):
        return np.empty(0, dtype=np.intp)
    found = np.zeros(train.P.shape[1], dtype=bool)
    for part in (*_chunks(train.P), *_chunks(train.Q)):
        found |= (np.isfinite(part) & ~usable(part)).any(axis=0)
    return np.flatnonzero(found)


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
