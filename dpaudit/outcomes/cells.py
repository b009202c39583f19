"""A draw of any build as cells: a number at a name, which is a place in the draw and what is told
of it.
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

from dpaudit.outcomes.trees import SET, read

Place = tuple[int | str, ...]  # positions in lists, keys of dicts, one in another
Name = tuple[Place, "Told"]
Cells = dict[Name, tuple["array[int]", "array[float]"]]
# what a place holds where its number, code or size does not say it
NONE, NAN, DICT, SETS = (1.0, 2.0, 3.0, 4.0)
CODE_BITS = 52  # floats hold such integers exactly


class Told(IntEnum):
    """What a cell tells of a place, in the order of columns."""

    SIZE = 0  # of a list, dict or set
    SORT = 1  # NONE, NAN, DICT, SETS; 0 for all else
    NUMBER = 2
    TEXT = 3  # its code
    HAS = 4  # 1 where a set has the member that the place ends with

    @property
    def absent(self) -> float:
        """What stands in a column where a draw has no such cell."""
        return 0.0 if self in (Told.SORT, Told.HAS) else math.nan


def cells(texts: Iterable[bytes]) -> Cells:
    """For each name the numbers of the draws that have it, and their values there."""
    found: Cells = defaultdict(lambda: (array("q"), array("d")))
    for number, text in enumerate(texts):
        _put(found, number, (), read(text))
    return found


def in_order(name: Name) -> tuple[Any, ...]:
    """Sorts names: place by place, positions before keys."""
    place, told = name
    return *((isinstance(step, str), step) for step in place), (False, -1), told.value


@lru_cache(maxsize=1 << 16)
def code(text: str) -> float:
    """An integer below 2^52 that depends on the text alone."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> (64 - CODE_BITS))


def _put(found: Cells, number: int, place: Place, value: Any) -> None:
    """Add the cells of what draw `number` has at a place."""
    if isinstance(value, str):
        _add(found, number, place, Told.TEXT, code(value))
    elif isinstance(value, list):
        _add(found, number, place, Told.SIZE, len(value))
        for position, one in enumerate(value):
            _put(found, number, (*place, position), one)
    elif isinstance(value, dict):
        (_put_set if SET in value else _put_dict)(found, number, place, value)
    elif value is None:
        _add(found, number, place, Told.SORT, NONE)
    else:
        _add(found, number, place, Told.NUMBER, value)
        if value != value:
            _add(found, number, place, Told.SORT, NAN)


def _put_dict(found: Cells, number: int, place: Place, value: dict[str, Any]) -> None:
    _add(found, number, place, Told.SORT, DICT)
    _add(found, number, place, Told.SIZE, len(value))
    for key, one in value.items():
        _put(found, number, (*place, key), one)


def _put_set(found: Cells, number: int, place: Place, value: dict[str, Any]) -> None:
    """Members by position, since they are in order; text and integers also each by itself, whatever
    else is there.
    """
    _add(found, number, place, Told.SORT, SETS)
    _put(found, number, place, value[SET])
    for member in value[SET]:
        if isinstance(member, (str, int)):
            _add(found, number, (*place, repr(member)), Told.HAS, 1.0)


def _add(found: Cells, number: int, place: Place, told: Told, value: float) -> None:
    rows, values = found[place, told]
    rows.append(number)
    values.append(value)
