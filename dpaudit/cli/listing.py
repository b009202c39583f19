"""What `dpaudit list` knows: a name and a line about each."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import dpaudit
from dpaudit.cli.table import named
from dpaudit.errors import DataNotFound


def text(kind: str, folder: Path | None = None) -> str:
    """One kind under its heading. Raises `DataNotFound` when `folder` holds no scenario."""
    pairs = scenarios(folder) if kind == "scenarios" else {"mechanisms": mechanisms, **OTHERS}[kind]()
    return f"{kind}\n" + named(pairs or [("(none)", "")], indent="  ")


def mechanisms() -> list[tuple[str, str]]:
    """The classes that a scenario can name, with their parameters."""
    from dpaudit.mechanisms import REGISTRY

    return [(f"{name}({_parameters(cls)})", cls.summary) for name, cls in REGISTRY.items()]


def _parameters(cls: type) -> str:
    unset = (dataclasses.MISSING, None)
    fields = [(field.name, field.default) for field in dataclasses.fields(cls)]
    return ", ".join(name if default in unset else f"{name}={default!r}" for name, default in fields)


def datasets() -> list[tuple[str, str]]:
    return list(dpaudit.datasets.describe().items())


def classifiers() -> list[tuple[str, str]]:
    return list(dpaudit.scoring.ALIASES.items())


OTHERS = {"datasets": datasets, "classifiers": classifiers}


def scenarios(folder: Path | None = None) -> list[tuple[str, str]]:
    """The .toml files in `folder`, or else in ./scenarios or beside the package, by their first comment."""
    places = [Path("scenarios"), Path(dpaudit.__file__).parents[1] / "scenarios"] if folder is None else [folder]
    found = next((files for place in places if (files := sorted(place.glob("*.toml")))), [])
    if folder is not None and not found:
        raise DataNotFound(f"there is no scenario (*.toml) in {folder}")
    return [(str(path), _first_comment(path)) for path in found]


def _first_comment(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[0].lstrip("# ") if lines and lines[0].startswith("#") else ""
