"""A claim over a range of settings: where it fails most, how often, and how loose it is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpaudit.errors import DpauditError
from reports.make.findings.evidence import Evidence, Grid, Test


@dataclass(frozen=True)
class Sweep:
    """cases : settings that the statement admits. failed : those at which it fails.

    worst : the setting that fails by the largest factor (or has no value), with its evidence; where
    none fails, the one that is closest to failing. loosest : the largest factor by which it holds,
    None if it never does.
    """

    cases: int
    failed: int
    worst: Mapping[str, Any]
    evidence: Evidence
    loosest: float | None


def sweep(test: Test, grid: Grid, setting: Mapping[str, Any] | None = None) -> Sweep:
    """Try `test` at `setting` changed to every point of `grid` that the statement admits.

    The test raises one of this package's errors at a point that the statement excludes. Raises
    `ValueError` if it excludes them all.
    """
    found = [
        (at, one) for at in _points(grid, setting or {}) if (one := _tried(test, at)) is not None
    ]
    if not found:
        raise ValueError("the statement admits no setting of this grid")
    at, evidence = max(found, key=lambda pair: _badness(pair[1]))
    held = [one.factor for _, one in found if not one.violated and one.factor is not None]
    failed = sum(one.violated for _, one in found)
    return Sweep(len(found), failed, at, evidence, max(held) if held else None)


def _points(grid: Grid, setting: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {**setting, **dict(zip(grid, values, strict=True))}
        for values in itertools.product(*grid.values())
    ]


def _tried(test: Test, at: Mapping[str, Any]) -> Evidence | None:
    try:
        return test(**at)
    except DpauditError:
        return None


def _badness(evidence: Evidence) -> tuple[int, float]:
    """Failing before holding; the larger factor if it fails, the smaller if it holds."""
    factor = math.inf if evidence.factor is None else evidence.factor
    return (1, factor) if evidence.violated else (0, -factor)
