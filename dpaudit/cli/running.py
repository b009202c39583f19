"""`dpaudit run` and `dpaudit audit`: check scenarios, run each, print verdicts, give a status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit._core.result_file import load
from dpaudit._core.shown.raised import report
from dpaudit.auditing.result import AuditResult
from dpaudit.cli import exit_status
from dpaudit.cli.answers.summary import summary
from dpaudit.cli.exit_status import NOTHING_KEPT, say, text_of
from dpaudit.cli.progress import shown
from dpaudit.errors import DpauditError, ScenarioError
from dpaudit.report.text import count
from dpaudit.run import Scenario, StudyScenario
from dpaudit.run import run as execute
from dpaudit.run.scenario.file import REPORTS
from dpaudit.run.shipped import found
from dpaudit.run.store.search import searched
from dpaudit.run.store.status import DRAWS, INTERRUPTED, state_of
from dpaudit.run.suite.faults import checked
from dpaudit.run.suite.junit import prepare_junit, write_junit
from dpaudit.run.suite.suite import ERROR, STUDY, Before, ScenarioOutcome, outcome, write_index
from dpaudit.run.written import in_options, written

GRAVEST = (
    exit_status.ERROR,
    exit_status.VIOLATED,
    exit_status.INCOMPLETE,
    exit_status.NOT_VIOLATED,
)
STATUS = {**exit_status.OF_VERDICT, STUDY: exit_status.NOT_VIOLATED, ERROR: exit_status.ERROR}


def run_all(
    paths: Sequence[Path],
    out: Path | None,
    *,
    jobs: int | None,
    seed: int | None,
    junit: Path | None = None,
    against: Path | None = None,
    **options: Any,
) -> int:
    """Run the scenarios one after the other; returns the most serious of their exit statuses.

    junit : file of JUnit XML. against : folder of an earlier run, read before anything is written.
    A scenario that fails does not stop the others. For several scenarios an index page is written.
    If the run is interrupted, page and file have the scenarios that were done.

    Raises `ScenarioError` with the faults of all files before anything runs. A single scenario
    raises what stops it.
    """
    given = {name: options[name] for name in ("samples", "stop") if name in options}
    paths = [found(path) for path in paths]
    scenarios = checked(paths, seed=seed, **given)
    return _run(
        paths, scenarios, out, jobs=jobs, seed=seed, junit=junit, against=against, **options
    )


def audit_target(
    target: str,
    out: Path | None,
    *,
    jobs: int | None = None,
    resume: bool = False,
    show_data: bool = False,
    junit: Path | None = None,
    **options: Any,
) -> int:
    """Audit "package.module:callable" without a scenario file; returns the exit status.

    options : of `dpaudit.run.written.written`. The rest as in `run_all`.
    """
    file = written(target, **options)
    how: dict[str, Any] = {"jobs": jobs, "junit": junit, "resume": resume, "show_data": show_data}
    try:
        return _run([file.path], checked([file]), out, seed=None, **how)
    except ScenarioError as error:
        raise in_options(error, file) from error


def _run(
    paths: Sequence[Path],
    scenarios: Sequence[Scenario | StudyScenario],
    out: Path | None,
    *,
    jobs: int | None,
    seed: int | None,
    junit: Path | None,
    against: Path | None = None,
    **options: Any,
) -> int:
    """Run scenarios that are checked; as `run_all`."""
    if junit is not None:
        prepare_junit(junit)
    before = None if against is None else Before.read(against, [one.name for one in scenarios])
    several = len(scenarios) > 1
    done: list[ScenarioOutcome] = []
    try:
        for place, one in enumerate(scenarios):
            folder = (out or REPORTS) / one.name if several else out
            if place:
                print()
            done.append(_one(paths[place], one, folder, jobs=jobs, seed=seed, **options))
            _print_outcome(done[-1], several)
    finally:
        if done:
            _finish(done, (out or REPORTS) if several else None, junit, before)
    if not several and done[0].error is not None:
        raise done[0].error
    return next(one for one in GRAVEST if one in {STATUS[each.kind] for each in done})


def _one(
    path: Path,
    scenario: Scenario | StudyScenario,
    folder: Path | None,
    *,
    jobs: int | None,
    seed: int | None,
    **options: Any,
) -> ScenarioOutcome:
    """Run one scenario; an error is an outcome too."""
    if isinstance(scenario, StudyScenario):
        work: Callable[[], AuditResult | str] = partial(_study, scenario, folder, seed)
        return outcome(scenario.name, path, scenario.folder(folder), work)
    place = scenario.report_folder(folder)
    work = partial(_audit, scenario, place, n_jobs=jobs, seed=seed, **options)
    return outcome(scenario.name, path, place, work)


def _audit(scenario: Scenario, folder: Path, **options: Any) -> AuditResult:
    try:
        with shown() as progress:
            return execute(scenario, folder, progress=progress, notice=_notice, **options)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(folder)) from None


def _notice(said: str) -> None:
    say(f"note: {said}", exit_status.NOT_VIOLATED)


def _kept(folder: Path) -> str:
    """What an interrupted run has left, and how to go on."""
    left = state_of(folder)
    if left is None or left.state != INTERRUPTED:
        return NOTHING_KEPT
    again = "the same command with --resume continues from them"
    if draws := min(left.made):
        return f"interrupted; {count(draws)} draws a side are kept in {folder}; {again}"
    if searched(folder / DRAWS):
        return f"interrupted; the audits of the search are kept in {folder}; {again}"
    return NOTHING_KEPT


def _study(scenario: StudyScenario, folder: Path | None, seed: int | None) -> str:
    with shown() as progress:
        content = scenario.run(folder, seed=seed, progress=progress)
    return "\n".join(
        [f"{content.title} ({content.source})", *(f"  - {one}" for one in content.sentences)]
    )


def _print_outcome(done: ScenarioOutcome, several: bool) -> None:
    """Print one outcome. The error of a single scenario is not printed: `run_all` raises it."""
    if done.record is not None:
        return _summary(done.record, done.folder)
    if done.error is None:
        return print(f"{done.reason}\n\nReport: {done.folder / 'report.html'}")
    if not several:
        return None
    if isinstance(done.error, (DpauditError, OSError, MemoryError)):
        lines = text_of(done.error).split("\n")
    else:
        print(report(done.error), end="", file=sys.stderr)
        lines = [f"error: {done.reason}"]
    print(f"{done.name}: ERROR: {' '.join(done.reason.split())}")
    say("\n".join(f"{done.name}: {line}" for line in lines), exit_status.ERROR)
    return None


def _finish(
    done: Sequence[ScenarioOutcome], folder: Path | None, junit: Path | None, before: Before | None
) -> None:
    """Write the JUnit file, print what changed, and write the index page of several scenarios."""
    if junit is not None:
        write_junit(junit, done)
    if before is not None:
        print("\n" + _changes(before, done))
    if folder is not None:
        kinds = [one.kind for one in done]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in STATUS if kind in kinds)
        print(f"\n{len(done)} scenarios: {counts}\nIndex: {write_index(folder, done, before)}")


def _changes(before: Before, done: Sequence[ScenarioOutcome]) -> str:
    """A line for each change since the earlier run."""
    moves = before.moves(done)
    lines = [f"  {name}: {move}" for name, found in moves.items() for move in found]
    lines += [f"  {name}: not in the earlier run" for name in before.new(done)]
    same = sum(not found for found in moves.values())
    head = (
        f"Compared with {before.folder}: {same} of {len(moves)} audits are the same, "
        "but for changes within their uncertainty."
    )
    return "\n".join([head, *lines])


def verdict(folder: Path) -> int:
    """Print the content of result.json; returns the exit status of its verdict."""
    record = load(folder)
    _summary(record, folder)
    return exit_status.OF_VERDICT[record["verdict"]]


def _summary(record: dict[str, Any], folder: Path) -> None:
    print(summary(record))
    print(f"\nReport: {folder / 'report.html'}")
