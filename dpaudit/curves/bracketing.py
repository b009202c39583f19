"""Searches in one dimension.

`first_below` and `peak` solve many problems at once, for functions that cost little more at 30
points than at 1; `crossing` solves a single one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit._core.types import Array

Function = Callable[[Array], Array]  # (m,) → (m,)

ROUNDS = 60
EVEN = np.arange(1, 16) / 16.0
# offsets of nodes from the guessed crossing, in widths of the bracket
NEAR = np.concatenate([[0.0], *([-(10.0**-j), 10.0**-j] for j in range(1, 8))])
THIRDS = np.array([1.0, 2.0]) / 3.0
CLOSE = np.array([0.0, -0.1, 0.1, -0.01, 0.01, -0.001, 0.001])


def first_below(function: Function, target: Array, ends: Array, values: Array) -> Array:
    """The least x at which a decreasing function is at or below each target, to a few floats.

    target : (m,). ends : (m, 2), 0 < low < high. values : (m, 2) at the ends, values[:, 0] > target
        ≥ values[:, 1]. Returns (m,), with function(x) ≤ target.

    Every round evaluates `function` once, on 30 points a problem: half of them even, so that a
    bracket shrinks 16 times whatever the function, half about the point where the logarithm's chord
    meets the target.
    """
    ends, values = ends.copy(), values.copy()
    for _ in range(ROUNDS):
        live = np.flatnonzero(ends[:, 1] - ends[:, 0] > 2.0 * np.spacing(ends[:, 1]))
        if len(live) == 0:
            break
        goal = target[live, None]
        x = np.sort(
            np.clip(_between(ends[live], values[live], goal), ends[live, :1], ends[live, 1:]),
            axis=1,
        )
        y = function(x.ravel()).reshape(x.shape)
        x, y = (
            np.hstack([ends[live, :1], x, ends[live, 1:]]),
            np.hstack([values[live, :1], y, values[live, 1:]]),
        )
        first = 1 + np.argmax(y[:, 1:] <= goal, axis=1)
        both = np.stack([first - 1, first], axis=1)
        ends[live], values[live] = (
            np.take_along_axis(x, both, axis=1),
            np.take_along_axis(y, both, axis=1),
        )
    return ends[:, 1]


def _between(ends: Array, values: Array, goal: Array) -> Array:
    """The points of one round, (m, 30): half evenly spaced, half near the chord's crossing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(values[:, :1] / goal) / np.log(values[:, :1] / values[:, 1:])
    share = np.where((share > 0.0) & (share < 1.0), share, 0.5)
    part = np.clip(
        np.hstack([np.broadcast_to(EVEN, (len(ends), len(EVEN))), share + NEAR]), 0.0, 1.0
    )
    low, high = ends[:, :1], ends[:, 1:]
    wide = high > 2.0 * low
    return np.where(wide, low * (high / low) ** part, low + (high - low) * part)


def peak(
    function: Callable[[Array, np.ndarray], Array], x: Array, y: Array, slack: float = 0.0
) -> Array:
    """The largest values of m unimodal functions, each bracketed by three points.

    function : maps points (k, j) of the problems numbered (k,) to values (k, j). x, y : (m, 3), x
    ascending, the middle y the highest. A problem is done when its three values agree to 13 digits,
    or to `slack`.

    Every round evaluates nine points a problem: its thirds, for kinks, and seven points about a
    parabola's vertex.
    """
    x, y = x.copy(), y.copy()
    for _ in range(ROUNDS):
        with np.errstate(invalid="ignore"):
            rough = y[:, 1] - y.min(axis=1) > np.maximum(1e-13 * np.abs(y[:, 1]), slack)
        live = np.flatnonzero(rough & (x[:, 2] - x[:, 0] > 1e-15 * np.abs(x[:, 1])))
        if len(live) == 0:
            break
        new = _candidates(x[live], y[live])
        points, values = np.hstack([x[live], new]), np.hstack([y[live], function(new, live)])
        order = np.argsort(points, axis=1, kind="stable")
        points, values = (
            np.take_along_axis(points, order, axis=1),
            np.take_along_axis(values, order, axis=1),
        )
        # the highest point and its neighbours; a point may stand there twice
        best = np.argmax(values, axis=1)[:, None]
        there = np.take_along_axis(points, best, axis=1)
        before = np.sum(points < there, axis=1, keepdims=True) - 1
        after = points.shape[1] - np.sum(points > there, axis=1, keepdims=True)
        around = np.hstack([np.maximum(before, 0), best, np.minimum(after, points.shape[1] - 1)])
        x[live], y[live] = (
            np.take_along_axis(points, around, axis=1),
            np.take_along_axis(values, around, axis=1),
        )
    return np.asarray(y.max(axis=1))


def crossing(function: Callable[[float], float], low: float, high: float, error: float) -> float:
    """Where a function that rises from at most 0 at `low` to above 0 at `high` crosses 0.

    False position by the Illinois rule (Dowell & Jarratt 1971), with a bisection every third turn.
    `scipy.optimize` takes longer to import than most audits search. error : relative; the result is
    at or below the crossing.
    """
    below, above, last, turn = function(low), function(high), 0.0, 0
    while high - low > error * abs(high) and below < 0.0:
        turn += 1
        share = below / (below - above) if turn % 3 else 0.5
        least = 0.5 * error * abs(high)  # so that both ends come near
        middle = min(max(low + share * (high - low), low + least), high - least)
        value = function(middle)
        if value <= 0.0:
            low, below, above = middle, value, above * (0.5 if last < 0.0 else 1.0)
        else:
            high, above, below = middle, value, below * (0.5 if last > 0.0 else 1.0)
        last = value
    return float(low)


def _candidates(x: Array, y: Array) -> Array:
    """The points of one round, (m, 9): two thirds and seven about the parabola's vertex."""
    left, right = x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rise, fall = (y[:, 1] - y[:, 0]) / left, (y[:, 1] - y[:, 2]) / right
        # the vertex, counted from the middle point
        shift = 0.5 * (rise * right - fall * left) / (rise + fall)
    shift = np.where(np.isfinite(shift), np.clip(shift, -left, right), 0.0)
    width = (left + right)[:, None]
    near = (x[:, 1] + shift)[:, None] + width * CLOSE
    return np.clip(np.hstack([x[:, :1] + width * THIRDS, near]), x[:, :1], x[:, 2:])
