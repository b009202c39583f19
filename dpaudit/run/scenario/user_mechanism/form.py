"""How a callable of the user's is used, and the keys of a scenario that say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dpaudit import adapters
from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.adapters import tables
from dpaudit.adapters.functions import seconds
from dpaudit.adapters.tables import DTYPE_NAMES, coding
from dpaudit.run.scenario.table import NUMBERS, Check, Table, flag, numbers, takes, text
from dpaudit.run.scenario.target import TARGET, target_text

SEEDS = ("global",)
TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True}
DTYPE = {"anyOf": [{"enum": list(DTYPE_NAMES)}, TEXTS]}
DTYPES = {"type": "object", "minProperties": 1, "additionalProperties": DTYPE}
INTEGER = {"type": "integer"}
ATTRIBUTE = {"type": "string", "pattern": r"^[^\W\d]\w*$"}
WORD = {"type": "string", "pattern": r"^[^:\n]*[^:\s][^:\n]*$"}


@dataclass(frozen=True)
class Form:
    """How a callable is used.

    batched : one call makes many draws. kind : one of `KEYS`, each of which makes one draw a call.
    options : the keys that go with the kind, as the scenario has them. seeds : "global" where
    global random generators are set for each call. timeout : seconds for each call.
    """

    batched: bool = True
    kind: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seeds: str | None = None
    timeout: float | None = None

    __repr__ = short_repr

    def given(self) -> dict[str, Any]:
        """What differs from the defaults, except the timeout, which changes no draw."""
        own = {"batched": None if self.batched else False, "kind": self.kind, "seeds": self.seeds}
        return {name: value for name, value in {**own, **self.options}.items() if value is not None}

    def seeded(self, mechanism: Any) -> Any:
        """The mechanism, with global generators set where the scenario asks for it."""
        return mechanism if self.seeds is None else adapters.global_seeds(mechanism)


def read_form(table: Table) -> Form:
    """`kind`, `batched`, `seeds`, `timeout` and the keys of the kind. Faults are noted."""
    timeout = table.get("timeout", seconds, None)
    seeds = table.get("seeds", partial(check.choice, allowed=SEEDS), None)
    kind = table.get("kind", partial(check.choice, allowed=tuple(KEYS)), None)
    if kind is None:
        return Form(table.get("batched", flag, True), seeds=seeds, timeout=timeout)
    found = {name: table.get(name, checked, None) for name, checked in KEYS[kind].items()}
    options = {name: value for name, value in found.items() if value is not None}
    if "outputs" in options and "predict" in options:
        table.fault("predict", "goes without outputs")
    return Form(True, kind, options, seeds, timeout)


@takes({"anyOf": [WORD, TARGET, {"type": "array", "items": ATTRIBUTE, "minItems": 1}]})
def _outputs(key: str, value: Any) -> tuple[str, ...] | str:
    """Names of attributes, or one callable of the fitted estimator."""
    if isinstance(value, str):
        return target_text(key, value) if ":" in value else (text(key, value),)
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(one, str) and one.isidentifier() for one in value)
    ):
        check.fail(key, value, 'a list of attributes, or "package.module:callable"')
    return tuple(value)


@takes({"type": "array", "items": NUMBERS, "minItems": 1})
def _points(key: str, value: Any) -> tuple[tuple[float, ...], ...]:
    if not isinstance(value, list) or not value:
        check.fail(key, value, "a list of points, each a list of numbers")
    points = tuple(numbers(f"{key}[{place}]", one) for place, one in enumerate(value))
    if len({len(point) for point in points}) > 1:
        check.fail(key, value, "points of equally many numbers")
    return points


@takes({"anyOf": [INTEGER, {"type": "array", "items": INTEGER, "minItems": 1}]})
def _column(key: str, value: Any) -> Any:
    """The number of a column, or a list of them."""
    tables.column_numbers(key, value)
    return value


@takes(DTYPE)
def _dtype(key: str, value: Any) -> Any:
    """The name of a type, or the texts of the codes."""
    coding(key, value)
    return value


@takes({"anyOf": [TEXTS, DTYPES]})
def _columns(key: str, value: Any) -> Any:
    """Names of columns, or a table of their types."""
    tables.codings(key, value)
    return value


KEYS: Mapping[str, Mapping[str, Check]] = {
    "estimator": {"outputs": _outputs, "predict": _points},
    "transformer": {"points": _points},
    "synthesizer": {},
    "values": {
        "column": _column,
        "dtype": _dtype,
        "form": partial(check.choice, allowed=tables.VALUE_FORMS),
        "each": flag,
        "record": partial(check.integer, minimum=0),
    },
    "records": {
        "columns": _columns,
        "form": partial(check.choice, allowed=tables.TABLE_FORMS),
        "each": flag,
        "record": partial(check.integer, minimum=0),
        "order": flag,
    },
}
