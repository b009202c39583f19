"""Conditions of JSON Schema: of which kind a table or a file is, and what excludes what.

Each says that it leaves other keys alone (`part`): some editors want that to be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpaudit.run.one_run import ONE_RUN
from dpaudit.run.scenario.claim import PRINTED
from dpaudit.run.scenario.file import OWN
from dpaudit.run.scenario.study import STUDY
from dpaudit.run.schema.asked import Kind, claim_of_one_run, unruled
from dpaudit.run.schema.types import Schema

AUDIT = ("name", "data", "mechanism", "claim", "neighbour", "audit")


def part(**words: Any) -> Schema:
    """What is said of some keys of a table, whatever the others are."""
    return {**words, "additionalProperties": True}


def all_of(conditions: Sequence[Schema]) -> Schema:
    """Words for a table, by which all conditions hold."""
    table = part(type="object")
    return {"if": table, "then": part(allOf=list(conditions))} if conditions else {}


def when(condition: Schema, then: Schema) -> Schema:
    """What holds if a condition does."""
    return part(**{"if": condition, "then": then})


def has(*keys: str, without: Iterable[str] = ()) -> Schema:
    """Whether a table has keys, and none of others."""
    return part(required=list(keys), properties=dict.fromkeys(without, False))


def within(tables: Mapping[str, Schema]) -> Schema:
    """Whether a table has keys, and something is true of each one's value."""
    return part(required=list(tables), properties=dict(tables))


def holds(*keys: str) -> Schema:
    """Only these keys."""
    return part(propertyNames={"enum": list(keys)})


def apart(one: str, other: str) -> Schema:
    """Two keys exclude each other."""
    return when(has(one), has(without=[other]))


def is_of(kind: Kind, kinds: Sequence[Kind]) -> Schema:
    """Whether a table is of a kind: it has the kind's values, or else its keys and none that tell
    another kind.
    """
    if kind.fixed:
        return within({key: {"const": value} for key, value in kind.fixed.items()})
    others = {key: None for other in kinds for key in other.fixed or other.wanted}
    return has(*kind.wanted, without=[key for key in others if key not in kind.keys])


def of_some_kind(kinds: Sequence[Kind]) -> Schema:
    """Some kind is meant. Of a key whose value tells the kind, its own choices see to the value."""
    fixed = dict.fromkeys(key for kind in kinds for key in kind.fixed)
    free = [is_of(kind, kinds) for kind in kinds if not kind.fixed]
    return part(anyOf=[*free, *(has(key) for key in fixed)])


def files() -> list[Schema]:
    """What a file holds: a study, an audit of one run, or an audit by draws."""
    given = within({ONE_RUN: has("scores")})
    made = within({ONE_RUN: has(without=["scores"])})
    own = within({"neighbour": {"const": OWN}})
    drawn = has(without=[STUDY, ONE_RUN])
    unasked = within({"mechanism": has("name"), "neighbour": has(without=["rule"])})
    return [
        when(has(STUDY), holds("name", STUDY)),
        when(given, {**holds("name", ONE_RUN, "claim"), **_claim()}),
        when(made, {**holds("name", ONE_RUN, "claim", "data", "mechanism"), **_claim(PRINTED)}),
        when(made, has("data", "mechanism")),
        when(drawn, {**holds(*AUDIT), "required": ["mechanism"]}),
        when({**drawn, "not": own}, has("data")),
        when(own, has(without=["data"])),
        when(unasked, part(properties={"neighbour": holds(*unruled())})),
    ]


def _claim(*further: str) -> Schema:
    """The claim of an audit of one run."""
    return part(properties={"claim": holds(*claim_of_one_run(), *further)})
