"""The page of all keys of a scenario, in Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from dpaudit.papers import REGISTRY
from dpaudit.run.scenario.table import REQUIRED, Asked
from dpaudit.run.scenario.target import TARGET
from dpaudit.run.schema.asked import Kind, tables
from dpaudit.run.schema.summaries import KEYS, TABLES
from dpaudit.run.schema.types import Schema, schema_of

HEAD = """# Keys of a scenario

`dpaudit schema --markdown` writes this page from the code that checks scenarios.
[Write a scenario](scenarios.md) explains them. `dpaudit schema` prints the same as JSON Schema, by
which editors complete keys and mark wrong values.

Above the tables may stand `name`: {name}
"""
COLUMNS = "| key | values | default | meaning |\n| --- | --- | --- | --- |"
OWN = """### Mechanisms of dpaudit's own

With `name` and these parameters. [Mechanisms](mechanisms.md) says what they are.

| `name` | parameters |
| --- | --- |"""
WORDS = {"integer": "integer", "number": "number", "string": "text", "boolean": "true or false"}


def page() -> str:
    """The whole page."""
    found = tables()
    found.pop("")
    parts = [HEAD.format(name=KEYS[""]["name"][0].lower() + KEYS[""]["name"][1:])]
    parts += [part for place, kinds in found.items() for part in section(place, kinds)]
    return "\n".join(parts)


def section(place: str, kinds: Sequence[Kind]) -> Iterator[str]:
    """One table of a scenario: its kinds, and then dpaudit's own mechanisms."""
    yield f"## `[{place}]`\n\n{TABLES[place]}\n"
    for kind in kinds:
        if kind.title not in REGISTRY:
            head = f"### {_code(kind.title)}\n\n" if kind.title else ""
            lines = (row(place, key, kind) for key in kind.keys)
            yield head + "\n".join([COLUMNS, *lines]) + "\n"
    if own := [kind for kind in kinds if kind.title in REGISTRY]:
        yield "\n".join([OWN, *map(_own, own)]) + "\n"


def row(place: str, key: str, kind: Kind) -> str:
    """One key of a table."""
    asked = kind.keys[key]
    fixed = key in kind.fixed
    values = words({"enum": [kind.fixed[key]]} if fixed else schema_of(asked.check))
    needed = "required" if key in kind.wanted else _default(asked)
    return f"| `{key}` | {values} | {needed} | {KEYS[place][key]} |"


def words(values: Schema) -> str:
    """The values that a key takes, in words."""
    if "anyOf" in values:
        return ", or ".join(words(one) for one in values["anyOf"])
    if "enum" in values:
        return ", ".join(f"`{json.dumps(one)}`" for one in values["enum"])
    if values.get("type") == "array":
        inner = words(values["items"]) if "items" in values else "values"
        return f"list of {inner}"
    if values.get("type") == "object":
        keys = ", ".join(f"`{key}`" for key in values.get("properties", ()))
        return f"table of {keys}" if keys else "table"
    if values.get("pattern") == TARGET["pattern"]:
        return '`"package.module:callable"`'
    return WORDS.get(values.get("type", ""), "any") + _range(values)


def _range(values: Schema) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    ends = [f"{sign} {_end(values[key])}" for key, sign in signs.items() if key in values]
    return f" {', '.join(ends)}" if ends else ""


def _end(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _default(asked: Asked) -> str:
    value = asked.default
    return "" if value is REQUIRED or value is None else f"`{json.dumps(value)}`"


def _own(kind: Kind) -> str:
    others = [key for key in kind.keys if key != "name"]
    return f"| `{kind.title}` | {', '.join(_parameter(key, kind.keys[key]) for key in others)} |"


def _parameter(key: str, asked: Asked) -> str:
    known = _default(asked)
    said = f", default {known}" if known else "" if asked.default is REQUIRED else ", optional"
    return f"`{key}` ({words(schema_of(asked.check))}{said})"


def _code(title: str) -> str:
    return f"`{title}`" if "=" in title or title in KEYS["claim"] else title
