"""The first place where the draws on D and on D' differ, whatever the seed.

What an algorithm draws may depend on what it drew before: a noisy count may set the scale of the
next noise, and a noisy comparison may end a sparse vector run. That is post-processing, and sound.
It changes with the seed on one database too. So a difference counts only where it is the same
for all seeds on D and the same for all seeds on D': no noise can explain it, but only the data.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dpaudit._core.shown.short_repr import html_repr
from dpaudit.sampling.replay.parameters import Token
from dpaudit.sampling.replay.recorder import Drawn, Log, Place

COUNTS = ("range", "number of choices")  # arguments that may follow the number of rows
Value = TypeVar("Value")


@dataclass(frozen=True, repr=False)
class Difference:
    """What depends on the data, and where.

    kind : "argument" (its `name`), "size", "number" of draws, "branch", or "width" of the noise in
        an output, of which `draw` is the number. draw : number of the call of a generator, from 1.
    method, place : that call, "laplace" at "release.py:12". values : of the argument on D and D'
        where they are numbers; they are private, so text and repr have none of them.
    """

    kind: str
    text: str
    draw: int
    method: str | None = None
    place: str | None = None
    name: str | None = None
    values: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        return f"Difference({self.kind}: {self.text})"

    _repr_html_ = html_repr

    def to_dict(self, *, show_data: bool = False) -> dict[str, Any]:
        """In JSON types; with the values of the argument only where they are asked for."""
        names = ("kind", "text", "draw", "method", "place", "name")
        shown = {"values": list(self.values)} if show_data and self.values else {}
        return {**{name: getattr(self, name) for name in names}, **shown}


@dataclass(frozen=True)
class Rows:
    """The numbers of rows of D and of D'. Sampling rows, or noise for each, follows them."""

    left: int
    right: int

    def followed(self, left: float, right: float) -> bool:
        """Whether two numbers are to each other as the numbers of rows, which differ."""
        return self.left != self.right and left * self.right == right * self.left

    @property
    def words(self) -> str:
        """What the difference depends on."""
        more = "" if self.left == self.right else ", or on their number of rows"
        return f"depends on the data{more}"


def first_difference(left: Sequence[Log], right: Sequence[Log], rows: Rows) -> Difference | None:
    """From the logs of the same seeds on D and on D'; None where nothing but noise explains all."""
    for number in range(max(len(one.drawn) for one in (*left, *right)) + 1):
        sides = [[_at(log, number) for log in logs] for logs in (left, right)]
        calls = [_same([None if one is None else _call(one) for one in side]) for side in sides]
        if None in calls:  # noise decides what is drawn
            return None
        drawn = [side[0] for side in sides]
        first, second = drawn
        if first is None or second is None or _call(first) != _call(second):
            followed = any(one and _follows(left[0], right[0], one, rows) for one in drawn)
            return None if followed else _another(first, second, number, rows)
        found = _in_call(sides, number, rows)
        if found is not None:
            return found
    return None


def _at(log: Log, number: int) -> Drawn | None:
    return log.drawn[number] if number < len(log.drawn) else None


def _call(drawn: Drawn) -> tuple[str, Place]:
    return drawn.method, drawn.place


def _same(values: Sequence[Value]) -> tuple[Value] | None:
    """The value that all are, in a tuple; None where they differ."""
    return (values[0],) if all(one == values[0] for one in values) else None


def _follows(left: Log, right: Log, drawn: Drawn, rows: Rows) -> bool:
    """Whether the calls at one place are as many as rows."""
    counts = [sum(_call(one) == _call(drawn) for one in log.drawn) for log in (left, right)]
    return rows.followed(*counts)


def _another(
    first: Drawn | None, second: Drawn | None, number: int, rows: Rows
) -> Difference | None:
    """Another call on D than on D', or one more."""
    drawn = first or second
    if drawn is None:
        return None
    if first is None or second is None:
        text = (
            f"The number of draws {rows.words}: one of the databases draws once more, "
            f"{_named(drawn)}."
        )
        return _difference("number", text, number, drawn)
    text = (
        f"A branch {rows.words}: draw {number + 1} is {_named(first)} on one of the databases, "
        f"{_named(second)} on the other."
    )
    return _difference("branch", text, number, first)


def _in_call(sides: Sequence[Sequence[Drawn | None]], number: int, rows: Rows) -> Difference | None:
    """Another size or argument in the same call."""
    left, right = ([one for one in side if one is not None] for side in sides)
    shapes = _same([one.shape for one in left]), _same([one.shape for one in right])
    if None not in shapes and _resized(left[0].shape, right[0].shape, rows):
        text = f"The size of {_numbered(number, left[0])} {rows.words}."
        return _difference("size", text, number, left[0])
    for name in left[0].arguments:
        ours, theirs = (_same([one.arguments.get(name) for one in side]) for side in (left, right))
        if ours is None or theirs is None or ours == theirs:
            continue
        if not (name in COUNTS and _follow(ours[0], theirs[0], rows)):
            text = f"The {name} of {_numbered(number, left[0])} {rows.words}."
            values = (*ours, *theirs)
            return _difference("argument", text, number, left[0], name=name, values=_shown(values))
    return None


def _resized(left: tuple[int, ...], right: tuple[int, ...], rows: Rows) -> bool:
    if len(left) != len(right):
        return True
    return any(a != b and not rows.followed(a, b) for a, b in zip(left, right, strict=True))


def _follow(left: Token, right: Token, rows: Rows) -> bool:
    numbers = [one for one in (left, right) if isinstance(one, (int, float))]
    return len(numbers) == 2 and rows.followed(*numbers)


def _shown(values: tuple[Token, ...]) -> tuple[Any, ...] | None:
    return values if all(isinstance(one, (int, float)) for one in values) else None


def _difference(kind: str, text: str, number: int, drawn: Drawn, **more: Any) -> Difference:
    return Difference(kind, text, number + 1, drawn.method, _where(drawn.place), **more)


def _numbered(number: int, drawn: Drawn) -> str:
    return f"draw {number + 1}, {_named(drawn)},"


def _named(drawn: Drawn) -> str:
    return f"{drawn.method} at {_where(drawn.place)}"


def _where(place: Place) -> str:
    return f"{os.path.basename(place[0])}:{place[1]}"
