"""The rows of canaries, by kind: rows that no model expects, inside public bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit.outcomes.records import spreads
from dpaudit.outcomes.vicinity import distances

MOST_CLASSES = 20  # a label of more values is a number
POOL = 8  # unlike records are sought among so many times the rows wanted
COMPARED = 1000  # records of the data that unlike records are compared with
WEAKEST = 1e-12  # of the largest eigenvalue: weaker directions count as equally weak


@dataclass(frozen=True, eq=False)
class Limits:
    """Where a row of canaries may lie.

    norm : the largest Euclidean norm, of the features alone where `label` is given, else of the
        whole row; or None. label : the largest |label|, or None. box : (b, 2), the least and the
        largest value of each column, used where there is no norm.
    """

    norm: float | None
    label: float | None
    box: Array

    __repr__ = short_repr


def features(
    kind: str, table: Array, limits: Limits, used: Array, rng: np.random.Generator
) -> Array:
    """Feature columns of `len(used)` canaries, (m, p).

    table : the features of the data, (n, p). used : (m,), |label| of each canary where the norm is
    that of the whole row, else 0.
    """
    box = limits.box[: table.shape[1]]
    reach = None if limits.norm is None else np.sqrt(limits.norm**2 - used**2)
    if kind in DIRECTIONS:
        unit = _units(box) if reach is None else np.ones(table.shape[1])
        directions = DIRECTIONS[kind](table / unit, len(used), rng)
        return _to_the_border(directions, unit, box, reach)
    return _inside(RECORDS[kind](table, len(used), rng), box, reach)


def labels(column: Array, count: int, limits: Limits, rng: np.random.Generator) -> Array:
    """Random labels, (m,): classes of the data, or the two ends of what a number may be.

    Raises `InvalidInput` where a class is beyond the bound.
    """
    classes = np.unique(column)
    whole = np.array_equal(classes, np.rint(classes))
    if len(classes) <= 2 or (whole and len(classes) <= MOST_CLASSES):
        return np.asarray(rng.choice(_checked(classes, limits), size=count))
    return np.asarray(rng.choice(_ends(limits), size=count))


def _ends(limits: Limits) -> Array:
    """The two labels, (2,), that move a model most."""
    if limits.norm is None:
        return limits.box[-1]
    # a row of norm B moves xᵀy most where |y| = ‖x‖ = B/√2
    largest = limits.norm / math.sqrt(2.0) if limits.label is None else limits.label
    return np.array([-largest, largest])


def _checked(classes: Array, limits: Limits) -> Array:
    """The classes. Raises `InvalidInput` where one of them is beyond a bound."""
    if limits.norm is None:
        name, (low, high) = "bounds", limits.box[-1]
    else:
        name = "row_bound" if limits.label is None else "label_bound"
        high = limits.norm if limits.label is None else limits.label
        low = -high
    if classes[0] < low or classes[-1] > high:
        fail(name, high, "wide enough for every class of the label")
    return classes


def _leverage(table: Array, count: int, rng: np.random.Generator) -> Array:
    """Random directions that prefer those in which the data vary least, (m, p).

    A direction v has leverage vᵀ(XᵀX)⁻¹v, so coordinates along the principal axes are divided by
    the spread of the data there.
    """
    value, axes = np.linalg.eigh(table.T @ table)
    size = np.sqrt(np.maximum(value, max(WEAKEST * value[-1], np.finfo(float).tiny)))
    return np.asarray((rng.standard_normal((count, len(value))) * (size[0] / size)) @ axes.T)


def _orthogonal(table: Array, count: int, rng: np.random.Generator) -> Array:
    """Directions of random orthonormal bases, (m, p), one basis if count ≤ p; random signs."""
    width, made = table.shape[1], []
    for start in range(0, count, width):
        size = min(width, count - start)
        basis = np.linalg.qr(rng.standard_normal((width, size)))[0]
        made.append(basis.T * _signs(size, rng)[:, None])
    return np.vstack(made)


def _shuffled(table: Array, count: int, rng: np.random.Generator) -> Array:
    """Rows whose values are each drawn from the column of the data, (m, p)."""
    return np.column_stack([rng.choice(column, size=count) for column in table.T])


def _unlike(table: Array, count: int, rng: np.random.Generator) -> Array:
    """Of `POOL` times as many such rows those that are farthest from the records, (m, p).

    Of many records `COMPARED` random ones count. No two rows are equal. Raises `InvalidInput` where
    too few are different.
    """
    pool, unit = np.unique(_shuffled(table, POOL * count, rng), axis=0), spreads(table)
    if len(pool) < count:
        fail("count", count, f"at most {len(pool)}, the different records that these columns gave")
    some = table if len(table) <= COMPARED else rng.choice(table, size=COMPARED, replace=False)
    nearest = np.array([distances(some, one, unit).min() for one in pool])
    return np.asarray(pool[np.argsort(-nearest, kind="stable")[:count]])


Maker = Callable[[Array, int, np.random.Generator], Array]
DIRECTIONS: dict[str, Maker] = {"orthogonal": _orthogonal, "leverage": _leverage}
RECORDS: dict[str, Maker] = {"labels": _shuffled, "rare": _unlike}
KINDS = (*DIRECTIONS, *RECORDS)


def _units(box: Array) -> Array:
    """The largest absolute value of each column, 1 where it is 0."""
    found = np.abs(box).max(axis=1)
    return np.asarray(np.where(found > 0.0, found, 1.0))


def _to_the_border(directions: Array, unit: Array, box: Array, reach: Array | None) -> Array:
    if reach is not None:
        return reach[:, None] * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    longest = np.abs(directions).max(axis=1, keepdims=True)
    return np.clip(directions / longest * unit, box[:, 0], box[:, 1])


def _inside(rows: Array, box: Array, reach: Array | None) -> Array:
    if reach is None:
        return np.clip(rows, box[:, 0], box[:, 1])
    longest = np.maximum(np.linalg.norm(rows, axis=1), reach)
    return np.asarray(rows * (reach / longest)[:, None])


def _signs(count: int, rng: np.random.Generator) -> Array:
    return np.asarray(rng.choice([-1.0, 1.0], size=count))
