"""Draws of any form as canonical JSON text, and the numerical features of such a draw.

Equal draws are equal bytes, on any machine. Lists and tuples are JSON lists. A dict is an object
whose keys are the JSON texts of its keys, sorted. Four objects cannot be a dict, because their
keys are not in quotes: {"set": [members in order]}; {"number": [nearest float, remainder]} for an
integer that no float equals; {"text": [rest, numbers as written]} for a text with numbers in it,
such as JSON, CSV or a printed sentence, where # stands for each number in the rest; {"long":
[length, code, first entries]} for a list of more than `SLOTS` entries, and for a draw that would
take more than `WIDEST` characters. A text, or such a rest, of more than 64 characters is cut and
ends with its digest. A draw other than a list is read as a list of one
entry, and None as the empty list, as in `tables`.

A feature is a number with a name: a path into the draw, and what kind of number the feature is of
the value at that path.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Set
from decimal import Decimal
from enum import IntEnum
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np

from dpaudit._core.check import nearest_float
from dpaudit._core.text import with_article
from dpaudit.outcomes.tables import (
    EXACT,
    REAL,
    SLOTS,
    NotOutcomes,
    list_code,
    text_hash,
    with_lengths,
)

ALL = "numbers, text, booleans, None, or lists, tuples, dicts and sets of these"
SET, NUMBER, TEXT, LONG = "set", "number", "text", "long"
LONGEST, SHOWN = 64, 32  # characters of a whole text at most, and of a text that is cut
WIDEST = 1 << 16  # characters of a draw at most
DEEPEST = 50  # levels of nesting
COUNTED = 20_000  # different parts of lists, at most, whose counts are tried as columns
PAIRED = 2_000  # different pairs of neighbours, at most
DIGITS = 15  # significant digits of a number that a float keeps apart from all others
# a number that is not part of a word, such as an identifier, a version or a hexadecimal code
WRITTEN = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")

Path = tuple[int | str, ...]  # positions in lists and keys of dicts, from the outermost
Name = tuple[Path, "Kind"]
Features = dict[Name, tuple["array[int]", "array[float]"]]
# Values of Kind.TYPE; it is 0 for a number, a text or a list, which other features describe
NONE, NAN, DICT, SETS = (1.0, 2.0, 3.0, 4.0)


def canonical_texts(draws: Iterable[Any]) -> np.ndarray:
    """Each draw as its canonical text, (n,) bytes. Raises `NotOutcomes` for any other value."""
    return np.array([_text(_plain(draw, 0)) for draw in draws], dtype=np.bytes_)


def as_texts(draws: np.ndarray) -> np.ndarray:
    """Draws of any of the three forms as texts, (n,) bytes."""
    if draws.dtype.kind == "S":
        return draws
    if not draws.dtype.names:
        return canonical_texts(draws.tolist())
    rows = with_lengths(draws).tolist()
    return np.array([_text(_listed(int(row[0]), row[1:])) for row in rows], dtype=np.bytes_)


def readable(text: bytes) -> Any:
    """The draw behind a canonical text, as people write it, in JSON types."""
    return json.loads(text, object_hook=_readable)


def _readable(content: dict[str, Any]) -> Any:
    if NUMBER in content:
        nearest, rest = content[NUMBER]
        return int(nearest) + rest if isinstance(rest, int) else rest
    if LONG in content:
        return [*content[LONG][2], "…"]
    if SET in content:
        return content[SET]
    if TEXT in content:
        rest, written = content[TEXT]
        pieces = rest.split("#")
        if len(pieces) != len(written) + 1:  # the rest is cut, or has a # of its own
            return f"{rest} with {', '.join(written)}"
        return "".join(chain.from_iterable(zip(pieces, [*written, ""], strict=True)))
    return {json.loads(key) if key[:1] == '"' else key: item for key, item in content.items()}


def _listed(length: int, entries: list[Any]) -> Any:
    """A draw in JSON types, from its length and the entries in its row (`tables`)."""
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
    """The value in JSON types alone; `depth` is how deep in its draw it stands."""
    if value is None or type(value) in (bool, float):  # first, as isinstance of an ABC is slow
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (str, bytes)):
        return _with_numbers(value) if isinstance(value, str) else _short(value.decode("latin-1"))
    if isinstance(value, (numbers.Real, Decimal)):
        return _number(value)
    if depth > DEEPEST:
        raise NotOutcomes(f"no more than {DEEPEST} lists one in another", "more")
    return _container(value, depth + 1)


def _container(value: Any, depth: int) -> Any:
    """A list, dict or set, or NumPy's counterpart of one, in JSON types alone."""
    if hasattr(value, "to_frame") and not hasattr(value, "columns"):  # a series of pandas
        value = value.to_frame()
    if hasattr(value, "itertuples"):  # a data frame; labels of rows, such as groups, are a column
        labelled = type(value.index).__name__ != "RangeIndex"
        rows = value.itertuples(index=labelled, name=None)
        value = {"columns": list(value.columns), "records": list(rows)}
    if isinstance(value, np.void) and value.dtype.names:
        value = {name: value[name] for name in value.dtype.names}
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0):
        return _cut([_plain(entry, depth) for entry in value])
    if isinstance(value, np.ndarray) and value.dtype.kind in REAL + "USO":
        return _plain(value.item(), depth)
    if isinstance(value, Mapping):
        return {_key(key, depth): _plain(entry, depth) for key, entry in value.items()}
    if isinstance(value, Set):
        members = (
            _short(member) if isinstance(member, str) else _plain(member, depth) for member in value
        )
        return {SET: _cut(sorted(members, key=_order))}
    kind = type(value).__name__
    raise NotOutcomes(ALL, f"a draw with {with_article(kind)}" if depth > 1 else with_article(kind))


