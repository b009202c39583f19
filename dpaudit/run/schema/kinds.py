"""The kinds of each table of a scenario, with the JSON Schema of their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from dpaudit.papers import REGISTRY
from dpaudit.run.one_run import ONE_RUN, OneRun, RunToMake, ScoresOfRun
from dpaudit.run.scenario import claim
from dpaudit.run.scenario.audit import Audit
from dpaudit.run.scenario.data import Data
from dpaudit.run.scenario.mechanism import named, with_fields
from dpaudit.run.scenario.neighbour import RULES, Unstated
from dpaudit.run.scenario.section import Section
from dpaudit.run.scenario.study import STUDY, StudyTable
from dpaudit.run.scenario.user_mechanism import KINDS, Function, Program

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
    "claim": claim.PairClaim.__doc__,
    "audit": Audit.__doc__,
    ONE_RUN: OneRun.__doc__,
    STUDY: StudyTable.__doc__,
}
# Keys of which a table has one, and keys of which it has at most one.
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
        """The keys of a model, but for those that stand apart. wanted : beside the needed ones."""
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
        "mechanism": tuple(_mechanisms()),
        "neighbour": (
            *(Kind.of(f'rule = "{rule}"', model) for rule, model in RULES.items()),
            Kind.of("no rule", Unstated),
        ),
        "claim": tuple(_claims()),
        "audit": (Kind.of("", Audit),),
        ONE_RUN: (Kind.of("scores of a run", ScoresOfRun), Kind.of("a run to make", RunToMake)),
        STUDY: (Kind.of("", StudyTable),),
    }


def _mechanisms() -> Iterator[Kind]:
    for name, made in REGISTRY.items():
        yield Kind.of(name, with_fields(named(name), made))
    yield Kind.of("a function", Function)
    for kind, model in KINDS.items():
        yield Kind.of(f'kind = "{kind}"', model)
    yield Kind.of("a program", Program)


def _claims() -> Iterator[Kind]:
    """One kind for each set of keys that makes a claim, all of which must be there."""
    keys = claim.PairClaim.model_fields.keys()
    for needed in claim.KINDS:
        more = {claim.GROUP, *([claim.PER] if "epsilon" in needed else [])}
        apart = tuple(keys - set(needed) - more)
        yield Kind.of(" and ".join(needed), claim.PairClaim, *needed, apart=apart)
    whole = Kind.of(claim.PRINTED, claim.PairClaim, claim.PRINTED)
    printed = {"const": True, "description": whole.keys[claim.PRINTED]["description"]}
    own = {claim.PRINTED: printed, claim.GROUP: whole.keys[claim.GROUP]}
    yield Kind(claim.PRINTED, own, (claim.PRINTED,))
