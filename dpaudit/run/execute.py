"""From a scenario to a report: load, choose the neighbour, draw, audit, save."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import dpaudit
from dpaudit import exact, neighbours
from dpaudit._core.check import Array
from dpaudit._core.files import clear_drafts, replace_file
from dpaudit._core.types import describe
from dpaudit._core.user_code import beside
from dpaudit.auditing.api import About, AuditResult, audit
from dpaudit.auditing.record import plain
from dpaudit.datasets import Dataset
from dpaudit.errors import NoExactSpectrum, ScenarioError
from dpaudit.neighbours import NeighbourPair
from dpaudit.run.scenario.file import Scenario
from dpaudit.run.scenario.mechanism import Call
from dpaudit.run.scenario.search import TABLE
from dpaudit.run.store import search
from dpaudit.run.store.draws import DrawStore, clear, digest_of
from dpaudit.run.store.search import SearchStore
from dpaudit.run.store.status import DRAWS
from dpaudit.run.store.watch import Watch
from dpaudit.sampling import Progress
from dpaudit.search import Selection

REPORTS = Path("dpaudit-out")
FILES = ("result.json", "report.html", "spectrum.png")
RULES = {
    "row": "row given in the scenario",
    "replace": "row and its replacement given in the scenario",
}
OWN = "the mechanism's own pair of databases"


def run(
    scenario: Scenario,
    out: str | Path | None = None,
    *,
    samples: int | None = None,
    seed: int | None = None,
    stop: str | None = None,
    n_jobs: int | None = None,
    resume: bool = False,
    keep_draws: bool = False,
    progress: Progress | None = None,
) -> AuditResult:
    """Audit what the scenario names and write result.json, report.html and spectrum.png (and a
    search's search.csv).

    out : folder, made if need be (default dpaudit-out/NAME). samples, seed, stop : instead of the
        scenario's.
    n_jobs : parallel draws, by the workers that the scenario or `joblib.parallel_config` names; no
        effect on results.
    progress : called as progress(step, done, wanted).
    resume : go on with the draws that an interrupted run left in `out`, to the same bytes.
    keep_draws : leave the draws in `out` when the run is done.

    A `call` in the scenario executes the user's code here. The three files appear when all is done,
    each whole. While it goes on, `dpaudit status` tells how far it is. Raises `ScenarioError`,
    `DataNotFound`, `InvalidInput`, `DegenerateData`, `MechanismError`, OSError.
    """
    scenario = scenario.override(samples, seed, stop)
    folder = folder_of(scenario, out)
    watch = Watch(folder / DRAWS, scenario.name, progress)
    with beside(scenario.folder), watch, scenario.workers.at_work(n_jobs):
        with _step(watch, "choosing the neighbour"):
            task = _prepare(scenario, n_jobs, watch, resume)
        store = DrawStore(folder / DRAWS, _made_by(scenario, task), resume=resume)
        watch.begin(store)
        options = {"n_jobs": n_jobs, "progress": watch, "store": store, **scenario.settings}
        result = audit(
            task.mechanism, task.pair, claim=scenario.claim, rng=scenario.seed, **options
        )
        result = replace(
            result, about=About(task.mechanism, task.pair, scenario.name, task.data, task.rule)
        )
        with _step(watch, "writing the report"):
            _save(result, task, folder)
        if not keep_draws:
            clear(folder / DRAWS / search.FOLDER, search.OURS)
            store.remove()
    return result


def _save(result: AuditResult, task: _Task, folder: Path) -> None:
    for name in (*FILES, TABLE):
        clear_drafts(folder, name)
    result.save(folder)
    if task.tried is not None:
        replace_file(folder / TABLE, task.tried.to_csv().encode())


@contextmanager
def _step(progress: Progress, name: str) -> Iterator[None]:
    """A step of one."""
    progress(name, 0, 1)
    yield
    progress(name, 1, 1)


def folder_of(scenario: Scenario, out: str | Path | None = None) -> Path:
    """Where the report of a scenario goes."""
    return REPORTS / scenario.name if out is None else Path(out)


@dataclass(frozen=True, eq=False)
class _Task:
    """data : as result.json has it."""

    data: dict[str, Any]
    mechanism: Any
    pair: NeighbourPair
    rule: str
    tried: Selection | None = None


def _prepare(scenario: Scenario, n_jobs: int | None, watch: Watch, resume: bool) -> _Task:
    if scenario.data is None:
        pair = scenario.mechanism.pair()
        return _Task(describe_pair(pair), scenario.mechanism, pair, OWN)
    mechanism, dataset = loaded(scenario)
    data, chosen = dataset.database, scenario.neighbour
    if chosen.rule == "worst":
        index = _worst(mechanism, data, chosen.at)
        rule = f"worst of {len(data):,} rows at ε = {chosen.at:g}"
        return _Task(describe_data(dataset), mechanism, neighbours.zero_row(data, index), rule)
    if chosen.search is not None:
        made_by = {**_origin(scenario, mechanism), "D": digest_of(data), **chosen.search.compared}
        memory = SearchStore(watch.folder / search.FOLDER, made_by, resume=resume)
        options = {"samples": scenario.settings["samples"], "rng": scenario.seed, "n_jobs": n_jobs}
        tried = chosen.search.select(mechanism, dataset, progress=watch, memory=memory, **options)
        return _Task(
            describe_data(dataset), mechanism, tried.best.change.pair(data), tried.rule, tried
        )
    assert chosen.index is not None
    zeroed = chosen.rule == "row"
    pair = (
        neighbours.zero_row(data, chosen.index)
        if zeroed
        else neighbours.replace_row(data, chosen.index, chosen.row)
    )
    return _Task(describe_data(dataset), mechanism, pair, RULES[chosen.rule])


def loaded(scenario: Scenario) -> tuple[Any, Dataset]:
    """The mechanism, for which a `call` executes the user's code, and the data.

    Raises `ScenarioError` for a scenario without data.
    """
    if scenario.data is None:
        raise ScenarioError("[data]: missing; the mechanism's own pair has no other neighbours")
    with beside(scenario.folder):
        mechanism = (
            scenario.mechanism.load()
            if isinstance(scenario.mechanism, Call)
            else scenario.mechanism
        )
    return mechanism, scenario.data.load()


def _worst(mechanism: Any, data: Array, epsilon: float | None) -> int:
    try:
        found = exact.worst_case(mechanism, data, [epsilon])
    except NoExactSpectrum as error:
        raise ScenarioError(
            f'[neighbour] rule: give "search", or "row" and an index; "worst" is not known: {error}'
        ) from None
    assert found.index is not None
    return int(found.index[0])


def _made_by(scenario: Scenario, task: _Task) -> dict[str, Any]:
    """All that determines the draws, in JSON types."""
    return {
        **_origin(scenario, task.mechanism),
        "D": digest_of(task.pair.left),
        "D'": digest_of(task.pair.right),
        "samples": scenario.settings["samples"],
        "stop": scenario.settings["stop"],
    }


def _origin(scenario: Scenario, mechanism: Any) -> dict[str, Any]:
    """What determines the draws from any database."""
    name, parameters = describe(mechanism)
    return {
        "mechanism": name,
        "parameters": plain(parameters),
        "code": scenario.mechanism.source() if isinstance(scenario.mechanism, Call) else None,
        "seed": scenario.seed,
        "versions": {
            "dpaudit": dpaudit.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
    }


def describe_pair(pair: NeighbourPair) -> dict[str, Any]:
    """A pair that stands for itself, as result.json has data."""
    n, width = pair.left.shape
    names = [f"column {number + 1}" for number in range(width)]
    return {
        "name": "own pair",
        "n": n,
        "features": width - 1,
        "feature_names": names[:-1],
        "target": names[-1],
        "source": OWN,
        "dropped": {},
    }


def describe_data(dataset: Dataset) -> dict[str, Any]:
    """The data set as result.json has it."""
    return {
        "name": dataset.name,
        "n": dataset.n,
        "features": len(dataset.features),
        "feature_names": list(dataset.features),
        "target": dataset.target,
        "source": dataset.source,
        "dropped": dict(dataset.dropped),
    }
