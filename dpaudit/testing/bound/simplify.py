"""The simplest setting at which a bound still fails, as property-based testing shrinks a failure.

One parameter after another is made simpler (fewer digits, smaller whole numbers, earlier choices)
as long as the bound fails by a fair part of what it failed by before.
"""

from __future__ import annotations

import math

from dpaudit.testing.bound.domain import Point
from dpaudit.testing.bound.inequality import Trial
from dpaudit.testing.bound.record import Record

PART = 0.5  # of the worst excess, or
CLEAR = math.log(2.0)  # a factor of 2: what a simpler failure has to keep
ROUNDING = 1e-9


def simplest(record: Record, worst: Point, goal: int) -> Point:
    """From the worst failure and from the plainest one that is known; the simpler of the results.

    goal : points that may have been computed in the end.
    """
    enough = _enough(record.trials[worst])
    known = [one for one in record.failures() if _kept(record.trials[one], enough)]
    plainest = min(known, key=record.domain.complexity, default=worst)
    ends = [_simplified(record, start, enough, goal) for start in dict.fromkeys((plainest, worst))]
    return min(ends, key=record.domain.complexity)


def _enough(worst: Trial) -> float:
    """The excess that a simpler failure must have; NaN where the bound has no value."""
    if math.isnan(worst.printed):
        return math.nan
    return (1.0 - ROUNDING) * min(PART * worst.excess, CLEAR)


def _kept(trial: Trial | None, enough: float) -> bool:
    if trial is None or not trial.fails or math.isnan(trial.printed) != math.isnan(enough):
        return False
    return math.isnan(enough) or trial.excess >= enough


def _simplified(record: Record, point: Point, enough: float, goal: int) -> Point:
    before = None
    while point != before:
        before = point
        for index in range(len(point)):
            point = _one_simpler(record, point, index, enough, goal)
    return point


def _one_simpler(record: Record, point: Point, index: int, enough: float, goal: int) -> Point:
    """The point with its `index`-th parameter as simple as the failure allows."""
    for code in record.domain.ranges[index].simpler(point[index]):
        if not record.open(goal):
            return point
        other = (*point[:index], code, *point[index + 1 :])
        if _kept(record.at(other), enough):
            return other
    return point
