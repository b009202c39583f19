"""Several scenarios as one suite: the outcome of each, the index page, and writing both again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import dpaudit.report
from dpaudit._core.files import replace_file
from dpaudit._core.raised import Raised
from dpaudit._core.result_file import RESULT, is_one_run, load, reading
from dpaudit._core.value import value_class
from dpaudit.auditing.result import AuditResult
from dpaudit.errors import InvalidInput, MechanismError, message_of
from dpaudit.one_run.result import OneRunResult
from dpaudit.one_run.step_result import StepResult
from dpaudit.report import FILES, render_index
from dpaudit.report.comparison import Moved, moved
from dpaudit.verdict.record import section

INDEX = "index.html"
ERROR, STUDY = "error", "study"
Done = (
    AuditResult | OneRunResult | StepResult | str
)  # the result of an audit, or the sentences of a study


@value_class(show_numbers=True)
class ScenarioOutcome:
    """The outcome of one scenario. kind : a verdict, "study" or "error". reason : one sentence, or
    the lines of the error. seconds : wall-clock time. record : the content of result.json; None for
    a study or an error.
    """

    name: str
    path: Path
    folder: Path
    kind: str
    reason: str
    seconds: float
    record: dict[str, Any] | None = None
    error: Exception | None = None


def outcome(name: str, path: Path, folder: Path, work: Callable[[], Done]) -> ScenarioOutcome:
    """The outcome of `work`, which writes a report into `folder` and returns a result or a study's
    sentences. An exception becomes an outcome, too, and the report of an earlier run is removed; so
    does SystemExit of the user's code, whose status could be mistaken for a verdict.
    """
    begin = time.perf_counter()
    raised: Exception
    try:
        done = work()
    except SystemExit as stop:
        raised = MechanismError(f"code of the scenario called sys.exit({stop.code!r})")
    except Exception as error:
        raised = error
    else:
        seconds = time.perf_counter() - begin
        if isinstance(done, str):
            return ScenarioOutcome(name, path, folder, STUDY, done, seconds)
        verdict, reason, record = done.verdict, done.reason, done.to_dict()
        return ScenarioOutcome(name, path, folder, verdict, reason, seconds, record)
    if type(raised) is not InvalidInput:  # with which nothing was begun, as in a folder in use
        remove_report(folder)
    # of an unexpected error its type and a message without data
    text = message_of(raised) or Raised.of(raised).line.rstrip(": ")
    seconds = time.perf_counter() - begin
    return ScenarioOutcome(name, path, folder, ERROR, text, seconds, error=raised)


def remove_report(folder: Path, files: Sequence[str] = (RESULT, *FILES)) -> None:
    """Remove the report of an earlier run, which an error must not leave behind."""
    for stale in files:
        with suppress(OSError):  # the error that is raised counts
            (folder / stale).unlink(missing_ok=True)


@value_class(show_numbers=True)
class Before:
    """The results of an earlier run in `folder`, read before the present run writes there.

    records : the content of result.json by the name of the scenario.
    """

    folder: Path
    records: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, folder: Path, names: Sequence[str]) -> Before:
        """Read FOLDER/NAME/result.json, or FOLDER/result.json where one scenario runs. Raises
        `InvalidInput`.
        """
        places = {name: folder / name for name in names if (folder / name / RESULT).exists()}
        if not places and len(names) == 1 and (folder / RESULT).exists():
            places = {names[0]: folder}
        if not places:
            raise InvalidInput(
                f"against: {folder} must hold results of an earlier run (NAME/{RESULT}), found none"
            )
        records = {name: load(place) for name, place in places.items()}
        for name, place in places.items():
            with reading(place):  # a result that cannot be compared is found now
                moved(records[name], records[name])
        return cls(folder, records)

    def moves(self, outcomes: Sequence[ScenarioOutcome]) -> dict[str, list[Moved]]:
        return {
            done.name: moved(self.records[done.name], done.record)
            for done in outcomes
            if done.record is not None and done.name in self.records
        }

    def new(self, outcomes: Sequence[ScenarioOutcome]) -> list[str]:
        audits = [done.name for done in outcomes if done.record is not None]
        return [name for name in audits if name not in self.records]


def write_index(
    folder: Path, outcomes: Sequence[ScenarioOutcome], before: Before | None = None
) -> Path:
    rows: list[dict[str, Any]] = []
    for done in outcomes:
        page = done.folder / "report.html"
        link = None if done.kind == ERROR else page.relative_to(folder).parts
        rows.append({**vars(done), "link": link})
    against = None
    if before is not None:
        moves = {name: [*map(str, moves)] for name, moves in before.moves(outcomes).items()}
        against = {"folder": str(before.folder), "moves": moves, "new": before.new(outcomes)}
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / INDEX, render_index(rows, against))
    return folder / INDEX


CONTENT = "content.json"  # the file with the content of a study


def redraw_suite(folder: Path) -> list[Path]:
    """Write all reports below `folder` again, each from its result.json, and the index page, which
    lists studies too, but neither failed scenarios nor changes since an earlier run. Returns the
    folders in the order in which the audits began. Raises `InvalidInput`, OSError.
    """
    records = {path.parent: load(path.parent) for path in sorted(folder.rglob(RESULT))}
    if not records:
        raise InvalidInput(f"{folder} must hold reports of a run (NAME/{RESULT}), found none")
    audits: list[tuple[str, str, ScenarioOutcome]] = []
    for place, record in records.items():
        with reading(place):
            seconds = 0.0 if is_one_run(record) else float(record["timings"]["total_s"])
            verdict, reason = str(record["verdict"]), str(record["reason"])
        name = str(record.get("scenario") or place.name)
        done = ScenarioOutcome(name, place / RESULT, place, verdict, reason, seconds, record)
        audits.append((str(section(record, "timings").get("started") or ""), name, done))
    outcomes = [done for *_, done in sorted(audits, key=lambda audit: audit[:2])]
    places = [done.folder for done in outcomes]
    for place in places:
        with reading(place):
            dpaudit.report.write_report(place, records[place])
    for path in sorted(folder.rglob(CONTENT)):
        content = json.loads(path.read_text(encoding="utf-8"))
        with reading(path.parent):
            sentences = study_text(content["title"], content["source"], content["sentences"])
        study = ScenarioOutcome(path.parent.name, path, path.parent, STUDY, sentences, 0.0)
        outcomes.append(study)  # with 0 s, since its duration is not recorded
    write_index(folder, outcomes)
    return places


def study_text(title: str, source: str, sentences: Sequence[str]) -> str:
    return "\n".join([f"{title} ({source})", *(f"  - {sentence}" for sentence in sentences)])
