"""The user's own mechanisms, as a scenario names them: a callable, an estimator, a synthesizer, a
program.

No code of the user's runs before `load`.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from dpaudit import adapters
from dpaudit._core.check import choice, fail
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.adapters.commands import arguments
from dpaudit.adapters.estimators import FITTED
from dpaudit.adapters.waiting import seconds
from dpaudit.errors import ScenarioError
from dpaudit.mechanisms import LawMechanism
from dpaudit.neighbours import NeighbourPair
from dpaudit.run.imports import Imports, imports_of_script
from dpaudit.run.scenario.table import Table, flag, mapping, numbers, text
from dpaudit.run.scenario.target import failed, imported, target_text
from dpaudit.sampling.form import check_mechanism

KINDS = ("estimator", "synthesizer")


@dataclass(frozen=True)
class Form:
    """How a callable is used.

    batched : one call makes many draws. kind : one of `KINDS`, which are fitted once for each draw.
    outputs : attributes of a fitted estimator, or a callable of it by name. predict : points at
    which it predicts instead. timeout : seconds for each call.
    """

    batched: bool = True
    kind: str | None = None
    outputs: tuple[str, ...] | str | None = None
    predict: tuple[tuple[float, ...], ...] | None = None
    timeout: float | None = None

    __repr__ = short_repr

    def given(self) -> dict[str, Any]:
        """The fields that differ from their defaults, except the timeout, which changes no draw."""
        fields = {
            field.name: field.default
            for field in dataclasses.fields(self)
            if field.name != "timeout"
        }
        return {
            name: getattr(self, name)
            for name, usual in fields.items()
            if getattr(self, name) != usual
        }


@dataclass(frozen=True)
class Source:
    """What a user's mechanism is made of, as far as it can be found without running it.

    files : its own. packages : the installed distributions that it imports.
    programs : the file of a program by its name, None where there is none.
    """

    files: set[Path] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    programs: Mapping[str, Path | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A mechanism "package.module:callable"; with parameters, the callable makes one of them."""

    target: str
    parameters: Mapping[str, Any] | None
    form: Form = Form()

    __repr__ = short_repr

    def load(self) -> Any:
        """Import it, which executes the user's code. Raises `ScenarioError`."""
        found = imported(self.target, "[mechanism] call")
        if self.form.kind == "estimator":
            return Called(self, self._estimator(found))
        synthesizer = self.form.kind == "synthesizer"
        try:
            plain = self.parameters is None and not synthesizer
            made = found if plain else found(**(self.parameters or {}))
        except Exception as error:
            said = failed(self.target, "[mechanism] call", error)
            raise ScenarioError(f"{said}{_makes(self.parameters or {})}") from error
        if synthesizer:
            return Called(self, self._checked(made))
        if not callable(made):
            raise ScenarioError(
                f"[mechanism] call: {self.target} must be callable, got {type(made).__name__}"
            )
        return made if isinstance(made, LawMechanism) else Called(self, self._limited(made))

    def source(self, folder: Path, loaded: Iterable[str] = ()) -> Source:
        """The files and packages of the target and of all that it imports.

        folder : of the scenario. loaded : further modules, that were loaded from there with it.
        """
        outputs = self.form.outputs if isinstance(self.form.outputs, str) else ""
        targets = [one.partition(":")[0] for one in (self.target, outputs) if ":" in one]
        found = Imports(folder)
        found.follow([*targets, *loaded])
        return Source(found.files, found.packages)

    def _checked(self, made: Any) -> Any:
        if all(callable(getattr(made, name, None)) for name in ("fit", "sample")):
            return made
        wanted = "must make an object with fit(data, rng) and sample(model, rng)"
        raise ScenarioError(f"[mechanism] call: {self.target} {wanted}, got {type(made).__name__}")

    def _limited(self, made: Any) -> Any:
        timeout = self.form.timeout
        if not self.form.batched:
            return adapters.one_draw(made, timeout=timeout)
        check_mechanism(made)
        return made if timeout is None else adapters.limited(made, timeout)

    def _estimator(self, found: Any) -> Any:
        factory = partial(found, **self.parameters) if self.parameters else found
        outputs: Any = self.form.predict or self.form.outputs or FITTED
        if isinstance(outputs, str):
            outputs = imported(outputs, "[mechanism] outputs")
        return adapters.estimator(factory, outputs, timeout=self.form.timeout)


def _makes(parameters: Mapping[str, Any]) -> str:
    """What a callable with parameters is for: the step after it could not be called with them."""
    names = ", ".join(f"{name}=..." for name in parameters)
    return f"; with parameters it is called as f({names}), without data, and returns the mechanism"


