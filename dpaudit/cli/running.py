"""`dpaudit run`, `audit` and `report`: check and run scenarios, and print their verdicts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import dpaudit.report
from dpaudit._core.raised import report as traceback_of
from dpaudit._core.result_file import RESULT, load, reading
from dpaudit.auditing.clock import duration
from dpaudit.auditing.result import AuditResult
from dpaudit.cli.answers import summary as verdicts
from dpaudit.cli.console import (
    ERROR,
    INCOMPLETE,
    NOT_VIOLATED,
    NOTHING_KEPT,
    OF_VERDICT,
    VIOLATED,
    console,
    error_lines,
    say,
)
from dpaudit.cli.defaults import FILES
from dpaudit.cli.progress import show_progress
from dpaudit.cli.shipped import scenario_path
from dpaudit.errors import InvalidInput, ScenarioError, message_of
from dpaudit.one_run.result import OneRunResult
from dpaudit.one_run.step_result import StepResult
from dpaudit.report.index import tally
from dpaudit.run import Ledger, OneRunScenario, Scenario, StudyScenario, TrainingScenario
from dpaudit.run import run as execute
from dpaudit.run.ledger import check_fit
from dpaudit.run.scenario.files import File, audits_of, file_of
from dpaudit.run.scenario.study import AnyScenario
from dpaudit.run.store.progress import DRAWS, INTERRUPTED, has_search, state_of
from dpaudit.run.suite import suite
from dpaudit.run.suite.faults import checked
from dpaudit.run.suite.outputs import Outputs
from dpaudit.run.suite.relations import together
from dpaudit.run.suite.suite import Before, Done, ScenarioOutcome, outcome, study_text, write_index
from dpaudit.run.written import in_options, readings, source_of
from dpaudit.verdict.numbers import count, counted
from dpaudit.verdict.sentences import one_line

OF_RUN = ("jobs", "resume", "show_data", "seconds")  # options of `audit` for the run alone
GRAVEST = (ERROR, VIOLATED, INCOMPLETE, NOT_VIOLATED)
OF_DRAWS = {  # options of `dpaudit run` for audits of draws alone
    "draws": "--draws",
    "seconds": "--time",
    "level": "--level",
    "stop": "--stop",
    "resume": "--resume",
}
STATUS = {**OF_VERDICT, suite.STUDY: NOT_VIOLATED, suite.ERROR: ERROR}


def run_all(
    paths: Sequence[Path],
    out: Path | None,
    *,
    seed: int | None,
    ledger: Path | None = None,
    check: bool = False,
    **options: Any,
) -> int:
    """Run the scenarios one after the other, and return the most serious of their exit statuses. A
    scenario that fails does not stop the others. If the run is interrupted, the files for CI have
    what was finished.

    options : keywords of `_run` and `dpaudit.run.run`. Raises `ScenarioError` with the faults of
    all files before anything runs; a single scenario raises what stops it.
    """
    _alone(options.get("seconds"), options.get("draws"), bool(options.get("resume")))
    overrides = {name: options[name] for name in ("draws", "stop", "level") if name in options}
    files = [file for path in paths for file in audits_of(scenario_path(path))]
    scenarios = _checked(files, out, keep=check, seed=seed, **overrides)
    if ledger is not None:
        for scenario in scenarios:
            check_fit(scenario)
    if check:
        names = [scenario.name for scenario in scenarios]
        console().tell(valid=names)
        console().answer("\n".join(f"{name}: valid" for name in names), f"{len(names)} valid")
        return NOT_VIOLATED
    if ignored := " and ".join(name for key, name in OF_DRAWS.items() if options.get(key)):
        for scenario in scenarios:
            if not isinstance(scenario, Scenario):
                _notice(f"{scenario.name} ignores {ignored}: its file sets all but the seed")
    if ledger is not None:
        Ledger(ledger).ready()
    sources = [file_of(file.path) for file in files if isinstance(file, File)]
    return _run(sources, scenarios, out, seed=seed, ledger=ledger, **options)


def audit_target(target: str, out: Path | None, **options: Any) -> int:
    """Audit "package.module:callable" without a scenario file, and return the exit status.

    options : keywords of `dpaudit.run.written.readings` and of `_run`.
    """
    how = {name: options.pop(name) for name in (*OF_RUN, *FILES)}
    files = readings(target, **options)
    sources = [source_of(target, options["data"]) for _ in files]
    _alone(how["seconds"], options["draws"], how["resume"])
    try:
        return _run(sources, _checked(files, out), out, seed=None, one_claim=True, **how)
    except ScenarioError as error:
        raise in_options(error, files) from error


def _checked(
    files: Sequence[Path | File], out: Path | None, *, keep: bool = False, **overrides: Any
) -> list[AnyScenario]:
    """The scenarios of the files. If one has a fault, none runs, and reports of an earlier run are
    removed, which would be taken for those of this one, unless they are to be kept.
    """
    try:
        return checked(files, **overrides)
    except ScenarioError:
        if keep:
            raise
        for file in files:
            named = file.content.get("name") if isinstance(file, File) else None
            path = file.path if isinstance(file, File) else file_of(file)
            name = Path(str(named or path.stem)).name
            suite.remove_report(_folder(name, out, several=len(files) > 1))
        if len(files) > 1:
            suite.remove_report(out or console().reports, [suite.INDEX])
        raise


def _folder(name: str, out: Path | None, several: bool) -> Path:
    """The folder of a report: --out, or of several reports a folder in it."""
    return out if out is not None and not several else (out or console().reports) / name


def _run(
    sources: Sequence[Path],
    scenarios: Sequence[AnyScenario],
    out: Path | None,
    *,
    against: Path | None = None,
    one_claim: bool = False,
    **options: Any,
) -> int:
    """Run checked scenarios, and return the most serious of their exit statuses.

    sources : their files. against : folder of an earlier run, which is read before anything is
    written. one_claim : whether the scenarios audit one claim under several relations, for a common
    verdict; an error that prevents it is raised. options : `FILES`, and keywords of `_work`.
    """
    if options.get("seconds") is not None and len(scenarios) > 1:
        options["seconds"] /= len(scenarios)
        each = duration(options["seconds"])
        _notice(f"{len(scenarios)} audits share the time of --time: {each} for each")
    outputs = _outputs(options)
    before = None if against is None else Before.read(against, [case.name for case in scenarios])
    several = len(scenarios) > 1
    relations, joint = several and one_claim, ""
    reports = console().reports if out is None else out
    outcomes: list[ScenarioOutcome] = []
    try:
        for scenario, source in zip(scenarios, sources, strict=True):
            folder = _folder(scenario.name, out, several)
            console().moment(f"{scenario.name}: {source}; report in {folder}")
            work = partial(_work, scenario, folder, **options)
            outcomes.append(outcome(scenario.name, source, folder, work))
            if not relations:
                _print_outcome(outcomes[-1], several, len(outcomes) > 1)
            elif isinstance(outcomes[-1].error, ScenarioError):  # the same for each relation
                break
        if relations and any(done.error is None for done in outcomes):
            outcomes, joint = together(outcomes)
            for place, done in enumerate(outcomes if joint else ()):
                _print_outcome(done, several, place > 0)
    finally:
        if outcomes:
            indexed = bool(joint) if relations else several
            _finish(outcomes, reports if indexed else None, outputs, before)
    if joint:
        console().tell(together=joint)
        console().answer(f"\n{joint}", joint)
    errors = [done.error for done in outcomes if done.error is not None]
    if errors and (one_claim or not several):
        raise errors[0]
    statuses = {STATUS[done.kind] for done in outcomes}
    return next(status for status in GRAVEST if status in statuses)


def audit_files(
    audit: Callable[..., AuditResult | OneRunResult | StepResult],
    paths: Sequence[Path],
    name: str,
    out: Path | None,
    **options: Any,
) -> int:
    """Audit files that another program made, save the report, and return the exit status.

    audit : audit(*paths, **options) makes the result. name : of the default folder of the report.
    The files for CI (`FILES`) are written after an error, too.
    """
    outputs = _outputs(options)
    folder = out or console().reports / name

    def work() -> Done:
        result = audit(*paths, **options)
        result.save(folder)
        return result

    done = outcome(paths[0].stem, paths[0], folder, work)
    _print_outcome(done, several=False, later=False)
    outputs.write([done])
    if done.error is not None:
        raise done.error
    return STATUS[done.kind]


def _outputs(options: dict[str, Any]) -> Outputs:
    """The files for a CI server that the options name, which are taken out of them."""
    outputs = Outputs(**{name: options.pop(name, None) for name in FILES})
    outputs.prepare()
    return outputs


def _work(
    scenario: AnyScenario, folder: Path, *, jobs: int | None, seed: int | None, **options: Any
) -> Done:
    if isinstance(scenario, OneRunScenario | TrainingScenario):
        return scenario.run(folder, seed=seed)
    if isinstance(scenario, StudyScenario):
        with show_progress() as progress:
            content = scenario.run(folder, seed=seed, progress=progress)
        return study_text(content.title, content.source, content.sentences)
    options |= {"n_jobs": jobs, "seed": seed, "look": None if console().quiet else _notice}
    try:
        with show_progress() as progress:
            return execute(scenario, folder, progress=progress, notice=_notice, **options)
    except KeyboardInterrupt:
        left = _draws_left(folder)
        raise KeyboardInterrupt(f"interrupted; {left}" if left else NOTHING_KEPT) from None
    except Exception:
        if left := _draws_left(folder):
            _notice(left)
        raise


def _alone(seconds: float | None, draws: int | None, resume: bool) -> None:
    if seconds is not None and (draws is not None or resume):
        other = "draws" if draws is not None else "resume"
        raise InvalidInput(f"--time and --{other} exclude each other: give one")


def _notice(text: str) -> None:
    say(f"note: {text}")


def _draws_left(folder: Path) -> str:
    """A sentence on what an unfinished run left, and how to continue; "" if it left nothing."""
    left = state_of(folder)
    if left is None or left.state != INTERRUPTED:
        return ""
    again = "the same command with --resume continues from them, if nothing else has changed"
    if most := max(left.made):
        least = min(left.made)
        draws = f"{count(least)} draws a side" if least else f"{count(most)} draws of one side"
        return f"{draws} are kept in {folder / DRAWS}; {again}"
    if has_search(folder / DRAWS):
        return f"the audits of the search are kept in {folder / DRAWS}; {again}"
    return ""


def _print_outcome(done: ScenarioOutcome, several: bool, later: bool) -> None:
    """Print one outcome, except the error of a single scenario, which the caller raises."""
    if later:
        console().answer("\n", "")
    if done.record is not None:
        _print_record(done.record, done.folder, done.name if several else "")
    elif done.error is None:
        audit = {"scenario": done.name, "verdict": suite.STUDY, "reason": done.reason}
        page = f"Report: {done.folder / 'report.html'}"
        console().add("audits", audit)
        console().answer(f"{done.reason}\n\n{page}", f"{done.name}: {page}")
    elif several:  # a line on stdout, the error's own lines on stderr
        if message_of(done.error) is not None:
            lines = error_lines(done.error).split("\n")
        else:
            print(traceback_of(done.error), end="", file=sys.stderr)
            lines = [f"error: {done.reason}"]
        reason = " ".join(done.reason.split())
        audit = {"scenario": done.name, "verdict": suite.ERROR, "reason": reason}
        console().add("audits", audit)
        console().answer(*2 * (f"{done.name}: ERROR: {reason}",))
        say("\n".join(f"{done.name}: {text}" for text in lines))


def _finish(
    outcomes: Sequence[ScenarioOutcome],
    folder: Path | None,
    outputs: Outputs,
    before: Before | None,
) -> None:
    """Print changes since the earlier run; write the files for CI and, into `folder`, the index
    page.
    """
    if before is not None:
        moves = before.moves(outcomes)
        changed = sum(bool(moved) for moved in moves.values())
        changes = [
            f"Compared with {before.folder}: {changed} of {counted(len(moves), 'audit')} changed "
            "by more than the uncertainty.",
            *(f"  {name}: {move}" for name, moved in moves.items() for move in moved),
            *(f"  {name}: not in the earlier run" for name in before.new(outcomes)),
        ]
        console().tell(moved=moves)
        console().answer("\n" + "\n".join(changes), "\n".join(changes))
    if folder is not None:
        kinds = [done.kind for done in outcomes]
        total = f"{counted(len(kinds), 'scenario')}: {tally(kinds, STATUS)}"
        index = write_index(folder, outcomes, before)
        console().tell(index=str(index))
        console().answer(f"\n{total}\nIndex: {index}", total)
    outputs.write(outcomes)


def _print_record(record: dict[str, Any], folder: Path, name: str = "") -> None:
    before = f"{name}: " if name else ""
    _print_place(record, folder, f"{verdicts.summary(record)}\n\n", before)
    for text in verdicts.details(record, folder):
        console().detail(f"{before}{text}")


def _print_place(record: dict[str, Any], folder: Path, text: str = "", before: str = "") -> None:
    """Print `text` and the path of a report; with --quiet, `before` and the verdict in a line."""
    page = folder / "report.html"
    console().add(
        "audits", {**verdicts.brief(record), "report": str(page), "result": str(folder / RESULT)}
    )
    console().answer(f"{text}Report: {page}", f"{before}{one_line(record)}")


def report(folder: Path) -> int:
    single = (folder / RESULT).exists() or not any(folder.rglob(RESULT))
    if not single:
        for place in suite.redraw_suite(folder):
            _print_place(load(place), place, before=f"{place.relative_to(folder)}: ")
        console().tell(index=str(folder / suite.INDEX))
        console().answer(f"Index: {folder / suite.INDEX}")
        return NOT_VIOLATED
    record = load(folder)
    with reading(folder):
        dpaudit.report.write_report(folder, record)
        _print_record(record, folder)
    return NOT_VIOLATED
