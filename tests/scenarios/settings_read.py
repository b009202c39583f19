"""What is read from a scenario file, as JSON types and as a digest, apart from the file's text."""

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np

from dpaudit._core.types import describe
from dpaudit.run import OneRunScenario, StudyScenario
from dpaudit.run.scenario.neighbour import Search, Searched

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
        return [*common, one_run(scenario), dict(scenario.table.options)]
    chosen = scenario.settings
    names = sorted(field.name for field in dataclasses.fields(chosen))
    known = {name: getattr(chosen, name) for name in names if name not in ("claim", "seed")}
    audit = {**known, "metric": chosen.metric and chosen.metric.text, "seed": chosen.seed.entropy}
    workers = [scenario.workers.backend, scenario.workers.address]
    parts = data(scenario.data), mechanism(scenario.mechanism), neighbour(scenario.neighbour)
    return [*common, *parts, audit, workers, scenario.modules]


def one_run(source):
    table = source.table
    if source.data is None:
        return table.scores
    made = table.count, table.canary_options, table.score, table.relation
    return [data(source.data), mechanism(source.mechanism), *made]


def data(value):
    return value and [value.name, value.path, value.target, value.constant, value.row_bound]


def claim(value):
    return value and [value.text, value.epsilon, value.delta, value.delta_at([0.0, 0.5, 1.0, 3.0])]


def mechanism(value):
    if not hasattr(value, "target"):
        return describe(value)
    known = (getattr(value, name, usual) for name, usual in CALL.items())
    return [value.target, getattr(value, "parameters", None), *known]


def neighbour(value):
    if not isinstance(value, Search):
        return [value.rule, *(getattr(value, name) for name in FIELDS if hasattr(value, name))]
    options = {**value.options, "claim": bool(value.options.get("claim"))}
    file = value.bounds if isinstance(value.bounds, Path) else None
    asked = isinstance(value, Searched)
    return ["search", options, value.candidates, file, value.rank, value.named, asked]


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
