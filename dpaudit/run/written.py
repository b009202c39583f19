"""The scenario that stands for a command line: its text, as a file would have it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpaudit._core.check import fail
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.run.scenario.file import File
from dpaudit.run.scenario.target import target_text
from dpaudit.search import INCOMING, RELATIONS

# what a place in the text is called on the command line, the longer places first
OPTIONS = {
    "[data] target": "--target",
    "[data]": "--data",
    "[mechanism] parameters": "--parameters",
    "[mechanism] call": "MODULE:CALLABLE",
    "[mechanism]": "MODULE:CALLABLE",
    "[neighbour] row_bound": "--row-bound",
    "[neighbour] candidates": "--candidates",
    "[neighbour]": "--neighbours",
    "[claim]": "--claim",
    "[audit] ": "--",
}


def in_options(error: ScenarioError, file: File) -> ScenarioError:
    """The error with options in place of the places in a file that nobody has written."""
    lines = [line.removeprefix(f"{file.path.name}: ") for line in str(error).split("\n")]
    return ScenarioError("\n".join(map(_in_options, lines)))


def _in_options(line: str) -> str:
    for place, option in OPTIONS.items():
        if line.startswith(place):
            return option + line.removeprefix(place)
    return line


def written(
    target: str,
    data: str,
    claim: tuple[float, float],
    relations: Sequence[str] = ("zero-out",),
    *,
    row_bound: float | None = None,
    candidates: Path | None = None,
    label: str | None = None,
    one_draw: bool = False,
    parameters: Mapping[str, Any] | None = None,
    samples: int | None = None,
    **audit: Any,
) -> File:
    """The scenario file in the current folder that would audit `target`, "package.module:callable".

    data : path of a CSV file, or name of a data set. claim : (ε, δ). relations : of the neighbours
    that are searched for; row_bound, candidates : the rows that may come in. label : the column to
    predict. one_draw : whether a call gives one output. parameters : from which the callable makes
    the mechanism. samples : draws a side. audit : other keys of [audit], None for those that are
    not given.

    Raises `InvalidInput` for a target of another form and for relations without their rows. What
    else is wrong is found where the text is read.
    """
    name = target_text("MODULE:CALLABLE", target, "package.module:callable").replace(":", ".")
    _check_incoming(relations, row_bound, candidates)
    content: dict[str, dict[str, Any]] = {
        "data": {_place(data): data, "target": label},
        "mechanism": {
            "call": target,
            "parameters": parameters,
            "batched": False if one_draw else None,
        },
        "neighbour": {
            "rule": "search",
            "relations": list(relations),
            "row_bound": row_bound,
            "candidates": None if candidates is None else str(candidates),
        },
        "claim": dict(zip(("epsilon", "delta"), claim, strict=True)),
        "audit": {"draws": samples, **audit},
    }
    tables = [_table(place, keys) for place, keys in content.items()]
    text = "\n".join([f"name = {_value(name)}\n", *tables])
    return File(Path(f"{name}.toml"), text, tomllib.loads(text))


def _check_incoming(
    relations: Sequence[str], row_bound: float | None, candidates: Path | None
) -> None:
    """Relations that need rows have them, and no others do."""
    for one in relations:
        if one not in RELATIONS:
            fail("--neighbours", one, "some of " + ",".join(RELATIONS))
    takes = [one for one in relations if one in INCOMING]
    given = row_bound is not None or candidates is not None
    if takes and not given:
        raise InvalidInput(
            f"--neighbours {takes[0]} needs rows that may come in: give --row-bound C (rows of "
            "norm at most C) or --candidates FILE.csv (a row a line, with the columns of the data)"
        )
    if given and not takes:
        raise InvalidInput(
            "--row-bound and --candidates go with --neighbours replace or --neighbours add"
        )


def _place(data: str) -> str:
    """The key for data: a bare name that is no file here is that of a data set."""
    path = Path(data)
    return "name" if len(path.parts) == 1 and not path.suffix and not path.exists() else "path"


def _table(place: str, keys: Mapping[str, Any]) -> str:
    lines = [f"{key} = {_value(one)}" for key, one in keys.items() if one is not None]
    return "\n".join([f"[{place}]", *lines, ""])


def _key(key: str) -> str:
    return key if key.isascii() and key.isidentifier() else _value(key)


def _value(value: Any) -> str:
    """As TOML writes it; its texts are those of JSON, but for one control character."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(str(key))} = {_value(one)}" for key, one in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, (str, bool)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)  # numbers, dates and times
