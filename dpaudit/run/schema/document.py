"""The JSON Schema of a scenario file (draft 2020-12), by which editors complete keys.

Keys stand in `properties` of their table, whatever its kind, and what a kind demands in `if` and
`then`: an editor then completes them all, and marks the one key that is wrong. Alternatives in
`anyOf` would make it mark the whole file. No `allOf` stands beside `properties`, since taplo passes
by the properties there. Each condition says that it leaves other keys alone (`part`): some editors
want that to be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from dpaudit.run.one_run import ONE_RUN
from dpaudit.run.scenario.audits import AUDIT, TABLES
from dpaudit.run.scenario.claim import PRINTED, RowClaim
from dpaudit.run.scenario.file import OWN
from dpaudit.run.scenario.neighbour import Worst
from dpaudit.run.scenario.study import STUDY
from dpaudit.run.schema.kinds import ABOUT, APART, NAME, ONE_OF, Kind, Schema, tables

DRAFT = "https://json-schema.org/draft/2020-12/schema"
AUDITED = ("name", "data", "mechanism", "claim", "neighbour", "audit")
EACH = "audits"
SEVERAL = "One of several audits: its name, keys of [audit], and tables that add to those above."


def schema() -> Schema:
    """The schema, in JSON types. What only the data can tell is not in it."""
    parts: dict[str, Schema] = {"name": NAME}
    parts |= {place: words(place, kinds) for place, kinds in tables().items()}
    keys: dict[str, Schema] = {key: {"$ref": f"#/$defs/{key}"} for key in parts}
    each = {key: keys[key] for key in ("name", *TABLES)} | parts[AUDIT]["properties"]
    # what is said of keys holds for objects, what is said of items for arrays
    parts[AUDIT] |= {"type": ["object", "array"], "items": {"$ref": f"#/$defs/{EACH}"}}
    parts[EACH] = {
        "description": SEVERAL,
        "type": "object",
        "properties": each,
        "required": ["name"],
        "additionalProperties": False,
    }
    alone = part(properties={place: demands(place, kinds) for place, kinds in tables().items()})
    several = within({AUDIT: {"type": "array"}})
    return {
        "$schema": DRAFT,
        "title": "dpaudit scenario",
        "type": "object",
        "properties": keys,
        "additionalProperties": False,
        **all_of([part(**{"if": several, "else": part(allOf=[alone, *files()])})]),
        "$defs": parts,
    }


def words(place: str, kinds: Sequence[Kind]) -> Schema:
    """What is true of the keys of a table one by one, whatever its kind."""
    return {
        "description": ABOUT[place],
        "type": "object",
        "properties": known(kinds),
        "additionalProperties": place == STUDY,
    }


def known(kinds: Sequence[Kind]) -> dict[str, Schema]:
    """The keys of all kinds, each with what is true of it in all of them."""
    keys = dict.fromkeys(chain(*(kind.keys for kind in kinds)))
    return {key: common([kind.keys[key] for kind in kinds if key in kind.keys]) for key in keys}


def demands(place: str, kinds: Sequence[Kind]) -> Schema:
    """What a table of each kind has and needs, where it stands alone."""
    keys = known(kinds)
    every = [when(is_of(kind, kinds), demanded(kind, keys)) for kind in kinds]
    further = [*every, of_some_kind(kinds)] if len(kinds) > 1 else []
    apart = [when(has(key), has(without=[other])) for key, other in APART.get(place, ())]
    return part(
        required=[key for key in keys if all(key in kind.wanted for kind in kinds)],
        **({"oneOf": [has(key) for key in ONE_OF[place]]} if place in ONE_OF else {}),
        **all_of([*further, *apart]),
    )


def demanded(kind: Kind, keys: Mapping[str, Schema]) -> Schema:
    """What a table of one kind has and needs, beside what is true of the keys of all kinds."""
    precise = {
        key: schema
        for key, schema in kind.keys.items()
        if schema != keys[key] and key not in kind.fixed
    }
    return {**holds(*kind.keys), "required": list(kind.wanted), "properties": precise}


def common(ways: Sequence[Schema]) -> Schema:
    """What is true of a key in all kinds of a table."""
    first, *others = ways
    shared = {
        word: value
        for word, value in first.items()
        if word == "description" or all(other.get(word) == value for other in others)
    }
    choices = [[way["const"]] if "const" in way else way.get("enum", ()) for way in ways]
    if "const" in shared or not all(choices):
        return shared
    return {"enum": list(dict.fromkeys(chain(*choices))), **shared}


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


def within(values: Mapping[str, Schema]) -> Schema:
    """Whether a table has keys, and something is true of each one's value."""
    return part(required=list(values), properties=dict(values))


def holds(*keys: str) -> Schema:
    """Only these keys."""
    return part(propertyNames={"enum": list(keys)})


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
    scores = within({ONE_RUN: has("scores")})
    made = within({ONE_RUN: has(without=["scores"])})
    own = within({"neighbour": {"const": OWN}})
    drawn = has(without=[STUDY, ONE_RUN])
    unasked = within({"mechanism": has("name"), "neighbour": has(without=["rule"])})
    row = tuple(RowClaim.model_fields)
    unprinted = [key for key in row if key != PRINTED]
    at = [key for key in Worst.model_fields if key != "rule"]
    return [
        when(has(STUDY), holds("name", STUDY)),
        when(scores, {**holds("name", ONE_RUN, "claim"), **_claim(unprinted)}),
        when(made, {**holds("name", ONE_RUN, "claim", "data", "mechanism"), **_claim(row)}),
        when(made, has("data", "mechanism")),
        when(drawn, {**holds(*AUDITED), "required": ["mechanism"]}),
        when({**drawn, "not": own}, has("data")),
        when(own, has(without=["data"])),
        when(unasked, part(properties={"neighbour": holds(*at)})),
    ]


def _claim(keys: Iterable[str]) -> Schema:
    """The claim of an audit of one run."""
    return part(properties={"claim": holds(*keys)})
