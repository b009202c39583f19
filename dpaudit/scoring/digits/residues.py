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

from dpaudit._core.types import Array
from dpaudit.scoring.base import Sides, usable
from dpaudit.scoring.models.screen import surplus

LOOKED_AT, FEWEST = 1 << 15, 200  # numbers a side; and draws a side, of many columns
FIRST = 16  # draws a side that show a lattice; from fewer ones nothing is tried
PLAIN = 2.0  # the modulus that parities and fractions show in
QUARTILES = [0.25, 0.75]
SPREAD = 8.0  # times the modulus that lie between the quartiles of a column
CHANCE = 1e-6  # probability, about, that a column is added although the sides do not differ
REPEATED = 8  # draws that share a value on average, in a column that is left to cells of values
PARTS = 4096  # of the modulus, to which residues are rounded
# of the largest number: what counts as 0, and the smallest spacing of a lattice
ROUNDING, SMALLEST = 2.0**-30, 2.0**-24

Residue = tuple[int, float]  # a column, and a modulus


def residues(train: Sides) -> tuple[Residue, ...]:
    """The residues in which the sides differ."""
    columns = train.P.shape[1]
    few = train.head(max(FEWEST, LOOKED_AT // columns))
    if len(few.P) < FIRST:
        return ()
    P, Q = (np.where(usable(side), side, 0.0) for side in (few.P, few.Q))
    first, pooled = np.stack([P[:FIRST], Q[:FIRST]]), np.concatenate([P, Q])
    low, high = np.quantile(np.concatenate([P[:FEWEST], Q[:FEWEST]]), QUARTILES, axis=0)
    tried = [
        (column, modulus)
        for column in np.flatnonzero(high > low).tolist()
        for modulus in _moduli(first[:, :, column])
        if high[column] - low[column] >= SPREAD * modulus
    ]
    if not tried:
        return ()
    rests = np.column_stack([residue(pooled[:, column], modulus) for column, modulus in tried])
    evidence = surplus(Sides(*np.split(rests, [len(P)])), CHANCE / len(tried))
    return tuple(
        (column, modulus)
        for (column, modulus), shown in zip(tried, evidence, strict=True)
        if shown > 0.0 and len(np.unique(pooled[:, column])) * REPEATED > len(pooled)
    )


def residue(x: Array, modulus: float) -> Array:
    """The rest of each number on division, in whole parts of the modulus, of which there are
    `PARTS`; 0 of what is not finite.
    """
    share = np.where(usable(x), x, 0.0) / modulus
    parts = np.rint((share - np.floor(share)) * PARTS)
    return np.where(parts < PARTS, parts, 0.0)


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
