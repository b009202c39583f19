"""The page of all keys of a scenario, in Markdown, made from the models of `run.scenario`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dpaudit.papers import REGISTRY
from dpaudit.run.scenario.tables import PairClaim
from dpaudit.run.scenario.target import TARGET
from dpaudit.run.schema import ABOUT, NAME, Kind, Schema, keys_of, tables

HEAD = """# Keys of a scenario

`dpaudit schema --markdown` writes this page from the code that checks scenarios.
[Write a scenario](scenarios.md) explains them. `dpaudit schema` prints the same as JSON Schema, by
which editors complete keys and mark wrong values.

Above the tables may stand `name`: {name}

A file has one table `[audit]`, or several tables `[[audit]]`, each with a `name` and, beside the
keys of `[audit]`, tables `data`, `mechanism`, `neighbour`, `claim`, `one_run` and `training` whose
keys are added to those of the file or replace them. Each is a scenario: `dpaudit run FILE.toml`
runs them all, `dpaudit run FILE.toml:NAME` one of them.
"""
COLUMNS = "| key | values | default | meaning |\n| --- | --- | --- | --- |"
OWN = """### Mechanisms of dpaudit's own

With `name` and these parameters. [Mechanisms](mechanisms.md) says what they are.

| `name` | parameters |
| --- | --- |"""
WORDS = {"integer": "integer", "number": "number", "string": "text", "boolean": "true or false"}
SIGNS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def page() -> str:
    name = NAME["description"]
    parts = [HEAD.format(name=name[0].lower() + name[1:])]
    for place, kinds in tables().items():
        parts.append(f"## `[{place}]`\n\n{ABOUT[place]}\n")
        meanings = {key: schema.get("description", "") for key, schema in keys_of(kinds).items()}
        own = [kind for kind in kinds if kind.title in REGISTRY]
        parts += [_table(kind, meanings) for kind in kinds if kind not in own]
        if own:
            parts.append("\n".join([OWN, *map(_own_row, own)]) + "\n")
    return "\n".join(parts)


def _table(kind: Kind, meanings: Mapping[str, str]) -> str:
    code = "=" in kind.title or kind.title in PairClaim.model_fields
    lines = [f"### {f'`{kind.title}`' if code else kind.title}\n"] if kind.title else []
    lines.append(COLUMNS)
    for key, schema in kind.keys.items():
        needed = "required" if key in kind.wanted else _default(schema)
        lines.append(f"| `{key}` | {words(schema)} | {needed} | {meanings[key]} |")
    return "\n".join(lines) + "\n"


def words(values: Schema) -> str:
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
    ends = {sign: values[key] for key, sign in SIGNS.items() if key in values}
    texts = [f"{sign} {end:{',' if isinstance(end, int) else 'g'}}" for sign, end in ends.items()]
    return " ".join([WORDS.get(values.get("type", ""), "any"), ", ".join(texts)]).rstrip()


def _default(values: Schema) -> str:
    return f"`{json.dumps(values['default'])}`" if "default" in values else ""


def _own_row(kind: Kind) -> str:
    parameters: list[str] = []
    for key in [key for key in kind.keys if key != "name"]:
        default = _default(kind.keys[key])
        usual = f", default {default}" if default else "" if key in kind.wanted else ", optional"
        parameters.append(f"`{key}` ({words(kind.keys[key])}{usual})")
    return f"| `{kind.title}` | {', '.join(parameters)} |"
