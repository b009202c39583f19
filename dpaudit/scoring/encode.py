"""Finite columns for every outcome.

The encoder marks NaN, infinities, overflows and the sign of zero, and enlarges tiny numbers. Digits
of numbers that their size does not show become columns where they tell the sides apart: remainders
on division, and the bits of floats. Of very many columns it uses those that differ most.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpaudit._core.linalg import medians
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Sides
from dpaudit.scoring.models.screen import surplus

TINY, ENLARGED = 2.0**-900, 2.0**600  # numbers below TINY are multiplied by ENLARGED, exactly
MANTISSA = np.int64((1 << 52) - 1)
HIDDEN = np.int64(1 << 52)  # the leading one that normal numbers do not store
NO_GRID = 1024.0  # the grid of zero, which is on every grid: above the lowest bit of all others
NO_EXPONENT = -1100.0  # the exponent of zero: below that of any other number
# the kinds of entries that have a mark: the first three are not usable
MARKS: tuple[Callable[[Array], np.ndarray], ...] = (
    np.isnan,
    lambda x: x > constants.LARGEST,
    lambda x: x < -constants.LARGEST,
    lambda x: (x == 0.0) & np.signbit(x),
)
MINUS_ZERO = 3  # position in MARKS
Remainder = tuple[int, float]  # a column, and the modulus that it is divided by


def usable(x: Array) -> np.ndarray:
    """Where x is a finite number of at most `constants.LARGEST` in magnitude."""
    return np.asarray(np.abs(x) <= constants.LARGEST)


def all_usable(x: Array) -> bool:
    """Whether all entries are usable, without a copy: a NaN makes both comparisons false."""
    return x.size == 0 or bool(x.max() <= constants.LARGEST and x.min() >= -constants.LARGEST)


@value_class
class Encoder:
    """Rows (m, k) → finite rows (m, k'): the chosen columns, then indicators, then other columns.

    chosen : positions of the columns that are used, None for all; other positions below are among
        these. scale : (k,), 1, or `ENLARGED` for columns of tiny numbers.
    fill : (k,), replaces entries that are not usable: the training median of the usable entries.
    marks : (column, kind) of each indicator, with kind a position in MARKS; only kinds that
        occurred in training have one.
    huge : columns with finite numbers beyond `constants.LARGEST`, whose exponent and mantissa
        become columns.
    remainders : the remainders that become columns; their positions are those in the rows.
    floats : columns whose bits are read. bits : the columns of `bit_features` that varied in
        training.
    """

    chosen: np.ndarray | None
    scale: Array
    fill: Array
    marks: tuple[tuple[int, int], ...]
    huge: np.ndarray
    remainders: tuple[Remainder, ...]
    floats: np.ndarray
    bits: np.ndarray

    @classmethod
    def fit(cls, train: Sides, bits: bool = False) -> Encoder:
        """The encoder for these training draws, all of which are read.

        bits : also encode the bits of floats (`bit_features`).
        """
        divided = telling_remainders(train)
        many = train.P.shape[1] > constants.MOST_COLUMNS
        chosen = most_different(train, constants.MOST_COLUMNS) if many else None
        train = train if chosen is None else Sides(train.P[:, chosen], train.Q[:, chosen])
        marks, huge, scale = _unusual_entries(train)
        most = max(constants.MEDIAN_NUMBERS // max(train.P.shape[1], 1), 1)
        rows = train.head(min(constants.MEDIAN_DRAWS, most)).stacked()[0]
        if all_usable(rows):
            fill = medians(rows)
        else:
            columns = (column[usable(column)] for column in rows.T)
            fill = np.array([np.median(column) if len(column) else 0.0 for column in columns])
        floats = varying = np.empty(0, dtype=np.intp)
        if bits:
            pooled = train.head(constants.BIT_DRAWS).stacked()[0]
            pooled = np.where(usable(pooled), pooled, 0.0)
            floats = np.flatnonzero((pooled != np.rint(pooled)).any(axis=0))
            if len(floats):
                varying = np.flatnonzero(np.ptp(bit_features(pooled[:, floats]), axis=0) > 0.0)
        return cls(chosen, scale, fill * scale, marks, huge, divided, floats, varying)

    def __call__(self, x: Array) -> Array:
        """The encoded rows; `x` itself, not a copy, where nothing in it has to change."""
        width = len(self.fill) + len(self.marks) + 2 * len(self.huge)
        width += len(self.remainders) + len(self.bits)
        plain = self.chosen is None and not np.any(self.scale != 1.0)
        if plain and width == x.shape[1] and all_usable(x):
            return x
        out = np.empty((len(x), width))
        for start in range(0, len(x), constants.CHUNK_ROWS):
            rows = slice(start, start + constants.CHUNK_ROWS)
            out[rows] = self._encoded(x[rows])
        return out

    def sides(self, sides: Sides) -> Sides:
        """The encoded rows of both sides."""
        return Sides(self(sides.P), self(sides.Q))

    def _encoded(self, x: Array) -> Array:
        divided = [remainder(x[:, column], modulus) for column, modulus in self.remainders]
        x = x if self.chosen is None else x[:, self.chosen]
        scaled = x * self.scale
        columns = [np.where(usable(scaled), scaled, self.fill)]
        columns += [MARKS[kind](x[:, column]).astype(np.float64) for column, kind in self.marks]
        if len(self.huge):
            far = x[:, self.huge]
            columns += np.frexp(np.where(np.isfinite(far) & ~usable(far), far, 0.0))
        columns += divided
        if len(self.bits):
            read = np.where(usable(x), x, self.fill)[:, self.floats]
            columns.append(bit_features(read)[:, self.bits])
        return np.column_stack(columns)


def _unusual_entries(train: Sides) -> tuple[tuple[tuple[int, int], ...], np.ndarray, Array]:
    """The indicators (column, kind), the columns of huge numbers, and the scales, (k,), of an
    `Encoder`.

    Entries that are not usable get an indicator, and so does −0.0 where 0.0 occurs too. Of several
    indicators that are equal on all training draws only the first is used.
    """
    size = train.P.shape[1]
    seen, (plus, huge) = np.zeros((len(MARKS), size), bool), np.zeros((2, size), bool)
    most = np.zeros(size)
    for side in (train.P, train.Q):
        for start in range(0, len(side), constants.CHUNK_ROWS):
            part = side[start : start + constants.CHUNK_ROWS]
            finite = part
            if not all_usable(part):
                inside = usable(part)
                finite = np.where(inside, part, 0.0)
                huge |= (np.isfinite(part) & ~inside).any(axis=0)
                for kind in range(MINUS_ZERO):
                    seen[kind] |= MARKS[kind](part).any(axis=0)
            if (part == 0.0).any():
                minus = MARKS[MINUS_ZERO](part)
                seen[MINUS_ZERO] |= minus.any(axis=0)
                plus |= ((part == 0.0) & ~minus).any(axis=0)
            most = np.maximum(most, np.maximum(finite.max(axis=0), -finite.min(axis=0)))
    seen[MINUS_ZERO] &= plus
    distinct: dict[bytes, tuple[int, int]] = {}
    for kind, column in np.argwhere(seen):
        flags = [np.packbits(MARKS[kind](side[:, column])).tobytes() for side in (train.P, train.Q)]
        distinct.setdefault(b"|".join(flags), (int(column), int(kind)))
    scale = np.where((most > 0.0) & (most < TINY), ENLARGED, 1.0)
    return tuple(sorted(distinct.values())), np.flatnonzero(huge), scale


def most_different(train: Sides, most: int) -> np.ndarray:
    """Positions of the `most` columns in which the sides differ most, ascending.

    A column is judged by the ranks of its values among the first draws of both sides, and by the
    ranks of their distances from the median. Constant columns are left out, except for the first.
    """
    pooled, label = train.head(constants.RANKED_DRAWS).stacked()
    parts = np.array_split(pooled, -(-pooled.shape[1] // constants.MOST_COLUMNS), axis=1)
    gaps = []
    for x in parts:
        bits = np.ascontiguousarray(x).view(np.int64)
        # −0.0 is below 0.0, and NaN is last
        ordered = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
        finite = np.clip(np.where(np.isnan(x), np.inf, x), -constants.LARGEST, constants.LARGEST)
        far = np.abs(finite - medians(finite))
        gap = np.maximum(_rank_gaps(ordered, label), _rank_gaps(far, label))
        gaps.append(np.where(np.all(ordered == ordered[0], axis=0), -1.0, gap))
    gap = np.concatenate(gaps)
    best = np.argsort(-gap, kind="stable")[:most]
    return np.sort(best[: max(1, int(np.sum(gap[best] >= 0.0)))])


def _rank_gaps(x: np.ndarray, label: np.ndarray) -> Array:
    """The absolute difference of the sides' mean ranks in each column, (k,)."""
    from scipy.stats import rankdata  # here: slow to import, and few outputs are so wide

    ranks = rankdata(x, axis=0)
    return np.abs(ranks[label == 1].mean(axis=0) - ranks[label == 0].mean(axis=0))


def telling_remainders(train: Sides) -> tuple[Remainder, ...]:
    """The remainders on division in which the sides differ.

    A score that sees only the size of a number misses the parity of large integers, the fraction of
    large reals, and the lattice of an answer with discrete noise. So two moduli are tried on a few
    training draws of each column: 2, and twice the spacing of the lattice that each side is on.
    Numbers spread over many times the modulus have nearly the same remainders under every smooth
    law, so no other column shows the difference that this test finds.
    """
    few = train.head(
        max(constants.REMAINDER_DRAWS, constants.REMAINDER_NUMBERS // train.P.shape[1])
    )
    if len(few.P) < constants.LATTICE_DRAWS:
        return ()
    P, Q = np.where(usable(few.P), few.P, 0.0), np.where(usable(few.Q), few.Q, 0.0)
    pooled, start = np.concatenate([P, Q]), constants.REMAINDER_DRAWS
    low, high = np.quantile(np.concatenate([P[:start], Q[:start]]), [0.25, 0.75], axis=0)
    tried: list[Remainder] = []
    for column in np.flatnonzero(high > low).tolist():
        first = np.stack(
            [P[: constants.LATTICE_DRAWS, column], Q[: constants.LATTICE_DRAWS, column]]
        )
        for modulus in sorted({2.0, 2.0 * lattice_spacing(first) or 2.0}):
            if high[column] - low[column] >= constants.REMAINDER_SPREAD * modulus:
                tried.append((column, modulus))
    if not tried:
        return ()
    columns = np.column_stack([remainder(pooled[:, column], m) for column, m in tried])
    evidence = surplus(Sides(*np.split(columns, [len(P)])), constants.BY_CHANCE / len(tried))
    telling = []
    for (column, modulus), nats in zip(tried, evidence, strict=True):
        values = len(np.unique(pooled[:, column]))
        if nats > 0.0 and values * constants.REPEATED > len(pooled):
            telling.append((column, modulus))
    return tuple(telling)


def remainder(x: Array, modulus: float) -> Array:
    """The remainder of each number, to 1/`MODULUS_PARTS` of the modulus; 0 if not finite."""
    share = np.where(usable(x), x, 0.0) / modulus
    parts = np.rint((share - np.floor(share)) * constants.MODULUS_PARTS)
    return np.where(parts < constants.MODULUS_PARTS, parts, 0.0)


def lattice_spacing(first: Array) -> float:
    """The common divisor, by Euclid, of the gaps between numbers of each side, (2, m).

    The result is 0 where the divisor is no larger than rounding. The largest gap comes first,
    because its rounding matters least to its divisors.
    """
    gaps = np.sort(np.abs(first[:, 1:] - first[:, :1]).ravel())[::-1].tolist()
    largest, spacing = float(np.abs(first).max()), gaps[0]
    for gap in gaps:
        while gap > constants.ROUNDING * largest:
            spacing, gap = gap, abs(math.remainder(spacing, gap))
        if spacing <= constants.FINEST_LATTICE * largest:
            return 0.0
        spacing = gaps[0] / round(gaps[0] / spacing)
    return float(spacing)


def bit_features(x: Array) -> Array:
    """Eight numbers on the bits of each finite float, (m, k) → (m, 8k), column by column.

    They are the exponent j of its lowest set bit, so that 2^j ℤ is the coarsest grid with the
    number on it; its own exponent; the lowest 4 bits of its mantissa; whether it is 0; whether it
    is −0. Mironov's attack reads the grid (CCS 2012): a sum is rounded to the grid of its larger
    term, and so reveals it.
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
        *((stored >> bit) & 1 for bit in range(4)),
        zero,
        zero & (raw < 0),
    ]
    return np.stack(columns, axis=2, dtype=np.float64).reshape(len(x), -1)
