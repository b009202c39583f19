"""What is left of a column's numbers on division, where it tells the sides apart.

A score that goes by the size of a number sees neither the parity of large integers, nor the
fraction of large reals, nor on which lattice an answer with discrete noise lies. So residues are
looked at in a few training draws, and become columns where a test finds that the sides differ.
Numbers spread over many times the modulus have nearly the same residues whatever smooth law they
have, so that what the test finds is seen in no other column.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from scipy.special import chdtri

from dpaudit._core.types import Array
from dpaudit.scoring.base import Sides, usable

LOOKED_AT, FEWEST = 1 << 16, 200  # numbers a side; and draws a side, of many columns
FIRST = 16  # draws a side that show a lattice
PLAIN = 2.0  # the modulus that parities and fractions show in
SPREAD = 8.0  # times the modulus that the middle half of a column must span
CHANCE = 1e-6  # probability at most that a column is added although the sides do not differ
BINS, LEAST = 32, 16  # cells of the test, and draws of both sides in each of them
REPEATED = 8  # draws that share a value on average: cells of values read such a column
PARTS = 4096  # of the modulus, to which residues are rounded
# of the largest number: what counts as 0, and the smallest spacing of a lattice
ROUNDING, SMALLEST = 2.0**-30, 2.0**-24

Residue = tuple[int, float]  # a column, and a modulus


def residues(train: Sides) -> tuple[Residue, ...]:
    """The residues in which the sides differ."""
    columns = train.P.shape[1]
    few = train.head(max(FEWEST, LOOKED_AT // columns))
    if len(few.P) < LEAST:
        return ()
    pooled, label = few.stacked()
    pooled = np.where(usable(pooled), pooled, 0.0)
    first = np.stack([side[:FIRST] for side in np.split(pooled, [len(few.P)])])
    low, high = np.quantile(pooled[:: -(-len(pooled) // FEWEST)], [0.25, 0.75], axis=0)
    return tuple(
        (column, modulus)
        for column in np.flatnonzero(high > low).tolist()
        for modulus in _moduli(first[:, :, column])
        if high[column] - low[column] >= SPREAD * modulus
        and _differs(pooled[:, column], modulus, label, CHANCE / (2 * columns))
    )


def residue(x: Array, modulus: float) -> np.ndarray:
    """The rest of each number on division: a whole number of parts of the modulus, of which there
    are `PARTS`; 0 of what is not finite.
    """
    share = np.where(usable(x), x, 0.0) / modulus
    return np.rint((share - np.floor(share)) * PARTS).astype(np.intp) % PARTS


def _moduli(first: Array) -> Iterable[float]:
    """`PLAIN`, and twice the spacing of the lattice that each side is on, if there is one."""
    gaps = np.sort(np.abs(first[:, 1:] - first[:, :1]).ravel())[::-1]
    spacing = _spacing(gaps.tolist(), float(np.abs(first).max()))
    return sorted({PLAIN, 2.0 * spacing or PLAIN})


def _spacing(gaps: list[float], largest: float) -> float:
    """The common divisor of gaps between numbers up to `largest`, by Euclid; 0 where it is only
    their rounding. The first gap is the largest, whose rounding matters least to its divisors.
    """
    spacing = gaps[0]
    for gap in gaps:
        while gap > ROUNDING * largest:
            spacing, gap = gap, abs(math.remainder(spacing, gap))
        if spacing <= SMALLEST * largest:
            return 0.0
        spacing = gaps[0] / round(gaps[0] / spacing)
    return spacing


def _differs(values: Array, modulus: float, label: np.ndarray, chance: float) -> bool:
    """Whether the sides' residues differ, by a χ² test of cells with as many draws in each.

    Values that come again often are left to the cells of values.
    """
    size = len(values)
    rests = residue(values, modulus) + PARTS * label
    counts = np.bincount(rests, minlength=2 * PARTS).reshape(2, PARTS)
    below = np.cumsum(counts.sum(axis=0)) - counts.sum(axis=0)
    first = np.unique(below * min(BINS, size // LEAST) // size, return_index=True)[1]
    cells = np.add.reduceat(counts, first, axis=1)
    cells = cells[:, cells.any(axis=0)]
    statistic = float(((cells[0] - cells[1]) ** 2 / cells.sum(axis=0)).sum())
    if len(cells.T) < 2 or statistic <= chdtri(len(cells.T) - 1, chance):
        return False
    return len(np.unique(values)) * REPEATED > size
