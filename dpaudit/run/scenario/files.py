"""Scenario files as TOML text: reading, splitting into several [[audit]] tables, and writing."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from dpaudit._core.keywords import did_you_mean
from dpaudit._core.text import one_line
from dpaudit._core.value import brief, value_class
from dpaudit.errors import ScenarioError

AUDIT, NAME = "audit", "name"
TABLES = (
    "data",
    "mechanism",
    "neighbour",
    "claim",
    "one_run",
    "training",
)  # [[audit]] may have keys of these
HEAD = re.compile(r"^\s*\[\[\s*audit\s*\]\]")
REFERENCE = re.compile(r"(.+\.toml):([^/\\:]+)", re.DOTALL)  # FILE.toml:NAME


@value_class(eq=True)
class File:
    """A scenario file, or one audit of a file that has several.

    path : FILE, or FILE:NAME. content : the tables. text : the TOML text of this one scenario.
    """

    path: Path
    text: str
    content: dict[str, Any]


def file_of(path: Path) -> Path:
    named = None if path.is_file() else REFERENCE.fullmatch(str(path))
    return Path(named[1]) if named else path


def parsed(path: Path) -> File:
    """Read the file at a path FILE, or one of its audits at FILE:NAME. Raises `ScenarioError`."""
    place = file_of(path)
    audits = audits_in(place)
    if place == path and len(audits) == 1:
        return audits[0]
    names = [str(file.content.get(NAME, place.stem)) for file in audits]
    if place == path:
        raise ScenarioError(
            f"{one_line(path.name)}: has {len(audits)} audits: name one of them as FILE.toml:NAME, "
            f"NAME being {', '.join(names)}"
        )
    name = path.name.removeprefix(f"{place.name}:")
    if name in names:
        return audits[names.index(name)]
    hint = did_you_mean(name, names) or f"its audits are {', '.join(names)}"
    raise ScenarioError(f"{one_line(place.name)}: has no audit {name!r}; {hint}")


def audits_of(path: Path) -> list[File] | list[Path]:
    """All audits of a file, or the one that FILE:NAME names, for `dpaudit run`. Returns the path
    itself where the file cannot be read; the later check reports why.
    """
    try:
        return audits_in(path) if file_of(path) == path else [parsed(path)]
    except ScenarioError:
        return [path]


def audits_in(path: Path) -> list[File]:
    """The file itself, or a `File` for each of its [[audit]] tables: the other tables of the file,
    with keys added or replaced by the tables inside [[audit]], whose remaining keys become [audit].
    Raises `ScenarioError`.
    """
    file = _read(path)
    tables = file.content.get(AUDIT)
    if not isinstance(tables, list):
        return [file]
    if faults := _faults(file.content, tables):
        raise ScenarioError("\n".join(f"{one_line(path.name)}: {fault}" for fault in faults))
    comments = _comments(file.text)
    if len(comments) != len(tables):  # a text of several lines looks like a table
        comments = [""] * len(tables)
    return [_audit(file, table, comment) for table, comment in zip(tables, comments, strict=True)]


def _audit(file: File, table: Mapping[str, Any], comment: str) -> File:
    shared = {key: value for key, value in file.content.items() if key != AUDIT}
    own = {key: value for key, value in table.items() if key in TABLES}
    audit = {key: value for key, value in table.items() if key not in (NAME, *TABLES)}
    content = {NAME: table[NAME], **merged(shared, own), **({AUDIT: audit} if audit else {})}
    path = file.path.with_name(f"{file.path.name}:{table[NAME]}")
    return File(path, comment + as_toml(content), content)


def merged(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of both; `own` wins where both have a key, and two tables are merged key by key."""
    both = {
        key: merged(shared[key], value)
        for key, value in own.items()
        if isinstance(value, dict) and isinstance(shared.get(key), dict)
    }
    return {**shared, **own, **both}


def _faults(content: Mapping[str, Any], tables: list[Any]) -> list[str]:
    faults = ["name: goes into each [[audit]]"] if NAME in content else []
    faults += [] if tables else ["audit: must be a table, or [[audit]] tables, got none"]
    names: list[str] = []
    for number, table in enumerate(tables, 1):
        name = table.get(NAME) if isinstance(table, dict) else None
        if not isinstance(name, str) or not REFERENCE.fullmatch(f"x.toml:{name}"):
            message = f"must be text without / and :, got {brief(name)}"
            faults.append(f"[[audit]] {number} name: {'missing' if name is None else message}")
        elif name in names:
            faults.append(f"[[audit]] {number} name: {name!r} is the name of an earlier one, too")
        names.append(str(name))
    return faults


def _comments(text: str) -> list[str]:
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if HEAD.match(line)]
    above = (takewhile(lambda line: line.startswith("#"), reversed(lines[:head])) for head in heads)
    return ["".join(f"{line}\n" for line in reversed(list(block))) for block in above]


def _read(path: Path) -> File:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return File(path, text, tomllib.loads(text))
    except OSError as error:
        message = f"cannot read the scenario {one_line(str(path))}: {error.strerror}"
        raise ScenarioError(message) from None
    except UnicodeDecodeError as error:
        wrong = f"{error.object[error.start]:#04x}"
        fault = f"must be UTF-8 text, got byte {wrong}"
    except RecursionError:
        fault = "tables and lists are nested too deeply"
    except ValueError as error:  # TOMLDecodeError, or an integer of thousands of digits
        fault = f"not TOML: {error}"
    raise ScenarioError(f"{one_line(path.name)}: {fault}")


LEFT_OUT = "[…]"
# `row = [...]`, in which a comment may have a bracket
ROW = re.compile(r"""((?:\brow|"row"|'row')\s*=\s*)\[(?:[^\]#]|#[^\n]*)*\]""")

WORKERS = re.compile(r"""^[ \t]*(?:backend|address)[ \t]*=[^\n]*\n?""", re.MULTILINE)


def recorded_text(text: str | None, seed: int) -> str | None:
    """The text of a scenario for its result.json: the numbers of a row, which are data, become
    `[…]`, and what changes no result is left out. None without a file, or if these are not seen in
    the text.

    seed : that of the run. If the text has another one, a comment above the text says so.
    """
    if text is None:
        return None
    short = WORKERS.sub("", ROW.sub(rf"\g<1>{LEFT_OUT}", text)).rstrip() + "\n"
    content = tomllib.loads(short.replace(LEFT_OUT, "[]"))
    for table, key in (("neighbour", "row"), ("audit", "backend"), ("audit", "address")):
        values = content.get(table)
        if isinstance(values, dict) and values.get(key):
            return None
    if content.get("audit", {}).get("seed", 0) != seed:
        short = f"# This run had the seed {seed} in place of the file's.\n{short}"
    return short


def as_toml(content: Mapping[str, Any]) -> str:
    keys = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in content.items() if isinstance(value, Mapping)}
    parts = [_lines(keys), *(f"[{place}]\n{_lines(table)}" for place, table in tables.items())]
    return "\n".join(parts)


def _lines(keys: Mapping[str, Any]) -> str:
    values = {key: value for key, value in keys.items() if value is not None}
    return "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in values.items())


def _key(key: str) -> str:
    return key if key.isascii() and key.isidentifier() else _toml(key)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(str(key))} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, (str, bool)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)  # numbers, dates and times
