"""The lists of `dpaudit list`: mechanisms, datasets, classifiers and scenarios."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit.cli.table import hanging, named
from dpaudit.errors import DataNotFound

INDENT = "    "


def text(kind: str, folder: Path | None = None) -> str:
    """One kind under its heading. Raises `DataNotFound` when `folder` holds no scenario."""
    if kind == "mechanisms":
        return f"{kind}\n{mechanisms()}"
    pairs = scenarios(folder) if kind == "scenarios" else OTHERS[kind]()
    return f"{kind}\n" + named(pairs or [("(none)", "")], indent="  ")


def mechanisms() -> str:
    """The mechanisms that a scenario can name.

    For each its parameters, a summary, its claim, what is known of it exactly, and the scenarios
    that run it.
    """
    from dpaudit.mechanisms import REGISTRY

    runs = _runs()
    return "\n".join(
        f"  {name}({_parameters(cls)})\n"
        + "\n".join(
            hanging(INDENT, line)
            for line in (
                cls.summary,
                f"claims: {_claimed(cls)}",
                f"exact spectrum: {_relations(cls)}; {_adjustable(cls)}",
                f"scenarios: {', '.join(runs.get(name, [])) or 'none'}",
            )
        )
        for name, cls in REGISTRY.items()
    )


def _claimed(cls: type) -> str:
    """The claim in words; for a paper's algorithm also its neighbours and where it is printed."""
    from dpaudit.papers import Algorithm

    words = getattr(cls, "claimed", "") or "nothing"
    return (
        f"{words} ({cls.relation}; paper {cls.paper}, {cls.statement})"
        if issubclass(cls, Algorithm)
        else words
    )


def _runs() -> dict[str, list[str]]:
    """The names of scenario files by the mechanism that they audit, without unreadable files."""
    found: dict[str, list[str]] = {}
    for path in _files():
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        table = content.get("mechanism")
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str):
            found.setdefault(name, []).append(path.stem)
    return found


def _parameters(cls: type) -> str:
    unset = (dataclasses.MISSING, None)
    fields = [(field.name, field.default) for field in dataclasses.fields(cls)]
    return ", ".join(
        name if default in unset else f"{name}={default!r}" for name, default in fields
    )


def _relations(cls: type) -> str:
    """The relations for which `dpaudit.exact.worst_case` knows the mechanism."""
    from dpaudit.mechanisms import LawMechanism
    from dpaudit.papers import Algorithm

    methods = {"zero-out": "zeroed_rows", "replace": "replaced_rows", "add": "added_row"}
    bare = {
        name: {getattr(base, name) for base in (LawMechanism, Algorithm)}
        for name in methods.values()
    }
    known = [name for name, method in methods.items() if getattr(cls, method) not in bare[method]]
    if not known and hasattr(cls, "joint_spectrum"):
        return "none of the output alone; joint_spectrum(pair) has the private statistics as well"
    return ", ".join(known) or "none"


def _adjustable(cls: Any) -> str:
    """The parameters that `dpaudit calibrate` can set, the default first."""
    from dpaudit.mechanisms import PAPERS

    if cls.__name__ in PAPERS:
        return "sets its noise itself"
    names = [one.name for one in cls.adjustable]
    if not names:
        return "nothing to calibrate"
    return f"calibrates {names[0]}" + "".join(f" (or {name})" for name in names[1:])


def datasets() -> list[tuple[str, str]]:
    """The data sets, with a line about each."""
    return list(dpaudit.datasets.describe().items())


def classifiers() -> list[tuple[str, str]]:
    """The classifiers that an audit takes by name, with a line about each."""
    return list(dpaudit.scoring.ALIASES.items())


OTHERS = {"datasets": datasets, "classifiers": classifiers}


def scenarios(folder: Path | None = None) -> list[tuple[str, str]]:
    """The .toml files below `folder`, each with its first comment.

    Without `folder` those below ./scenarios, or else those that come with dpaudit. Raises
    `DataNotFound` where `folder` has none.
    """
    found = _files(folder)
    if folder is not None and not found:
        raise DataNotFound(f"there is no scenario (*.toml) in {folder}")
    return [(str(path), _first_comment(path)) for path in found]


def _files(folder: Path | None = None) -> list[Path]:
    places = (
        [Path("scenarios"), Path(dpaudit.__file__).parents[1] / "scenarios"]
        if folder is None
        else [folder]
    )
    return next((files for place in places if (files := _below(place))), [])


def _below(place: Path) -> list[Path]:
    """The files of a folder, then those of its subfolders; hidden ones are left out."""
    found = (
        path
        for path in place.rglob("*.toml")
        if not any(x.startswith(".") for x in path.relative_to(place).parts)
    )
    return sorted(found, key=lambda path: (path.parent, path.name))


def _first_comment(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[0].lstrip("# ") if lines and lines[0].startswith("#") else ""
