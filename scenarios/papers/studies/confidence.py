"""Means over databases and draws, with Student's interval over the independent databases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import t

from dpaudit._core.types import Array
from dpaudit.report.study import Line

LEVEL = 0.95


def interval(values: Array) -> tuple[float, float, float]:
    """Mean and the ends of its 95 % interval, for values (databases, draws)."""
    means = values.mean(axis=1)
    half = float(t.ppf(0.5 + 0.5 * LEVEL, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means)))
    middle = float(means.mean())
    return middle, middle - half, middle + half


def with_band(
    label: str, x: Sequence[float], values: Sequence[Array], *, positive: bool = False
) -> Line:
    """A line of means with their intervals, one for each x.

    `positive`: for a log scale, no lower end is below the least mean of a database.
    """
    mean, low, high = np.array([interval(one) for one in values]).T
    if positive:
        low = np.maximum(low, [one.mean(axis=1).min() for one in values])
    return Line(label, list(x), mean.tolist(), low.tolist(), high.tolist(), role="band")
