"""The [audit] table: the settings of `dpaudit.audit`, and where its draws are made."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np

from dpaudit import scoring
from dpaudit._core import check
from dpaudit.auditing.api import audit
from dpaudit.auditing.settings import (
    LARGEST_EPSILON,
    MOST_EPSILON,
    MOST_SAMPLES,
    UNITS,
    Settings,
)
from dpaudit.certify.sets import FOCUS
from dpaudit.curves.claims import Claim
from dpaudit.curves.metric import MetricClaim
from dpaudit.errors import InvalidInput
from dpaudit.run.scenario.table import Check, Table, numbers, takes

DEFAULTS = {name: one.default for name, one in inspect.signature(audit).parameters.items()}
EPSILON = {"type": "number", "minimum": 0, "maximum": LARGEST_EPSILON}
NUMBER = {"type": "integer", "minimum": 1, "maximum": MOST_EPSILON}
SPAN = {"start": EPSILON, "stop": EPSILON, "num": NUMBER}
ONE_OR_MORE = {
    "anyOf": [
        {"type": "array", "items": EPSILON, "minItems": 1},
        {
            "type": "object",
            "properties": SPAN,
            "required": list(SPAN),
            "additionalProperties": False,
        },
    ]
}
CHECKS: dict[str, Check] = {
    "level": partial(check.real, low=0.0, high=1.0, open_=True),
    "classifier": partial(check.choice, allowed=tuple(scoring.ALIASES)),
    "detect": partial(check.real, low=0.0, high=1.0),
    "train_share": partial(check.real, low=0.0, high=1.0),
    "choose_share": partial(check.real, low=0.0, high=1.0),
    "bits": check.boolean,
    "focus": partial(check.choice, allowed=FOCUS),
    "stop": partial(check.choice, allowed=("verdict",)),
    "unit": partial(check.choice, allowed=UNITS),
}


def read_settings(
    table: Table, claim: Claim | MetricClaim | None, seed: int | None
) -> Settings | None:
    """The settings; None after a fault. A default stands in for a faulty value in the checks."""
    options = {key: table.get(key, one, DEFAULTS[key]) for key, one in CHECKS.items()}
    options["samples"] = _draws(table)
    epsilon = _grid(table)
    table.close()
    usable = {key: DEFAULTS[key] if value is None else value for key, value in options.items()}
    try:
        settings = Settings.of(epsilon=epsilon, claim=claim, rng=seed, **usable)
    except InvalidInput as error:
        _fault(table, error)
        return None
    return None if table.faults else settings


def _fault(table: Table, error: InvalidInput) -> None:
    """Note what is wrong with the settings; the claim is one of them, with a table of its own."""
    owner, _, key = (error.argument or "").partition(" ")
    if owner == "claim":
        Table("claim", {}, table.faults).fault(key, error.detail)
    else:
        table.fault(error.argument or "", error.detail)


def _draws(table: Table) -> Any:
    """Draws a side: `draws`, or `samples`, another name of it."""
    if "draws" in table and "samples" in table:
        table.fault("samples", "is another name of draws: give one of the two")
    usual = DEFAULTS["samples"]
    if "samples" in table:
        return table.get("samples", _count, usual)
    return table.get("draws", _count, usual)


@takes({"type": "integer", "minimum": 1, "maximum": MOST_SAMPLES})
def _count(key: str, value: Any) -> int:
    """A number of draws; `Settings` refuses too large a one."""
    return check.count(key, value, 1)


def _grid(table: Table) -> Any:
    """A list of ε, or evenly spaced ones from start to stop; None where neither is given."""
    if not isinstance(table.content.get("epsilon"), dict):
        return table.get("epsilon", _list, DEFAULTS["epsilon"])
    inner = table.table("epsilon")
    start, stop = (inner.get(key, partial(check.real, low=0.0)) for key in ("start", "stop"))
    number = inner.get("num", _points)
    inner.close()
    return None if None in (start, stop, number) else np.linspace(start, stop, number)


def _points(key: str, value: Any) -> int:
    number = check.integer(key, value, 1)
    most = f"at most {MOST_EPSILON:,} points"
    return number if number <= MOST_EPSILON else check.fail(key, value, most)


@takes(ONE_OR_MORE)
def _list(key: str, value: Any) -> Any:
    return check.epsilon(numbers(key, value), key)
