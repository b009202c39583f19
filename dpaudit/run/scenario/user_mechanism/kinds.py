"""The kinds of callables of the user's, as a scenario names them. No code of theirs runs before
`load`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import model_validator

from dpaudit import adapters
from dpaudit._core import check
from dpaudit.adapters import tables
from dpaudit.adapters.models import FITTED
from dpaudit.adapters.tables import DTYPE_NAMES, coding
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.run.scenario.section import (
    FLAG,
    NUMBERS,
    Checked,
    integer,
    items,
    numbers,
    one_of,
    text,
)
from dpaudit.run.scenario.target import TARGET, imported, target_text
from dpaudit.run.scenario.user_mechanism.call import Called, Imported

TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True}
DTYPE = {"anyOf": [{"enum": list(DTYPE_NAMES)}, TEXTS]}
DTYPES = {"type": "object", "minProperties": 1, "additionalProperties": DTYPE}
INTEGER = {"type": "integer"}
ATTRIBUTE = {"type": "string", "pattern": r"^[^\W\d]\w*$"}
WORD = {"type": "string", "pattern": r"^[^:\n]*[^:\s][^:\n]*$"}


def _outputs(key: str, value: Any) -> tuple[str, ...] | str:
    """Names of attributes, or one callable of the fitted estimator."""
    if isinstance(value, str):
        return target_text(key, value) if ":" in value else (text(key, value),)
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(name, str) and name.isidentifier() for name in value)
    ):
        check.fail(key, value, 'a list of attributes, or "package.module:callable"')
    return tuple(value)


def _points(key: str, value: Any) -> tuple[tuple[float, ...], ...]:
    points = items(numbers, key, value, "a list of points, each a list of numbers")
    if len({len(point) for point in points}) > 1:
        check.fail(key, value, "points of equally many numbers")
    return points


def _as_it_stands(checks: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """A check that returns the value of the file, which the adapter reads again."""
    return lambda key, value: (checks(key, value), value)[1]


OUTPUTS = {"anyOf": [WORD, TARGET, {"type": "array", "items": ATTRIBUTE, "minItems": 1}]}
POINTS = Checked(_points, {"type": "array", "items": NUMBERS.schema, "minItems": 1})
COLUMNS = {"anyOf": [TEXTS, DTYPES]}
COLUMN = {"anyOf": [INTEGER, {"type": "array", "items": INTEGER, "minItems": 1}]}
Each = Annotated[bool, FLAG]
Record = Annotated[int | None, integer(0)]


class Estimator(Imported):
    """What scikit-learn calls an estimator: it is fitted, and then read."""

    kind: Literal["estimator"] = "estimator"
    """What the callable is; each kind gives one output a call."""
    outputs: Annotated[Any, Checked(_outputs, OUTPUTS)] = FITTED
    """Attributes of the fitted estimator, or a callable of it."""
    predict: Annotated[Any, POINTS] = None
    """Points at which the fitted estimator predicts; it goes without outputs."""

    @model_validator(mode="after")
    def _read_once(self) -> Estimator:
        if {"outputs", "predict"} <= self.model_fields_set:
            raise InvalidInput("goes without outputs", argument="predict")
        return self

    def adapted(self, function: Any) -> Any:
        """A mechanism of one draw a call; a callable of the fitted estimator is imported."""
        outputs = self.predict or self.outputs
        if isinstance(outputs, str):
            outputs = imported(outputs, "[mechanism] outputs")
        return adapters.estimator(function, outputs, timeout=self.timeout)

    def _targets(self) -> list[str]:
        return [self.call, *([self.outputs] if isinstance(self.outputs, str) else [])]


class Transformer(Imported):
    """What scikit-learn calls a transformer: it is fitted, and then transforms."""

    kind: Literal["transformer"] = "transformer"
    points: Annotated[Any, POINTS] = None
    """Rows that are transformed; by default those that it was fitted on."""


class Synthesizer(Imported):
    """A maker of objects with fit(data, rng) and sample(model, rng)."""

    kind: Literal["synthesizer"] = "synthesizer"

    def load(self) -> Any:
        """Import and make it, which executes the user's code. Raises `ScenarioError`."""
        made = self.made()
        if all(callable(getattr(made, name, None)) for name in ("fit", "sample")):
            return Called(self, made)
        wanted = "must make an object with fit(data, rng) and sample(model, rng)"
        raise ScenarioError(f"[mechanism] call: {self.call} {wanted}, got {type(made).__name__}")


class Values(Imported):
    """A function of the values of columns."""

    kind: Literal["values"] = "values"
    column: Annotated[Any, Checked(_as_it_stands(tables.column_numbers), COLUMN)] = 0
    """The number of the column whose values the function gets, or a list of them."""
    dtype: Annotated[Any, Checked(_as_it_stands(coding), DTYPE)] = "float"
    """The type of the values, or the texts that stand for 0, 1, 2, …"""
    form: Annotated[str, one_of(*tables.VALUE_FORMS)] = "array"
    """The form in which the function gets its data."""
    each: Each = False
    """true calls the function for each record by itself."""
    record: Record = None
    """The number of the one record that the function gets."""


class Records(Imported):
    """A function of whole records."""

    kind: Literal["records"] = "records"
    columns: Annotated[Any, Checked(_as_it_stands(tables.codings), COLUMNS)] = None
    """Names of the columns, or a table of names and types."""
    form: Annotated[str, one_of(*tables.TABLE_FORMS)] = "frame"
    """The form in which the function gets its data."""
    each: Each = False
    """true calls the function for each record by itself."""
    record: Record = None
    """The number of the one record that the function gets."""
    order: Annotated[bool, FLAG] = True
    """true if the order of the records that come out is meant."""


KINDS: Mapping[str, type[Imported]] = {
    str(model.model_fields["kind"].default): model
    for model in (Estimator, Transformer, Synthesizer, Values, Records)
}
