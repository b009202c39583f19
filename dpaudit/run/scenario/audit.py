"""The [audit] table: the settings of `dpaudit.audit`, and where its draws are made."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import PlainValidator, WithJsonSchema, model_validator

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
from dpaudit.curves.claims import Claim, MetricClaim
from dpaudit.errors import InvalidInput
from dpaudit.run.scenario.section import (
    FLAG,
    TEXT,
    Checked,
    Section,
    integer,
    number,
    numbers,
    one_of,
)
from dpaudit.run.scenario.workers import BACKENDS, DASK, Workers

DEFAULTS = {name: each.default for name, each in inspect.signature(audit).parameters.items()}
SHARE = number(0.0, 1.0)
COUNT = Checked(
    partial(check.count, minimum=1), {"type": "integer", "minimum": 1, "maximum": MOST_SAMPLES}
)
EPSILON = {"type": "number", "minimum": 0, "maximum": LARGEST_EPSILON}


def _points(key: str, value: Any) -> int:
    points = check.integer(key, value, 1)
    most = f"at most {MOST_EPSILON:,} points"
    return points if points <= MOST_EPSILON else check.fail(key, value, most)


END = Checked(partial(check.real, low=0.0), EPSILON)
POINTS = Checked(_points, {"type": "integer", "minimum": 1, "maximum": MOST_EPSILON})


class Span(Section):
    """Evenly spaced ε, nats."""

    start: Annotated[float, END]
    stop: Annotated[float, END]
    num: Annotated[int, POINTS]


def _grid(value: Any) -> Any:
    if isinstance(value, dict):
        span = Span.model_validate(value)
        return np.linspace(span.start, span.stop, span.num)
    return check.epsilon(numbers("", value), "")


GRID = {
    "anyOf": [
        {"type": "array", "items": EPSILON, "minItems": 1},
        {
            "type": "object",
            "properties": {"start": EPSILON, "stop": EPSILON, "num": POINTS.schema},
            "required": list(Span.model_fields),
            "additionalProperties": False,
        },
    ]
}


class Audit(Section):
    """How much is drawn, and how it is judged."""

    tables: ClassVar = {"epsilon": Span}

    seed: Annotated[int, integer(0)] = 0
    """The seed of all that is random; dpaudit run --seed replaces it."""
    backend: Annotated[str | None, one_of(*BACKENDS)] = None
    """Where draws are made; it changes no result."""
    address: Annotated[str | None, TEXT] = None
    """The address of a Dask scheduler, with backend = "dask"."""
    level: Annotated[float, number(0.0, 1.0, open_=True)] = DEFAULTS["level"]
    """Confidence of the certified band, over all ε and both directions."""
    classifier: Annotated[str, one_of(*scoring.ALIASES)] = DEFAULTS["classifier"]
    """The score: an alias of `dpaudit list classifiers`."""
    detect: Annotated[float | None, SHARE] = None
    """The excess in δ that the audit must show, whatever its shape."""
    train_share: Annotated[float | None, SHARE] = None
    """Share of the draws that train the score."""
    choose_share: Annotated[float | None, SHARE] = None
    """Share of the draws that choose score and sets."""
    bits: Annotated[bool, FLAG] = DEFAULTS["bits"]
    """true lets the score read the bits of floats."""
    focus: Annotated[str, one_of(*FOCUS)] = DEFAULTS["focus"]
    """What the confidence is spent on: the whole spectrum, or ε at δ = 0."""
    stop: Annotated[str | None, one_of("verdict")] = None
    """With "verdict", no more is drawn than the verdict takes."""
    unit: Annotated[str, one_of(*UNITS)] = DEFAULTS["unit"]
    """The unit of drawing: "call" where the draws of a call share state, one call a draw."""
    draws: Annotated[int, COUNT] = DEFAULTS["samples"]
    """Draws a side, training included."""
    epsilon: Annotated[Any, PlainValidator(_grid), WithJsonSchema(GRID)] = None
    """ε, nats, at which δ is reported; by default 0 to 4, or as far as a claim goes."""
    samples: Annotated[int | None, COUNT] = None
    """Another name of draws; give one of the two."""

    @model_validator(mode="after")
    def _belong_together(self) -> Audit:
        if {"draws", "samples"} <= self.model_fields_set:
            message = "is another name of draws: give one of the two"
            raise InvalidInput(message, argument="samples")
        if self.address is not None and self.backend != DASK:
            message = f'is of a Dask scheduler: it goes with backend = "{DASK}"'
            raise InvalidInput(message, argument="address")
        return self

    @property
    def workers(self) -> Workers:
        """Where draws are made."""
        return Workers(self.backend, self.address)

    def settings(self, claim: Claim | MetricClaim | None) -> Settings:
        """With the claim that is judged. Raises `InvalidInput`."""
        apart = ("seed", "backend", "address", "draws", "samples")
        options = {key: getattr(self, key) for key in type(self).model_fields if key not in apart}
        draws = self.draws if self.samples is None else self.samples
        return Settings.of(draws, claim=claim, rng=self.seed, **options)
