"""From a scenario to a report: load, choose the neighbour, draw, audit, save."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dpaudit._core.files import clear_drafts, replace_file
from dpaudit._core.result_file import RESULT
from dpaudit._core.types import Mechanism
from dpaudit._core.user_code import beside
from dpaudit.auditing.engine import audit_mechanism
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import Drawing
from dpaudit.auditing.subject import Subject
from dpaudit.datasets import Table
from dpaudit.errors import ScenarioError
from dpaudit.report import FILES
from dpaudit.run.described import describe_data, describe_pair, describe_source
from dpaudit.run.imports import loaded_from
from dpaudit.run.ledger import (
    Entry,
    Ledger,
    check_fit,
    draws_id,
    fresh_seed,
    judged_by,
    subject_of,
)
from dpaudit.run.origin import made_by, origin_of
from dpaudit.run.scenario.file import Scenario
from dpaudit.run.scenario.mechanism import Call, Called
from dpaudit.run.scenario.neighbour import Own, Unstated
from dpaudit.run.scenario.search import TABLE, Search
from dpaudit.run.scenario.text import kept
from dpaudit.run.scenario.user_mechanism import Program, is_synthesizer
from dpaudit.run.store import (
    DRAWS,
    INTERRUPTED,
    SEARCH,
    DrawStore,
    Notice,
    SearchStore,
    Watch,
    digest_of,
    manifest_of,
    remove_store,
    state_of,
)
from dpaudit.run.suite.relations import alone
from dpaudit.sampling import Progress
from dpaudit.sampling.replay import hint
from dpaudit.search import Selection

REPLAYED = 600  # draws a side from which a replay's few draws cost next to nothing


def run(
    scenario: Scenario,
    out: str | Path | None = None,
    *,
    samples: int | None = None,
    seed: int | None = None,
    stop: str | None = None,
    level: float | None = None,
    ledger: str | Path | None = None,
    n_jobs: int | None = None,
    resume: bool = False,
    keep_draws: bool = False,
    show_data: bool = False,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> AuditResult:
    """Audit what the scenario names and write result.json, report.html and spectrum.png.

    A search also writes search.csv. A `call` in the scenario executes the user's code here. The
    files appear when all is done, each one whole. In the meantime `dpaudit status` shows the
    progress.

    Parameters
    ----------
    scenario : Scenario
        As `load_scenario` reads it.
    out : path, optional
        Folder, made if need be (default dpaudit-out/NAME).
    samples : int, optional
        Draws a side, instead of the scenario's.
    seed : int, optional
        Instead of the scenario's.
    stop : "verdict", optional
        Instead of the scenario's.
    level : float in (0, 1), optional
        Instead of the scenario's.
    ledger : path, optional
        A file in which the evidence of this run is pooled with that of earlier ones. It decides the
        verdict (`dpaudit.run.Ledger`) at the run's level. If no seed is given it is a fresh one,
        which the result names.
    n_jobs : int, optional
        Parallel draws, by the workers that the scenario or `joblib.parallel_config` names; no
        effect on results.
    resume : bool, default False
        Go on with the draws that an interrupted run left in `out`, to the same bytes.
    keep_draws : bool, default False
        Leave the draws in `out` when the run is done.
    show_data : bool, default False
        Write the values of the row that differs into result.json, and those of all rows that were
        put in into search.csv.
    progress : callable, optional
        Called as progress(step, done, wanted).
    notice : callable, optional
        Called with a sentence on what happens beside the audit: draws of an interrupted run are
        discarded. By default it is a `UserWarning`.

    Returns
    -------
    AuditResult

    Raises
    ------
    ScenarioError
        When the scenario has a fault that shows only now.
    DataNotFound
        When the data are not there.
    InvalidInput
        When an argument is not as described; with `resume`, where the draws were made otherwise
        than they would be now.
    DegenerateData
        When the data leave undefined what is asked for.
    MechanismError
        When the mechanism fails.
    OSError
        When a file cannot be written.
    """
    book, folder = None if ledger is None else Ledger(ledger), scenario.report_folder(out)
    if book is not None and seed is None:
        seed = _seed_left(folder) if resume else None
        seed = fresh_seed() if seed is None else seed
    scenario = scenario.override(samples, seed, stop, level)
    if book is not None:
        check_fit(scenario)
        book.ready()
    watch = Watch(folder / DRAWS, scenario.name, progress, notice)
    with beside(scenario.modules), watch, scenario.workers.at_work(n_jobs):
        with _step(watch, "choosing the neighbour"):
            task = _prepare(scenario, n_jobs, watch, resume, show_data)
        known = made_by(task.origin, scenario, task.subject)
        if book is not None:
            assert task.subject.pair is not None
            claim = scenario.settings.on(task.subject.pair).claim
            assert claim is not None
            same = draws_id(known) if resume else None
            book.refuse(subject_of(known, claim), scenario.seed, same)
        watch.discards(resume)
        store = DrawStore(folder / DRAWS, known, resume=resume, all_draws=keep_draws)
        watch.begin(store)
        result = audit_mechanism(task.subject, scenario.settings, Drawing(n_jobs, watch, store))
        result = _with_hint(result, scenario)
        if book is not None:
            entry = Entry.of(result, known, map(store.mark, (0, 1)))
            standing = book.add(entry, scenario.settings.alpha)
            result = judged_by(standing, result, book.head)
        rule = scenario.neighbour
        if isinstance(rule, Search) and not rule.named:
            result = alone(result)
        with _step(watch, "writing the report"):
            _save(result, task.selection, folder)
        if not keep_draws:
            remove_store(folder / DRAWS / SEARCH)
            store.remove()
    return result


def _seed_left(folder: Path) -> int | None:
    """Of the run that was interrupted there, or of its search; None where there is none."""
    left = state_of(folder)
    if left is None or left.state != INTERRUPTED:
        return None
    manifests = map(manifest_of, (folder / DRAWS, folder / DRAWS / SEARCH))
    seeds = [one["seed"] for one in manifests if one is not None and "seed" in one]
    return seeds[0] if seeds and isinstance(seeds[0], int) else None


def _with_hint(result: AuditResult, scenario: Scenario) -> AuditResult:
    """With what a replay shows, where no law is known and it costs little beside the audit.

    It comes after all draws: a mechanism may keep what it did in earlier calls.
    """
    costly = isinstance(scenario.mechanism, Program) or is_synthesizer(scenario.mechanism)
    if result.exact is not None or costly or scenario.settings.samples < REPLAYED:
        return result
    subject = result.subject
    assert subject.mechanism is not None
    assert subject.pair is not None
    found = hint(subject.mechanism, subject.pair, show_data=subject.show_data)
    return replace(result, subject=replace(subject, replay=found))


def _save(result: AuditResult, selection: Selection | None, folder: Path) -> None:
    for name in (RESULT, *FILES, TABLE):
        clear_drafts(folder, name)
    result.save(folder)
    if selection is not None:
        show_data = result.subject.show_data
        replace_file(folder / TABLE, selection.to_csv(show_data=show_data))


@contextmanager
def _step(progress: Progress, name: str) -> Iterator[None]:
    """Report a step that has one part: 0 of 1 before it, 1 of 1 after it."""
    progress(name, 0, 1)
    yield
    progress(name, 1, 1)


@dataclass(frozen=True, eq=False, repr=False)
class _Task:
    """The subject of the audit, and the search that chose the neighbour, if there was one.

    origin : what determines the draws, found before the first one.
    """

    subject: Subject
    origin: dict[str, Any]
    selection: Selection | None = None


def _prepare(
    scenario: Scenario, n_jobs: int | None, watch: Watch, resume: bool, show_data: bool
) -> _Task:
    """Load mechanism and data, and choose the neighbour."""
    if scenario.data is None:
        return _with_own_pair(scenario, show_data)
    dataset, before = loaded_data(scenario), loaded_from(scenario.folder)
    mechanism = loaded_mechanism(scenario)
    origin = origin_of(scenario, mechanism, loaded_from(scenario.folder) - before)
    rule, found = scenario.neighbour, None
    if isinstance(rule, Unstated):
        rule = rule.settled(mechanism)
    if isinstance(rule, Search):
        watch.discards(resume)
        found = _searched(scenario, rule, mechanism, dataset, origin, n_jobs, watch, resume)
        pair, text = found.best.change.pair(dataset.database), rule.text(found)
    else:
        assert not isinstance(rule, Own)
        pair, text = rule.pair(mechanism, dataset.database), rule.text(dataset.database)
    if isinstance(mechanism, Called):
        mechanism = mechanism.on(pair)
    subject = Subject(
        mechanism,
        pair,
        scenario.name,
        describe_data(dataset),
        rule=text,
        scenario_text=kept(scenario.text),
        source=describe_source(origin["files"], scenario.folder),
        search=None if found is None else found.to_dict(show_data=show_data),
        show_data=show_data,
        notes=rule.notes if isinstance(rule, Search) else (),
    )
    return _Task(subject, origin, found)


def _with_own_pair(scenario: Scenario, show_data: bool) -> _Task:
    """A mechanism of dpaudit's own, on its own pair of databases."""
    mechanism, pair = scenario.mechanism, scenario.mechanism.pair()
    subject = Subject(
        mechanism,
        pair,
        scenario.name,
        describe_pair(pair),
        rule=Own.words,
        scenario_text=kept(scenario.text),
        show_data=show_data,
    )
    return _Task(subject, origin_of(scenario, mechanism))