@dataclass(frozen=True)
class Called:
    """A user's mechanism under the name and parameters that the scenario gives it."""

    call: Call
    function: Any

    __repr__ = short_repr

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        return self.function(data, size, rng=rng)

    def on(self, pair: NeighbourPair) -> Called:
        """What is audited on a pair: a synthesizer's features are about its differing records."""
        if self.call.form.kind != "synthesizer":
            return self
        made = self.function
        given = {name: getattr(made, name, None) for name in ("columns", "categories")}
        timeout = self.call.form.timeout
        adapted = adapters.synthesizer(made.fit, made.sample, pair, timeout=timeout, **given)
        return dataclasses.replace(self, function=adapted)

    @property
    def name(self) -> str:
        """The target, as the scenario writes it."""
        return self.call.target

    @property
    def summary(self) -> str:
        """The function's own summary or docstring, for reports."""
        own = getattr(self.function, "summary", getattr(self.function, "__doc__", None))
        return (own or "the user's own callable").strip()

    def parameters(self) -> dict[str, Any]:
        """The scenario's parameters, and the keys of `Form` that differ from their defaults."""
        return {**(self.call.parameters or {}), **self.call.form.given()}


@dataclass(frozen=True)
class Program(Call):
    """A command, run in the scenario's folder; `target` is its arguments in one line."""

    argv: tuple[str, ...] = ()
    folder: Path = Path()

    __repr__ = short_repr

    @classmethod
    def of(cls, argv: tuple[str, ...], timeout: float | None, folder: Path) -> Program:
        """From the arguments of a command."""
        return cls(shlex.join(argv), None, Form(timeout=timeout), argv, folder)

    def load(self) -> Any:
        """Nothing runs before the first draw."""
        return adapters.command(self.argv, timeout=self.form.timeout, folder=self.folder.resolve())

    def source(self, folder: Path, loaded: Iterable[str] = ()) -> Source:
        """The program, the arguments that are files, and what Python files among them import."""
        place = folder.resolve()
        files = [place / one for one in self._values() if os.path.isfile(place / one)]
        modules = Imports(place, apart=True)
        modules.follow(name for option, name in pairwise(self.argv) if option == "-m")
        found = [modules, *(imports_of_script(path) for path in files if path.suffix == ".py")]
        return Source(
            set(files).union(*(one.files for one in found)),
            set().union(*(one.packages for one in found)),
            {self.argv[0]: self._program(place)},
        )

    def _values(self) -> list[str]:
        """The arguments after the program, and what follows the "=" in "--config=settings.ini"."""
        return [one for text in self.argv[1:] for one in (text, text.partition("=")[2]) if one]

    def _program(self, place: Path) -> Path | None:
        """The file that the system runs for the first argument; None where there is none."""
        name = self.argv[0].replace("{python}", sys.executable)
        if os.path.dirname(name):
            return place / name if os.path.isfile(place / name) else None
        # the program starts in `place`, where relative folders on the PATH begin too
        folders = os.pathsep.join(str(place / one) for one in os.get_exec_path())
        found = shutil.which(name, path=folders)
        return None if found is None else Path(found)


def lawless(mechanism: Any) -> bool:
    """Whether a mechanism has no law that dpaudit could know: a program, or of some `KINDS`."""
    known = isinstance(mechanism, Call) and mechanism.form.kind is not None
    return isinstance(mechanism, Program) or known


def predicts(mechanism: Any) -> bool:
    """Whether a mechanism, or what will be loaded, fits the last column by the others."""
    return is_estimator(mechanism) or bool(getattr(mechanism, "regression", False))


def is_estimator(mechanism: Any) -> bool:
    """Whether a scenario names an estimator of the user's."""
    return isinstance(mechanism, Call) and mechanism.form.kind == "estimator"


def is_synthesizer(mechanism: Any) -> bool:
    """Whether a scenario names a synthesizer of the user's."""
    return isinstance(mechanism, Call) and mechanism.form.kind == "synthesizer"


def read_call(table: Table) -> Call:
    """`call` and the keys that go with it. Faults are noted in the table."""
    target, parameters = table.get("call", target_text), table.get("parameters", mapping, None)
    timeout = table.get("timeout", seconds, None)
    kind = table.get("kind", partial(choice, allowed=KINDS), None)
    if kind is None:
        form = Form(table.get("batched", flag, True), timeout=timeout)
    elif kind == "synthesizer":
        form = Form(kind=kind, timeout=timeout)
    else:
        form = Form(
            True,
            kind,
            table.get("outputs", _outputs, None),
            table.get("predict", _points, None),
            timeout,
        )
        if form.outputs and form.predict:
            table.fault("predict", "goes without outputs")
    table.close()
    return Call(target, parameters, form)


def read_command(table: Table, folder: Path) -> Program | None:
    """`command` and `timeout`; None after a fault."""
    argv, timeout = table.get("command", arguments), table.get("timeout", seconds, None)
    table.close()
    return None if argv is None else Program.of(argv, timeout, folder)


def _outputs(key: str, value: Any) -> tuple[str, ...] | str:
    """Names of attributes, or one callable of the fitted estimator."""
    if isinstance(value, str):
        return target_text(key, value) if ":" in value else (text(key, value),)
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(one, str) and one.isidentifier() for one in value)
    ):
        fail(key, value, 'a list of attributes, or "package.module:callable"')
    return tuple(value)


def _points(key: str, value: Any) -> tuple[tuple[float, ...], ...]:
    if not isinstance(value, list) or not value:
        fail(key, value, "a list of points, each a list of numbers")
    points = tuple(numbers(f"{key}[{place}]", one) for place, one in enumerate(value))
    if len({len(point) for point in points}) > 1:
        fail(key, value, "points of equally many numbers")
    return points
