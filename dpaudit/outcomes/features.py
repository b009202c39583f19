"""The numerical features of a nested draw.

A feature is a number with a name: a path into the draw, and what kind of number it is of the value
at that path.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from typing import Any

from dpaudit.outcomes.canonical import SET, parsed

Path = tuple[int | str, ...]  # positions in lists and keys of dicts, from the outermost
Name = tuple[Path, "Kind"]
Features = dict[Name, tuple["array[int]", "array[float]"]]
# Values of Kind.TYPE; it is 0 for a number, a text or a list, which other features describe
NONE, NAN, DICT, SETS = (1.0, 2.0, 3.0, 4.0)
CODE_BITS = 52  # integers of so many bits are floats exactly


class Kind(IntEnum):
    """Kinds of features of the value at a path, in the order of their columns."""

    SIZE = 0  # of a list, dict or set
    TYPE = 1  # NONE, NAN, DICT or SETS; else 0
    NUMBER = 2  # the value itself
    TEXT = 3  # the code of a text
    MEMBER = 4  # 1 where a set has the member that the path ends with

    @property
    def absent(self) -> float:
        """The value in the row of a draw that does not have this feature."""
        return 0.0 if self in (Kind.TYPE, Kind.MEMBER) else math.nan


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
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> (64 - CODE_BITS))


def _add_value(found: Features, number: int, path: Path, value: Any) -> None:
    """Add the features of the value that draw `number` has at a path."""
    if isinstance(value, str):
        _add(found, number, path, Kind.TEXT, text_code(value))
    elif isinstance(value, list):
        _add(found, number, path, Kind.SIZE, len(value))
        for position, one in enumerate(value):
            _add_value(found, number, (*path, position), one)
    elif isinstance(value, dict):
        (_add_set if SET in value else _add_dict)(found, number, path, value)
    elif value is None:
        _add(found, number, path, Kind.TYPE, NONE)
    else:
        _add(found, number, path, Kind.NUMBER, value)
        if value != value:
            _add(found, number, path, Kind.TYPE, NAN)


def _add_dict(found: Features, number: int, path: Path, value: dict[str, Any]) -> None:
    _add(found, number, path, Kind.TYPE, DICT)
    _add(found, number, path, Kind.SIZE, len(value))
    for key, one in value.items():
        _add_value(found, number, (*path, key), one)


def _add_set(found: Features, number: int, path: Path, value: dict[str, Any]) -> None:
    """Members by position, as they are in order; texts and integers as features too."""
    _add(found, number, path, Kind.TYPE, SETS)
    _add_value(found, number, path, value[SET])
    for member in value[SET]:
        if isinstance(member, (str, int)):
            _add(found, number, (*path, repr(member)), Kind.MEMBER, 1.0)


def _add(found: Features, number: int, path: Path, kind: Kind, value: float) -> None:
    rows, values = found[path, kind]
    rows.append(number)
    values.append(value)