def _cut(entries: list[Any]) -> Any:
    """The list itself, or the first entries and the code of a long list."""
    if len(entries) <= SLOTS:
        return entries
    return {LONG: [len(entries), list_code(entries), entries[: SLOTS - 1]]}


def _key(key: Any, depth: int) -> str:
    """The JSON text that stands for a dict's key."""
    if isinstance(key, str):
        return _quoted(_short(key))
    return json.dumps(_plain(key, depth), sort_keys=True, separators=(",", ":"))


_quoted = lru_cache(maxsize=1 << 12)(json.dumps)


def _number(value: Any) -> Any:
    """A number in JSON types: a float, or an integer as it is where some float equals it.

    Any other integer becomes the nearest float and the remainder, as text if that is not small.
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


def _with_numbers(text: str) -> Any:
    """The text, or its numbers and the rest of it if it has from 1 to `SLOTS` numbers."""
    written = WRITTEN.findall(text)
    if not 0 < len(written) <= SLOTS:
        return _short(text)
    return {TEXT: [_short(WRITTEN.sub("#", text)), written]}


def _order(plain: Any) -> tuple[int, float, str]:
    """A key that sorts the members of a set: floats by size, then all others by JSON text."""
    if isinstance(plain, (int, float)) and not math.isnan(plain):
        return 0, float(plain), ""
    return 1, 0.0, json.dumps(plain, sort_keys=True)


class Kind(IntEnum):
    """The kinds of features that a value at a path has, in the order of their columns."""

    SIZE = 0  # the number of entries of a list, dict or set
    TYPE = 1  # NONE, NAN, DICT or SETS; else 0
    NUMBER = 2  # the value itself
    TEXT = 3  # the code of a text
    MEMBER = 4  # 1 where a set has the member that the path ends with
    REST = 5  # an integer less its nearest float, or the code of how a number is written
    COUNT = 6  # how often a list has the entry that the path ends with
    PAIR = 7  # how often a list has the two neighbouring entries that the path ends with

    @property
    def absent(self) -> float:
        """The number in the row of a draw that does not have this feature."""
        zero = (Kind.TYPE, Kind.MEMBER, Kind.REST, *COUNTS)
        return 0.0 if self in zero else math.nan


COUNTS = (Kind.COUNT, Kind.PAIR)


def features(
    texts: Iterable[bytes], counted: Collection[Name] | None = None, others: bool = True
) -> Features:
    """For each name, the positions of the draws with this feature, and the feature's values.

    counted : the names of the counts that are wanted; None for those of the first `COUNTED` parts.
    others : whether all other features are wanted.
    """
    table: Features = defaultdict(lambda: (array("q"), array("d")))
    learning = counted is None
    counts = _Counts({name: (array("q"), array("d")) for name in counted or ()}, learning)
    for number, text in enumerate(texts):
        value = json.loads(text)
        if others:
            _add_value(table, number, (), value)
        if learning or counted:
            counts.add(number, (), value)
    return table | counts.table


class _Counts:
    """How often the lists of each draw have each entry, and each pair of neighbouring entries.

    table : the features. learning : whether parts that are not in the table yet are added, up to
    `COUNTED` in all, and pairs up to `PAIRED`.
    """

    def __init__(self, table: Features, learning: bool) -> None:
        self.table, self.learning = table, learning
        self.number = Counter(kind for _, kind in table)
        self.parts: dict[str, str] = {}  # the names of parts that may repeat, by their text

    def add(self, number: int, path: Path, value: Any) -> None:
        """Add the counts of the lists in a value that draw `number` has at a path."""
        if isinstance(value, dict):
            if not value.keys() & {SET, NUMBER, TEXT, LONG}:
                for key, entry in value.items():
                    if isinstance(entry, (list, dict)):
                        self.add(number, (*path, key), entry)
            return
        if len(value) == 1 and isinstance(value[0], (list, dict)):  # or a draw that is not a list
            self.add(number, (*path, 0), value[0])
        parts = []
        for entry in value:
            text = repr(entry)
            if (part := self.parts.get(text)) is None:
                if not _may_repeat(entry):
                    return
                part = repr(_floats(entry))
                if len(self.parts) < COUNTED:
                    self.parts[text] = part
            parts.append(part)
        self._count(number, path, Kind.COUNT, parts, COUNTED)
        if self.learning or self.number[Kind.PAIR]:
            self._count(number, path, Kind.PAIR, map(", ".join, pairwise(parts)), PAIRED)

    def _count(self, number: int, path: Path, kind: Kind, parts: Iterable[str], most: int) -> None:
        for part, often in Counter(parts).items():
            name = (*path, part), kind
            if name not in self.table:
                if not self.learning or self.number[kind] >= most:
                    continue
                self.number[kind] += 1
                self.table[name] = array("q"), array("d")
            rows, values = self.table[name]
            rows.append(number)
            values.append(often)


def _floats(value: Any) -> Any:
    """The value with floats for integers and booleans, as equal draws may have either."""
    if isinstance(value, list):
        return [_floats(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _floats(entry) for key, entry in value.items()}
    return float(value) if isinstance(value, int) else value


def _may_repeat(value: Any) -> bool:
    """Whether a part has no fractions in it, whose values hardly come again."""
    if isinstance(value, float):
        return value.is_integer()
    if isinstance(value, dict):
        return not value.keys() & {NUMBER, TEXT, LONG} and all(map(_may_repeat, value.values()))
    return not isinstance(value, list) or all(map(_may_repeat, value))


def name_order(name: Name) -> tuple[Any, ...]:
    """A key that sorts names by path, step by step, with positions before keys; then by kind."""
    path, kind = name
    return *((isinstance(step, str), step) for step in path), (False, -1), kind.value


@lru_cache(maxsize=1 << 16)
def text_code(text: str) -> float:
    """A hash of the text: an integer below 2^52."""
    return text_hash(text)


@lru_cache(maxsize=1 << 16)
def _style(written: str) -> str:
    """How a number is written, "" if as Python does: with its value, this determines the text."""
    value = float(written)
    if written == repr(value):
        return ""
    if written == f"{value:.0f}":
        return "whole"
    mantissa, _, exponent = written.lower().partition("e")
    if len(mantissa.strip("+-0.").replace(".", "")) > DIGITS:
        return written
    whole, _, decimals = mantissa.partition(".")
    return f"{whole[:1] == '+'} {len(whole)} {'.' in mantissa} {len(decimals)} {exponent}"


def _add(table: Features, number: int, path: Path, kind: Kind, feature: float) -> None:
    rows, values = table[path, kind]
    rows.append(number)
    values.append(feature)


def _add_value(table: Features, number: int, path: Path, value: Any) -> None:
    """Add the features of the value that draw `number` has at a path.

    The members of a set have features by position, in their order, and its texts and integers also
    have one MEMBER feature each. A long list has its length, its first entries, and the code of all
    entries in the last slot.
    """
    if isinstance(value, str):
        _add(table, number, path, Kind.TEXT, text_code(value))
    elif value is None:
        _add(table, number, path, Kind.TYPE, NONE)
    elif not isinstance(value, (list, dict)):
        _add(table, number, path, Kind.NUMBER, value)
        if value != value:
            _add(table, number, path, Kind.TYPE, NAN)
    elif isinstance(value, list) or LONG in value:
        length, code, entries = (len(value), 0, value) if isinstance(value, list) else value[LONG]
        _add(table, number, path, Kind.SIZE, length)
        for position, entry in enumerate(entries):
            _add_value(table, number, (*path, position), entry)
        if isinstance(value, dict):
            _add(table, number, (*path, SLOTS - 1), Kind.NUMBER, code)
    elif SET in value:
        members = value[SET]
        _add(table, number, path, Kind.TYPE, SETS)
        _add_value(table, number, path, members)
        for member in members if isinstance(members, list) else members[LONG][2]:
            if isinstance(member, (str, int)):
                _add(table, number, (*path, repr(member)), Kind.MEMBER, 1.0)
    elif TEXT in value:
        rest, written = value[TEXT]
        _add(table, number, path, Kind.TEXT, text_code(rest))
        for place, digits in enumerate(written):
            _add(table, number, (*path, place), Kind.NUMBER, float(digits))
            if style := _style(digits):
                _add(table, number, (*path, place), Kind.REST, text_code(style))
    elif NUMBER in value:
        nearest, rest = value[NUMBER]
        _add(table, number, path, Kind.NUMBER, nearest)
        rest = text_code(rest) if isinstance(rest, str) else rest
        _add(table, number, path, Kind.REST, rest)
    else:
        _add(table, number, path, Kind.TYPE, DICT)
        _add(table, number, path, Kind.SIZE, len(value))
        for key, entry in value.items():
            _add_value(table, number, (*path, key), entry)
