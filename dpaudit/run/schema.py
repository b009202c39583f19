"""The JSON Schema of a scenario file (draft 2020-12), by which editors complete keys.

The models of `run.scenario` define it. A table that can be written in several ways has the keys of
all of them in `properties`, each with the part of its schema on which they agree. So an editor
completes all keys and marks the one value that is wrong; with alternatives in `anyOf` it would mark
the whole table. Whether keys go together is checked by the reader alone.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise
from typing import Any

from dpaudit.papers import REGISTRY
from dpaudit.run.one_run import ONE_RUN, OneRun, RunToMake, ScoresOfRun
from dpaudit.run.scenario.files import AUDIT, TABLES
from dpaudit.run.scenario.mechanism import KINDS, Function, Program, named, with_fields
from dpaudit.run.scenario.neighbour import RULES, Unstated
from dpaudit.run.scenario.section import Section
from dpaudit.run.scenario.study import STUDY, StudyTable
from dpaudit.run.scenario.tables import CLAIMS, GROUP, PER, PRINTED, Audit, Data, PairClaim
from dpaudit.run.training import TRAINING, RecordedSteps, Training, TrainingToRun

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
    TRAINING: Training.__doc__,
    STUDY: StudyTable.__doc__,
}
SEVERAL = "One of several audits: its name, keys of [audit], and tables that add to those above."


@dataclass(frozen=True)
class Kind:
    """One way to write a table. title : its name. keys : the schema of each key that it may have.
    wanted : the required keys.
    """

    title: str
    keys: Mapping[str, Schema] = field(repr=False)
    wanted: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, title: str, model: type[Section], *wanted: str, apart: tuple[str, ...] = ()
    ) -> Kind:
        """The kind with the keys of a model, except those in `apart`. wanted : required keys,
        beside those that the model requires.
        """
        table, texts = model.model_json_schema(), _texts(model)
        keys = {
            key: _plain(texts.get(key, {}) | schema)
            for key, schema in table["properties"].items()
            if key not in apart
        }
        fixed = [key for key, schema in keys.items() if "const" in schema]
        first = tuple(dict.fromkeys((*fixed, *table.get("required", ()), *wanted)))
        return cls(title, {**{key: keys[key] for key in first}, **keys}, first)


def _texts(model: type[Section]) -> dict[str, Schema]:
    """The descriptions of a model's keys: the texts below them in the source of its classes.

    Pydantic would read them whenever a model is imported (`use_attribute_docstrings`). Models made
    by `create_model` have no source; the keys of the classes that they extend are described.
    """
    texts: dict[str, Schema] = {}
    for cls in reversed(model.__mro__):
        module = sys.modules[cls.__module__]
        if module.__name__.startswith("dpaudit") and hasattr(module, cls.__name__):
            definition = ast.parse(inspect.getsource(cls)).body[0]
            for pair in pairwise(ast.iter_child_nodes(definition)):
                match pair:
                    case (
                        ast.AnnAssign(target=ast.Name(id=key)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        texts[key] = {"description": inspect.cleandoc(text)}
    return texts


def _plain(schema: Schema) -> Schema:
    """The schema of a key without pydantic's title, and without a default null (TOML has none)."""
    fixed = "const" in schema
    left_out = {"title", *(["default"] if fixed or schema.get("default") is None else [])}
    known = {word: value for word, value in schema.items() if word not in left_out}
    return {"const": schema["const"], **known} if fixed else known


@cache
def tables() -> Mapping[str, tuple[Kind, ...]]:
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
        TRAINING: (
            Kind.of("recorded steps", RecordedSteps),
            Kind.of("a training to run", TrainingToRun),
        ),
        STUDY: (Kind.of("", StudyTable),),
    }


def _claims() -> Iterator[Kind]:
    """The kinds of [claim]: one for each set of keys that make a claim, all of them required."""
    keys = PairClaim.model_fields.keys()
    for needed in CLAIMS:
        more = {GROUP, *([PER] if "epsilon" in needed else [])}
        apart = tuple(keys - set(needed) - more)
        yield Kind.of(" and ".join(needed), PairClaim, *needed, apart=apart)
    whole = Kind.of(PRINTED, PairClaim, PRINTED)
    printed = {"const": True, "description": whole.keys[PRINTED]["description"]}
    yield Kind(PRINTED, {PRINTED: printed, GROUP: whole.keys[GROUP]}, (PRINTED,))


def schema() -> Schema:
    parts: dict[str, Schema] = {"name": NAME}
    parts |= {place: described(place, kinds) for place, kinds in tables().items()}
    keys: dict[str, Schema] = {key: {"$ref": f"#/$defs/{key}"} for key in parts}
    each = {key: keys[key] for key in ("name", *TABLES)} | parts[AUDIT]["properties"]
    # `properties` apply to one [audit] table, `items` to an array of [[audit]] tables
    parts[AUDIT] |= {"type": ["object", "array"], "items": {"$ref": "#/$defs/audits"}}
    parts["audits"] = {
        "description": SEVERAL,
        "type": "object",
        "properties": each,
        "required": ["name"],
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dpaudit scenario",
        "type": "object",
        "properties": keys,
        "additionalProperties": False,
        "$defs": parts,
    }


def described(place: str, kinds: Sequence[Kind]) -> Schema:
    """The schema of a table that checks each key by itself, whatever the kind of the table."""
    return {
        "description": ABOUT[place],
        "type": "object",
        "properties": keys_of(kinds),
        "additionalProperties": place == STUDY,
    }


def keys_of(kinds: Sequence[Kind]) -> dict[str, Schema]:
    """The keys of all kinds, each with the part of its schema that these kinds have in common."""
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
