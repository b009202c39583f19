"""`dpaudit run` and `dpaudit audit`: check scenarios, run each, print verdicts, give a status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit._core.result_file import RESULT, load
from dpaudit._core.shown.raised import report
from dpaudit.auditing.result import AuditResult
from dpaudit.cli import exit_status
from dpaudit.cli.answers.summary import brief, details, line, summary
from dpaudit.cli.console import console
from dpaudit.cli.exit_status import NOTHING_KEPT, say, text_of
from dpaudit.cli.progress import shown
from dpaudit.errors import DpauditError, ScenarioError
from dpaudit.run import Ledger, OneRunScenario, Scenario, StudyScenario
from dpaudit.run import run as execute
from dpaudit.run.ledger import check_fit
from dpaudit.run.scenario.audits import File, audits_of, file_of
from dpaudit.run.shipped import found
from dpaudit.run.store import DRAWS, INTERRUPTED, has_search, state_of
from dpaudit.run.suite.faults import Checked, checked
from dpaudit.run.suite.outputs import Outputs
from dpaudit.run.suite.relations import together
from dpaudit.run.suite.suite import (
    ERROR,
    STUDY,
    Before,
    Done,
    ScenarioOutcome,
    outcome,
    write_index,
)
from dpaudit.run.written import in_options, readings, source_of
from dpaudit.verdict.numbers import count

NO_FILES = Outputs()
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
    outputs: Outputs = NO_FILES,
    against: Path | None = None,
    check: bool = False,
    **options: Any,
) -> int:
    """Run the scenarios one after the other; returns the most serious of their exit statuses.

    outputs : files for a CI server. against : folder of an earlier run, read before all is written.
    check : end when the scenarios are checked.
    A scenario that fails does not stop the others. For several scenarios an index page is written.
    If the run is interrupted, page and file have the scenarios that were done.

    Raises `ScenarioError` with the faults of all files before anything runs. A single scenario
    raises what stops it.
    """
    given = {name: options[name] for name in ("samples", "stop", "level") if name in options}
    ledger: Path | None = options.get("ledger")
    files = [file for path in paths for file in audits_of(found(path))]
    scenarios = checked(files, seed=seed, **given)
    if ledger is not None:
        for one in scenarios:
            check_fit(one)
    if check:
        valid = [one.name for one in scenarios]
        console().tell(valid=valid)
        console().answer("\n".join(f"{name}: valid" for name in valid), f"{len(valid)} valid")
        return exit_status.NOT_VIOLATED
    if ledger is not None:
        Ledger(ledger).ready()
    paths = [file_of(file.path) for file in files if isinstance(file, File)]
    done = _run(
        paths, scenarios, out, jobs=jobs, seed=seed, outputs=outputs, against=against, **options
    )
    return _gravest(done)


def _gravest(done: Sequence[ScenarioOutcome]) -> int:
    """The most serious of the exit statuses."""
    return next(one for one in GRAVEST if one in {STATUS[each.kind] for each in done})


def audit_target(
    target: str,
    out: Path | None,
    *,
    jobs: int | None = None,
    resume: bool = False,
    show_data: bool = False,
    outputs: Outputs = NO_FILES,
    **options: Any,
) -> int:
    """Audit "package.module:callable" without a scenario file; returns the exit status.

    options : of `dpaudit.run.written.readings`. The rest as in `run_all`.
    """
    files = readings(target, **options)
    how: dict[str, Any] = {
        "jobs": jobs,
        "outputs": outputs,
        "resume": resume,
        "show_data": show_data,
    }
    paths = [source_of(target, options["data"]) for _ in files]
    try:
        return _gravest(_run(paths, checked(files), out, seed=None, of_one_claim=True, **how))
    except ScenarioError as error:
        raise in_options(error, files) from error


def _run(
    paths: Sequence[Path],
    scenarios: Sequence[Checked],
    out: Path | None,
    *,
    jobs: int | None,
    seed: int | None,
    outputs: Outputs,
    against: Path | None = None,
    of_one_claim: bool = False,
    **options: Any,
) -> list[ScenarioOutcome]:
    """Run scenarios that are checked; as `run_all`.

    of_one_claim : whether several of them are the relations of one claim, which are judged
        together, and where an error is raised if they cannot be.
    """
    outputs.prepare()
    before = None if against is None else Before.read(against, [one.name for one in scenarios])
    several = len(scenarios) > 1
    relations, joint = several and of_one_claim, ""
    done: list[ScenarioOutcome] = []
    try:
        for place, one in enumerate(scenarios):
            folder = _folder(out, one.name, several)
            console().moment(f"{one.name}: {paths[place]}; report in {folder}")
            done.append(_one(paths[place], one, folder, jobs=jobs, seed=seed, **options))
            if not relations:
                _print_outcome(done[-1], several, place > 0)
        if relations:
            done, joint = together(done)
            for place, each in enumerate(case for case in done if case.error is None):
                _print_outcome(each, several, place > 0)
    finally:
        if done:
            _finish(done, _all_reports(out) if several else None, outputs, before)
    if joint:
        console().tell(together=joint)
        console().answer(f"\n{joint}", joint)
    errors = [case.error for case in done if case.error is not None]
    if errors and (of_one_claim or not several):
        raise errors[0]
    return done


def _all_reports(out: Path | None) -> Path:
    return console().reports if out is None else out


def _folder(out: Path | None, name: str, several: bool) -> Path:
    """Of one report: --out itself, unless several go there."""
    return _all_reports(out) / name if several or out is None else out


def _one(
    path: Path,
    scenario: Checked,
    folder: Path | None,
    *,
    jobs: int | None,
    seed: int | None,
    **options: Any,
) -> ScenarioOutcome:
    """Run one scenario; an error is an outcome too."""
    if isinstance(scenario, StudyScenario):
        work: Callable[[], Done] = partial(_study, scenario, folder, seed)
        return outcome(scenario.name, path, scenario.folder(folder), work)
    place = scenario.report_folder(folder)
    if isinstance(scenario, OneRunScenario):
        work = partial(scenario.run, place, seed=seed)
        return outcome(scenario.name, path, place, work)
    work = partial(_audit, scenario, place, n_jobs=jobs, seed=seed, **options)
    return outcome(scenario.name, path, place, work)


def _audit(scenario: Scenario, folder: Path, **options: Any) -> AuditResult:
    try:
        with shown() as progress:
            return execute(scenario, folder, progress=progress, notice=_notice, **options)
    except KeyboardInterrupt:
        left = _kept(folder)
        raise KeyboardInterrupt(f"interrupted; {left}" if left else NOTHING_KEPT) from None
    except Exception:
        if left := _kept(folder):
            _notice(left)
        raise


def _notice(said: str) -> None:
    say(f"note: {said}", exit_status.NOT_VIOLATED)


def _kept(folder: Path) -> str:
    """What a run has left that did not end, and how to go on; "" where nothing is."""
    left = state_of(folder)
    if left is None or left.state != INTERRUPTED:
        return ""
    again = "the same command with --resume continues from them, if nothing else has changed"
    if draws := min(left.made):
        return f"{count(draws)} draws a side are kept in {folder / DRAWS}; {again}"
    if has_search(folder / DRAWS):
        return f"the audits of the search are kept in {folder / DRAWS}; {again}"
    return ""


def _study(scenario: StudyScenario, folder: Path | None, seed: int | None) -> str:
    with shown() as progress:
        content = scenario.run(folder, seed=seed, progress=progress)
    return "\n".join(
        [f"{content.title} ({content.source})", *(f"  - {one}" for one in content.sentences)]
    )


def _print_outcome(done: ScenarioOutcome, several: bool, later: bool) -> None:
    """Print one outcome, unless it is the error of a single scenario, which raises it.

    several : whether it is one of several. later : whether others are printed before it.
    """
    if later:
        console().answer("\n", "")
    if done.record is not None:
        return _summary(done.record, done.folder, done.name if several else "")
    if done.error is None:
        console().add("audits", {"scenario": done.name, "verdict": STUDY, "reason": done.reason})
        page = f"Report: {done.folder / 'report.html'}"
        return console().answer(f"{done.reason}\n\n{page}", f"{done.name}: {page}")
    return _print_error(done) if several else None


def _print_error(done: ScenarioOutcome) -> None:
    """Print the error of one of several scenarios: a line on stdout, its lines on stderr."""
    if isinstance(done.error, (DpauditError, OSError, MemoryError)):
        lines = text_of(done.error).split("\n")
    else:
        print(report(done.error), end="", file=sys.stderr)  # type: ignore[arg-type]
        lines = [f"error: {done.reason}"]
    said = " ".join(done.reason.split())
    console().add("audits", {"scenario": done.name, "verdict": ERROR, "reason": said})
    console().answer(*2 * (f"{done.name}: ERROR: {said}",))
    say("\n".join(f"{done.name}: {line}" for line in lines), exit_status.ERROR)


def _finish(
    done: Sequence[ScenarioOutcome], folder: Path | None, outputs: Outputs, before: Before | None
) -> None:
    """Print what changed, write the index page of several scenarios, and the files for CI."""
    if before is not None:
        console().tell(moved=before.moves(done))
        console().answer("\n" + _changes(before, done), _changes(before, done))
    if folder is not None:
        kinds = [one.kind for one in done]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in STATUS if kind in kinds)
        scenarios = "1 scenario" if len(done) == 1 else f"{len(done)} scenarios"
        index, said = write_index(folder, done, before), f"{scenarios}: {counts}"
        console().tell(index=str(index))
        console().answer(f"\n{said}\nIndex: {index}", said)
    outputs.write(done)


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


def _summary(record: dict[str, Any], folder: Path, name: str = "") -> None:
    """Print one verdict. name : of the scenario, where it is one of several."""
    before = f"{name}: " if name else ""
    say_verdict(record, folder, f"{summary(record)}\n\n", before)
    for said in details(record, folder):
        console().detail(f"{before}{said}")


def say_verdict(record: dict[str, Any], folder: Path, text: str = "", before: str = "") -> None:
    """Print where a report is, after `text`; with --quiet the verdict in a line, after `before`."""
    page = folder / "report.html"
    console().add("audits", {**brief(record), "report": str(page), "result": str(folder / RESULT)})
    console().answer(f"{text}Report: {page}", f"{before}{line(record)}")
