"""Better points from those that are known: differential evolution, and climbs from the best."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.testing.bound.domain import Point
from dpaudit.testing.bound.ranges import Choices, Integers
from dpaudit.testing.bound.record import Record

FLOCK = 16  # points of one evolution
APART = 0.1  # the least distance of two starts, in the largest of their places
STEPS = (0.2, 1e-5)  # of a climb: the first, and the one at which it ends
Rank = tuple[float, float]
LOWEST: Rank = (-np.inf, -np.inf)


def evolve(record: Record, rng: np.random.Generator, goal: int) -> None:
    """Differential evolution (Storn and Price 1997, towards the best), begun anew when it stalls.

    Its flock is made of the best points known and of others at random.
    """
    while record.open(goal):
        flock, ranks = _flock(record, rng)
        while record.open(goal) and np.ptp(flock, axis=0).max() > STEPS[1]:
            if not _generation(record, rng, flock, ranks, goal):
                break


def _flock(record: Record, rng: np.random.Generator) -> tuple[Array, list[Rank]]:
    known, dim = record.best(), len(record.domain.names)
    chosen = known[: FLOCK // 2]
    others = known[FLOCK // 2 :]
    picks = rng.permutation(len(others))[: FLOCK - len(chosen)]
    chosen = [*chosen, *(others[int(pick)] for pick in picks)]
    flock = rng.random((FLOCK, dim))
    for row, point in enumerate(chosen):
        flock[row] = record.domain.places(point)
    ranks = [record.trials[point].rank for point in chosen]
    return flock, ranks + [LOWEST] * (FLOCK - len(chosen))


def _generation(
    record: Record, rng: np.random.Generator, flock: Array, ranks: list[Rank], goal: int
) -> bool:
    """One child of each; it takes the place of its parent if it is no worse. Whether any is new."""
    before, dim = record.tried, len(record.domain.names)
    for parent in range(FLOCK):
        if not record.open(goal):
            break
        best = flock[max(range(FLOCK), key=ranks.__getitem__)]
        one, other = flock[rng.choice(FLOCK, 2, replace=False)]
        weight, crossing = rng.uniform(0.3, 1.0), rng.random(dim) < 0.8
        crossing[rng.integers(dim)] = True
        child = flock[parent] + weight * (best - flock[parent]) + weight * (one - other)
        child = np.where(crossing, _folded(child), flock[parent])
        trial = record.at(record.domain.point(child))
        if trial is not None and trial.rank >= ranks[parent]:
            flock[parent], ranks[parent] = child, trial.rank
    return record.tried > before


def climb(record: Record, rng: np.random.Generator, goal: int) -> None:
    """Random steps that grow where they gain and shrink where not, from distinct good points.

    Where all starts are used up, from points at random.
    """
    starts = _apart(record)
    while record.open(goal):
        start = (
            starts.pop(0) if starts else record.domain.point(rng.random(len(record.domain.names)))
        )
        _climb_from(record, rng, start, goal)


def _climb_from(record: Record, rng: np.random.Generator, start: Point, goal: int) -> None:
    trial, step = record.at(start), STEPS[0]
    here, rank = start, LOWEST if trial is None else trial.rank
    while step > STEPS[1] and record.open(goal):
        there = _step(record, rng, here, step)
        trial = record.at(there)
        gained = trial is not None and trial.rank > rank
        step = min(step * (2.0 if gained else 0.8), 0.5)
        if trial is not None and gained:
            here, rank = there, trial.rank


def _step(record: Record, rng: np.random.Generator, here: Point, step: float) -> Point:
    """Some parameters moved: a number by about `step`, a whole one by 1 at least, a choice anew."""
    domain, dim = record.domain, len(here)
    moved = rng.random(dim) < max(0.4, 1.0 / dim)
    moved[rng.integers(dim)] = True
    places = np.asarray(domain.places(here)) + step * rng.standard_normal(dim)
    there = list(here)
    for index, one in enumerate(domain.ranges):
        if not moved[index]:
            continue
        place = rng.random() if isinstance(one, Choices) else float(_folded(places[index]))
        there[index] = one.at(place)
        if isinstance(one, Integers) and there[index] == here[index]:
            next_to = here[index] + (1 if rng.random() < 0.5 else -1)
            there[index] = min(max(next_to, one.low), one.high)
    return tuple(there)


def _folded(places: Array) -> Array:
    """Into [0, 1]: to the edge from just outside, so that edges are reached, else back inside."""
    near = np.clip(places, 0.0, 1.0)
    return np.where(np.abs(places - near) < 0.25, near, np.abs((places + 1.0) % 2.0 - 1.0))


def _apart(record: Record) -> list[Point]:
    """The best points that are no neighbours of a better one."""
    kept: list[Point] = []
    seen = np.empty((0, len(record.domain.names)))
    for point in record.best():
        places = np.asarray(record.domain.places(point))
        if not len(seen) or np.abs(seen - places).max(axis=1).min() > APART:
            kept, seen = [*kept, point], np.vstack([seen, places])
        if len(kept) == FLOCK:
            break
    return kept
