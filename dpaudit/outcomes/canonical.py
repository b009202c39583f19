"""Draws of any form as canonical JSON text: equal draws are equal bytes, on any machine.

Lists and tuples are JSON lists. A dict is an object whose keys are the JSON texts of its keys,
sorted. A set is the object {"set": [members in order]}, which is the text of no dict. A text of
more than 64 characters is cut and ends with its digest. A draw that is not a list is
read as a list of one entry, and None as the empty list, as in `tables`.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.outcomes.refused import NotOutcomes
from dpaudit.outcomes.tables import LISTS, REAL

ALL = "numbers, text, booleans, None, or lists, tuples, dicts and sets of these"
SET = "set"
LONGEST, SHOWN = 64, 32  # characters of a text, and of one that is cut
DEEPEST = 50  # levels of nesting
EXACT = 2**53  # all integers up to it are floats too


def canonical_texts(draws: Iterable[Any]) -> np.ndarray:
    """Each draw as text, (n,) bytes. Raises `NotOutcomes` for a draw of another form."""
    return np.array([_text(_plain(draw, 0)) for draw in draws], dtype=np.bytes_)


def as_texts(draws: np.ndarray) -> np.ndarray:
    """Draws of any of the three forms as texts, (n,) bytes."""
    if draws.dtype.kind == "S":
        return draws
    if draws.dtype.names:
        return canonical_texts(row[1 : 1 + int(row[0])].tolist() for row in draws[LISTS])
    return canonical_texts(draws.tolist())


def parsed(text: bytes) -> list[Any]:
    """The draw that a text stands for, as a list."""
    return list(json.loads(text))


def _text(plain: Any) -> bytes:
    root = plain if isinstance(plain, list) else [] if plain is None else [plain]
    return json.dumps(root, sort_keys=True, separators=(",", ":")).encode("ascii")


def _plain(value: Any, depth: int) -> Any:
    """The value in JSON types alone, `depth` levels inside a draw."""
    if value is None or type(value) in (bool, float):  # first, as isinstance of an ABC is slow
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (str, bytes)):
        return _short(value if isinstance(value, str) else value.decode("latin-1"))
    if isinstance(value, (numbers.Real, Decimal)):
        return _number(value)
    if depth > DEEPEST:
        raise NotOutcomes(f"no more than {DEEPEST} lists one in another", "more")
    return _container(value, depth + 1)


def _container(value: Any, depth: int) -> Any:
    """A list, dict or set, or what NumPy has for them, in JSON types alone."""
    if isinstance(value, np.void) and value.dtype.names:
        value = {name: value[name] for name in value.dtype.names}
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0):
        return [_plain(one, depth) for one in value]
    if isinstance(value, np.ndarray) and value.dtype.kind in REAL + "USO":
        return _plain(value.item(), depth)
    if isinstance(value, Mapping):
        return {_key(key, depth): _plain(one, depth) for key, one in value.items()}
    if isinstance(value, Set):
        return {SET: sorted((_plain(one, depth) for one in value), key=_order)}
    kind = type(value).__name__
    raise NotOutcomes(ALL, f"a draw with a {kind}" if depth > 1 else f"a {kind}")


def _key(key: Any, depth: int) -> str:
    """The JSON text of a dict's key."""
    if type(key) is str and len(key) <= LONGEST:
        return _quoted(key)
    return json.dumps(_plain(key, depth), sort_keys=True, separators=(",", ":"))


_quoted = lru_cache(maxsize=1 << 12)(json.dumps)


def _number(value: Any) -> int | float:
    """An integer of at most 2^53 in size as it is, any other number as a float."""
    if type(value) is int and -EXACT <= value <= EXACT:
        return value
    if isinstance(value, numbers.Integral) and abs(int(value)) <= EXACT:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _short(text: str) -> str:
    """The text, or its beginning and digest if it is long."""
    if len(text) <= LONGEST:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{text[:SHOWN]}…{digest}"


def _order(plain: Any) -> tuple[int, float, str]:
    """Sorts the members of a set: numbers by size, then NaN, text and others by their JSON text."""
    if isinstance(plain, (int, float)) and not math.isnan(plain):
        return 0, float(plain), ""
    return 1, 0.0, json.dumps(plain, sort_keys=True)
