"""Two databases, and the relation between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import InvalidInput
from dpaudit.neighbours.source import RowSource

RELATIONS = ("zero-out", "replace", "remove", "add", "replace-group", "remove-group", "pair")
GROUPS = ("replace-group", "remove-group")
REMOVING = ("remove", "remove-group")
DONE = {
    "zero-out": "zeroed",
    "replace": "replaced",
    "remove": "removed",
    "replace-group": "replaced",
    "remove-group": "removed",
}
NAMED = 5  # rows of a group that are named one by one


@value_class
class NeighbourPair:
    """Two databases, D and D'.

    Parameters
    ----------
    left : array of shape (n, d)
        D, the label in the last column; stored as read-only float64. It is copied unless it already
        is such an array, since a mechanism that changes its data would change the audit.
    right : array of shape (m, d)
        D', stored in the same way.
    relation : str, default "pair"
        How D' differs from D: "zero-out" (row `index` is zero), "replace" (row `index` is another
        one), "remove" (row `index` of D is left out), "add" (row `index` of D' is new),
        "remove-group", "replace-group" (the rows `group` of one user are left out, or are others)
        or "pair" (any two).
    index : int or None
        The row that differs.
    group : tuple of int or None
        The rows of one user, ascending.
    source : RowSource or None
        The origin of a row that comes in.

    Raises
    ------
    InvalidInput
        When the databases are identical, as all mechanisms have the same law on both, or when they
        are not in the relation.
    """

    left: Array
    right: Array
    relation: str = "pair"
    index: int | None = None
    group: tuple[int, ...] | None = None
    source: RowSource | None = None

    def __post_init__(self) -> None:
        left, right = check.matrix("left", self.left), check.matrix("right", self.right)
        if left.shape[1] != right.shape[1]:
            check.fail(
                "right",
                check.Words(f"{right.shape[1]} columns"),
                f"a database of {left.shape[1]} columns, as left",
            )
        if left.shape == right.shape and np.array_equal(left, right):
            raise InvalidInput(
                "left and right must differ: the databases are identical, not a neighbour pair"
            )
        self._check_relation(left, right)
        for name, side in (("left", left), ("right", right)):
            is_own = side.flags.owndata and side.flags.c_contiguous and not side.flags.writeable
            closed = side if is_own else side.copy()
            closed.setflags(write=False)
            object.__setattr__(self, name, closed)

    @property
    def change(self) -> str:
        """The difference in words, without values: "row 7 zeroed"; "" for the relation "pair"."""
        return in_words(self.relation, self._place)

    @property
    def rows(self) -> int:
        """The least number of rows that must change to turn D into D', in any order of rows."""
        if self.index is not None or self.group is not None:
            return len(self.group or (self.index,))
        size = min(len(self.left), len(self.right))
        moved = np.any(self.left[:size] != self.right[:size], axis=1)
        left, right = (
            np.delete(side, np.flatnonzero(~moved), 0) for side in (self.left, self.right)
        )
        _, kind = np.unique(np.concatenate([left, right]), axis=0, return_inverse=True)
        sides = np.split(kind.ravel(), [len(left)])
        more = np.subtract(*(np.bincount(side, minlength=len(kind)) for side in sides))
        return int(max(more.clip(min=0).sum(), (-more).clip(min=0).sum()))

    @property
    def _place(self) -> str:
        if self.index is not None:
            return f"row {self.index}"
        if self.group is None:
            return ""
        if not 1 < len(self.group) <= NAMED:
            return f"row {self.group[0]}" if len(self.group) == 1 else f"{len(self.group):,} rows"
        *first, last = map(str, self.group)
        return f"rows {', '.join(first)} and {last}"

    def to_dict(self, *, show_data: bool = False) -> dict[str, Any]:
        """The part of result.json on the pair, from which `from_record` makes it again.

        show_data : whether to include the values of a row that comes in also if they are private.
        """
        places = {"replace-group": self.group, "replace": self.index, "add": self.index}
        place, put_in = places.get(self.relation), None
        if place is not None:
            new = self.right[np.asarray(place)]
            put_in = (self.source or RowSource()).to_dict(new, show_data=show_data)
        return {
            "relation": self.relation,
            "index": self.index,
            "group": None if self.group is None else list(self.group),
            "change": self.change,
            "row_put_in": put_in,
        }

    def __repr__(self) -> str:
        shapes = [f"{len(side):,} × {side.shape[1]:,}" for side in (self.left, self.right)]
        where = ", ".join(part for part in (self.relation, self._place) if part)
        return f"NeighbourPair({where}; {' against '.join(dict.fromkeys(shapes))})"

    def _check_relation(self, left: Array, right: Array) -> None:
        """The relation must hold, since exact spectra rely on it."""
        check.choice("relation", self.relation, RELATIONS)
        shapes = f"{left.shape} and {right.shape}"
        if self.relation in GROUPS:
            expected = f"a tuple of row numbers below {len(left)}, ascending, each once"
            if not isinstance(self.group, tuple) or not self.group:
                check.fail("group", self.group, expected)
            rows = [check.integer("group", index, 0) for index in self.group]
            if rows != sorted(set(rows)) or rows[-1] >= len(left):
                check.fail("group", self.group, expected)
        elif self.group is not None:
            check.fail("group", self.group, f"None for the relation {self.relation!r}")
        elif self.relation == "pair" and self.index is None:
            return
        else:
            index = check.integer("index", self.index, 0)
            if self.relation not in ("remove", "add") and left.shape != right.shape:
                check.fail("index", index, f"a row of two databases of one shape, got {shapes}")
            size = len(right) if self.relation == "add" else len(left)
            if index >= size:
                check.fail("index", index, f"a row number below {size}")
            rows = [index]
        others = left if self.relation == "add" else np.delete(left, rows, axis=0)
        stayed = right if self.relation in REMOVING else np.delete(right, rows, axis=0)
        if not np.array_equal(others, stayed):
            expected = "left but for " + (self._place or "one row")
            check.fail("right", check.Words(f"other rows that differ ({shapes})"), expected)
        if self.relation == "zero-out" and np.any(right[rows]):
            check.fail("right", check.Words("other numbers"), f"zero in row {rows[0]}")


def in_words(relation: str, place: str) -> str:
    """The difference in words, "row 7 zeroed"; "" for "pair". place : the rows, as "row 7"."""
    if relation == "add":
        return "a row added"
    return f"{place} {DONE[relation]}" if place and relation in DONE else ""
