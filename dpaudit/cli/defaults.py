"""Defaults of a project: the table [tool.dpaudit] of the nearest pyproject.toml.

Its keys are options such as `level = 0.99`, for all commands that may take them from a file. Keys
of [tool.dpaudit.plan] are for the command `plan` alone. `dpaudit run` takes no defaults for
settings of a scenario (draws, seed, level, stop), which belong into the scenario file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import click

from dpaudit._core.value import value_class
from dpaudit.cli.console import Console, say

FILE, TABLE = "pyproject.toml", "tool.dpaudit"
FILES = ("junit", "sarif", "summary")
ALLOWED = {  # the options of each command that a project may set
    "run": ("scenarios", "jobs", "against", "ledger", "out", *FILES),
    "audit": ("draws", "level", "seed", "jobs", "out", *FILES),
    "samples": ("level", "classifier", "seed", "out"),
    "canaries": ("level", "out", *FILES),
    "steps": ("level", "out", *FILES),
    "table": ("level", "seed", "out", *FILES),
    "plan": ("level", "power"),
}
SAID = ("draws", "level", "power", "seed", "classifier", "ledger")  # a note on stderr names these
PLACES = ("against", "ledger", "out", *FILES)  # paths relative to the folder of pyproject.toml
# the key `out` is the folder of all reports; the option --out, of one report, has another meaning
NO_OPTIONS = ("scenarios", "out")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return bool(texts) and all(map(_is_text, texts))


SHARE: tuple[str, Callable[[Any], bool]] = (
    "a number in (0, 1)",
    lambda value: _is_number(value) and 0 < value < 1,
)
VALUES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "scenarios": ("the path or the name of a scenario, or a list of them", _are_texts),
    "jobs": ("an integer other than 0", lambda value: type(value) is int and value != 0),
    "draws": (
        "a whole number >= 20",
        lambda value: _is_number(value) and value % 1 == 0 and value >= 20,
    ),
    "seed": ("an integer >= 0", lambda value: type(value) is int and value >= 0),
    "level": SHARE,
    "power": SHARE,
    "classifier": ("a name of `dpaudit list classifiers`", _is_text),
    **dict.fromkeys(PLACES, ("a path", _is_text)),
}


@value_class
class Defaults:
    """The defaults of a project: its pyproject.toml, and values by command and option."""

    path: Path | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, command: click.Command) -> dict[str, Any]:
        names = {text.lstrip("-"): each.name for each in command.params for text in each.opts}
        values = self.options.get(command.name or "", {})
        return {str(names[key]): values[key] for key in values if key not in NO_OPTIONS}

    def reports(self, command: str | None) -> Path | None:
        return self.options.get(command or "", {}).get("out")

    def scenarios(self) -> tuple[Path, ...]:
        """The scenarios that `dpaudit run` runs without arguments. Paths begin in the project's
        folder; a text without a suffix or a folder, which is no file there, names a scenario that
        comes with dpaudit.
        """
        texts = self.options.get("run", {}).get("scenarios", [])
        folder = Path() if self.path is None else self.path.parent
        paths = []
        for text in [texts] if isinstance(texts, str) else texts:
            path, named = folder / text, Path(text)
            is_path = path.exists() or path.suffix or len(named.parts) > 1
            paths.append(path if is_path else named)
        return tuple(paths)

    def say(self, ctx: click.Context, console: Console) -> None:
        certified: dict[str, Any] = {}
        for parameter in ctx.command.params:
            source = ctx.get_parameter_source(parameter.name or "")
            if source is not click.core.ParameterSource.DEFAULT_MAP:
                continue
            name, value = parameter.opts[0].lstrip("-"), ctx.params[parameter.name or ""]
            if name in SAID:
                say(f"note: {name} = {value}, from {self.path}")
                certified[name] = value if _is_number(value) else str(value)
            else:
                console.detail(f"{name} = {value}, from {self.path}")
        if certified:
            console.tell(defaults={"file": str(self.path), **certified})


def read(folder: Path | None = None) -> Defaults:
    """The defaults for a command that starts in `folder`, by default the current one, from the
    nearest pyproject.toml with a table [tool.dpaudit] there or above. Raises `click.UsageError`.
    """
    here = (folder or Path.cwd()).absolute()
    for path in (place / FILE for place in (here, *here.parents)):
        if not path.is_file():
            continue
        try:
            tool = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
        except (OSError, ValueError) as error:
            advice = "--isolated goes without it"
            raise click.UsageError(f"{path}: cannot be read: {error}; {advice}") from None
        if isinstance(tool, dict) and "dpaudit" in tool:
            return Defaults(path, _by_command(path, tool["dpaudit"]))
    return Defaults()


def _by_command(path: Path, table: Any) -> dict[str, dict[str, Any]]:
    anywhere = sorted({key for keys in ALLOWED.values() for key in keys})
    tables = table if isinstance(table, dict) else {}
    shared = {key: value for key, value in tables.items() if key not in ALLOWED}
    for command in tables.keys() & ALLOWED.keys():
        _check(path, f"{TABLE}.{command}", tables[command], ALLOWED[command])
    _check(path, TABLE, shared if isinstance(table, dict) else table, (*anywhere, *ALLOWED))
    options: dict[str, dict[str, Any]] = {}
    for command, keys in ALLOWED.items():
        own = {key: shared[key] for key in keys if key in shared} | tables.get(command, {})
        places = {key: path.parent / value for key, value in own.items() if key in PLACES}
        options[command] = own | places
    return options


def _check(path: Path, place: str, table: Any, known: Sequence[str]) -> None:
    if not isinstance(table, dict):
        raise click.UsageError(f"{path}: [{place}] must be a table, got {table!r}")
    for key, value in table.items():
        if key not in known:
            own = "; it stands in the scenario" if place == f"{TABLE}.run" else ""
            unknown = f"unknown key (known: {', '.join(known)}){own}"
            raise click.UsageError(f"{path}: [{place}] {key}: {unknown}")
        rule, holds = VALUES[key]
        if not holds(value):
            raise click.UsageError(f"{path}: [{place}] {key}: must be {rule}, got {value!r}")
