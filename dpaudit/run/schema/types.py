"""What a check of a scenario lets pass, in JSON Schema."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from dpaudit._core import check
from dpaudit.adapters.commands import arguments
from dpaudit.adapters.functions import seconds
from dpaudit.run.scenario.mechanism import typed
from dpaudit.run.scenario.table import Check

Schema = dict[str, Any]
DATA = {"type": "string", "pattern": r"\{data\}"}  # an argument that names the file of the rows
JSON = {int: "integer", float: "number", str: "string", bool: "boolean", tuple: "array"}


def schema_of(asked: Check) -> Schema:
    """The values that a check lets pass, as far as JSON Schema can say."""
    function: Any = asked
    options: dict[str, Any] = {}
    if isinstance(asked, partial):
        function, options = asked.func, asked.keywords
    told = getattr(function, "schema", None)
    return dict(told) if told is not None else dict(KNOWN[function](**options))


def _real(low: float = -math.inf, high: float = math.inf, open_: bool = False) -> Schema:
    least, most = ("exclusiveMinimum", "exclusiveMaximum") if open_ else ("minimum", "maximum")
    ends = {least: low, most: high}
    return {"type": "number", **{key: end for key, end in ends.items() if math.isfinite(end)}}


def _integer(minimum: int) -> Schema:
    return {"type": "integer", "minimum": minimum}


def _choice(allowed: tuple[str, ...]) -> Schema:
    return {"enum": list(allowed)}


def _typed(kind: type[Any]) -> Schema:
    return {"type": JSON[kind]} if kind in JSON else {}


KNOWN: dict[Any, Any] = {
    check.real: _real,
    check.integer: _integer,
    check.count: _integer,
    check.choice: _choice,
    check.boolean: lambda: {"type": "boolean"},
    seconds: partial(_real, low=0.0, open_=True),
    arguments: lambda: {"type": "array", "items": {"type": "string"}, "contains": DATA},
    typed: _typed,
}
