"""The run of one scenario: load data and mechanism, choose the neighbour, draw, audit, save."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit._core.files import clear_drafts, replace_file
from dpaudit._core.keywords import known_keywords
from dpaudit._core.result_file import RESULT, plain
from dpaudit._core.source import commit_of
from dpaudit._core.types import Mechanism, describe
from dpaudit._core.user_code import beside
from dpaudit.auditing.engine import audit_mechanism
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import Drawing
from dpaudit.auditing.subject import Subject
from dpaudit.curves.claims import Claim
from dpaudit.datasets import Table
from dpaudit.errors import ScenarioError
from dpaudit.neighbours import NeighbourPair
from dpaudit.report import FILES
from dpaudit.run.ledger import (
    Entry,
    Ledger,
    check_fit,
    draws_id,
    fresh_seed,
    judged_by,
    subject_of,
)
from dpaudit.run.scenario.file import Scenario
from dpaudit.run.scenario.files import recorded_text
from dpaudit.run.scenario.mechanism import Call, Called, Program, is_synthesizer
from dpaudit.run.scenario.neighbour import TABLE, Own, Search, Unstated
from dpaudit.run.scenario.source import KNOWN, Source, loaded_from
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
    draws : int, optional
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
    folder = scenario.report_folder(out)
    if ledger is not None and seed is None:
        # runs of a ledger are of fresh draws; one that is resumed goes on with its own seed
        left = _seed_left(folder) if resume else None
        seed = fresh_seed() if left is None else left
    scenario = scenario.override(draws, seed, stop, level)
    book = None if ledger is None else Ledger(ledger)
    if book is not None:
        check_fit(scenario)
        book.ready()
    watch = Watch(folder / DRAWS, scenario.name, progress, notice)
    with beside(scenario.modules), watch, scenario.workers.at_work(n_jobs):
        with _step(watch, "choosing the neighbour"):
            subject, origin, selection = _prepare(scenario, n_jobs, watch, resume, show_data)
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
        result = _with_hint(result, scenario)
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
    """The seed of the run that was interrupted there, or of its search; None if there is none."""
    left = state_of(folder)
    if left is None or left.state != INTERRUPTED:
        return None
    manifests = map(manifest_of, (folder / DRAWS, folder / DRAWS / SEARCH))
    seeds = [manifest["seed"] for manifest in manifests if manifest and "seed" in manifest]
    return seeds[0] if seeds and isinstance(seeds[0], int) else None


@contextmanager
def _step(progress: Progress, name: str) -> Iterator[None]:
    """Report a step that has one part: 0 of 1 before it, 1 of 1 after it."""
    progress(name, 0, 1)
    yield
    progress(name, 1, 1)


def _prepare(
    scenario: Scenario, n_jobs: int | None, watch: Watch, resume: bool, show_data: bool
) -> tuple[Subject, dict[str, Any], Selection | None]:
    """Load data and mechanism, and choose the neighbour.

    Returns what is audited, what determines the draws from any database (`origin_of`), and the
    search if there was one.
    """
    rule, selection, source = scenario.neighbour, None, None
    notes: tuple[str, ...] = ()
    if isinstance(rule, Own):
        mechanism = scenario.mechanism
        pair, words, origin = mechanism.pair(), rule.words, origin_of(scenario, mechanism)
        names = tuple(f"column {number + 1}" for number in range(pair.left.shape[1]))
        own = Table("own pair", names, pair.left, Own.words, target=names[-1])
        described = describe_data(own)
    else:
        dataset, before = loaded_data(scenario), loaded_from(scenario.folder)
        mechanism = loaded_mechanism(scenario)
        origin = origin_of(scenario, mechanism, loaded_from(scenario.folder) - before)
        if isinstance(rule, Unstated):
            rule = rule.settled(mechanism)
        if isinstance(rule, Search):
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
            notes = rule.notes
        else:
            pair, words = rule.pair(mechanism, dataset.database), rule.text(dataset.database)
        if isinstance(mechanism, Called):
            mechanism = mechanism.on(pair)
        described = describe_data(dataset)
        source = describe_source(origin["files"], scenario.folder)
    subject = Subject(
        mechanism,
        pair,
        scenario.name,
        described,
        rule=words,
        scenario_text=recorded_text(scenario.text),
        source=source,
        search=None if selection is None else selection.to_dict(show_data=show_data),
        show_data=show_data,
        notes=notes,
    )
    return subject, origin, selection


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


def _with_hint(result: AuditResult, scenario: Scenario) -> AuditResult:
    """The result with what a replay shows, if no law is known and it costs little.

    It comes after all draws: a mechanism may keep what it did in earlier calls.
    """
    costly = isinstance(scenario.mechanism, Program) or is_synthesizer(scenario.mechanism)
    if result.exact is not None or costly or scenario.settings.draws < REPLAYED:
        return result
    subject = result.subject
    assert subject.mechanism is not None
    assert subject.pair is not None
    replay = hint(subject.mechanism, subject.pair, show_data=subject.show_data)
    return replace(result, subject=replace(subject, replay=replay))


def describe_data(data: Table) -> dict[str, Any]:
    """The data as the mechanism sees them; row numbers count the rows that are kept.

    changes : what was done to the columns of the file.
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


def describe_source(files: Mapping[str, str], folder: Path) -> dict[str, str | None] | None:
    """SHA-256 of a mechanism's own files, and the commit of the work tree that they are in.

    files : their SHA-256 by path, from `folder`. Of several files it is the SHA-256 of these,
    sorted, a line each. None where there are no files.
    """
    if not files:
        return None
    sums = sorted(files.values())
    whole = hashlib.sha256("".join(f"{digest}\n" for digest in sums).encode()).hexdigest()
    commit = commit_of((folder / min(files)).parent)
    return {"sha256": sums[0] if len(sums) == 1 else whole, "commit": commit}


def origin_of(scenario: Scenario, mechanism: Any, loaded: Collection[str] = ()) -> dict[str, Any]:
    """What determines the draws from any database, in JSON types, as far as it can be listed.

    It goes into the manifest of the kept draws. What is not listed (environment variables, files
    that are read while drawing) shows when a run that resumes repeats some draws.

    mechanism : the scenario's, loaded. loaded : modules that came from the scenario's folder with
    it.
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
    """What determines the draws of an audit, in JSON types."""
    return {
        **origin,
        "D": digest_of(pair.left),
        "D'": digest_of(pair.right),
        "samples": scenario.settings.draws,
        "stop": scenario.settings.stop,
        "unit": scenario.settings.unit,
    }


def _from(folder: Path, path: Path) -> str:
    """A path relative to the scenario's folder if it is in there, so that the folder can move."""
    whole, place = path.resolve(), folder.resolve()
    return (whole.relative_to(place) if whole.is_relative_to(place) else whole).as_posix()


def _digest(path: Path) -> str:
    """SHA-256 of a file; of a program that may be run but not read, its size and time."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        about = path.stat()
        return f"{about.st_size} bytes, changed at {about.st_mtime_ns} ns"
