"""The [mechanism] table: a class of `mechanisms.REGISTRY` with its parameters, or a callable of the user's own.

`instance` serves any dataclass of settings, those of a study too.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from dpaudit._check import choice, fail
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.mechanisms import REGISTRY, LawMechanism
from dpaudit.run.table import REQUIRED, Table, mapping

STAND_INS: dict[type, Any] = {int: 1000, float: 0.5}  # for a faulty value, so that the next one is checked too
WORDS = {int: "an integer", float: "a number", str: "text", bool: "true or false", tuple: "a list"}
Made = TypeVar("Made")


@dataclass(frozen=True)
class Call:
    """A mechanism outside of dpaudit: "package.module:callable", or a factory of one where parameters are given."""

    target: str
    parameters: Mapping[str, Any] | None

    def load(self) -> Any:
        """Import it, which executes the user's code. Raises `ScenarioError`."""
        module, _, path = self.target.partition(":")
        try:
            found: Any = importlib.import_module(module)
            for step in path.split("."):
                found = getattr(found, step)
            made = found if self.parameters is None else found(**self.parameters)
        except Exception as error:
            said = " ".join(str(error).split())
            raise ScenarioError(f"[mechanism] call: {self.target}: {type(error).__name__}: {said}") from error
        if not callable(made):
            raise ScenarioError(f"[mechanism] call: {self.target} must be callable, got {type(made).__name__}")
        return made if isinstance(made, LawMechanism) else Called(self, made)

    def source(self) -> str | None:
        """SHA-256 of the module's file: draws that other code has made must not be resumed."""
        path = getattr(sys.modules.get(self.target.partition(":")[0]), "__file__", None)
        return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else None


@dataclass(frozen=True)
class Called:
    """A user's callable under the name and parameters that the scenario gives it."""

    call: Call
    function: Any

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        return self.function(data, size, rng=rng)

    @property
    def name(self) -> str:
        return self.call.target

    @property
    def summary(self) -> str:
        return (getattr(self.function, "__doc__", None) or "the user's own callable").strip()

    def parameters(self) -> dict[str, Any]:
        return dict(self.call.parameters or {})


def given_mechanism(table: Table) -> Any:
    """A mechanism, or a `Call` that is imported later; None after a fault."""
    if "name" in table and "call" not in table:
        name = table.get("name", partial(choice, allowed=tuple(REGISTRY)))
        return None if name is None else instance(REGISTRY[name], table)
    if table.readable and ("name" in table) == ("call" in table):
        table.fault("", "must have either name or call")
        return None
    target, parameters = table.get("call", _target), table.get("parameters", mapping, None)
    table.close()
    return Call(target, parameters)


def _target(key: str, value: Any) -> str:
    module, colon, path = value.partition(":") if isinstance(value, str) else ("", "", "")
    if not colon or not all(step.isidentifier() for part in (module, path) for step in part.split(".")):
        fail(key, value, '"package.module:callable"')
    return str(value)


def instance(cls: type[Made], table: Table) -> Made | None:
    """An instance with the parameters of the table, each checked for its type here and for its value by the class."""
    hints = get_type_hints(cls)
    stand_ins, given, faulty = {}, {}, set()
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        kind = _kind(hints[field.name])
        stand_ins[field.name] = STAND_INS.get(kind, field.default)
        required = field.default is dataclasses.MISSING
        value = table.get(field.name, partial(_typed, kind=kind), REQUIRED if required else None)
        if value is not None:
            given[field.name] = value
        elif required or field.name in table:
            given[field.name] = stand_ins[field.name]
            faulty.add(field.name)
    table.close()
    return _instance(cls, table, given, stand_ins, faulty)


def _instance(
    cls: type[Made], table: Table, given: dict[str, Any], stand_ins: dict[str, Any], faulty: set[str]
) -> Made | None:
    """The class reports one faulty value at a time: note it, put a stand-in for it, and try again."""
    while True:
        try:
            return cls(**given)
        except InvalidInput as error:
            key = str(error).partition(" ")[0]
            if not faulty or (key in given and key not in faulty):
                table.fault(key if key in given else "", str(error))
            if key in faulty or key not in given:
                return None
            given[key] = stand_ins[key]
            faulty.add(key)


def _kind(hint: Any) -> type[Any]:
    """float for `float` and for `float | None`, tuple for any tuple."""
    kinds = [hint] if get_origin(hint) is tuple else [one for one in get_args(hint) or (hint,) if one is not type(None)]
    kind = get_origin(kinds[0]) or kinds[0]
    return kind if isinstance(kind, type) else object


def _typed(key: str, value: Any, kind: type[Any]) -> Any:
    """An integer is a number too; true and false are neither. A list is a tuple, whose items the class checks."""
    accepted = {float: (int, float), tuple: (list,)}.get(kind, (kind,))
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind in (int, float)):
        fail(key, value, WORDS.get(kind, kind.__name__))
    return kind(value) if kind in (float, tuple) else value


@contextmanager
def beside(folder: Path) -> Iterator[None]:
    """Modules in `folder` can be imported, as those beside a script can."""
    place = str(folder.resolve())
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path.remove(place)
