"""Defaults of a project: the table [tool.dpaudit] of the nearest pyproject.toml.

Its keys are options of commands, `level = 0.99` say, for all commands that may take them; those of
[tool.dpaudit.plan] are for that command alone. What a scenario says itself (draws, seed, level,
stop) is no default of `dpaudit run`: it stands in the scenario.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

FILE = "pyproject.toml"
OUTPUTS = ("out", "junit", "sarif", "summary")
ALLOWED = {  # the options of each command that a project may set
    "run": ("scenarios", "jobs", "against", "ledger", *OUTPUTS),
    "audit": ("draws", "level", "seed", "jobs", *OUTPUTS),
    "samples": ("level", "classifier", "seed", "out"),
    "canaries": ("level", "out"),
    "plan": ("level", "power"),
}
SAID = ("draws", "level", "power", "seed", "classifier")  # they change what is certified
PLACES = ("against", "ledger", *OUTPUTS)  # from the folder of the file


@dataclass(frozen=True)
class Defaults:
    """What a project sets, by command and option. path : of the file; None where there is none."""

    path: Path | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)

    def of(self, command: click.Command) -> dict[str, Any]:
        """By the names of the command's parameters, as `click` takes them."""
        names = {one.lstrip("-"): each.name for each in command.params for one in each.opts}
        given = self.options.get(command.name or "", {})
        return {str(names[key]): self._value(key, value) for key, value in given.items()}

    def _value(self, key: str, value: Any) -> Any:
        folder = Path() if self.path is None else self.path.parent
        if key in PLACES:
            return folder / str(value)
        if key != "scenarios":
            return value
        files = [value] if isinstance(value, str) else value
        return [folder / one if (folder / one).exists() else Path(one) for one in files]


def read(folder: Path | None = None) -> Defaults:
    """The defaults for a command that is started in `folder` (by default the current one).

    The nearest pyproject.toml counts, in the folder or above. Raises `click.UsageError`.
    """
    here = (folder or Path.cwd()).absolute()
    path = next((one / FILE for one in (here, *here.parents) if (one / FILE).is_file()), None)
    if path is None:
        return Defaults()
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path}: cannot be read: {error}") from None
    table = content.get("tool", {}).get("dpaudit", {})
    _check(path, table)
    return Defaults(path, {command: _of(table, command) for command in ALLOWED})


def _of(table: Mapping[str, Any], command: str) -> dict[str, Any]:
    """What holds for one command: keys for all commands, and then its own."""
    shared = {key: value for key, value in table.items() if key in ALLOWED[command]}
    return shared | dict(table.get(command, {}))


def _check(path: Path, table: Mapping[str, Any]) -> None:
    """Raise `click.UsageError` for a key that no command may take from a file."""
    anywhere = sorted({key for keys in ALLOWED.values() for key in keys})
    for key, value in table.items():
        if key in ALLOWED:
            _known(path, f"tool.dpaudit.{key}", value, ALLOWED[key])
        else:
            _known(path, "tool.dpaudit", {key: value}, (*anywhere, *ALLOWED))


def _known(path: Path, place: str, table: Any, known: Sequence[str]) -> None:
    if not isinstance(table, dict):
        raise click.UsageError(f"{path}: [{place}] must be a table, got {table!r}")
    for key in table:
        if key not in known:
            own = "; it stands in the scenario" if place == "tool.dpaudit.run" else ""
            said = f"unknown key (known: {', '.join(known)}){own}"
            raise click.UsageError(f"{path}: [{place}] {key}: {said}")
