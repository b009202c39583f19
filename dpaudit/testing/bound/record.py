"""What a search has tried: each point once, within a budget."""

from __future__ import annotations

from collections.abc import Iterable

from dpaudit.testing.bound.domain import Domain, Point
from dpaudit.testing.bound.inequality import Inequality, Miss, Trial

ASKED = 50  # points asked for, for each that may be tried: most may be excluded, or be known


class Record:
    """The points of one search and what was found there.

    trials : where both sides have a value. excluded, undecided : how many other points were asked
    for. asked : how often one was asked for, known or not.
    """

    def __init__(self, domain: Domain, inequality: Inequality) -> None:
        self.domain = domain
        self.inequality = inequality
        self.trials: dict[Point, Trial] = {}
        self._missed: set[Point] = set()
        self.asked = self.excluded = self.undecided = 0

    @property
    def tried(self) -> int:
        """Points at which both sides were computed."""
        return len(self.trials)

    def open(self, goal: int) -> bool:
        """Whether fewer than `goal` points have been computed, with a limit for those excluded."""
        return self.tried + self.undecided < goal and self.asked < ASKED * goal

    def at(self, point: Point) -> Trial | None:
        """The trial at a point, computed if it is new; None where there is none."""
        self.asked += 1
        if point in self.trials:
            return self.trials[point]
        if point in self._missed:
            return None
        found = self.inequality.at(self.domain.setting(point))
        if isinstance(found, Miss):
            self._missed.add(point)
            self.excluded += found is Miss.EXCLUDED
            self.undecided += found is Miss.UNDECIDED
            return None
        self.trials[point] = found
        return found

    def best(self) -> list[Point]:
        """The points tried, those with the largest excess first."""
        return sorted(self.trials, key=lambda one: self.trials[one].rank, reverse=True)

    def failures(self) -> list[Point]:
        """The points at which the bound fails."""
        return [point for point, trial in self.trials.items() if trial.fails]

    def largest(self, points: Iterable[Point]) -> Point | None:
        """The point of the largest excess among some; None of none."""
        return max(points, key=lambda one: self.trials[one].rank, default=None)