def _searched(
    scenario: Scenario,
    rule: Search,
    mechanism: Mechanism,
    dataset: Table,
    origin: dict[str, Any],
    n_jobs: int | None,
    watch: Watch,
    resume: bool,
) -> Selection:
    """Search the neighbours, with what an interrupted search left on disk."""
    known = {**origin, "D": digest_of(dataset.database), **rule.compared}
    checkpoint = SearchStore(watch.folder / SEARCH, known, resume=resume)
    return rule.select(
        mechanism,
        dataset,
        samples=scenario.settings.samples,
        rng=scenario.seed,
        n_jobs=n_jobs,
        progress=watch,
        checkpoint=checkpoint,
    )


def loaded_data(scenario: Scenario) -> Table:
    """The data as the mechanism sees them, which have the rows that the scenario names.

    Raises `ScenarioError` for a scenario without data, `DataNotFound`, `InvalidInput`.
    """
    if scenario.data is None:
        raise ScenarioError("[data]: missing; the mechanism's own pair has no other neighbours")
    dataset = scenario.data.load()
    scenario.neighbour.check(dataset)
    return dataset


def loaded_mechanism(scenario: Scenario) -> Mechanism:
    """The mechanism; a `call` executes the user's code. It comes after all that can be at fault."""
    named = scenario.mechanism
    with beside(scenario.modules):
        mechanism: Mechanism = named.load() if isinstance(named, Call) else named
    return mechanism
