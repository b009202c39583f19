"""The JSON Schema of a scenario file (draft 2020-12), by which editors complete keys.

It is made from the models of `run.scenario`. Keys stand in `properties` of their table, whatever
its kind, and what a kind demands in `if` and `then`: an editor then completes them all, and marks
the one key that is wrong. Alternatives in `anyOf` would make it mark the whole file. No `allOf`
stands beside `properties`, since taplo ignores the properties there. Each condition says that it
leaves other keys alone (`part`): some editors want that to be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any

from dpaudit.papers import REGISTRY
from dpaudit.run.one_run import ONE_RUN, OneRun, RunToMake, ScoresOfRun
from dpaudit.run.scenario.file import OWN
from dpaudit.run.scenario.files import AUDIT, TABLES
from dpaudit.run.scenario.mechanism import KINDS, Function, Program, named, with_fields
from dpaudit.run.scenario.neighbour import RULES, Unstated, Worst
from dpaudit.run.scenario.section import Section
from dpaudit.run.scenario.study import STUDY, StudyTable
from dpaudit.run.scenario.tables import (
    CLAIMS,
    GROUP,
    PER,
    PRINTED,
    Audit,
    Data,
    PairClaim,
    RowClaim,
)

Schema = dict[str, Any]
NAME = {
    "type": "string",
    "pattern": r"^.*\S.*$",
    "description": "Name of the audit and of its report's folder; by default that of the file.",
}
ABOUT = {
    "data": Data.__doc__,
    "mechanism": "What is audited: a mechanism of dpaudit's own, your callable, or a program.",
    "neighbour": "How D' is chosen. Mechanisms of dpaudit's own without a rule take at only.",
    "claim": PairClaim.__doc__,
    "audit": Audit.__doc__,
    ONE_RUN: OneRun.__doc__,
    STUDY: StudyTable.__doc__,
}
# keys of which a table has one, and keys of which it has at most one
ONE_OF = {"data": ("name", "path")}
APART = {"audit": (("draws", "samples"),), "mechanism": (("outputs", "predict"),)}


@dataclass(frozen=True)
class Kind:
    """One way to write a table.

    title : what it is. keys : all that may stand in it. wanted : the keys that must.
    """

    title: str
    keys: Mapping[str, Schema] = field(repr=False)
    wanted: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, title: str, model: type[Section], *wanted: str, apart: tuple[str, ...] = ()
    ) -> Kind:
        """The keys of a model, without those in `apart`. wanted : beside the needed ones."""
        table = model.model_json_schema()
        keys = {
            key: _plain(schema) for key, schema in table["properties"].items() if key not in apart
        }
        fixed = [key for key, schema in keys.items() if "const" in schema]
        first = tuple(dict.fromkeys((*fixed, *table.get("required", ()), *wanted)))
        return cls(title, {**{key: keys[key] for key in first}, **keys}, first)

    @property
    def fixed(self) -> dict[str, Any]:
        """The keys that make a table one of this kind, with their values."""
        return {key: schema["const"] for key, schema in self.keys.items() if "const" in schema}


def _plain(schema: Schema) -> Schema:
    """Without the title that pydantic makes of a name, and without what TOML cannot hold."""
    fixed = "const" in schema
    left_out = {"title", *(["default"] if fixed or schema.get("default") is None else [])}
    known = {word: value for word, value in schema.items() if word not in left_out}
    return {"const": schema["const"], **known} if fixed else known


@cache
def tables() -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of each table, by its name."""
    return {
        "data": (Kind.of("", Data),),
        "mechanism": (
            *(Kind.of(name, with_fields(named(name), cls)) for name, cls in REGISTRY.items()),
            Kind.of("a function", Function),
            *(Kind.of(f'kind = "{kind}"', model) for kind, model in KINDS.items()),
            Kind.of("a program", Program),
        ),
        "neighbour": (
            *(Kind.of(f'rule = "{rule}"', model) for rule, model in RULES.items()),
            Kind.of("no rule", Unstated),
        ),
        "claim": tuple(_claims()),
        "audit": (Kind.of("", Audit),),
        ONE_RUN: (Kind.of("scores of a run", ScoresOfRun), Kind.of("a run to make", RunToMake)),
        STUDY: (Kind.of("", StudyTable),),
    }


