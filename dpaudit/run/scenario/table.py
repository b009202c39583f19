"""Reading a TOML table. Faults are collected with their place and reported at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from dpaudit._core.check import fail, real
from dpaudit._core.shown.printable import one_line
from dpaudit.errors import InvalidInput, ScenarioError

Check = Callable[[str, Any], Any]
Checker = TypeVar("Checker", bound=Check)
REQUIRED: Any = object()
LINE = {"type": "string", "pattern": r"^.*\S.*$"}  # not blank, on one line
NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1}


class Asked(NamedTuple):
    """What a reader asks of a key. default : `REQUIRED` where there is none."""

    check: Check
    default: Any


class Table:
    """The table at `place` ("" for the file itself).

    faults : a list shared by all tables of a file, which grows by a line "[place] key: what" for
    each fault. asked, inner : the keys and the tables that were asked for, by name; `run.schema`
    makes the reference of scenarios from them.
    """

    def __init__(self, place: str, content: Any, faults: list[str]) -> None:
        self.place, self.faults = place, faults
        self.asked: dict[str, Asked] = {}
        self.inner: dict[str, Table] = {}
        self.content: dict[str, Any] = content if isinstance(content, dict) else {}
        self.readable = isinstance(content, dict)
        if not self.readable:
            self.fault("", f"must be a table, got {content!r}")

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def get(self, key: str, check: Check, default: Any = REQUIRED) -> Any:
        """The value at `key` as `check(key, value)` returns it; None after a fault."""
        self.asked[key] = Asked(check, default)
        if key in self.content:
            try:
                return check(key, self.content[key])
            except InvalidInput as error:
                self.fault(key, error.detail if error.argument == key else str(error))
                return None
        if default is not REQUIRED:
            return default
        if self.readable:
            self.fault(key, "missing")
        return None

    def table(self, key: str, default: Any = REQUIRED) -> Table:
        """The table at `key`, empty where `default` is."""
        inner = f"{self.place}.{key}" if self.place else key
        self.asked[key] = Asked(mapping, default)
        if key not in self.content and default is REQUIRED:
            self.faults.append(f"[{inner}]: missing")
            self.inner[key] = Table(inner, {}, [])
        else:
            self.inner[key] = Table(inner, self.content.get(key, default), self.faults)
        return self.inner[key]

    def close(self, elsewhere: Mapping[str, str] | None = None) -> None:
        """Note the keys that are unknown, after all known ones were read.

        elsewhere : what keys go with that would be known if another key had another value.
        """
        for key in self.content:
            if key not in self.asked:
                known = f"unknown key (known: {', '.join(self.asked)})"
                other = (elsewhere or {}).get(key)
                self.fault(key, f"{known}; it goes with {other}" if other else known)

    def fault(self, key: str, message: str) -> None:
        """Note a fault of `key`, or of the whole table where that is ""."""
        where = " ".join(part for part in (f"[{self.place}]" if self.place else "", key) if part)
        self.faults.append(" ".join(f"{where}: {message}".split()))


def takes(schema: Mapping[str, Any]) -> Callable[[Checker], Checker]:
    """Says in JSON Schema which values a check lets pass, for the reference of scenarios."""

    def told(check: Checker) -> Checker:
        check.schema = schema  # type: ignore[attr-defined]
        return check

    return told


def refuse(path: Path, faults: Sequence[str]) -> None:
    """Raise `ScenarioError` with a line "file: fault" for each fault, if there are any."""
    if faults:
        raise ScenarioError("\n".join(f"{one_line(path.name)}: {fault}" for fault in faults))


@takes(LINE)
def text(key: str, value: Any) -> str:
    """A line of text that is not blank."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        fail(key, value, "a line of text")
    return value


@takes({"type": "boolean"})
def flag(key: str, value: Any) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        fail(key, value, "true or false")
    return value


@takes({"type": "object", "additionalProperties": True})
def mapping(key: str, value: Any) -> dict[str, Any]:
    """A table with any keys."""
    if not isinstance(value, dict):
        fail(key, value, "a table")
    return value


@takes(NUMBERS)
def numbers(key: str, value: Any) -> tuple[float, ...]:
    """A list of at least one finite number."""
    if not isinstance(value, list) or not value:
        fail(key, value, "a list of finite numbers")
    return tuple(real(f"{key}[{place}]", item) for place, item in enumerate(value))
