"""Every key that a reader of scenarios asks for, table by table, kind by kind."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpaudit import adapters
from dpaudit.one_run.api import audit_one_run
from dpaudit.one_run.canaries import canaries
from dpaudit.papers import REGISTRY
from dpaudit.run import one_run
from dpaudit.run.scenario import claim, file, neighbour
from dpaudit.run.scenario.study import STUDY, StudyFile
from dpaudit.run.scenario.table import REQUIRED, Asked, Table
from dpaudit.run.scenario.user_mechanism.form import KEYS
from dpaudit.search import search_neighbours

PLACE = Path("scenario.toml")
OF_FILE = ("name", "at")  # by default what the file's name or the claim says
# Keys of which a table has one, and keys that it has not both.
ONE_OF = {"data": ("name", "path")}
APART = {"audit": (("draws", "samples"),), "mechanism": (("outputs", "predict"),)}


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
        "": (Kind("", {}, _open({"name": plain.asked["name"]})),),
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
        usual = {key: _usually(one, own.get(key)) for key, one in keys.items()}
        yield Kind(name, {"name": name}, usual)
    for kind in (None, *KEYS):
        fixed = {} if kind is None else {"kind": kind}
        content = {"call": "module:callable", **fixed}
        keys = dict(read({"mechanism": content}).inner["mechanism"].asked)
        title = "a function" if kind is None else f'kind = "{kind}"'
        known = _without(keys, "kind") if kind is None else _filled(keys, getattr(adapters, kind))
        yield Kind(title, fixed, known)
    yield Kind("a program", {}, read({"mechanism": {"command": ["x"]}}).inner["mechanism"].asked)


def _usually(one: Asked, default: Any) -> Asked:
    """A key that a reader hands on only where it is given, with the default of what takes it."""
    unknown = (None, dataclasses.MISSING, inspect.Parameter.empty)
    return one._replace(default=default) if one.default is None and default not in unknown else one


def _filled(keys: Mapping[str, Asked], *takers: Callable[..., Any]) -> dict[str, Asked]:
    """Keys with the defaults of the functions that they are handed on to."""
    signatures = [inspect.signature(one).parameters for one in takers]
    usual = {key: one.default for parameters in signatures for key, one in parameters.items()}
    return {key: _usually(one, usual.get(key)) for key, one in keys.items()}


def _open(keys: Mapping[str, Asked]) -> dict[str, Asked]:
    """Without the defaults that come from the small file that was read."""
    return {key: one._replace(default=None) if key in OF_FILE else one for key, one in keys.items()}


def _without(keys: Mapping[str, Asked], left_out: str) -> dict[str, Asked]:
    return {key: one for key, one in keys.items() if key != left_out}


def _neighbours() -> Iterator[Kind]:
    for rule in neighbour.RULES:
        keys = read({"neighbour": {"rule": rule}}).inner["neighbour"].asked
        searches = [search_neighbours] if rule == neighbour.Searched.rule else []
        yield Kind(f'rule = "{rule}"', {"rule": rule}, _filled(_open(keys), *searches))
    mine = {"call": "module:callable"}  # then no rule is one of search, with its keys
    keys = read({"mechanism": mine, "neighbour": {}}).inner["neighbour"].asked
    yield Kind("no rule", {}, _filled(_open(_without(keys, "rule")), search_neighbours))


def unruled() -> tuple[str, ...]:
    """The keys of [neighbour] where a mechanism of dpaudit's own is given and no rule."""
    return tuple(_without(read({"neighbour": {}}).inner["neighbour"].asked, "rule"))


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
        keys = top.inner[one_run.ONE_RUN].asked
        yield Kind(title, {}, _filled(keys, canaries, audit_one_run))


def claim_of_one_run() -> tuple[str, ...]:
    """The keys of [claim] in an audit of one run, beside what the mechanism's source claims."""
    top = read({one_run.ONE_RUN: {"scores": "scores.csv"}, "claim": {}}, one_run.read_tables)
    return tuple(top.inner["claim"].asked)


def _study() -> Mapping[str, Asked]:
    return StudyFile.read(PLACE, {STUDY: {"call": "module:Name"}}).table.asked
