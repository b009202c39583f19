"""The scenarios that stand for a command line: their text, as files would have it.

Where the command names no relation, there are two: the claim may be about rows that are added or
removed, or about rows that are replaced, and neither can stand for the other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpaudit._core.check import fail
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.run.scenario.files import File, as_toml
from dpaudit.run.scenario.target import target_text
from dpaudit.search import INCOMING, OF_DATA, RELATIONS
from dpaudit.verdict.relations import READINGS

# of each reading, in audits: both searches and audits together cost what one costs by default
BUDGET = 5.0

# what a place in the text is called on the command line, the longer places first
OPTIONS = {
    "[data] target": "--target",
    "[data]": "--data",
    "[mechanism] parameters": "--parameters",
    "[mechanism] call": "MODULE:CALLABLE",
    "[mechanism]": "MODULE:CALLABLE",
    "[neighbour] row_bound": "--row-bound",
    "[neighbour] candidates": "--candidates",
    "[neighbour] bounds": "--bounds",
    "[neighbour]": "--neighbours",
    "[claim]": "--claim",
    "[audit] ": "--",
}


def in_options(error: ScenarioError, files: Sequence[File]) -> ScenarioError:
    """The error with options in place of the places in files that nobody has written."""
    lines: list[str] = []
    for line in str(error).split("\n"):
        for file in files:
            line = line.removeprefix(f"{file.path.name}: ")
        place = next((place for place in OPTIONS if line.startswith(place)), "")
        lines.append(OPTIONS.get(place, "") + line.removeprefix(place))
    return ScenarioError("\n".join(dict.fromkeys(lines)))


def source_of(target: str, data: str) -> Path:
    """The file that stands for a scenario nobody has written: the module's in the current folder,
    else that of the data.
    """
    module = Path(*target.partition(":")[0].split("."))
    places = (module.with_suffix(".py"), module / "__init__.py")
    return next((place for place in places if place.is_file()), Path(data))


def readings(target: str, *, relations: Sequence[str] | None = None, **options: Any) -> list[File]:
    """The scenarios of one command: one of the relations that are given, or one a reading.

    options : of `written`. Raises as that does.
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
    parameters: Mapping[str, Any] | None = None,
    draws: int | None = None,
    **audit: Any,
) -> File:
    """The scenario file in the current folder that would audit `target`, "package.module:callable".

    data : path of a CSV file, or name of a data set. claim : (ε, δ). relations : the kinds of
    neighbours that are searched; row_bound, candidates, bounds : the rows that may come in, inside
    the bounds of the data if none of them is given. budget, named : keys of the search. ending :
    the end of the scenario's name. label : the column to predict. one_draw : whether a call gives
    one output. parameters : from which the callable makes the mechanism. draws : of a side.
    audit : other keys of [audit], None for those that are not given.

    Raises `InvalidInput` for a target of another form, for relations that do not exist and for rows
    that none of them takes. What else is wrong is found where the text is read.
    """
    name = target_text("MODULE:CALLABLE", target, "package.module:callable").replace(":", ".")
    name += ending
    rows = {
        "row_bound": row_bound,
        "candidates": None if candidates is None else str(candidates),
        "bounds": bounds,
    }
    for relation in relations:
        if relation not in RELATIONS:
            fail("--neighbours", relation, "some of " + ",".join(RELATIONS))
    some = any(value is not None for value in rows.values())
    incoming = any(relation in INCOMING for relation in relations)
    if some and not incoming:
        raise InvalidInput(
            "--bounds, --row-bound and --candidates go with --neighbours replace or "
            "--neighbours add"
        )
    if incoming and not some:
        rows["bounds"] = OF_DATA
    # a bare name that is no file here is that of a data set
    path = Path(data)
    bare = len(path.parts) == 1 and not path.suffix and not path.exists()
    content: dict[str, dict[str, Any]] = {
        "data": {"name" if bare else "path": data, "target": label},
        "mechanism": {
            "call": target,
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
