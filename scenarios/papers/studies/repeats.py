"""Errors over the repeats of a study: lines with bands, table cells, sentences; checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.report.study import Line
from dpaudit.verdict.numbers import number

Errors = Mapping[str, Array]
HEADS = ("method", "mean", "standard deviation", "median")


def band(label: str, x: Sequence[float], errors: Sequence[Array]) -> Line:
    """Means with one standard deviation to each side, for a log scale.

    The lower ends are not below the least error that occurred.
    """
    mean = np.array([np.mean(one) for one in errors])
    deviation = np.array([np.std(one) for one in errors])
    low = np.maximum(mean - deviation, [one.min() for one in errors]).tolist()
    return Line(label, list(x), mean.tolist(), low, (mean + deviation).tolist(), role="band")


def cells(errors: Errors) -> list[tuple[Any, ...]]:
    """A row for each method: its name, and mean, deviation and median as in HEADS."""
    return [(label, one.mean(), one.std(), np.median(one)) for label, one in errors.items()]


def comparison(where: str, errors: Errors, one: str, other: str) -> str:
    """One sentence: both means with deviations and medians, and how often the first is smaller."""
    share = float(np.mean(errors[one] < errors[other]))
    said = " and of ".join(f"{name} {spread(errors[name])}" for name in (one, other))
    return f"{where}: the error of {said}; the first is the smaller in {share:.0%} of the repeats."


def spread(errors: Array) -> str:
    """Mean, deviation and median in words."""
    mean, deviation, median = (number(float(f(errors)), 3) for f in (np.mean, np.std, np.median))
    return f"is {mean} ± {deviation} (median {median})"


def span(values: Sequence[float] | Array) -> str:
    """The least and the largest value in words: "0.1 to 3"."""
    return f"{number(float(min(values)), 3)} to {number(float(max(values)), 3)}"


def ranked(means: Mapping[str, float]) -> str:
    """Each name with its mean, the least mean first: "ALS 0.1, Gaussian LS 0.3"."""
    return ", ".join(f"{name} {number(means[name], 3)}" for name in sorted(means, key=means.get))


def check_repeats(repeats: int, draws: int) -> None:
    """Raises `InvalidInput` unless `repeats` is a multiple of the draws on each database."""
    check.integer("draws", draws, 1)
    if check.integer("repeats", repeats, 2) % draws:
        fail("repeats", repeats, f"a multiple of draws = {draws}")


def check_one_for_each(study: Any, *names: str) -> None:
    """Raises `InvalidInput` unless each setting has as many values as there are data sets."""
    for name in names:
        if len(getattr(study, name)) != len(study.data):
            wanted = f"one for each of the {len(study.data)} data sets"
            fail(name, getattr(study, name), wanted)


def positive(name: str, values: Sequence[Any], whole: bool = False) -> None:
    """Raises `InvalidInput` unless `values` are numbers > 0 (integers if `whole`), one or more."""
    if not values:
        fail(name, values, "a list of at least one number")
    for value in values:
        if whole:
            check.integer(name, value, 1)
        else:
            check.real(name, value, 0.0, open_=True)
