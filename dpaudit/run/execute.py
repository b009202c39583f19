"""Run one scenario: load data and mechanism, choose the neighbour, draw, audit, write reports."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit._core import check
from dpaudit._core.files import clear_drafts, replace_file
from dpaudit._core.keywords import known_keywords
from dpaudit._core.note import Note
from dpaudit._core.result_file import RESULT, plain
from dpaudit._core.types import Mechanism, describe
from dpaudit._core.user_code import importable_from
from dpaudit.auditing.engine import audit_mechanism
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import Drawing
from dpaudit.auditing.subject import Subject
from dpaudit.curves.claims import Claim
from dpaudit.datasets import Table
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.neighbours import NeighbourPair
from dpaudit.report import FILES
from dpaudit.run.ledger import Entry, Ledger, check_fit, draws_id, fresh_seed, judged_by, subject_of
from dpaudit.run.planning import planned_run
from dpaudit.run.scenario.file import Scenario
from dpaudit.run.scenario.files import recorded_text
from dpaudit.run.scenario.mechanism import Call, Called, Program, is_synthesizer
from dpaudit.run.scenario.neighbour import TABLE, Own, Search, Unstated
from dpaudit.run.scenario.source import KNOWN, Source, loaded_from
from dpaudit.run.store.draws import DrawStore, SearchStore, digest_of
from dpaudit.run.store.folder import manifest_of, remove_store
from dpaudit.run.store.progress import DRAWS, INTERRUPTED, SEARCH, Notice, Watch, state_of
from dpaudit.run.suite.relations import alone
from dpaudit.sampling import Progress
from dpaudit.sampling.replay import hints
from dpaudit.search import Selection

REPLAYED = 600  # with as many draws of each side, the few draws of a replay cost next to nothing


@known_keywords()
def run(
    scenario: Scenario,
    out: str | Path | None = None,
    *,
    draws: int | None = None,
    seed: int | None = None,
    stop: str | None = None,
    level: float | None = None,
    ledger: str | Path | None = None,
    seconds: float | None = None,
    n_jobs: int | None = None,
    resume: bool = False,
    keep_draws: bool = False,
    show_data: bool = False,
    progress: Progress | None = None,
    notice: Notice | None = None,
    look: Notice | None = None,
) -> AuditResult:
    """Audit what the scenario names and write result.json, report.html and spectrum.png.

    A search also writes search.csv. If the scenario names a `call`, this executes the user's code.
    Each file is complete when it appears, at the end of the run. In the meantime `dpaudit status`
    shows the progress.

    Parameters
    ----------
    scenario : Scenario
        As `load_scenario` reads it.
    out : path, optional
        Folder of the report, which is created if it does not exist (default dpaudit-out/NAME).
    draws, seed, stop, level : optional
        Settings that take the place of the scenario's. With `resume` and without `seed` the run
        keeps the seed that it was begun with.
    ledger : path, optional
        A file that pools the evidence of this run with that of earlier runs. The pooled evidence
        decides the verdict at the run's level (`dpaudit.run.Ledger`). Without `seed` the run takes
        a fresh seed, which the result names.
    seconds : float, optional
        The time that the run may take, from which the number of draws follows by the time of a few;
        not with `draws` or `resume`. It is a plan: a run that takes longer is not stopped.
    n_jobs : int, optional
        Workers, of the kind that the scenario or `joblib.parallel_config` names; no effect on
        results.
    resume : bool, default False
        Continue from the draws that an interrupted run left in `out`, to the same bytes as those of
        an uninterrupted run.
    keep_draws : bool, default False
        Leave the draws in `out` when the run is done.
    show_data : bool, default False
        Write the values of the row that differs into result.json, and the values of all rows that
        the search inserted into search.csv.
    progress, notice, look : callable, optional
        progress(step, done, wanted) is called as the run goes on; notice(sentence) when it discards
        the draws of an interrupted run, by default a `UserWarning`; look(sentence) before the first
        draw, on what the run will cost and can show.

    Returns
    -------
    AuditResult
        The result that is written to result.json.

    Raises
    ------
    ScenarioError
        When the scenario has a fault that only the run can find.
    DataNotFound
        When the data files do not exist.
    InvalidInput
        When an argument is not as described; with `resume`, also where the stored draws were made
        with other settings, code or data than now.
    DegenerateData
        When a quantity of the mechanism is undefined on these data.
    MechanismError
        When the mechanism fails.
    OSError
        When a file cannot be written.
    """
    folder = scenario.report_folder(out)
    if seconds is not None:
        check.real("seconds", seconds, 0.0, open_=True)
        if draws is not None or resume:
            other = "draws" if draws is not None else "resume"
            raise InvalidInput(
                f"seconds and {other} exclude each other: give one", argument="seconds"
            )
    named_seed = scenario.seed if seed is None else seed
    if seed is None and resume:
        seed = _seed_left(folder)
    if seed is None and ledger is not None:  # each run of a ledger needs fresh draws
        seed = fresh_seed()
    scenario = scenario.override(draws, seed, stop, level)
    book = None if ledger is None else Ledger(ledger)
    if book is not None:
        check_fit(scenario)
        book.ready()
    watch = Watch(folder / DRAWS, scenario.name, progress, notice)
    if resume and ledger is None and scenario.seed != named_seed:
        watch.notice(f"the run goes on with the seed that it was begun with, {scenario.seed}")
    with importable_from(scenario.modules), watch, scenario.workers.at_work(n_jobs):
        with _step(watch, "choosing the neighbour"):
            scenario, subject, origin, selection = _prepare(
                scenario, n_jobs, watch, resume, show_data, seconds, look
            )
        assert subject.pair is not None
        made_by = _made_by(origin, scenario, subject.pair)
        if book is not None:
            claim = scenario.settings.on(subject.pair).claim
            assert isinstance(claim, Claim)
            same = draws_id(made_by) if resume else None
            book.refuse(subject_of(made_by, claim), scenario.seed, same)
        watch.discards(resume)
        store = DrawStore(folder / DRAWS, made_by, resume=resume, all_draws=keep_draws)
        watch.begin(store)
        result = audit_mechanism(subject, scenario.settings, Drawing(n_jobs, watch, store))
        result = _with_hint(result, scenario, selection)
        if book is not None:
            entry = Entry.of(result, made_by, map(store.mark, (0, 1)))
            standing = book.add(entry, scenario.settings.alpha)
            result = judged_by(standing, result, book.head)
        if isinstance(scenario.neighbour, Search) and not scenario.neighbour.named:
            result = alone(result)
        with _step(watch, "writing the report"):
            for name in (RESULT, *FILES, TABLE):
                clear_drafts(folder, name)
            result.save(folder)
            if selection is not None:
                replace_file(folder / TABLE, selection.to_csv(show_data=show_data))
        if not keep_draws:
            remove_store(folder / DRAWS / SEARCH)
            store.remove()
    return result


def _seed_left(folder: Path) -> int | None:
    """The seed of the interrupted run in `folder`, or of its search; None without such a run."""
    left = state_of(folder)
    if left is None or left.state != INTERRUPTED:
        return None
    manifests = map(manifest_of, (folder / DRAWS, folder / DRAWS / SEARCH))
    seeds = [manifest["seed"] for manifest in manifests if manifest and "seed" in manifest]
    return seeds[0] if seeds and isinstance(seeds[0], int) else None


@contextmanager
def _step(progress: Progress, name: str) -> Iterator[None]:
    progress(name, 0, 1)
    yield
    progress(name, 1, 1)


def _prepare(
    scenario: Scenario,
    n_jobs: int | None,
    watch: Watch,
    resume: bool,
    show_data: bool,
    seconds: float | None,
    look: Notice | None,
) -> tuple[Scenario, Subject, dict[str, Any], Selection | None]:
    """The scenario with the planned draws, its mechanism with the two databases, the record of what
    determines the draws (`origin_of`), and the outcome of the search, None without one.
    """
    rule, selection, source = scenario.neighbour, None, None
    notes: tuple[Note, ...] = ()
    if isinstance(rule, Own):
        mechanism = scenario.mechanism
        pair, words, origin = mechanism.pair(), rule.words, origin_of(scenario, mechanism)
        names = tuple(f"column {number + 1}" for number in range(pair.left.shape[1]))
        own = Table("own pair", names, pair.left, Own.words, target=names[-1])
        described = describe_data(own)
    else:
        dataset, before = loaded_data(scenario), loaded_from(scenario.folder)
        mechanism = loaded_mechanism(scenario, dataset)
        origin = origin_of(scenario, mechanism, loaded_from(scenario.folder) - before)
        if isinstance(rule, Unstated):
            rule = rule.settled(mechanism)
        if isinstance(rule, Search):
            scenario, rule = planned_run(scenario, rule, mechanism, dataset.database, seconds, look)
            watch.discards(resume)
            compared = {**origin, "D": digest_of(dataset.database), **rule.compared}
            selection = rule.select(
                mechanism,
                dataset,
                draws=scenario.settings.draws,
                rng=scenario.seed,
                n_jobs=n_jobs,
                progress=watch,
                checkpoint=SearchStore(watch.folder / SEARCH, compared, resume=resume),
            )
            pair, words = selection.best.change.pair(dataset.database), rule.text(selection)
            notes = (*rule.notes, *selection.notes)
        else:
            pair, words = rule.pair(mechanism, dataset.database), rule.text(dataset.database)
        if isinstance(mechanism, Called):
            mechanism = mechanism.on(pair)
        described = describe_data(dataset)
        source = describe_source(origin["files"])
    if selection is None:
        scenario, _ = planned_run(scenario, rule, mechanism, pair.left, seconds, look)
    subject = Subject(
        mechanism,
        pair,
        scenario.name,
        described,
        rule=words,
        scenario_text=recorded_text(scenario.text, scenario.seed),
        source=source,
        search=None if selection is None else selection.to_dict(show_data=show_data),
        show_data=show_data,
        notes=notes,
    )
    return scenario, subject, origin, selection


def loaded_data(scenario: Scenario) -> Table:
    """The data as the mechanism sees them, which have the row that the scenario names. Raises
    `ScenarioError`, `DataNotFound`, `InvalidInput`.
    """
    if scenario.data is None:
        raise ScenarioError("[data]: missing; the mechanism's own pair has no other neighbours")
    dataset = scenario.data.load()
    scenario.neighbour.check(dataset)
    return dataset


def loaded_mechanism(scenario: Scenario, dataset: Table) -> Mechanism:
    """The mechanism on these data. Loading a `call` executes the user's code, so check everything
    else first, within `importable_from(scenario.modules)`.
    """
    named = scenario.mechanism
    mechanism: Mechanism = named.load(dataset) if isinstance(named, Call) else named
    return mechanism


def _with_hint(result: AuditResult, scenario: Scenario, selection: Selection | None) -> AuditResult:
    """The result with a hint from a few replayed draws (`replay.hints`), if no output law is known
    and these draws cost little. They come after the audit's, since a mechanism may keep state. If
    the pair gives no hint, other neighbours of the search are replayed.
    """
    costly = isinstance(scenario.mechanism, Program) or is_synthesizer(scenario.mechanism)
    if result.exact is not None or costly or scenario.settings.draws < REPLAYED:
        return result
    subject = result.subject
    assert subject.mechanism is not None
    assert subject.pair is not None
    left = subject.pair.left
    tried = () if selection is None else selection.tried[1 : scenario.settings.draws // REPLAYED]
    others = chain([subject.pair.right], (trial.change.pair(left).right for trial in tried))
    replays = hints(subject.mechanism, left, others, show_data=subject.show_data)
    own = replay = next(replays)
    for trial in tried:
        if replay is None or replay["difference"] is not None:
            break
        replay = next(replays)
        if replay is not None:
            replay["text"] = f"On another neighbour ({trial.change.text}): {replay['text']}"
    if replay is None or replay["difference"] is None:
        replay = own
    return replace(result, subject=replace(subject, replay=replay))


def describe_data(data: Table) -> dict[str, Any]:
    """What result.json says of the data, as the mechanism sees them. Row numbers count the rows
    that are kept.
    """
    return {
        "name": data.name,
        "n": data.n,
        "features": len(data.features),
        "feature_names": list(data.features),
        "target": data.target,
        "columns": list(data.columns),
        "shape": [data.n, len(data.columns)],
        "changes": list(data.changes),
        "source": data.source,
        "dropped": dict(data.dropped),
    }


def describe_source(files: Mapping[str, str]) -> dict[str, str] | None:
    """The SHA-256 of a mechanism's own files, from the SHA-256 of each by its path.

    For several files it is the SHA-256 of these digests, sorted, one on each line; None for none.
    """
    if not files:
        return None
    sums = sorted(files.values())
    whole = hashlib.sha256("".join(f"{digest}\n" for digest in sums).encode()).hexdigest()
    return {"sha256": sums[0] if len(sums) == 1 else whole}


def origin_of(scenario: Scenario, mechanism: Any, loaded: Collection[str] = ()) -> dict[str, Any]:
    """What determines the draws of a mechanism from any database, in JSON types, as far as that can
    be listed. A run that resumes repeats some draws to see what cannot (environment variables,
    files that are read while drawing).

    mechanism : the scenario's, loaded. loaded : modules of the scenario's folder that this
    imported.
    """
    name, parameters = describe(mechanism)
    named, folder = scenario.mechanism, scenario.folder
    source = named.source(folder, loaded) if isinstance(named, Call) else Source()
    versions = {"dpaudit": dpaudit.__version__}
    for package in sorted({*KNOWN.values(), *source.packages} - set(versions)):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return {
        "mechanism": name,
        "parameters": plain(parameters),
        "files": {_from(folder, path): _digest(path) for path in sorted(source.files)},
        "programs": {
            program: None if path is None else _digest(path)
            for program, path in source.programs.items()
        },
        "packages": versions,
        "installed": dict(source.installed),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{sys.platform} {platform.machine()}",
        "seed": scenario.seed,
    }


def _made_by(origin: dict[str, Any], scenario: Scenario, pair: NeighbourPair) -> dict[str, Any]:
    """What determines the draws of an audit, in JSON types: `origin`, both databases, settings."""
    return {
        **origin,
        "D": digest_of(pair.left),
        "D'": digest_of(pair.right),
        "samples": scenario.settings.draws,
        "stop": scenario.settings.stop,
        "unit": scenario.settings.unit,
    }


def _from(folder: Path, path: Path) -> str:
    """The path relative to the scenario's folder if it lies there, so that the folder can move."""
    whole, place = path.resolve(), folder.resolve()
    return (whole.relative_to(place) if whole.is_relative_to(place) else whole).as_posix()


def _digest(path: Path) -> str:
    """The SHA-256 of a file; for a program that cannot be read, its size and modification time."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        about = path.stat()
        return f"{about.st_size} bytes, changed at {about.st_mtime_ns} ns"
