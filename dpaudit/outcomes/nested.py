"""Draws of any form as canonical JSON text; `features` makes numbers of the text.

A new type of output is read here, in `_container` or `_known`, as lists, dicts, sets, numbers and
texts of its parts; nothing else need know it.

Equal draws are equal bytes, on any machine. Lists and tuples are JSON lists. A dict is an object
whose keys are the JSON texts of its keys, in its own order, which is released too; sorted where
several processes draw, since texts in a set have another order in each. Three objects cannot be a
dict, because their keys are not in quotes: {"set": [members in order]}; {"number": [nearest float,
remainder]} for an integer that no float equals; {"long": [length, code, first entries]} for a list
of more than `SLOTS` entries, and for a draw that would take more than `WIDEST` characters. A text
of more than `LONGEST` characters, and a key of more than `LONGEST_KEY`, is cut and ends with its
digest. Bytes are the text that they encode, else a dict of their values and of the floats that they
may be. A complex number is a list of its parts, a time a dict of its unit and number. Any other
draw that is not a list is read as a list of one entry, and None as the empty list, as in `tables`.
"""

from __future__ import annotations

import gc
import hashlib
import json
import math
import numbers
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from dpaudit._core.check import nearest_float
from dpaudit._core.text import with_article
from dpaudit.outcomes.tables import (
    EXACT,
    LISTS,
    REAL,
    SLOTS,
    NotOutcomes,
    are_rows,
    list_code,
    with_lengths,
)

ALL = "numbers, text, times, booleans, None, or lists, tuples, dicts and sets of these"
SET, NUMBER, LONG = "set", "number", "long"
LONGEST, LONGEST_KEY = 1 << 15, 64  # characters of a text, and of a key of a dict, at most
WIDEST = 1 << 16  # characters of a draw at most
DEEPEST = 50  # levels of nesting
MISSING = "NAType", "NaTType"  # the missing values of pandas
TIMES = date, time, timedelta, np.datetime64, np.timedelta64
EPOCH, MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
SIZES = 1e-100, 1e100  # magnitudes of floats in bytes: others are no floats


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the cyclic garbage collector, which would visit a million new lists again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@uncollected()
def canonical_texts(draws: Iterable[Any], sort_keys: bool = False) -> np.ndarray:
    """Each draw as its canonical text, (n,) bytes. Raises `NotOutcomes` for any other value."""
    draws = list(draws)
    plain = draws if _is_plain(draws) else (_plain(draw, 0) for draw in draws)
    return np.array([_text(draw, sort_keys) for draw in plain], dtype=np.bytes_)


def _is_plain(values: list[Any]) -> bool:
    """Whether all draws consist of JSON types that need no change, as tables of records do."""
    kinds = set(map(type, values))
    for _ in range(DEEPEST):
        if not kinds or not kinds <= {list, tuple} or max(map(len, values)) > SLOTS:
            break
        values = list(chain.from_iterable(values))
        kinds = set(map(type, values))
    if not kinds <= {int, float, str}:
        return False
    texts = [value for value in values if type(value) is str]
    integers = [value for value in values if type(value) is int]
    exact = not integers or -EXACT <= min(integers) <= max(integers) <= EXACT
    return exact and max(map(len, texts), default=0) <= LONGEST


def as_texts(draws: np.ndarray) -> np.ndarray:
    """Draws of any form as texts, (n,) bytes."""
    if draws.dtype.kind == "S":
        return draws
    if not draws.dtype.names or not are_rows(draws):
        return canonical_texts((draws[LISTS] if draws.dtype.names else draws).tolist())
    rows = with_lengths(draws).tolist()
    return np.array([_text(_listed(int(row[0]), row[1:])) for row in rows], dtype=np.bytes_)


def _listed(length: int, entries: list[Any]) -> Any:
    """A draw in JSON types, from its length and the entries in its row (`tables`)."""
    if length > SLOTS:
        return {LONG: [length, entries[-1], entries[: SLOTS - 1]]}
    return entries[:length]


def _text(plain: Any, sort_keys: bool = False) -> bytes:
    root = plain if isinstance(plain, (list, tuple)) or _is_long(plain) else [plain]
    text = _json(root if plain is not None else [], sort_keys)
    if len(text) <= WIDEST:
        return text
    size = plain[LONG][0] if _is_long(plain) else len(root)
    return _json({LONG: [size, list_code([text.decode()]), []]})


def _is_long(plain: Any) -> bool:
    return isinstance(plain, dict) and LONG in plain


def _json(plain: Any, sort_keys: bool = False) -> bytes:
    return json.dumps(plain, sort_keys=sort_keys, separators=(",", ":")).encode("ascii")


