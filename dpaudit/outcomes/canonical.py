"""Draws of any form as canonical JSON text: equal draws are equal bytes, on any machine.

Lists and tuples are JSON lists. A dict is an object whose keys are the JSON texts of its keys,
sorted. Three objects are the text of no dict, as their keys are not in quotes: {"set": [members in
order]}; {"number": [nearest float, what is left]} of an integer that is no float; {"long": [length,
code, first entries]} of a list of more than `SLOTS` entries, and of all that would take more than
`WIDEST` characters. A text of more than 64 characters is cut and ends with its digest. A draw that
is not a list is read as a list of one entry, and None as the empty list, as in `tables`.
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

from dpaudit._core.check import nearest_float
from dpaudit.outcomes.refused import NotOutcomes
from dpaudit.outcomes.tables import EXACT, REAL, SLOTS, list_code, with_lengths

ALL = "numbers, text, booleans, None, or lists, tuples, dicts and sets of these"
SET, NUMBER, LONG = "set", "number", "long"
LONGEST, SHOWN = 64, 32  # characters of a text, and of one that is cut
WIDEST = 1 << 16  # characters of a draw
DEEPEST = 50  # levels of nesting


def canonical_texts(draws: Iterable[Any]) -> np.ndarray:
    """Each draw as text, (n,) bytes. Raises `NotOutcomes` for a draw of another form."""
    return np.array([_text(_plain(draw, 0)) for draw in draws], dtype=np.bytes_)


def as_texts(draws: np.ndarray) -> np.ndarray:
    """Draws of any of the three forms as texts, (n,) bytes."""
    if draws.dtype.kind == "S":
        return draws
    if not draws.dtype.names:
        return canonical_texts(draws.tolist())
    rows = with_lengths(draws).tolist()
    return np.array([_text(_listed(int(row[0]), row[1:])) for row in rows], dtype=np.bytes_)


def parsed(text: bytes) -> Any:
    """The draw that a text stands for, in JSON types: a list, or the object of a long one."""
    return json.loads(text)


def shown(text: bytes) -> Any:
    """The draw that a text stands for, as people write it, in JSON types."""
    return json.loads(text, object_hook=_shown)


def _shown(held: dict[str, Any]) -> Any:
    if NUMBER in held:
        nearest, rest = held[NUMBER]
        return int(nearest) + rest if isinstance(rest, int) else rest
    if LONG in held:
        return [*held[LONG][2], "…"]
    if SET in held:
        return held[SET]
    return {json.loads(key) if key[:1] == '"' else key: one for key, one in held.items()}


def _listed(length: int, entries: list[Any]) -> Any:
    """A row of `tables` in JSON types."""
    if length > SLOTS:
        return {LONG: [length, entries[-1], entries[: SLOTS - 1]]}
    return entries[:length]


def _text(plain: Any) -> bytes:
    root = plain if isinstance(plain, list) or _is_long(plain) else [plain]
    text = _json(root if plain is not None else [])
    if len(text) <= WIDEST:
        return text
    size = plain[LONG][0] if _is_long(plain) else len(root)
    return _json({LONG: [size, list_code([text.decode()]), []]})


def _is_long(plain: Any) -> bool:
    return isinstance(plain, dict) and LONG in plain


def _json(plain: Any) -> bytes:
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode("ascii")


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
        return _cut([_plain(one, depth) for one in value])
    if isinstance(value, np.ndarray) and value.dtype.kind in REAL + "USO":
        return _plain(value.item(), depth)
    if isinstance(value, Mapping):
        return {_key(key, depth): _plain(one, depth) for key, one in value.items()}
    if isinstance(value, Set):
        return {SET: _cut(sorted((_plain(one, depth) for one in value), key=_order))}
    kind = type(value).__name__
    raise NotOutcomes(ALL, f"a draw with a {kind}" if depth > 1 else f"a {kind}")


def _cut(entries: list[Any]) -> Any:
    """A list, or the first entries and the code of a long one."""
    if len(entries) <= SLOTS:
        return entries
    return {LONG: [len(entries), list_code(entries), entries[: SLOTS - 1]]}


def _key(key: Any, depth: int) -> str:
    """The JSON text of a dict's key."""
    if type(key) is str and len(key) <= LONGEST:
        return _quoted(key)
    return json.dumps(_plain(key, depth), sort_keys=True, separators=(",", ":"))


_quoted = lru_cache(maxsize=1 << 12)(json.dumps)


def _number(value: Any) -> Any:
    """An integer that is a float too as it is, and any number that is no integer as a float.

    Of another integer: the nearest float, and what is left, as text if that is not small.
    """
    if type(value) is int and -EXACT <= value <= EXACT:
        return value
    if not isinstance(value, numbers.Integral):
        return nearest_float(value)
    whole = int(value)
    nearest = nearest_float(whole)
    if whole == nearest:  # Python compares the two exactly
        return whole
    rest = None if math.isinf(nearest) else whole - int(nearest)
    small = rest is not None and -EXACT <= rest <= EXACT
    return {NUMBER: [nearest, rest if small else _short(hex(whole))]}


def _short(text: str) -> str:
    """The text, or its beginning and digest if it is long."""
    if len(text) <= LONGEST:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{text[:SHOWN]}…{digest}"


def _order(plain: Any) -> tuple[int, float, str]:
    """Sorts the members of a set: floats by size, then NaN, text and others by their JSON text."""
    if isinstance(plain, (int, float)) and not math.isnan(plain):
        return 0, float(plain), ""
    return 1, 0.0, json.dumps(plain, sort_keys=True)
