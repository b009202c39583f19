"""Canaries: rows made up for an audit, each of which goes into the data or not by a coin."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.keywords import known_keywords
from dpaudit._core.seeds import Purpose, generator, root
from dpaudit._core.types import Array, ArrayLike, RngLike
from dpaudit._core.value import value_class
from dpaudit.adapters.table_rows import distances, spreads
from dpaudit.errors import InvalidInput
from dpaudit.neighbours.outliers import box

RELATIONS = ("add", "zero-out")
OWN = "own"
MOST_CLASSES = 20  # a label with more values is a number, not a class
POOL = 8  # unlike records are the most unlike of POOL times as many shuffled rows
COMPARED = 1000  # most records of the data with which unlike records are compared
WEAKEST = 1e-12  # directions below this share of the largest eigenvalue are equally weak


@value_class(show_numbers=True)
class Canaries:
    """m rows made up for an audit; `canaries` makes them, or they are your own.

    Parameters
    ----------
    rows : array of shape (m, b)
        The columns of the database; kept as float64, read-only.
    kind : str, default "own"
        A name for the kind of canaries, for the record.

    Examples
    --------
    >>> import numpy as np
    >>> own = Canaries([[5.0, -1.0], [0.0, 9.0]])
    >>> included = np.array([False, True])
    >>> own.inserted([[1.0, 2.0]], included).tolist()
    [[1.0, 2.0], [0.0, 9.0]]
    >>> own.record(included)
    {'kind': 'own', 'in': [1], 'out': [0]}
    """

    rows: Array
    kind: str = OWN

    def __post_init__(self) -> None:
        rows = check.matrix("rows", self.rows).copy()
        rows.setflags(write=False)
        if not isinstance(self.kind, str):
            fail("kind", self.kind, "a name for the kind of canaries")
        object.__setattr__(self, "rows", rows)

    def __len__(self) -> int:
        return len(self.rows)

    def flip(self, inclusion: ArrayLike = 0.5, *, rng: RngLike = None) -> np.ndarray:
        """Flip an independent coin for each canary, which decides whether it goes in: (m,), bool.

        inclusion : float or (m,), the chance that a canary goes in, in (0, 1). rng : a seed or
        Generator, as `numpy.random.default_rng` takes it.
        """
        coins = generator(root(rng), Purpose.COIN).random(len(self))
        return np.asarray(coins < chances(inclusion, len(self)))

    def inserted(
        self, data: ArrayLike, included: ArrayLike, *, relation: str = "add"
    ) -> np.ndarray:
        """The database with the included canaries below its own rows.

        data : (n, b), the database without canaries. included : (m,), bool, which canaries are in.
        relation : with "add", canaries that are not included are left out; with "zero-out" a row of
        zeros replaces each of them, so that the number of rows is public.
        """
        data = check.matrix("data", data)
        inside, width = coins_of(included, len(self)), self.rows.shape[1]
        if data.shape[1] != width:
            fail("data", Words(f"{data.shape[1]} columns"), f"of {width} columns, as the canaries")
        if check.choice("relation", relation, RELATIONS) == "add":
            return np.vstack([data, self.rows[inside]])
        return np.vstack([data, self.rows * inside[:, None]])

    def record(self, included: ArrayLike) -> dict[str, Any]:
        """Which canaries are in and out, by number, as JSON types, without a row.

        included : array of shape (m,), bool. The method `included` reads the record.
        """
        inside = coins_of(included, len(self))
        numbers = {"in": np.flatnonzero(inside).tolist(), "out": np.flatnonzero(~inside).tolist()}
        return {"kind": self.kind, **numbers}

    def included(self, record: Mapping[str, Any]) -> np.ndarray:
        """Which canaries are in, (m,), bool, read from a result of the method `record`.

        Raises `InvalidInput` for a record of other canaries.
        """
        inside, outside = set(record["in"]), set(record["out"])
        if inside | outside != set(range(len(self))) or inside & outside:
            raise InvalidInput(
                f"record must name each of the {len(self)} canaries once, in or out",
                argument="record",
            )
        return np.array([number in inside for number in range(len(self))])


@known_keywords()
def canaries(
    data: ArrayLike,
    count: int,
    *,
    kind: str = "orthogonal",
    label: bool = True,
    row_bound: float | None = None,
    label_bound: float | None = None,
    bounds: ArrayLike | None = None,
    rng: RngLike = None,
) -> Canaries:
    """Rows that no model expects, to be put into a database by coins (`audit_canaries`).

    Parameters
    ----------
    data : array of shape (n, b)
        The database that they go into.
    count : int
        m ≥ 1, the number of canaries.
    kind : {"orthogonal", "leverage", "labels", "rare"}, default "orthogonal"
        "orthogonal": in directions orthogonal to each other (in several bases where m is more than
        the number of features), with random signs, so that canaries disturb each other least.
        "leverage": in random directions that prefer those in which the data vary least.
        "labels": plausible rows, each value drawn from its column of the data, with random labels.
        "rare": such rows that are far from the records of the data, and different from each other.
    label : bool, default True
        Whether the last column is a label. It is random: a class of the data, or an end of what
        the number may be. Otherwise all columns are features.
    row_bound : float, optional
        Public bound on the Euclidean norm, as the mechanism clips: that of the features where
        `label_bound` is given too, else that of the whole row. Canaries with a direction are as
        long as they may be.
    label_bound : float, optional
        Public bound on the absolute value of the label; given with `row_bound` only.
    bounds : array of shape (b, 2), optional
        The least and the largest value of each column instead. If no bound is given, those of the
        data are taken, so that the canaries tell them.
    rng : seed or Generator, optional
        As `numpy.random.default_rng` takes it. Canaries do not depend on the coins of the same
        `rng`.

    Notes
    -----
    An audit is valid for any canaries; how much it shows depends on them.

    References
    ----------
    Carlini et al. 2019 ("The Secret Sharer"). Steinke, Nasr & Jagielski 2023 ("Privacy Auditing
    with One (1) Training Run"), section 5.

    Examples
    --------
    >>> import numpy as np
    >>> data = np.random.default_rng(0).normal(size=(50, 4))
    >>> three = canaries(data, 3, row_bound=2.0, label_bound=1.0, rng=1)
    >>> three
    Canaries(rows=(3, 4) float64 array, kind='orthogonal')
    >>> print(np.abs(three.rows[:, :3] @ three.rows[:, :3].T).round(6)[0])
    [4. 0. 0.]
    >>> sorted({abs(label) for label in three.rows[:, 3].tolist()})
    [1.0]
    """
    labelled = check.boolean("label", label)
    data = check.matrix("data", data, min_columns=1 + labelled)
    count = check.integer("count", count, 1)
    check.choice("kind", kind, KINDS)
    limits = _limits(data, row_bound, label_bound if labelled else None, bounds)
    rng = generator(root(rng), Purpose.CANARY)
    if not labelled:
        return Canaries(_features(kind, data, limits, np.zeros(count), rng), kind=kind)
    label_column = _labels(data[:, -1], count, limits, rng)
    used = np.zeros(count) if limits.label is not None else np.abs(label_column)
    columns = _features(kind, data[:, :-1], limits, used, rng)
    return Canaries(np.column_stack([columns, label_column]), kind=kind)


def chances(inclusion: ArrayLike, count: int) -> Array:
    """P(in) of each canary, (m,). Raises `InvalidInput`."""
    expected = f"a number in (0, 1), or {count} of them"
    chance = np.asarray(check.array_of_numbers("inclusion", inclusion, expected), dtype=np.float64)
    if chance.shape not in ((), (count,)) or not np.all((chance > 0.0) & (chance < 1.0)):
        fail("inclusion", inclusion, expected)
    return np.broadcast_to(chance, count)


def coins_of(included: ArrayLike, count: int | None = None) -> np.ndarray:
    """Which canaries are in, (m,), bool; count : m, if it is known. Raises `InvalidInput`."""
    expected = "True or False, or a 1-D array of them"
    if count is not None:
        expected = f"{count} booleans, one a canary"
    coins = np.atleast_1d(check.array_of_numbers("included", included, expected))
    if coins.ndim != 1 or len(coins) == 0 or count not in (None, len(coins)):
        fail("included", Words(f"shape {coins.shape}"), expected)
    if not np.isin(coins, (0, 1)).all():
        fail("included", Words("numbers beside 0 and 1"), expected)
    return np.asarray(coins == 1)


def _limits(
    data: Array, row_bound: float | None, label_bound: float | None, bounds: ArrayLike | None
) -> Limits:
    """Check the bounds and return them as `Limits`. Raises `InvalidInput`."""
    norm = None if row_bound is None else check.real("row_bound", row_bound, 0.0, open_=True)
    label = None if label_bound is None else check.real("label_bound", label_bound, 0.0, open_=True)
    if norm is not None and bounds is not None:
        fail("bounds", bounds, "None where row_bound is given")
    if norm is None and label is not None:
        fail("label_bound", label_bound, "given with row_bound", "or give bounds")
    range_of = np.column_stack([data.min(axis=0), data.max(axis=0)])
    return Limits(norm, label, range_of if bounds is None else box(bounds, data.shape[1]))


# The rows of each kind


@value_class(show_numbers=True)
class Limits:
    """Bounds on the rows of canaries.

    norm : the largest Euclidean norm, of the features alone where `label` is given, else of the
        whole row; or None. label : the largest |label|, or None. box : (b, 2), the least and the
        largest value of each column, used where there is no norm.
    """

    norm: float | None
    label: float | None
    box: Array


def _features(
    kind: str, table: Array, limits: Limits, used: Array, rng: np.random.Generator
) -> Array:
    """Feature columns of `len(used)` canaries, (m, p).

    table : the features of the data, (n, p). used : (m,), |label| of each canary where the norm is
    that of the whole row, else 0.
    """
    box = limits.box[: table.shape[1]]
    reach = None if limits.norm is None else np.sqrt(limits.norm**2 - used**2)
    if kind in RECORDS:
        rows = RECORDS[kind](table, len(used), rng)
        if reach is None:
            return np.clip(rows, box[:, 0], box[:, 1])
        longest = np.maximum(np.linalg.norm(rows, axis=1), reach)
        return np.asarray(rows * (reach / longest)[:, None])
    unit = np.ones(table.shape[1])
    if reach is None:  # the largest absolute value of each column, 1 where it is 0
        unit = np.abs(box).max(axis=1)
        unit[unit == 0.0] = 1.0
    directions = DIRECTIONS[kind](table / unit, len(used), rng)
    if reach is None:
        longest = np.abs(directions).max(axis=1, keepdims=True)
        return np.clip(directions / longest * unit, box[:, 0], box[:, 1])
    return reach[:, None] * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _labels(column: Array, count: int, limits: Limits, rng: np.random.Generator) -> Array:
    """Random labels, (m,): classes of the data, or the two ends of what a number may be.

    Raises `InvalidInput` where a class is beyond the bound.
    """
    classes = np.unique(column)
    whole = np.array_equal(classes, np.rint(classes))
    low, high = limits.box[-1]
    if limits.norm is not None:
        high = limits.norm if limits.label is None else limits.label
        low = -high
    if len(classes) <= 2 or (whole and len(classes) <= MOST_CLASSES):
        if classes[0] < low or classes[-1] > high:
            name = "row_bound" if limits.label is None else "label_bound"
            name = "bounds" if limits.norm is None else name
            fail(name, high, "wide enough for every class of the label")
        return np.asarray(rng.choice(classes, size=count))
    ends = np.array([low, high])
    if limits.norm is not None and limits.label is None:
        ends /= math.sqrt(2.0)  # a row of norm B moves xᵀy most where |y| = ‖x‖ = B/√2
    return np.asarray(rng.choice(ends, size=count))


def _leverage(table: Array, count: int, rng: np.random.Generator) -> Array:
    """Random directions, (m, p), mostly near those in which the data vary least.

    A direction v has leverage vᵀ(XᵀX)⁻¹v, so coordinates along the principal axes are divided by
    the spread of the data there.
    """
    value, axes = np.linalg.eigh(table.T @ table)
    size = np.sqrt(np.maximum(value, max(WEAKEST * value[-1], np.finfo(float).tiny)))
    return np.asarray((rng.standard_normal((count, len(value))) * (size[0] / size)) @ axes.T)


def _orthogonal(table: Array, count: int, rng: np.random.Generator) -> Array:
    """Directions of random orthonormal bases, (m, p), one basis if count ≤ p; random signs."""
    width, bases = table.shape[1], []
    for start in range(0, count, width):
        size = min(width, count - start)
        basis = np.linalg.qr(rng.standard_normal((width, size)))[0]
        bases.append(basis.T * rng.choice([-1.0, 1.0], size=size)[:, None])
    return np.vstack(bases)


def _shuffled(table: Array, count: int, rng: np.random.Generator) -> Array:
    """Rows whose values are each drawn from the column of the data, (m, p)."""
    return np.column_stack([rng.choice(column, size=count) for column in table.T])


def _unlike(table: Array, count: int, rng: np.random.Generator) -> Array:
    """The rows farthest from the records, (m, p), among `POOL` times as many shuffled ones.

    If there are many records, `COMPARED` random ones are compared. No two rows are equal. Raises
    `InvalidInput` if too few are different.
    """
    pool, unit = np.unique(_shuffled(table, POOL * count, rng), axis=0), spreads(table)
    if len(pool) < count:
        fail("count", count, f"at most {len(pool)}, the different records that these columns gave")
    some = table if len(table) <= COMPARED else rng.choice(table, size=COMPARED, replace=False)
    nearest = np.array([distances(some, row, unit).min() for row in pool])
    return np.asarray(pool[np.argsort(-nearest, kind="stable")[:count]])


Maker = Callable[[Array, int, np.random.Generator], Array]
DIRECTIONS: dict[str, Maker] = {"orthogonal": _orthogonal, "leverage": _leverage}
RECORDS: dict[str, Maker] = {"labels": _shuffled, "rare": _unlike}
KINDS = (*DIRECTIONS, *RECORDS)