def _plain(value: Any, depth: int) -> Any:
    """The value in JSON types alone; `depth` is how deep in its draw it stands."""
    if value is None or type(value) in (bool, float):  # first, as isinstance of an ABC is slow
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, bytes):
        value = _decoded(value)
    if isinstance(value, str):
        return _short(value, LONGEST)
    if isinstance(value, TIMES):  # a timedelta64 is a number, too
        return _time(value)
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
        index, names = value.index, list(value.columns)
        labelled = type(index).__name__ != "RangeIndex"
        records = list(value.itertuples(index=labelled, name=None))
        counted = [] if labelled else [index.start, index.step]
        value = {"columns": names, "records": records, "index": [*index.names, *counted]}
    if hasattr(value, "todok"):  # a sparse matrix of SciPy
        small = math.prod(value.shape) <= SLOTS
        entries = None if small else _sorted(dict(value.todok().items()))
        value = value.toarray() if small else {"shape": value.shape, "entries": entries}
    if hasattr(value, "nodes") and hasattr(value, "edges"):  # a graph of NetworkX
        value = _graph(value)
    if isinstance(value, np.ma.MaskedArray):
        return _plain(value.tolist(), depth)  # None for each masked entry
    if isinstance(value, np.void) and value.dtype.names:
        value = {name: value[name] for name in sorted(value.dtype.names)}
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
    if (known := _known(value)) is not None:
        return _plain(known, depth)
    kind = type(value).__name__
    if kind in MISSING:
        return None
    got = f"a draw with {with_article(kind)}" if depth > 1 else with_article(kind)
    parts = "list(value)" if hasattr(value, "__iter__") else "its parts, as in [value.x, value.y]"
    raise NotOutcomes(ALL, got, f"return {parts}")


def _time(value: Any) -> Any:
    """A date, time or duration as the number of its units since its origin, such as {"us": 5}.

    A moment with a time zone has the offset of the zone, too, in seconds.
    """
    if isinstance(value, (np.datetime64, np.timedelta64)):
        unit = np.datetime_data(value.dtype)[0]
        return None if np.isnat(value) else {quoted(unit): _number(int(value.astype(np.int64)))}
    if type(value).__name__ in MISSING:
        return None
    if hasattr(value, "value"):  # of pandas
        units = {quoted("ns"): _number(value.value)}
    elif isinstance(value, timedelta):
        units = {quoted("us"): _number(value // MICROSECOND)}
    elif isinstance(value, time):
        of_day = timedelta(0, value.second, value.microsecond, 0, value.minute, value.hour)
        units = {quoted("us"): _number(of_day // MICROSECOND)}
    elif isinstance(value, datetime):
        since = value - (EPOCH if value.tzinfo is None else EPOCH.replace(tzinfo=UTC))
        units = {quoted("us"): _number(since // MICROSECOND)}
    else:
        units = {quoted("D"): value.toordinal() - EPOCH.toordinal()}
    offset = None if isinstance(value, timedelta) else getattr(value, "utcoffset", lambda: None)()
    return units if offset is None else {**units, quoted("zone"): offset.total_seconds()}


def _known(value: Any) -> Any:
    """A value of a type with parts as a list, dict or text of them; None for any other value."""
    if isinstance(value, numbers.Complex):
        return [float(value.real), float(value.imag)]
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: getattr(value, part.name) for part in fields(value)}
    if hasattr(value, "freqstr") and hasattr(value, "ordinal"):  # a period of pandas
        return {value.freqstr: value.ordinal}
    if hasattr(value, "closed_left"):  # an interval of pandas
        return [value.left, value.right, value.closed]
    if isinstance(value, range) or hasattr(value, "categories"):
        return list(value)
    return np.asarray(value).tolist() if hasattr(value, "__array__") else None


def _graph(graph: Any) -> dict[str, Any]:
    """The nodes and edges of a graph with their attributes, 1 if there are none."""
    directed, edges = graph.is_directed(), {}
    several = {"keys": True} if graph.is_multigraph() else {}
    for *edge, attributes in graph.edges(data=True, **several):
        ends = edge[:2] if directed else sorted(edge[:2], key=repr)
        edges[(*ends, *edge[2:])] = attributes or 1
    nodes = {node: attributes or 1 for node, attributes in graph.nodes(data=True)}
    parts = {"directed": directed, "edges": _sorted(edges), "graph": graph.graph}
    return {**parts, "nodes": _sorted(nodes)}


def _sorted(entries: dict[Any, Any]) -> dict[Any, Any]:
    """The entries of what has no order of its own, such as the nodes of a graph."""
    return dict(sorted(entries.items(), key=repr))


def _cut(entries: list[Any]) -> Any:
    """The list itself, or the first entries and the code of a long list."""
    if len(entries) <= SLOTS:
        return entries
    return {LONG: [len(entries), list_code(entries), entries[: SLOTS - 1]]}


def _key(key: Any, depth: int) -> str:
    """The JSON text that stands for a dict's key."""
    if isinstance(key, str):
        return quoted(_short(key))
    return json.dumps(_plain(key, depth), sort_keys=True, separators=(",", ":"))


quoted = lru_cache(maxsize=1 << 12)(json.dumps)


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


def _decoded(value: bytes) -> Any:
    """The text that bytes encode; else a dict of their values, and the floats that they may be."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = ""
    if text.isprintable() and text:
        return text
    if value and len(value) % 8 == 0:
        floats = np.frombuffer(value, dtype="<f8")
        size = np.abs(floats)
        if np.all((size == 0.0) | ((size > SIZES[0]) & (size < SIZES[1]))):
            return {"bytes": list(value), "floats": floats.tolist()}
    return {"bytes": list(value)}


def _short(text: str, most: int = LONGEST_KEY) -> str:
    """The text, or its beginning and digest if it has more than `most` characters."""
    if len(text) <= most:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{text[: most // 2]}…{digest}"


def _order(plain: Any) -> tuple[int, float, str]:
    """A key that sorts the members of a set: floats by size, then all others by JSON text."""
    if isinstance(plain, (int, float)) and not math.isnan(plain):
        return 0, float(plain), ""
    return 1, 0.0, json.dumps(plain, sort_keys=True)
