"""The bits of floats as numbers."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array

MANTISSA = np.int64((1 << 52) - 1)
HIDDEN = np.int64(1 << 52)  # the leading one that normal numbers do not store
LOW_BITS = 4
NO_GRID = 1024.0  # for zero, which lies on every grid: above the lowest bit of any other number
NO_EXPONENT = -1100.0  # for zero: below the exponent of any other number


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
