"""Conditions of JSON Schema: of which kind a table or a file is, and what excludes what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpaudit.run.one_run import ONE_RUN
from dpaudit.run.scenario.claim import PRINTED
from dpaudit.run.scenario.file import OWN
from dpaudit.run.scenario.study import STUDY
from dpaudit.run.schema.asked import Kind, claim_of_one_run, unruled
from dpaudit.run.schema.types import Schema

AUDIT = ("name", "data", "mechanism", "claim", "neighbour", "audit")


def all_of(conditions: Sequence[Schema]) -> Schema:
    """Where it is a table at all, all conditions hold."""
    return when({"type": "object"}, {"allOf": list(conditions)}) if conditions else {}


def when(condition: Schema, then: Schema) -> Schema:
    """What holds if a condition does."""
    return {"if": condition, "then": then}


def has(*keys: str, without: Iterable[str] = ()) -> Schema:
    """Whether a table has keys, and none of others."""
    return {"required": list(keys), "properties": dict.fromkeys(without, False)}


def apart(one: str, other: str) -> Schema:
    """Two keys exclude each other."""
    return when(has(one), has(without=[other]))


def is_of(kind: Kind, kinds: Sequence[Kind]) -> Schema:
    """Whether a table is of a kind: it has the kind's values, or else its keys and none that tell
    another kind.
    """
    if kind.fixed:
        values = {key: {"const": value} for key, value in kind.fixed.items()}
        return {"required": list(values), "properties": values}
    others = {key: None for other in kinds for key in other.fixed or other.wanted}
    return has(*kind.wanted, without=[key for key in others if key not in kind.keys])


def of_some_kind(kinds: Sequence[Kind]) -> Schema:
    """Some kind is meant. Of a key whose value tells the kind, its own choices see to the value."""
    fixed = dict.fromkeys(key for kind in kinds for key in kind.fixed)
    free = [is_of(kind, kinds) for kind in kinds if not kind.fixed]
    return {"anyOf": [*free, *(has(key) for key in fixed)]}


def files() -> list[Schema]:
    """What a file holds: a study, an audit of one run, or an audit by draws."""
    given = {"required": [ONE_RUN], "properties": {ONE_RUN: has("scores")}}
    made = {"required": [ONE_RUN], "properties": {ONE_RUN: has(without=["scores"])}}
    own = {"required": ["neighbour"], "properties": {"neighbour": {"const": OWN}}}
    drawn = has(without=[STUDY, ONE_RUN])
    return [
        when(has(STUDY), holds("name", STUDY)),
        when(given, {**holds("name", ONE_RUN, "claim"), **_claim()}),
        when(made, {**holds("name", ONE_RUN, "claim", "data", "mechanism"), **_claim(PRINTED)}),
        when(made, has("data", "mechanism")),
        when(drawn, {**holds(*AUDIT), "required": ["mechanism"]}),
        when({**drawn, "not": own}, has("data")),
        when(own, has(without=["data"])),
        when(_unruled(), {"properties": {"neighbour": holds(*unruled())}}),
    ]


def holds(*keys: str) -> Schema:
    """Only these keys."""
    return {"propertyNames": {"enum": list(keys)}}


def _claim(*further: str) -> Schema:
    """The claim of an audit of one run."""
    return {"properties": {"claim": holds(*claim_of_one_run(), *further)}}


def _unruled() -> Schema:
    """One of dpaudit's own mechanisms, and no rule."""
    parts = {"mechanism": has("name"), "neighbour": has(without=["rule"])}
    return {"required": list(parts), "properties": parts}
