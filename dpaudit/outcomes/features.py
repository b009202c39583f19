"""The numerical features of draws that are canonical text, or lists of records of floats.

A feature is a number with a name: a path into the draw, and what kind of number the feature is of
the value at that path. Besides the numbers, texts and sizes at each path, there are the counts of
the parts of each list and of each pair of neighbours.

A text is read as the value that it encodes, if it is JSON or CSV in a format that gives the same
text again. Any other text is a code, its numbers, and its words or, of a single word, its letters.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from enum import IntEnum
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from dpaudit._core.types import Array
from dpaudit.outcomes.nested import DEEPEST, LONG, NUMBER, SET, quoted, uncollected
from dpaudit.outcomes.tables import EXACT, LISTS, SLOTS, text_hash

CHUNK = 1000  # draws at a time: their values stay in the processor's cache
DIGITS = 15  # significant digits of a number that a float keeps apart from all others
WHOLE = 32  # characters of an integer whose remainder a float represents exactly
LEAST_WORDS = 3  # a text of fewer words is a code
LEAST_REPEATS = 3  # a word whose letters occur less often, on average, is a code
# a number that is not part of a word, such as an identifier, a version or a hexadecimal code
WRITTEN = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
JSON_FORMATS: dict[str, dict[str, Any]] = {
    "json": {},
    "compact json": {"separators": (",", ":")},
    "json, 2 spaces": {"indent": 2},
    "json, 4 spaces": {"indent": 4},
}
SEPARATORS = ",;\t"  # of the fields of a CSV table
# Values of Kind.TYPE; it is 0 for a number, a text or a list, which other features describe
NONE, NAN, DICT, SETS = (1.0, 2.0, 3.0, 4.0)

Path = tuple[int | str, ...]  # positions in lists and keys of dicts, from the outermost
Name = tuple[Path, "Kind"]
Features = dict[Name, tuple[np.ndarray, Array]]  # the positions of draws, and their numbers
Names = Collection[Name]


class Kind(IntEnum):
    """The kinds of features that a value at a path has, in the order of their columns."""

    SIZE = 0  # the number of entries of a list, dict or set
    TYPE = 1  # NONE, NAN, DICT or SETS; else 0
    NUMBER = 2  # the value itself
    TEXT = 3  # the code of a text, or of the format of JSON or CSV
    WORDS = 4  # the number of words of a text, or of letters of a word; these have positions
    MEMBER = 5  # 1 where a set has the member that the path ends with
    # an integer less its nearest float; or the code of how a number is written, or of the first,
    # the last or all keys of a dict whose keys are not sorted
    REST = 6
    COUNT = 7  # how often a list or text has the entry or word that the path ends with
    PAIR = 8  # how often it has the two neighbours that the path ends with

    @property
    def absent(self) -> float:
        """The number in the row of a draw that does not have this feature."""
        zero = (Kind.TYPE, Kind.MEMBER, Kind.REST, *COUNTS)
        return 0.0 if self in zero else math.nan


COUNTS = (Kind.COUNT, Kind.PAIR)
# different parts of lists, and pairs of neighbours, at most, whose counts are tried as columns
MOST_PARTS = {Kind.COUNT: 20_000, Kind.PAIR: 2_000}


@uncollected()
def features(draws: np.ndarray, counted: Names | None = None, others: bool = True) -> Features:
    """For each name, the positions of the draws with this feature, and the feature's values.

    draws : (n,) texts as bytes, or lists of records. counted : the names of the counts that are
    wanted; None for those of the parts, at most `MOST_PARTS`, that most draws have. others :
    whether all other features are wanted.
    """
    if draws.dtype.names:
        return _of_records(draws[LISTS]) if others else {}
    table = _Table(counted, others)
    for start in range(0, len(draws), CHUNK):
        values = [json.loads(text) for text in draws[start : start + CHUNK].tolist()]
        table.add((), np.arange(start, start + len(values)), values)
    joined = {
        name: (
            np.concatenate([rows for rows, _ in parts]),
            np.concatenate([values for _, values in parts]),
        )
        for name, parts in table.parts.items()
    }
    for kind, most in MOST_PARTS.items() if counted is None else ():
        names = [name for name in joined if name[1] is kind]
        names.sort(key=lambda name: (-len(joined[name][0]), name_order(name)))
        for name in names[most:]:
            del joined[name]
    return joined


def _of_records(draws: Array) -> Features:
    """The features of lists of records, (n, m, c), which are those of their texts."""
    n, records, numbers = draws.shape
    rows = np.arange(n)
    table: Features = {((), Kind.SIZE): (rows, np.full(n, float(records)))}
    for record in range(records):
        table[(record,), Kind.SIZE] = rows, np.full(n, float(numbers))
        for place in range(numbers):
            table[(record, place), Kind.NUMBER] = rows, draws[:, record, place]
    return table


class Reading(NamedTuple):
    """What a text says. code : a hash of what the other fields leave out.

    value : the value that it encodes, as a tuple of one, or empty. written : its numbers.
    words : its words or letters.
    """

    code: float
    value: tuple[Any, ...] = ()
    written: Sequence[str] = ()
    words: Sequence[str] = ()


class _Table:
    """The features of all draws, made path by path.

    parts : for each name, the rows and values that make up the feature. counted, others : as in
    `features`. inside : whether the values at hand are entries of a list, whose own parts are not
    counted. encoded : whether they come from a text, so that 5 differs from 5.0, and 1 from true,
    and keys of dicts are not in quotes.
    """

    def __init__(self, counted: Names | None, others: bool) -> None:
        self.parts = defaultdict[Name, list[tuple[np.ndarray, Array]]](list)
        self.counted, self.others = counted, others
        self.inside = self.encoded = False

    def emit(self, path: Path, kind: Kind, rows: np.ndarray, values: Any) -> None:
        """Add one feature of these rows."""
        if self.others and len(rows):
            column = np.broadcast_to(np.asarray(values, dtype=np.float64), rows.shape)
            self.parts[path, kind].append((rows, column))

    def add(self, path: Path, rows: np.ndarray, values: list[Any]) -> None:
        """Add the features of the values, (n,), that the draws at `rows`, (n,), have at a path."""
        group = {kind: GROUPS.get(kind, kind.__name__) for kind in set(map(type, values))}
        if len(set(group.values())) == 1:
            getattr(self, f"_{next(iter(group.values()))}")(path, rows, values)
            return
        for name in sorted(set(group.values())):
            at = [i for i, value in enumerate(values) if group[type(value)] == name]
            getattr(self, f"_{name}")(path, rows[at], [values[i] for i in at])

    def _numbers(self, path: Path, rows: np.ndarray, values: list[Any]) -> None:
        column = np.array(values, dtype=np.float64)
        self.emit(path, Kind.NUMBER, rows, column)
        missing = np.isnan(column)
        self.emit(path, Kind.TYPE, rows[missing], NAN)
        if self.encoded:
            types = np.array(
                [
                    2.0
                    if type(value) is bool
                    else float(type(value) is float and value.is_integer())
                    for value in values
                ]
            )
            self.emit(path, Kind.REST, rows[types > 0.0], types[types > 0.0])

    def _none(self, path: Path, rows: np.ndarray, values: list[Any]) -> None:
        self.emit(path, Kind.TYPE, rows, NONE)

    def _list(self, path: Path, rows: np.ndarray, values: list[Any]) -> None:
        """A list has its length, the features of its entries by position, and its counts."""
        lengths = np.fromiter(map(len, values), dtype=np.intp, count=len(values))
        self.emit(path, Kind.SIZE, rows, lengths)
        self._count(path, rows, values)
        alone = np.flatnonzero(lengths == 1).tolist()  # such as a draw that is not a list
        self.add((*path, 0), rows[alone], [values[i][0] for i in alone])
        if self.others:
            longer = np.flatnonzero(lengths > 1).tolist()
            if alone:
                rows, values = rows[longer], [values[i] for i in longer]
            self._entries(path, rows, values)

    def _entries(self, path: Path, rows: np.ndarray, values: list[Any]) -> None:
        """Add the features of the entries of lists by position."""
        before, self.inside = self.inside, True
        shortest = min(map(len, values), default=0)
        for position in range(max(map(len, values), default=0)):
            if shortest > position:
                self.add((*path, position), rows, [value[position] for value in values])
                continue
            at = [i for i, value in enumerate(values) if len(value) > position]
            self.add((*path, position), rows[at], [values[i][position] for i in at])
        self.inside = before

    def _dict(self, path: Path, rows: np.ndarray, values: list[Any]) -> None:
        if self.encoded:
            self._keys(path, rows, values)
            return
        marks = [next((mark for mark in MARKS if mark in value), "") for value in values]
        for mark in sorted(set(marks)):
            at = [i for i, other in enumerate(marks) if other == mark]
            some, chosen = rows[at], [values[i] for i in at]
            if mark:
                getattr(self, f"_{mark}")(path, some, [value[mark] for value in chosen])
            else:
                self._keys(path, some, chosen)

    def _keys(self, path: Path, rows: np.ndarray, values: list[dict[str, Any]]) -> None:
        """A dict has its size and the features of each key; of columns, the counts of records."""
        self.emit(path, Kind.TYPE, rows, DICT)
        self.emit(path, Kind.SIZE, rows, list(map(len, values)))
        if not self.encoded:  # the order in a text is a part of its format
            orders = [list(value) for value in values]
            unsorted = [i for i, keys in enumerate(orders) if keys != sorted(keys)]
            for step, part in ORDER.items():
                codes = [text_code(",".join(orders[i][part])) for i in unsorted]
                self.emit((*path, step), Kind.REST, rows[unsorted], codes)
        having = defaultdict[str, list[int]](list)
        for i, value in enumerate(values):
            for key in value:
                having[key].append(i)
        for key, at in having.items():
            step = quoted(key) if self.encoded else key
            self.add((*path, step), rows[at], [values[i][key] for i in at])
        if not self.inside:
            records = [_records(value) for value in values]
            at = [i for i, table in enumerate(records) if table]
            tables = [records[i] for i in at]
            self.emit((*path, RECORDS), Kind.SIZE, rows[at], list(map(len, tables)))
            self._count((*path, RECORDS), rows[at], tables)

    def _set(self, path: Path, rows: np.ndarray, values: list[Any]) -> None:
        """The members of a set have features by position, in their order, and each by itself."""
        self.emit(path, Kind.TYPE, rows, SETS)
        before, self.inside = self.inside, True
        self.add(path, rows, values)
        self.inside = before
        having = defaultdict[str, list[int]](list)
        for i, value in enumerate(values):
            for member in value if isinstance(value, list) else value[LONG][2]:
                if isinstance(member, (str, int, list)) and _may_repeat(member):
                    having[repr(member)].append(i)
        for member, at in having.items():
            self.emit((*path, member), Kind.MEMBER, rows[at], 1.0)

    def _number(self, path: Path, rows: np.ndarray, values: list[Any]) -> None:
        self.emit(path, Kind.NUMBER, rows, [nearest for nearest, _ in values])
        rests = [text_code(rest) if isinstance(rest, str) else rest for _, rest in values]
        self.emit(path, Kind.REST, rows, rests)

    def _long(self, path: Path, rows: np.ndarray, values: list[Any]) -> None:
        """A long list has its length, first entries, and the code of all in the last slot."""
        self.emit(path, Kind.SIZE, rows, [length for length, _, _ in values])
        self._entries(path, rows, [entries for _, _, entries in values])
        self.emit((*path, SLOTS - 1), Kind.NUMBER, rows, [code for _, code, _ in values])

    def _text(self, path: Path, rows: np.ndarray, values: list[str]) -> None:
        known = {text: read(text) for text in set(values)}
        readings = [known[text] for text in values]
        self.emit(path, Kind.TEXT, rows, [reading.code for reading in readings])
        if not any(reading[1:] != ((), (), ()) for reading in known.values()):
            return
        at = [i for i, reading in enumerate(readings) if reading.value]
        before, self.encoded = self.encoded, True
        self.add(path, rows[at], [readings[i].value[0] for i in at])
        self.encoded = before
        at = [i for i, reading in enumerate(readings) if reading.written]
        most = max((len(readings[i].written) for i in at), default=0)
        for place in range(most if self.others else 0):
            at = [i for i in at if len(readings[i].written) > place]
            written = [readings[i].written[place] for i in at]
            self.emit((*path, place), Kind.NUMBER, rows[at], list(map(float, written)))
            rests = np.array(list(map(_rest, written)))
            odd = rests != 0.0
            self.emit((*path, place), Kind.REST, rows[at][odd], rests[odd])
        at = [i for i, reading in enumerate(readings) if reading.words]
        words = [list(readings[i].words) for i in at]
        self.emit(path, Kind.WORDS, rows[at], list(map(len, words)))
        for place in range(max(map(len, words), default=0) if self.others else 0):
            longer = [i for i, some in enumerate(words) if len(some) > place]
            codes = [text_code(words[i][place]) for i in longer]
            self.emit((*path, place), Kind.TEXT, rows[at][longer], codes)
        self._count(path, rows[at], words)

    def _count(self, path: Path, rows: np.ndarray, lists: list[list[Any]]) -> None:
        """Add how often the lists have each part, and each pair of neighbours, that may repeat."""
        if self.inside:
            return
        wanted = {
            kind: {
                name[0][-1] for name in self.counted or () if name == ((*path, name[0][-1]), kind)
            }
            for kind in COUNTS
        }
        if self.counted is not None and not any(wanted.values()):
            return
        may_repeat = partial(_may_repeat, encoded=self.encoded)
        at = [i for i, some in enumerate(lists) if some and may_repeat([some[0], some[-1]])]
        draw = np.repeat(np.arange(len(at)), [len(lists[i]) for i in at])
        entries = list(chain.from_iterable(lists[i] for i in at))
        keys = _keys_of(entries, self.encoded)
        codes = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        code = np.fromiter(map(codes.__getitem__, keys), dtype=np.intp, count=len(keys))
        parts = [entries[first] for first in np.unique(code, return_index=True)[1].tolist()]
        fractions = np.array([not may_repeat(part) for part in parts], dtype=bool)
        whole = np.bincount(draw, fractions[code], minlength=len(at)) == 0.0
        code, draw = code[whole[draw]], draw[whole[draw]]
        names = [repr(_named(part, self.encoded)) for part in parts]
        neighbours = draw[1:] == draw[:-1]
        pair = (code[:-1] * len(names) + code[1:])[neighbours]

        def pair_name(pair: int) -> str:
            return ", ".join(names[i] for i in divmod(pair, len(names)))

        for kind, column, draws, name_of in (
            (Kind.COUNT, code, draw, names.__getitem__),
            (Kind.PAIR, pair, draw[1:][neighbours], pair_name),
        ):
            if self.counted is not None and not wanted[kind]:
                continue
            known, column = np.unique(column, return_inverse=True)
            cells, counts = np.unique(column * len(at) + draws, return_counts=True)
            starts = np.searchsorted(cells // max(len(at), 1), np.arange(len(known) + 1))
            order = np.argsort(-np.diff(starts), kind="stable")
            for part in order[: MOST_PARTS[kind] if self.counted is None else None].tolist():
                name = name_of(int(known[part]))
                if self.counted is None or name in wanted[kind]:
                    some = slice(starts[part], starts[part + 1])
                    having = rows[at][cells[some] % len(at)]
                    self.parts[(*path, name), kind].append((having, counts[some].astype(float)))


# steps to the codes of these keys of a dict, which are in quotes
ORDER = {"first": slice(1), "last": slice(-1, None), "order": slice(None)}
RECORDS = ""  # a step to the records of a table that is a dict of columns; keys are in quotes
GROUPS = {bool: "numbers", int: "numbers", float: "numbers", str: "text", type(None): "none"}
MARKS = (SET, NUMBER, LONG)


def _keys_of(entries: list[Any], encoded: bool) -> list[Any]:
    """A key for each entry, which two entries share if and only if they are equal.

    An integer and a float may be equal, but 0.0 and −0.0 are not; nor are numbers of different
    types in an encoded text. Such entries, and nested ones, have their text for a key.
    """
    flat, kinds = entries, set(map(type, entries))
    if kinds == {list}:
        flat = list(chain.from_iterable(entries))
    elif kinds == {dict}:
        flat = list(chain.from_iterable(map(dict.values, entries)))
    inner = set(map(type, flat))
    by_type = encoded and inner & {bool, float}
    signed = float in inner and any(value == 0.0 and repr(value) == "-0.0" for value in flat)
    if inner & {list, dict} or by_type or signed:
        return [repr(_named(entry, encoded)) for entry in entries]
    if kinds == {dict}:
        return list(map(frozenset, map(dict.items, entries)))
    return list(map(tuple, entries)) if kinds == {list} else entries


def _named(value: Any, encoded: bool) -> Any:
    """The value in a form that has the same text for equal parts, and for no others."""
    if isinstance(value, list):
        return [_named(entry, encoded) for entry in value]
    if isinstance(value, dict):
        name = quoted if encoded else str
        return dict(sorted((name(key), _named(entry, encoded)) for key, entry in value.items()))
    return float(value) if isinstance(value, int) and not encoded else value


def _may_repeat(value: Any, encoded: bool = False) -> bool:
    """Whether a part has no fractions in it, whose values hardly come again."""
    if isinstance(value, float):
        return value.is_integer()
    if isinstance(value, dict):
        if not encoded and value.keys() & {NUMBER, LONG}:
            return False
        value = list(value.values())
    return not isinstance(value, list) or all(_may_repeat(entry, encoded) for entry in value)


def _records(columns: dict[str, Any]) -> list[Any]:
    """The records of a table that is a dict of columns; empty for any other dict."""
    lists = list(columns.values())
    if len(lists) < 2 or not all(isinstance(column, list) and column for column in lists):
        return []
    if len({len(column) for column in lists}) > 1:
        return []
    return [list(record) for record in zip(*lists, strict=True)]


def read(text: str) -> Reading:
    """What a text says: a value in JSON or CSV, numbers and words."""
    for parse in (_from_json, _from_csv):
        if (parsed := parse(text)) is not None:
            value, style = parsed
            return Reading(text_code(style), (value,))
    written = WRITTEN.findall(text)
    if not 0 < len(written) <= SLOTS:
        return Reading(text_code(text), words=words_of(text))
    rest = WRITTEN.sub("#", text)
    return Reading(text_code(rest), written=written, words=words_of(rest))


def _from_json(text: str) -> tuple[Any, str] | None:
    """The list or dict that a text encodes, and the format, which determines the text."""
    body = text.rstrip("\n")
    if body[:1] not in ("[", "{"):
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if (dicts := _dicts_of(value)) is None:
        return None
    orders = set(map(tuple, dicts))
    one_order = len(set(map(frozenset, orders))) == len(orders)
    unsorted = sorted(keys for keys in orders if list(keys) != sorted(keys))
    order = unsorted if one_order else list(map(tuple, dicts))
    for name, options in JSON_FORMATS.items():
        for ascii_only in (True, False):
            if json.dumps(value, ensure_ascii=ascii_only, **options) == body:
                return value, f"{name} {ascii_only} {len(text) - len(body)} {order}"
    return None


def _dicts_of(value: Any) -> list[dict[str, Any]] | None:
    """All dicts in the value, from the outermost; None if lists and dicts are more than `DEEPEST`
    deep or `SLOTS` long, or an integer is not exact."""
    values, dicts = [value], list[dict[str, Any]]()
    for _ in range(DEEPEST + 1):
        kinds = set(map(type, values))
        if int in kinds and max(abs(entry) for entry in values if type(entry) is int) > EXACT:
            return None
        if not kinds & {list, dict}:
            return dicts
        boxes = [entry for entry in values if type(entry) in (list, dict)]
        if max(map(len, boxes)) > SLOTS:
            return None
        dicts += [box for box in boxes if type(box) is dict]
        entries = (box.values() if type(box) is dict else box for box in boxes)
        values = list(chain.from_iterable(entries))
    return None


def _from_csv(text: str) -> tuple[Any, str] | None:
    """The header and records of a CSV table, and the format, which determines the text."""
    end = "\r\n" if "\r\n" in text else "\n"
    body = text.rstrip("\r\n")
    lines = body.split(end)
    if not 2 <= len(lines) <= SLOTS or '"' in body:
        return None
    for separator in SEPARATORS:
        fields = [line.split(separator) for line in lines]
        if len(fields[0]) > 1 and len({len(record) for record in fields}) == 1:
            records = [[_field(field) for field in record] for record in fields]
            style = f"csv {separator} {end!r} {text[len(body) :]!r}"
            names, *others = records
            columns = list(zip(*others, strict=True))
            if all(
                isinstance(name, str) and name not in column
                for name, column in zip(names, columns, strict=True)
            ):
                style += f" {json.dumps(names)}"
                records = others
            return records, style
    return None


def _field(text: str) -> int | float | str:
    """A field of a CSV table: a number where Python writes that number so, or text."""
    if WRITTEN.fullmatch(text):
        for number in (int, float):
            try:
                if str(value := number(text)) == text and abs(value) <= EXACT:
                    return value
            except ValueError:
                continue
    return text


def words_of(text: str) -> list[str]:
    """The words of a text, or the letters of a single word; empty where it has few."""
    words = text.split()
    if len(words) >= LEAST_WORDS:
        return words[:SLOTS]
    letters = text.isalpha() and len(text) >= max(LEAST_REPEATS * len(set(text)), 2 * LEAST_REPEATS)
    return list(text)[:SLOTS] if letters else []


@lru_cache(maxsize=1 << 16)
def text_code(text: str) -> float:
    """A hash of the text: an integer below 2^52."""
    return text_hash(text)


def _rest(written: str) -> float:
    """A code of how a number is written, 0 if as Python does; of an integer that no float equals,
    plus the remainder."""
    style = _style(written)
    if style == written and len(written) <= WHOLE and written.lstrip("+-").isdecimal():
        whole = int(written)  # of short texts alone: Python refuses 4,301 digits
        if str(whole) == written:
            return text_code("whole") + (whole - int(float(whole)))
    return text_code(style) if style else 0.0


@lru_cache(maxsize=1 << 16)
def _style(written: str) -> str:
    """How a number is written, "" if as Python does: with its value, this determines the text."""
    value = float(written)
    if written == repr(value):
        return ""
    if written == f"{value:.0f}":
        return "whole"
    mantissa, _, exponent = written.lower().partition("e")
    if not written.isascii() or len(mantissa.strip("+-0.").replace(".", "")) > DIGITS:
        return written
    whole, _, decimals = mantissa.partition(".")
    dot, upper = "." in mantissa, "E" in written
    return f"{whole[:1] == '+'} {len(whole)} {dot} {len(decimals)} {exponent} {upper}"


def name_order(name: Name) -> tuple[Any, ...]:
    """A key that sorts names by path, step by step, with positions before keys; then by kind.

    The entries of lists in a dict, such as the columns of a table, stand position by position.
    """
    path, kind = name
    if len(path) > 1 and isinstance(path[-2], str) and isinstance(path[-1], int):
        path = (*path[:-2], path[-1], path[-2])
    return *((isinstance(step, str), step) for step in path), (False, -1), kind.value
