"""The [mechanism] table: a class of `papers.REGISTRY`, or a mechanism of the user's own.

`instance` makes any dataclass of settings from a table, a study's too.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import Field, create_model

from dpaudit._core.check import choice, fail, nearest_float
from dpaudit.errors import InvalidInput
from dpaudit.papers import REGISTRY
from dpaudit.run.scenario.section import Checked, Reader, Section
from dpaudit.run.scenario.user_mechanism import KINDS, Call, Called, Function, Program

WORDS = {int: "an integer", float: "a number", str: "text", bool: "true or false", tuple: "a list"}
JSON = {int: "integer", float: "number", str: "string", bool: "boolean", tuple: "array"}
NAME = "The mechanism, one of `dpaudit list mechanisms`; its parameters are further keys."
__all__ = ["Call", "Called", "instance", "read_mechanism"]
Made = TypeVar("Made")


def read_mechanism(reader: Reader) -> Any:
    """A mechanism, or a `Call`, which is loaded later; None after a fault."""
    table = reader.table("mechanism")
    ways = [way for way in ("name", "call", "command") if way in table]
    if "mechanism" not in reader or table is not reader.content["mechanism"]:
        return reader.read(Section, "mechanism", needed=True)
    try:
        if len(ways) != 1:
            raise InvalidInput("must have either name or call or command")
        if ways == ["name"]:
            made = REGISTRY[choice("name", table["name"], tuple(REGISTRY))]
            return instance(made, reader, "mechanism", named(made.__name__))
        if ways == ["command"]:
            return reader.read(Program, "mechanism")
        if "kind" not in table:
            return reader.read(Function, "mechanism")
        return reader.read(KINDS[choice("kind", table["kind"], tuple(KINDS))], "mechanism")
    except InvalidInput as error:
        return reader.refuse("mechanism", error)


def named(name: str) -> type[Section]:
    """A model of the key `name` alone."""
    own = Checked(partial(choice, allowed=(name,)), {"const": name})
    return create_model(name, __base__=Section, name=(Annotated[str, own], Field(description=NAME)))


def with_fields(base: type[Section], cls: type[Any]) -> type[Section]:
    """A model with the keys of `base` and the fields of a dataclass, each checked for its type."""
    hints = get_type_hints(cls)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        kind = _kind(hints[field.name])
        schema = {"type": JSON[kind]} if kind in JSON else {}
        default = ... if field.default is dataclasses.MISSING else field.default
        fields[field.name] = (Annotated[Any, Checked(partial(typed, kind=kind), schema)], default)
    return create_model(cls.__name__, __base__=base, **fields)


def instance(cls: type[Made], reader: Reader, place: str, base: type[Section]) -> Made | None:
    """An instance with the parameters of the table, each checked for its type here and for its
    value by the class, which reports one faulty value at a time.

    base : a model of the other keys of the table.
    """
    table = reader.read(with_fields(base, cls), place)
    if table is None:
        return None
    try:
        return cls(**table.values_set(*base.model_fields))
    except InvalidInput as error:
        return reader.refuse(place, error)


def _kind(hint: Any) -> type[Any]:
    """float for `float` and for `float | None`, tuple for any tuple."""
    kinds = (
        [hint]
        if get_origin(hint) is tuple
        else [part for part in get_args(hint) or (hint,) if part is not type(None)]
    )
    kind = get_origin(kinds[0]) or kinds[0]
    return kind if isinstance(kind, type) else object


def typed(key: str, value: Any, kind: type[Any]) -> Any:
    """An integer is a number too; true and false are neither. A list is a tuple, whose items the
    class checks.
    """
    accepted = {float: (int, float), tuple: (list,)}.get(kind, (kind,))
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind in (int, float)):
        fail(key, value, WORDS.get(kind, kind.__name__))
    if kind is float:
        return nearest_float(value)
    return tuple(value) if kind is tuple else value