def _claims() -> Iterator[Kind]:
    """One kind for each set of keys that makes a claim, all of which must be there."""
    keys = PairClaim.model_fields.keys()
    for needed in CLAIMS:
        more = {GROUP, *([PER] if "epsilon" in needed else [])}
        apart = tuple(keys - set(needed) - more)
        yield Kind.of(" and ".join(needed), PairClaim, *needed, apart=apart)
    whole = Kind.of(PRINTED, PairClaim, PRINTED)
    printed = {"const": True, "description": whole.keys[PRINTED]["description"]}
    yield Kind(PRINTED, {PRINTED: printed, GROUP: whole.keys[GROUP]}, (PRINTED,))


DRAFT = "https://json-schema.org/draft/2020-12/schema"
AUDITED = ("name", "data", "mechanism", "claim", "neighbour", "audit")
EACH = "audits"
SEVERAL = "One of several audits: its name, keys of [audit], and tables that add to those above."


def schema() -> Schema:
    """The schema, in JSON types. What only the data can tell is not in it."""
    parts: dict[str, Schema] = {"name": NAME}
    parts |= {place: described(place, kinds) for place, kinds in tables().items()}
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


def described(place: str, kinds: Sequence[Kind]) -> Schema:
    """What is true of the keys of a table one by one, whatever its kind."""
    return {
        "description": ABOUT[place],
        "type": "object",
        "properties": keys_of(kinds),
        "additionalProperties": place == STUDY,
    }


def keys_of(kinds: Sequence[Kind]) -> dict[str, Schema]:
    """The keys of all kinds, each with what is true of it in all of them."""
    keys: dict[str, Schema] = {}
    for key in dict.fromkeys(chain(*(kind.keys for kind in kinds))):
        ways = [kind.keys[key] for kind in kinds if key in kind.keys]
        keys[key] = {
            word: value
            for word, value in ways[0].items()
            if word == "description" or all(way.get(word) == value for way in ways[1:])
        }
        choices = [[way["const"]] if "const" in way else way.get("enum", ()) for way in ways]
        if "const" not in keys[key] and all(choices):
            keys[key] = {"enum": list(dict.fromkeys(chain(*choices))), **keys[key]}
    return keys


def demands(place: str, kinds: Sequence[Kind]) -> Schema:
    """What a table of each kind has and needs, where it stands alone."""
    keys, conditions = keys_of(kinds), []
    if len(kinds) > 1:
        for kind in kinds:
            precise = {
                key: schema
                for key, schema in kind.keys.items()
                if schema != keys[key] and key not in kind.fixed
            }
            own = {**holds(*kind.keys), "required": list(kind.wanted), "properties": precise}
            conditions.append(when(is_of(kind, kinds), own))
        # some kind is meant; a key whose value tells the kind has its own choices of values
        fixed = dict.fromkeys(key for kind in kinds for key in kind.fixed)
        free = [is_of(kind, kinds) for kind in kinds if not kind.fixed]
        conditions.append(part(anyOf=[*free, *map(has, fixed)]))
    conditions += [when(has(key), has(without=[other])) for key, other in APART.get(place, ())]
    return part(
        required=[key for key in keys if all(key in kind.wanted for kind in kinds)],
        **({"oneOf": [has(key) for key in ONE_OF[place]]} if place in ONE_OF else {}),
        **all_of(conditions),
    )


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


def files() -> list[Schema]:
    """What a file holds: a study, an audit of one run, or an audit by draws."""
    scores = within({ONE_RUN: has("scores")})
    inserted = within({ONE_RUN: has(without=["scores"])})
    own = within({"neighbour": {"const": OWN}})
    drawn = has(without=[STUDY, ONE_RUN])
    unasked = within({"mechanism": has("name"), "neighbour": has(without=["rule"])})
    row = tuple(RowClaim.model_fields)
    unprinted = [key for key in row if key != PRINTED]
    at = [key for key in Worst.model_fields if key != "rule"]
    return [
        when(has(STUDY), holds("name", STUDY)),
        when(
            scores,
            {**holds("name", ONE_RUN, "claim"), **part(properties={"claim": holds(*unprinted)})},
        ),
        when(
            inserted,
            {
                **holds("name", ONE_RUN, "claim", "data", "mechanism"),
                **part(properties={"claim": holds(*row)}),
            },
        ),
        when(inserted, has("data", "mechanism")),
        when(drawn, {**holds(*AUDITED), "required": ["mechanism"]}),
        when({**drawn, "not": own}, has("data")),
        when(own, has(without=["data"])),
        when(unasked, part(properties={"neighbour": holds(*at)})),
    ]
