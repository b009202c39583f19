"""The JSON Schema of a scenario file (draft 2020-12), by which editors complete keys.

Keys stand in `properties` of their table, whatever its kind, and what a kind demands in `if` and
`then`: an editor then completes them all, and marks the one key that is wrong. Alternatives in
`anyOf` would make it mark the whole file. No `allOf` stands beside `properties`, since taplo passes
by the properties there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from dpaudit.run.scenario.study import STUDY
from dpaudit.run.scenario.table import REQUIRED
from dpaudit.run.schema.asked import APART, ONE_OF, Kind, tables
from dpaudit.run.schema.conditions import (
    all_of,
    apart,
    files,
    has,
    holds,
    is_of,
    of_some_kind,
    when,
)
from dpaudit.run.schema.summaries import KEYS, TABLES
from dpaudit.run.schema.types import Schema, schema_of

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> Schema:
    """The schema, in JSON types. What only the data can tell is not in it."""
    found = tables()
    (top,) = found.pop("")
    parts = {"name": properties("", top)["name"]}
    parts |= {place: table(place, kinds) for place, kinds in found.items()}
    return {
        "$schema": DRAFT,
        "title": "dpaudit scenario",
        "type": "object",
        "properties": {key: {"$ref": f"#/$defs/{key}"} for key in parts},
        "additionalProperties": False,
        **all_of(files()),
        "$defs": parts,
    }


def table(place: str, kinds: Sequence[Kind]) -> Schema:
    """One table: the keys of all its kinds, and what each kind demands."""
    ways = [properties(place, kind) for kind in kinds]
    keys = dict.fromkeys(chain(*ways))
    known = {key: common([way[key] for way in ways if key in way]) for key in keys}
    everywhere = [key for key in keys if all(key in kind.wanted for kind in kinds)]
    demands = [when(is_of(kind, kinds), demanded(place, kind, known)) for kind in kinds]
    further = [*demands, of_some_kind(kinds)] if len(kinds) > 1 else []
    return {
        "description": TABLES[place],
        "type": "object",
        "properties": known,
        "required": everywhere,
        "additionalProperties": place == STUDY,
        **({"oneOf": [has(key) for key in ONE_OF[place]]} if place in ONE_OF else {}),
        **all_of([*further, *(apart(*pair) for pair in APART.get(place, ()))]),
    }


def demanded(place: str, kind: Kind, known: dict[str, Schema]) -> Schema:
    """What a table of one kind has and needs, beside what is `known` of the keys of all kinds."""
    own = properties(place, kind)
    precise = {key: one for key, one in own.items() if one != known[key] and key not in kind.fixed}
    return {**holds(*own), "required": list(kind.wanted), "properties": precise}


def common(ways: Sequence[Schema]) -> Schema:
    """What is true of a key in all kinds of a table."""
    first, *others = ways
    shared = {word: one for word, one in first.items() if all(o.get(word) == one for o in others)}
    choices = [_choices(way) for way in ways]
    if "const" in shared or not all(choices):
        return shared
    return {"enum": list(dict.fromkeys(chain(*choices))), **shared}


def _choices(way: Schema) -> Iterable[Any]:
    return [way["const"]] if "const" in way else way.get("enum", ())


def properties(place: str, kind: Kind) -> dict[str, Schema]:
    """The keys of one kind, each with its values, default and meaning."""
    found: dict[str, Schema] = {}
    for key, asked in kind.keys.items():
        fixed = key in kind.fixed
        values = {"const": kind.fixed[key]} if fixed else schema_of(asked.check)
        default = {} if fixed else _default(asked.default)
        found[key] = {**values, **default, **_summary(place, key)}
    return found


def _summary(place: str, key: str) -> Schema:
    """Of parameters of dpaudit's own mechanisms nothing is said here."""
    return {"description": KEYS[place][key]} if key in KEYS[place] else {}


def _default(value: Any) -> Schema:
    if value is REQUIRED or value is None:
        return {}
    return {"default": list(value) if isinstance(value, tuple) else value}
