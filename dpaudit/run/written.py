"""Scenario files that are written from the options of `dpaudit audit`, in memory.

A command that names no relation of neighbours becomes two scenarios: the claim may be about rows
that are added or removed, or about rows that are replaced, and neither claim implies the other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpaudit.errors import ScenarioError
from dpaudit.run.scenario.files import File, as_toml
from dpaudit.run.scenario.target import target_text
from dpaudit.search import INCOMING, OF_DATA
from dpaudit.verdict.relations import READINGS

# budget of the search in each of two scenarios (draws of search and audit over those of the audit):
# the two together cost as much as one scenario does by default
BUDGET = 5.0

# the keys of [mechanism] for what a callable takes, by the word of the command line
KINDS: dict[str, dict[str, str]] = {
    "frame": {"kind": "records"},
    "records": {"kind": "records", "form": "dicts"},
    "values": {"kind": "values"},
}

# the option for each place in the text of a scenario, the longer places first
OPTIONS = {
    "[data] target": "--target",
    "[data] ignore": "--ignore",
    "[data]": "--data",
    "[mechanism] parameters": "--parameters",
    "[mechanism] call": "MODULE:CALLABLE",
    "[mechanism]": "MODULE:CALLABLE",
    "[neighbour] row_bound": "--row-bound",
    "[neighbour] candidates": "--candidates",
    "[neighbour] bounds": "--bounds",
    "[neighbour] relations": "--neighbours",
    "[neighbour]": "--neighbours",
    "[claim]": "--claim",
    "[audit] ": "--",
}


def in_options(error: ScenarioError, files: Sequence[File]) -> ScenarioError:
    """The error with options of the command line in place of the places in files that the user did
    not write.
    """
    lines: list[str] = []
    for line in str(error).split("\n"):
        for file in files:
            line = line.removeprefix(f"{file.path.name}: ")
        place = next((place for place in OPTIONS if line.startswith(place)), "")
        lines.append(OPTIONS.get(place, "") + line.removeprefix(place))
    return ScenarioError("\n".join(dict.fromkeys(lines)))


def source_of(target: str, data: str) -> Path:
    """The source that outputs name: the file of the target's module in the current folder, or the
    data.
    """
    module = Path(*target.partition(":")[0].split("."))
    places = (module.with_suffix(".py"), module / "__init__.py")
    return next((place for place in places if place.is_file()), Path(data))


def readings(target: str, *, relations: Sequence[str] | None = None, **options: Any) -> list[File]:
    """The scenarios of one command: one for `relations`, or without them one for each of
    `READINGS`.
    """
    if relations is not None:
        return [written(target, relations=relations, **options)]
    unnamed = {**options, "budget": BUDGET, "named": False}
    return [
        written(target, relations=kinds, ending=f"-{name}", **unnamed)
        for name, kinds in READINGS.items()
    ]


def written(
    target: str,
    data: str,
    claim: tuple[float, float],
    relations: Sequence[str] = ("zero-out",),
    *,
    row_bound: float | None = None,
    candidates: Path | None = None,
    bounds: Sequence[Sequence[float]] | str | None = None,
    budget: float | None = None,
    named: bool | None = None,
    ending: str = "",
    label: str | None = None,
    one_draw: bool = False,
    kind: str | None = None,
    ignore: Sequence[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    draws: int | None = None,
    **audit: Any,
) -> File:
    """A scenario file, in memory, that audits `target`, "package.module:callable".

    data : path of a CSV file, or name of a data set. claim : (ε, δ). relations : the kinds of
    neighbours to search. row_bound, candidates, bounds : the rows that "replace" and "add" may
    insert; without them, rows inside the bounds of the data. budget, named : keys of [neighbour].
    ending : appended to the scenario's name. label : the column to predict. one_draw : whether a
    call returns one output. kind : one of `KINDS`, what the callable takes. ignore : columns to
    leave out. parameters : arguments of each call, or from which the callable makes the mechanism.
    draws : number of draws of each side. audit : other keys of [audit]; None leaves a key out.

    Raises `InvalidInput` for a target of another form. Reading the file finds all other faults.
    """
    expected = (
        "package.module:callable; a program goes into a scenario for `dpaudit run`, as [mechanism] "
        'command = ["./program", "{data}", "{size}", "{seed}"]'
    )
    name = target_text("MODULE:CALLABLE", target, expected).replace(":", ".") + ending
    rows = {
        "row_bound": row_bound,
        "candidates": None if candidates is None else str(candidates),
        "bounds": bounds,
    }
    incoming = any(relation in INCOMING for relation in relations)
    if incoming and all(value is None for value in rows.values()):
        rows["bounds"] = OF_DATA
    # a name without folder and suffix, for which no file exists, names a data set
    path = Path(data)
    bare = len(path.parts) == 1 and not path.suffix and not path.exists()
    content: dict[str, dict[str, Any]] = {
        "data": {
            "name" if bare else "path": data,
            "target": label,
            "ignore": None if ignore is None else list(ignore),
        },
        "mechanism": {
            "call": target,
            **KINDS.get(kind or "", {}),
            "parameters": parameters,
            "batched": False if one_draw else None,
        },
        "neighbour": {
            "rule": "search",
            "relations": list(relations),
            **rows,
            "budget": budget,
            "named": named,
        },
        "claim": dict(zip(("epsilon", "delta"), claim, strict=True)),
        "audit": {"draws": draws, **audit},
    }
    text = as_toml({"name": name, **content})
    return File(Path(f"{name}.toml"), text, tomllib.loads(text))
