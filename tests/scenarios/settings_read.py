"""What is read from a scenario file, as JSON types and as a digest, apart from the file's text."""

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np

from dpaudit._core.types import describe
from dpaudit.run import OneRunScenario, StudyScenario
from dpaudit.run.scenario.search import Search, Searched

SCENARIOS = Path(__file__).parents[2] / "scenarios"
FIELDS = ("at", "index", "row", "template")
CALL = {"kind": None, "batched": True, "seeds": None, "timeout": None, "options": {}}


def digest(scenario):
    """16 hexadecimal digits of the SHA-256 of all that is read."""
    text = json.dumps(settings(scenario), sort_keys=True, default=plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def settings(scenario):
    """All that is read from one audit or study."""
    if isinstance(scenario, StudyScenario):
        study = scenario.study
        return [scenario.name, type(study).__name__, dataclasses.asdict(study), scenario.seed]
    common = [scenario.name, scenario.folder, claim(scenario.claim), scenario.seed]
    if isinstance(scenario, OneRunScenario):
        return [*common, one_run(scenario.source), dict(scenario.options)]
    chosen = scenario.settings
    names = sorted(one.name for one in dataclasses.fields(chosen))
    known = {name: getattr(chosen, name) for name in names if name not in ("claim", "seed")}
    audit = {**known, "metric": chosen.metric and chosen.metric.text, "seed": chosen.seed.entropy}
    workers = [scenario.workers.backend, scenario.workers.address]
    parts = data(scenario.data), mechanism(scenario.mechanism), neighbour(scenario.neighbour)
    return [*common, *parts, audit, workers, scenario.modules]


def one_run(source):
    if not hasattr(source, "mechanism"):
        return source.path
    table = source.table
    made = table.count, table.made, table.score, table.relation
    return [data(source.data), mechanism(source.mechanism), *made]


def data(one):
    return one and [one.name, one.path, one.target, one.constant, one.row_bound]


def claim(one):
    return one and [one.text, one.epsilon, one.delta, one.delta_at([0.0, 0.5, 1.0, 3.0])]


def mechanism(one):
    if not hasattr(one, "target"):
        return describe(one)
    known = (getattr(one, name, usual) for name, usual in CALL.items())
    return [one.target, getattr(one, "parameters", None), *known]


def neighbour(one):
    if not isinstance(one, Search):
        return [one.rule, *(getattr(one, name) for name in FIELDS if hasattr(one, name))]
    options = {**one.options, "claim": bool(one.options.get("claim"))}
    file = one.bounds if isinstance(one.bounds, Path) else None
    asked = isinstance(one, Searched)
    return ["search", options, one.candidates, file, one.rank, one.named, asked]


def plain(value):
    """What JSON has no type for."""
    if isinstance(value, Path):
        whole = value.resolve()
        return whole.relative_to(SCENARIOS).as_posix() if SCENARIOS in whole.parents else "."
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
