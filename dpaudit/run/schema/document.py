"""The JSON Schema of a scenario file (draft 2020-12), by which editors complete keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dpaudit.run.one_run import ONE_RUN
from dpaudit.run.scenario.study import STUDY
from dpaudit.run.scenario.table import REQUIRED
from dpaudit.run.schema.asked import Kind, tables
from dpaudit.run.schema.summaries import KEYS, TABLES
from dpaudit.run.schema.types import Schema, schema_of

DRAFT = "https://json-schema.org/draft/2020-12/schema"
AUDIT = ("name", "data", "mechanism", "claim", "neighbour", "audit")
FILES = {  # the tables that a file may have, by what it is; the first one's must be there
    "an audit by draws": (AUDIT, ("mechanism",)),
    "an audit of one run": (("name", ONE_RUN, "claim", "data", "mechanism"), (ONE_RUN,)),
    "a study": (("name", STUDY), (STUDY,)),
}


def schema() -> Schema:
    """The schema, in JSON types. What only the data can tell is not in it."""
    found = tables()
    (top,) = found.pop("")
    parts = {"name": properties("", top)["name"]}
    parts |= {place: table(place, kinds) for place, kinds in found.items()}
    return {
        "$schema": DRAFT,
        "title": "dpaudit scenario",
        "anyOf": [
            {
                "title": title,
                "type": "object",
                "properties": {key: {"$ref": f"#/$defs/{key}"} for key in keys},
                "required": list(needed),
                "additionalProperties": False,
            }
            for title, (keys, needed) in FILES.items()
        ],
        "$defs": parts,
    }


def table(place: str, kinds: Iterable[Kind]) -> Schema:
    """One table, written in any of its ways."""
    ways = [way(place, kind) for kind in kinds]
    summary = {"description": TABLES[place]}
    return summary | (ways[0] if len(ways) == 1 else {"type": "object", "anyOf": ways})


def way(place: str, kind: Kind) -> Schema:
    """A table of one kind."""
    return {
        **({"title": kind.title} if kind.title else {}),
        "type": "object",
        "properties": properties(place, kind),
        "required": list(kind.wanted),
        "additionalProperties": place == STUDY,
    }


def properties(place: str, kind: Kind) -> dict[str, Schema]:
    """The keys, each with its values, default and meaning."""
    found: dict[str, Schema] = {}
    for key, asked in kind.keys.items():
        values = schema_of(asked.check)
        values = {"const": kind.fixed[key]} if key in kind.fixed else values
        found[key] = {**values, **_default(asked.default), **_summary(place, key)}
    return found


def _summary(place: str, key: str) -> Schema:
    """Of parameters of dpaudit's own mechanisms nothing is said here."""
    return {"description": KEYS[place][key]} if key in KEYS[place] else {}


def _default(value: Any) -> Schema:
    if value is REQUIRED or value is None:
        return {}
    return {"default": list(value) if isinstance(value, tuple) else value}
