"""The first points of a search: corners, edges, and points spread evenly over the domain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from dpaudit._core.types import Array
from dpaudit.testing.bound.domain import Domain, Point
from dpaudit.testing.bound.ranges import Code
from dpaudit.testing.bound.record import Record

BATCH = 64
TO_AN_EDGE = 0.5  # probability that a parameter of an edge point is moved to an edge


def corners(record: Record, rng: np.random.Generator, goal: int) -> None:
    """Every parameter at an end of its range: all such points, or as many at random as fit."""
    ends = [(one.edges[0], one.edges[-1]) for one in record.domain.ranges]
    points = itertools.product(*ends) if 2 ** len(ends) <= goal else _some(ends, rng, goal)
    for point in points:
        if record.open(goal):
            record.at(point)


def _some(
    ends: Sequence[tuple[Code, Code]], rng: np.random.Generator, size: int
) -> Iterator[Point]:
    for row in rng.integers(0, 2, (size, len(ends))):
        yield tuple(two[int(one)] for two, one in zip(ends, row, strict=True))


def spread(record: Record, rng: np.random.Generator, goal: int) -> None:
    """Halton points, shifted at random modulo 1, each also with some parameters at their edges."""
    for places in _halton(record.domain, rng):
        if not record.open(goal):
            return
        point = record.domain.point(places)
        record.at(point)
        if record.open(goal):
            record.at(_edged(record.domain, point, rng))


def _halton(domain: Domain, rng: np.random.Generator) -> itertools.chain[Array]:
    from scipy.stats import qmc

    engine = qmc.Halton(len(domain.names), scramble=False)
    shift = rng.random(len(domain.names))
    return itertools.chain.from_iterable(
        (engine.random(BATCH) + shift) % 1.0 for _ in itertools.count()
    )


def _edged(domain: Domain, point: Point, rng: np.random.Generator) -> Point:
    moved = rng.random(len(point)) < TO_AN_EDGE
    moved[rng.integers(len(point))] = True
    picks = rng.random(len(point))
    return tuple(
        one.edges[math.floor(pick * len(one.edges))] if move else code
        for one, code, move, pick in zip(domain.ranges, point, moved, picks, strict=True)
    )
