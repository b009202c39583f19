"""Defaults of a project: the table [tool.dpaudit] of the nearest pyproject.toml.

Its keys are options of commands, `level = 0.99` say, for all commands that may take them; those of
[tool.dpaudit.plan] are for that command alone. What a scenario says itself (draws, seed, level,
stop) is no default of `dpaudit run`: it stands in the scenario.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from dpaudit.cli import exit_status
from dpaudit.cli.console import Console

FILE, TABLE = "pyproject.toml", "tool.dpaudit"
FILES = ("junit", "sarif", "summary")
ALLOWED = {  # the options of each command that a project may set
    "run": ("scenarios", "jobs", "against", "ledger", "out", *FILES),
    "audit": ("draws", "level", "seed", "jobs", "out", *FILES),
    "samples": ("level", "classifier", "seed", "out"),
    "canaries": ("level", "out"),
    "plan": ("level", "power"),
}
SAID = ("draws", "level", "power", "seed", "classifier", "ledger")  # they change what is certified
PLACES = ("against", "ledger", "out", *FILES)  # from the folder of the file
OURS = ("scenarios", "out")  # no option of `click` takes them: see `scenarios` and `reports`


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _texts(value: Any) -> bool:
    return _text(value) or (isinstance(value, list) and bool(value) and all(map(_text, value)))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Any) -> bool:
    return _number(value) and value % 1 == 0


def _share(value: Any) -> bool:
    return _number(value) and 0 < value < 1


SHARE: tuple[str, Callable[[Any], bool]] = ("a number in (0, 1)", _share)
WANTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "scenarios": ("the path or the name of a scenario, or a list of them", _texts),
    "jobs": ("an integer other than 0", lambda one: type(one) is int and one != 0),
    "draws": ("a whole number >= 20", lambda one: _whole(one) and one >= 20),
    "seed": ("an integer >= 0", lambda one: type(one) is int and one >= 0),
    "level": SHARE,
    "power": SHARE,
    "classifier": ("a name of `dpaudit list classifiers`", _text),
    **dict.fromkeys(PLACES, ("a path", _text)),
}


@dataclass(frozen=True, eq=False, repr=False)
class Defaults:
    """What a project sets, by command and option. path : of the file; None where there is none."""

    path: Path | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, command: click.Command) -> dict[str, Any]:
        """By the names of the command's parameters, as `click` takes them."""
        names = {one.lstrip("-"): each.name for each in command.params for one in each.opts}
        given = self.options.get(command.name or "", {})
        return {
            str(names[key]): self._value(key, value)
            for key, value in given.items()
            if key not in OURS
        }

    def reports(self, command: str | None) -> Path | None:
        """Folder of all reports, in place of dpaudit-out."""
        given = self.options.get(command or "", {}).get("out")
        return None if given is None else self._value("out", given)

    def say(self, ctx: click.Context, console: Console) -> None:
        """Say which defaults change what is certified, whatever the console; with -v all others."""
        names = {one.name: one.opts[0].lstrip("-") for one in ctx.command.params}
        taken = {
            names[name]: value
            for name, value in ctx.params.items()
            if ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT_MAP
        }
        told = {name: value for name, value in taken.items() if name in SAID}
        for name, value in told.items():
            exit_status.say(f"note: {name} = {value}, from {self.path}", 0)
        if told:
            shown = {name: value if _number(value) else str(value) for name, value in told.items()}
            console.tell(defaults={"file": str(self.path), **shown})
        for name, value in taken.items() - told.items():
            console.detail(f"{name} = {value}, from {self.path}")

    def _value(self, key: str, value: Any) -> Any:
        return self._folder / value if key in PLACES else value

    def scenarios(self) -> tuple[Path, ...]:
        """What `dpaudit run` runs if it is not told: files from the project's folder, names."""
        given = self.options.get("run", {}).get("scenarios", [])
        files = [given] if isinstance(given, str) else given
        return tuple(map(self._scenario, files))

    def _scenario(self, given: str) -> Path:
        """A name without a suffix may be one of those that come with dpaudit."""
        path = self._folder / given
        return path if path.exists() or path.suffix or len(Path(given).parts) > 1 else Path(given)

    @property
    def _folder(self) -> Path:
        return Path() if self.path is None else self.path.parent


NONE = Defaults()


def scenarios(context: click.Context) -> tuple[Path, ...]:
    """The project's scenarios, for a command whose context has the project's defaults."""
    return context.meta.get(Defaults.__module__, NONE).scenarios()


def read(folder: Path | None = None) -> Defaults:
    """The defaults for a command that is started in `folder` (by default the current one).

    The nearest pyproject.toml that has the table counts, in the folder or above. Raises
    `click.UsageError`.
    """
    here = (folder or Path.cwd()).absolute()
    for path in (one / FILE for one in (here, *here.parents)):
        if path.is_file() and (table := _table(path)) is not None:
            _check(path, table)
            return Defaults(path, {command: _of(table, command) for command in ALLOWED})
    return NONE


def _table(path: Path) -> Any:
    """The table [tool.dpaudit]; None where there is none."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        advice = "--isolated goes without it"
        raise click.UsageError(f"{path}: cannot be read: {error}; {advice}") from None
    tool = content.get("tool", {})
    return tool.get("dpaudit") if isinstance(tool, dict) else None


def _of(table: Mapping[str, Any], command: str) -> dict[str, Any]:
    """What holds for one command: keys for all commands, and then its own."""
    shared = {key: value for key, value in table.items() if key in ALLOWED[command]}
    return shared | dict(table.get(command, {}))


def _check(path: Path, table: Any) -> None:
    """Raise `click.UsageError` for a key that no command may take from a file, or its value."""
    anywhere = sorted({key for keys in ALLOWED.values() for key in keys})
    shared = {} if isinstance(table, dict) else table
    for key, value in table.items() if isinstance(table, dict) else ():
        if key in ALLOWED:
            _known(path, f"{TABLE}.{key}", value, ALLOWED[key])
        else:
            shared[key] = value
    _known(path, TABLE, shared, (*anywhere, *ALLOWED))


def _known(path: Path, place: str, table: Any, known: Sequence[str]) -> None:
    if not isinstance(table, dict):
        raise click.UsageError(f"{path}: [{place}] must be a table, got {table!r}")
    for key, value in table.items():
        if key not in known:
            own = "; it stands in the scenario" if place == f"{TABLE}.run" else ""
            said = f"unknown key (known: {', '.join(known)}){own}"
            raise click.UsageError(f"{path}: [{place}] {key}: {said}")
        wanted, holds = WANTED[key]
        if not holds(value):
            raise click.UsageError(f"{path}: [{place}] {key}: must be {wanted}, got {value!r}")
