"""Means over databases and draws, with Student's interval over the databases, which are what is
independent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import t

from dpaudit._core.check import Array
from dpaudit.report.studies.content import Line

LEVEL = 0.95


def interval(values: Array) -> tuple[float, float, float]:
    """Mean and the ends of its 95 % interval, of (databases, draws)."""
    means = values.mean(axis=1)
    half = float(t.ppf(0.5 + 0.5 * LEVEL, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means)))
    middle = float(means.mean())
    return middle, middle - half, middle + half


def with_band(
    label: str, x: Sequence[float], values: Sequence[Array], *, positive: bool = False
) -> Line:
    """A line of means with their intervals, one for each x; `positive` cuts below at the least mean
    of a database.
    """
    found = np.array([interval(one) for one in values])
    low = (
        np.maximum(found[:, 1], [one.mean(axis=1).min() for one in values])
        if positive
        else found[:, 1]
    )
    return Line(
        label, list(x), found[:, 0].tolist(), low.tolist(), found[:, 2].tolist(), role="band"
    )
