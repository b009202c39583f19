"""The numerical features of a nested draw.

A feature is a number with a name: a path into the draw, and what kind of number it is of the value
at that path.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from typing import Any

from dpaudit.outcomes.canonical import LONG, NUMBER, SET, parsed
from dpaudit.outcomes.tables import SLOTS, text_hash

Path = tuple[int | str, ...]  # positions in lists and keys of dicts, from the outermost
Name = tuple[Path, "Kind"]
Features = dict[Name, tuple["array[int]", "array[float]"]]
# Values of Kind.TYPE; it is 0 for a number, a text or a list, which other features describe
NONE, NAN, DICT, SETS = (1.0, 2.0, 3.0, 4.0)


class Kind(IntEnum):
    """Kinds of features of the value at a path, in the order of their columns."""

    SIZE = 0  # of a list, dict or set
    TYPE = 1  # NONE, NAN, DICT or SETS; else 0
    NUMBER = 2  # the value itself
    TEXT = 3  # the code of a text
    MEMBER = 4  # 1 where a set has the member that the path ends with
    REST = 5  # an integer less its nearest float, or the code of the integer

    @property
    def absent(self) -> float:
        """The value in the row of a draw that does not have this feature."""
        return 0.0 if self in (Kind.TYPE, Kind.MEMBER, Kind.REST) else math.nan


def features(texts: Iterable[bytes]) -> Features:
    """For each name the numbers of the draws that have this feature, and its values there."""
    found: Features = defaultdict(lambda: (array("q"), array("d")))
    for number, text in enumerate(texts):
        _add_value(found, number, (), parsed(text))
    return found


def name_order(name: Name) -> tuple[Any, ...]:
    """Sorts names by path, step by step, with positions before keys; then by kind."""
    path, kind = name
    return *((isinstance(step, str), step) for step in path), (False, -1), kind.value


@lru_cache(maxsize=1 << 16)
def text_code(text: str) -> float:
    """A hash of the text: an integer below 2^52."""
    return text_hash(text)


def _add_value(found: Features, number: int, path: Path, value: Any) -> None:
    """Add the features of the value that draw `number` has at a path."""
    if isinstance(value, str):
        _add(found, number, path, Kind.TEXT, text_code(value))
    elif isinstance(value, list):
        _add_list(found, number, path, value, len(value))
    elif isinstance(value, dict):
        add = next((OBJECTS[key] for key in OBJECTS if key in value), _add_dict)
        add(found, number, path, value)
    elif value is None:
        _add(found, number, path, Kind.TYPE, NONE)
    else:
        _add(found, number, path, Kind.NUMBER, value)
        if value != value:
            _add(found, number, path, Kind.TYPE, NAN)


def _add_list(found: Features, number: int, path: Path, entries: list[Any], length: int) -> None:
    """The length of a list, and its entries or the first of them by position."""
    _add(found, number, path, Kind.SIZE, length)
    for position, one in enumerate(entries):
        _add_value(found, number, (*path, position), one)


def _add_dict(found: Features, number: int, path: Path, value: dict[str, Any]) -> None:
    _add(found, number, path, Kind.TYPE, DICT)
    _add(found, number, path, Kind.SIZE, len(value))
    for key, one in value.items():
        _add_value(found, number, (*path, key), one)


def _add_set(found: Features, number: int, path: Path, value: dict[str, Any]) -> None:
    """Members by position, as they are in order; texts and integers as features too."""
    members = value[SET]
    _add(found, number, path, Kind.TYPE, SETS)
    _add_value(found, number, path, members)
    for member in members if isinstance(members, list) else members[LONG][2]:
        if isinstance(member, (str, int)):
            _add(found, number, (*path, repr(member)), Kind.MEMBER, 1.0)


def _add_integer(found: Features, number: int, path: Path, value: dict[str, Any]) -> None:
    """An integer that is no float: its nearest float, and what is left."""
    nearest, rest = value[NUMBER]
    _add(found, number, path, Kind.NUMBER, nearest)
    _add(found, number, path, Kind.REST, text_code(rest) if isinstance(rest, str) else rest)


def _add_long(found: Features, number: int, path: Path, value: dict[str, Any]) -> None:
    """A long list: its length and first entries, and the code of all entries in the last slot."""
    length, code, first = value[LONG]
    _add_list(found, number, path, first, length)
    _add(found, number, (*path, SLOTS - 1), Kind.NUMBER, code)


OBJECTS = {SET: _add_set, NUMBER: _add_integer, LONG: _add_long}


def _add(found: Features, number: int, path: Path, kind: Kind, value: float) -> None:
    rows, values = found[path, kind]
    rows.append(number)
    values.append(value)
