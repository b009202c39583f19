"""Errors over the repeats of a study: lines with bands, a table's cells, sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit import _check
from dpaudit._check import Array, fail
from dpaudit.report.text import number
from dpaudit.studies.content import Line

Errors = Mapping[str, Array]
HEADS = ("method", "mean", "standard deviation", "median")


def band(label: str, x: Sequence[float], errors: Sequence[Array]) -> Line:
    """Means with one standard deviation to each side, cut below at the least error that occurred (scales are log)."""
    mean, spread = (np.array([function(one) for one in errors]) for function in (np.mean, np.std))
    low = np.maximum(mean - spread, [one.min() for one in errors])
    return Line(label, list(x), mean.tolist(), low.tolist(), (mean + spread).tolist(), role="band")


def comparison(where: str, errors: Errors, one: str, other: str) -> str:
    """One sentence: both means with their deviations, and how often the first error is the smaller."""
    means = (f"{number(errors[name].mean(), 3)} ± {number(errors[name].std(), 3)}" for name in (one, other))
    said = " and of ".join(f"{name} {mean}" for name, mean in zip((one, other), means, strict=True))
    share = np.mean(errors[one] < errors[other])
    return f"{where}: the error of {said} (mean ± deviation); the first is the smaller in {share:.0%} of the repeats."


def counted(repeats: int, draws: int) -> None:
    """Raises `InvalidInput` unless the repeats come in whole databases."""
    _check.integer("draws", draws, 1)
    if _check.integer("repeats", repeats, 2) % draws:
        fail("repeats", repeats, f"a multiple of draws = {draws}")


def positive(name: str, values: Sequence[Any], whole: bool = False) -> None:
    """Raises `InvalidInput` unless it is a list of numbers > 0 (integers, if `whole`)."""
    if not values:
        fail(name, values, "a list of at least one number")
    for value in values:
        if whole:
            _check.integer(name, value, 1)
        else:
            _check.real(name, value, 0.0, open_=True)
