"""The base of the pydantic models for tables of a scenario, and messages about their faults.

Each key is a field of a model. The annotation of the field has the allowed values, its description
the meaning; `dpaudit schema` prints both. Library functions use the same checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, ValidationInfo
from pydantic import WithJsonSchema as JsonSchema
from pydantic_core import core_schema

from dpaudit._core import check
from dpaudit._core.check import Words, fail, nearest_float, real
from dpaudit._core.keywords import did_you_mean
from dpaudit._core.text import one_line
from dpaudit._core.value import brief
from dpaudit.errors import InvalidInput, ScenarioError

Check = Callable[[str, Any], Any]
LINE = {"type": "string", "pattern": r"^.*\S.*$"}  # not blank, on one line


class Section(BaseModel):
    """The model of one table of a scenario. Its repr and its errors show no values of rows.

    tables : the models of tables inside this one. elsewhere : maps keys that only other models of
    the same table have to the key that they go with, for messages.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
        defer_build=True,  # a run uses a few of the models
    )
    tables: ClassVar[Mapping[str, type[Section]]] = {}
    elsewhere: ClassVar[Mapping[str, str]] = {}

    def __repr_args__(self) -> Iterator[tuple[str, Words]]:
        return ((name, Words(brief(getattr(self, name)))) for name in type(self).model_fields)

    def values_set(self, *apart: str) -> dict[str, Any]:
        keys = (key for key in type(self).model_fields if key in self.model_fields_set)
        return {key: getattr(self, key) for key in keys if key not in apart}


Model = TypeVar("Model", bound=Section)


class Reader:
    """Reads the tables of a file as models, and collects a line for each fault."""

    def __init__(self, path: Path, content: Mapping[str, Any]) -> None:
        self.path, self.content = path, content
        self.faults: list[str] = []

    def __contains__(self, place: str) -> bool:
        return place in self.content

    def table(self, place: str) -> dict[str, Any]:
        content = self.content.get(place)
        return content if isinstance(content, dict) else {}

    def read(self, model: type[Model], place: str, *, needed: bool = False) -> Model | None:
        """The table `place` as a model; None after a fault. needed : whether it must exist."""
        content = self.content.get(place, {})
        if needed and place not in self:
            self.fault(place, "", "missing")
        elif not isinstance(content, dict):
            self.fault(place, "", f"must be a table, got {brief(content, article=True)}")
        else:
            try:
                return model.model_validate(content, context={"folder": self.path.parent})
            except ValidationError as error:
                for fault in error.errors(include_url=False, include_input=False):
                    self._note(place, model, fault)
        return None

    def _note(self, place: str, model: type[Section], error: Any) -> None:
        *tables, key = error["loc"] or ("",)
        cause = error.get("ctx", {}).get("error")
        message = "missing" if error["type"] == "missing" else error["msg"]
        if isinstance(cause, InvalidInput):
            message = str(cause) if cause.argument is None else cause.detail
            key += cause.argument or ""
        elif error["type"] == "extra_forbidden":
            owner = model.tables[tables[0]] if tables else model
            message = unknown(key, owner.model_fields, owner.elsewhere)
        self.fault(".".join((place, *tables)), key, message)

    def refuse(self, place: str, error: InvalidInput) -> Any:
        """Record an error about the table `place`, or about the key that the error names."""
        key = error.argument if error.argument in self.table(place) else None
        self.fault(place, key or "", error.detail if key else str(error))
        return None

    def close(self, *known: str) -> None:
        for key in self.content:
            if key not in known:
                self.fault("", key, unknown(key, known))
        if self.faults:
            name = one_line(self.path.name)
            raise ScenarioError("\n".join(f"{name}: {fault}" for fault in self.faults))

    def fault(self, place: str, key: str, message: str) -> None:
        where = " ".join(part for part in (f"[{place}]" if place else "", key) if part)
        self.faults.append(" ".join(f"{where}: {message}".split()))


def unknown(key: str, known: Iterable[str], elsewhere: Mapping[str, str] | None = None) -> str:
    """The message about an unknown key, with a hint if `elsewhere` has it or a key is similar."""
    partner = (elsewhere or {}).get(key)
    hint = f"it goes with {partner}" if partner else did_you_mean(key, known)
    return "; ".join(filter(None, (f"unknown key (known: {', '.join(known)})", hint)))


@dataclass(frozen=True)
class Checked:
    """The annotation of a field: check(name, value) returns the value or raises `InvalidInput`.
    schema : the allowed values in JSON Schema, as far as that can express them.
    """

    check: Check
    schema: Mapping[str, Any] = field(repr=False)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_plain_validator_function(partial(self.check, ""))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return dict(self.schema)


def number(low: float = -math.inf, high: float = math.inf, open_: bool = False) -> Checked:
    least, most = ("exclusiveMinimum", "exclusiveMaximum") if open_ else ("minimum", "maximum")
    ends = {least: low, most: high}
    schema = {"type": "number", **{key: end for key, end in ends.items() if math.isfinite(end)}}
    return Checked(partial(real, low=low, high=high, open_=open_), schema)


def integer(minimum: int) -> Checked:
    schema = {"type": "integer", "minimum": minimum}
    return Checked(partial(check.integer, minimum=minimum), schema)


def one_of(*allowed: str) -> Checked:
    return Checked(partial(check.choice, allowed=allowed), {"enum": list(allowed)})


def text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        fail(key, value, "a line of text")
    return value


def _flag(key: str, value: Any) -> bool:
    return value if isinstance(value, bool) else fail(key, value, "true or false")


def _table(key: str, value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else fail(key, value, "a table")


def numbers(key: str, value: Any) -> tuple[float, ...]:
    """A list of one or more finite numbers. Errors show no number, since it may be data."""
    return items(_item, key, value, "a list of finite numbers")


def items(checks: Check, key: str, value: Any, expected: str) -> tuple[Any, ...]:
    """The results of checks(name, item) for the items of a list that must not be empty."""
    if not isinstance(value, list) or not value:
        fail(key, Words("text") if isinstance(value, str) else value, expected)
    return tuple(checks(f"{key}[{place}]", item) for place, item in enumerate(value))


def _item(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        fail(key, Words(f"a value of {type(value).__name__}"), "a finite number")
    number = nearest_float(value)
    return number if math.isfinite(number) else fail(key, number, "a finite number")


TEXT, FLAG = Checked(text, LINE), Checked(_flag, {"type": "boolean"})
TABLE = Checked(_table, {"type": "object", "additionalProperties": True})
NUMBERS = Checked(numbers, {"type": "array", "items": {"type": "number"}, "minItems": 1})


def beside(value: Any, info: ValidationInfo) -> Path:
    """The path that a key names; a relative one begins in the folder of the scenario."""
    folder: Path = info.context["folder"]  # type: ignore[index]
    return folder / Path(text("", value)).expanduser()


NeededPath = Annotated[Path, PlainValidator(beside), JsonSchema(LINE)]
ScenarioPath = Annotated[Path | None, PlainValidator(beside), JsonSchema(LINE)]
