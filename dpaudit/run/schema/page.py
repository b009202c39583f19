"""The page of all keys of a scenario, in Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from dpaudit.papers import REGISTRY
from dpaudit.run.scenario.claim import PairClaim
from dpaudit.run.scenario.target import TARGET
from dpaudit.run.schema.document import known
from dpaudit.run.schema.kinds import ABOUT, NAME, Kind, Schema, tables

HEAD = """# Keys of a scenario

`dpaudit schema --markdown` writes this page from the code that checks scenarios.
[Write a scenario](scenarios.md) explains them. `dpaudit schema` prints the same as JSON Schema, by
which editors complete keys and mark wrong values.

Above the tables may stand `name`: {name}

A file has one table `[audit]`, or several tables `[[audit]]`, each with a `name` and, beside the
keys of `[audit]`, tables `data`, `mechanism`, `neighbour`, `claim` and `one_run` whose keys are
added to those of the file or replace them. Each is a scenario: `dpaudit run FILE.toml` runs them
all, `dpaudit run FILE.toml:NAME` one of them.
"""
COLUMNS = "| key | values | default | meaning |\n| --- | --- | --- | --- |"
OWN = """### Mechanisms of dpaudit's own

With `name` and these parameters. [Mechanisms](mechanisms.md) says what they are.

| `name` | parameters |
| --- | --- |"""
WORDS = {"integer": "integer", "number": "number", "string": "text", "boolean": "true or false"}
SIGNS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def page() -> str:
    """The whole page."""
    name = NAME["description"]
    parts = [HEAD.format(name=name[0].lower() + name[1:])]
    parts += [text for place, kinds in tables().items() for text in section(place, kinds)]
    return "\n".join(parts)


def section(place: str, kinds: Sequence[Kind]) -> Iterator[str]:
    """One table of a scenario: its kinds, and then dpaudit's own mechanisms."""
    yield f"## `[{place}]`\n\n{ABOUT[place]}\n"
    keys = known(kinds)
    for kind in kinds:
        if kind.title not in REGISTRY:
            code = "=" in kind.title or kind.title in PairClaim.model_fields
            head = f"### {f'`{kind.title}`' if code else kind.title}\n\n" if kind.title else ""
            lines = (_row(kind, key, keys[key].get("description", "")) for key in kind.keys)
            yield head + "\n".join([COLUMNS, *lines]) + "\n"
    if own := [kind for kind in kinds if kind.title in REGISTRY]:
        yield "\n".join([OWN, *map(_own, own)]) + "\n"


def _row(kind: Kind, key: str, meaning: str) -> str:
    needed = "required" if key in kind.wanted else _default(kind.keys[key])
    return f"| `{key}` | {words(kind.keys[key])} | {needed} | {meaning} |"


def words(values: Schema) -> str:
    """The values that a key takes, in words."""
    if "const" in values:
        return f"`{json.dumps(values['const'])}`"
    if "anyOf" in values:
        return ", or ".join(words(way) for way in values["anyOf"])
    if "enum" in values:
        return ", ".join(f"`{json.dumps(value)}`" for value in values["enum"])
    if values.get("type") == "array":
        return f"list of {words(values['items']) if 'items' in values else 'values'}"
    if values.get("type") == "object":
        keys = ", ".join(f"`{key}`" for key in values.get("properties", ()))
        return f"table of {keys}" if keys else "table"
    if values.get("pattern") == TARGET["pattern"]:
        return '`"package.module:callable"`'
    ends = [f"{sign} {_end(values[key])}" for key, sign in SIGNS.items() if key in values]
    return " ".join([WORDS.get(values.get("type", ""), "any"), ", ".join(ends)]).rstrip()


def _end(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _default(values: Schema) -> str:
    return f"`{json.dumps(values['default'])}`" if "default" in values else ""


def _own(kind: Kind) -> str:
    keys = [_parameter(kind, key) for key in kind.keys if key != "name"]
    return f"| `{kind.title}` | {', '.join(keys)} |"


def _parameter(kind: Kind, key: str) -> str:
    default = _default(kind.keys[key])
    usual = f", default {default}" if default else "" if key in kind.wanted else ", optional"
    return f"`{key}` ({words(kind.keys[key])}{usual})"
