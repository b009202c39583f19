"""Noise of another width in the outputs: `scale * rng.standard_normal()` shows no scale when drawn.

With the same random numbers, noise of a fixed width moves both outputs alike: M(D') = a + M(D). If
M(D') = a + b M(D) for all draws, with b other than 1 and a other than 0, an output is an answer and
noise b times as wide on D' as on D. (With a = 0 there is no answer beside the noise, as where a
random projection releases noise that is shaped by the data on purpose.)
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.sampling.replay.compare import Difference, Rows

FEWEST = 5  # different values of an output: two fix a line, and the others lie on it
ROUNDING = 1e-9  # of the largest value
APART = 1e-6  # by which b differs from 1, and a, in units of the largest value, from 0


def other_width(left: Array, right: Array, rows: Rows) -> Difference | None:
    """From outputs with common random numbers, (m, k) on D and on D'; None where none is seen."""
    if left.shape != right.shape or left.dtype.kind != "f" or right.dtype.kind != "f":
        return None
    for column, (ours, theirs) in enumerate(zip(left.T, right.T, strict=True), start=1):
        if widened(ours, theirs):
            text = f"The width of the noise in output {column} {rows.words}."
            return Difference("width", text, column)
    return None


def widened(left: Array, right: Array) -> bool:
    """Whether right = a + b·left with b ≠ 1 and a ≠ 0, (m,) each."""
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return False
    if len(np.unique(left)) < FEWEST or len(np.unique(right)) < FEWEST:
        return False
    low, high = int(np.argmin(left)), int(np.argmax(left))
    slope = (right[high] - right[low]) / (left[high] - left[low])
    at_zero = right[low] - slope * left[low]
    largest = np.abs(right).max()
    exact = np.abs(right - at_zero - slope * left).max() <= ROUNDING * largest
    return bool(exact and abs(slope - 1.0) > APART and abs(at_zero) > APART * largest)
