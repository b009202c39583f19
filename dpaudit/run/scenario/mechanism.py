"""The [mechanism] table: a class of `papers.REGISTRY`, or a mechanism of the user's own.

`instance` makes any dataclass of settings from a table, a study's too.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from dpaudit._core.check import choice, fail, nearest_float
from dpaudit.errors import InvalidInput
from dpaudit.papers import REGISTRY
from dpaudit.run.scenario.table import REQUIRED, Table
from dpaudit.run.scenario.user_mechanism import Call, Called, read_call, read_command

# in place of a faulty value, so that the next value can be checked
STAND_INS: dict[type, Any] = {int: 1000, float: 0.5}
WORDS = {int: "an integer", float: "a number", str: "text", bool: "true or false", tuple: "a list"}
WAYS = ("name", "call", "command")
__all__ = ["Call", "Called", "instance", "read_mechanism"]
Made = TypeVar("Made")


def read_mechanism(table: Table, folder: Path = Path()) -> Any:
    """A mechanism, or a `Call`, which is loaded later; None after a fault.

    folder : where a command runs.
    """
    ways = [way for way in WAYS if way in table]
    if table.readable and len(ways) != 1:
        table.fault("", "must have either name or call or command")
        return None
    if ways == ["name"]:
        name = table.get("name", partial(choice, allowed=tuple(REGISTRY)))
        return None if name is None else instance(REGISTRY[name], table)
    return read_command(table, folder) if ways == ["command"] else read_call(table)


def instance(cls: type[Made], table: Table) -> Made | None:
    """An instance with the parameters of the table, each checked for its type here and for its
    value by the class.
    """
    hints = get_type_hints(cls)
    stand_ins, given, faulty = {}, {}, set()
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        kind = _kind(hints[field.name])
        stand_ins[field.name] = STAND_INS.get(kind, field.default)
        required = field.default is dataclasses.MISSING
        value = table.get(field.name, partial(typed, kind=kind), REQUIRED if required else None)
        if value is not None:
            given[field.name] = value
        elif required or field.name in table:
            given[field.name] = stand_ins[field.name]
            faulty.add(field.name)
    table.close()
    return _instance(cls, table, given, stand_ins, faulty)


def _instance(
    cls: type[Made],
    table: Table,
    given: dict[str, Any],
    stand_ins: dict[str, Any],
    faulty: set[str],
) -> Made | None:
    """The class reports one faulty value at a time: note it, put a stand-in for it, try again."""
    while True:
        try:
            return cls(**given)
        except InvalidInput as error:
            key = error.argument or ""
            if key in given and key not in faulty:
                table.fault(key, error.detail)
            elif not faulty:
                table.fault("", str(error))
            if key in faulty or key not in given:
                return None
            given[key] = stand_ins[key]
            faulty.add(key)


def _kind(hint: Any) -> type[Any]:
    """float for `float` and for `float | None`, tuple for any tuple."""
    kinds = (
        [hint]
        if get_origin(hint) is tuple
        else [one for one in get_args(hint) or (hint,) if one is not type(None)]
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
