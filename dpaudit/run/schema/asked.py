"""Every key that a reader of scenarios asks for, table by table, kind by kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpaudit.mechanisms import REGISTRY
from dpaudit.run import one_run
from dpaudit.run.scenario import claim, file, neighbour
from dpaudit.run.scenario.study import STUDY, StudyFile
from dpaudit.run.scenario.table import REQUIRED, Asked, Table
from dpaudit.run.scenario.user_mechanism.form import KEYS

PLACE = Path("scenario.toml")
TOP = ("name", "data", "mechanism", "claim", "neighbour", "audit")


@dataclass(frozen=True)
class Kind:
    """One way to write a table.

    title : what it is. fixed : keys that make it of this kind, with their values. keys : all that
    may stand in it. wanted : the keys that must.
    """

    title: str
    fixed: Mapping[str, Any] = field(repr=False)
    keys: Mapping[str, Asked] = field(repr=False)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The keys that must be given."""
        needed = (key for key, one in self.keys.items() if one.default is REQUIRED)
        return tuple(dict.fromkeys((*self.fixed, *needed)))


def read(content: dict[str, Any], reader: Callable[..., Any] = file.read_tables) -> Table:
    """The tables of a file as a reader leaves them, its faults aside."""
    top = Table("", content, [])
    reader(PLACE, top)
    return top


def tables() -> dict[str, tuple[Kind, ...]]:
    """The kinds of each table of a scenario, by its name; "" for what stands above the tables."""
    plain = read({"claim": {}})
    return {
        "": (Kind("", {}, {"name": plain.asked["name"]}),),
        "data": (Kind("", {}, plain.inner["data"].asked),),
        "mechanism": tuple(_mechanisms()),
        "neighbour": tuple(_neighbours()),
        "claim": tuple(_claims(plain.inner["claim"].asked)),
        "audit": (Kind("", {}, plain.inner["audit"].asked | _samples()),),
        one_run.ONE_RUN: tuple(_one_run()),
        STUDY: (Kind("", {}, _study()),),
    }


def _samples() -> dict[str, Asked]:
    """The other name of draws, which is asked for where it stands."""
    known = read({"audit": {"samples": 1000}}).inner["audit"].asked
    return {"samples": known["samples"]._replace(default=None)}


def _mechanisms() -> Iterator[Kind]:
    for name, made in REGISTRY.items():
        keys = read({"mechanism": {"name": name}}).inner["mechanism"].asked
        own = {one.name: one.default for one in dataclasses.fields(made)}  # type: ignore[arg-type]
        known = {key: _with_default(one, own.get(key)) for key, one in keys.items()}
        yield Kind(name, {"name": name}, known)
    for kind in (None, *KEYS):
        fixed = {} if kind is None else {"kind": kind}
        content = {"call": "module:callable", **fixed}
        keys = dict(read({"mechanism": content}).inner["mechanism"].asked)
        title = "a function" if kind is None else f'kind = "{kind}"'
        yield Kind(title, fixed, keys if fixed else _without(keys, "kind"))
    yield Kind("a program", {}, read({"mechanism": {"command": ["x"]}}).inner["mechanism"].asked)


def _with_default(one: Asked, default: Any) -> Asked:
    known = one.default is not REQUIRED and default not in (None, dataclasses.MISSING)
    return one._replace(default=default) if known else one


def _without(keys: Mapping[str, Asked], left_out: str) -> dict[str, Asked]:
    return {key: one for key, one in keys.items() if key != left_out}


def _neighbours() -> Iterator[Kind]:
    for rule in neighbour.RULES:
        keys = read({"neighbour": {"rule": rule}}).inner["neighbour"].asked
        yield Kind(f'rule = "{rule}"', {"rule": rule}, keys)
    mine = {"call": "module:callable"}  # then no rule is one of search, with its keys
    keys = read({"mechanism": mine, "neighbour": {}}).inner["neighbour"].asked
    yield Kind("no rule", {}, _without(keys, "rule"))


def _claims(keys: Mapping[str, Asked]) -> Iterator[Kind]:
    """One kind for each set of keys that makes a claim, all of which must be there."""
    group, per = claim.GROUP, claim.PER
    for needed in claim.KINDS:
        own = {key: keys[key]._replace(default=REQUIRED) for key in needed}
        more = (group, per) if "epsilon" in needed else (group,)
        yield Kind(" and ".join(needed), {}, {**own, **{key: keys[key] for key in more}})
    printed = read({"claim": {claim.PRINTED: True}}).inner["claim"].asked[claim.PRINTED]
    fixed = {claim.PRINTED: True}
    yield Kind(claim.PRINTED, fixed, {claim.PRINTED: printed, group: keys[group]})


def _one_run() -> Iterator[Kind]:
    for title, content in (("scores of a run", {"scores": "scores.csv"}), ("a run to make", {})):
        top = read({one_run.ONE_RUN: content}, one_run.read_tables)
        yield Kind(title, {}, top.inner[one_run.ONE_RUN].asked)


def _study() -> Mapping[str, Asked]:
    return StudyFile.read(PLACE, {STUDY: {"call": "module:Name"}}).table.asked
