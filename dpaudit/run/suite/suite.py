"""Several scenarios as one suite: the outcome of each, and the index page."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit._core.files import replace_file
from dpaudit._core.result_file import RESULT, load, reading
from dpaudit._core.shown.raised import Raised
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.auditing.result import AuditResult
from dpaudit.errors import DpauditError, InvalidInput, MechanismError
from dpaudit.one_run.result import OneRunResult
from dpaudit.report import render_index
from dpaudit.report.comparison import Moved, moved

INDEX = "index.html"
ERROR, STUDY = "error", "study"
Done = AuditResult | OneRunResult | str  # of an audit its result, of a study its sentences


@dataclass(frozen=True, eq=False)
class ScenarioOutcome:
    """What came of one scenario.

    kind : a verdict, "study" or "error". reason : one sentence, or the error's lines.
    folder : of its report. seconds : wall-clock time.
    record : the content of result.json, None for a study or an error.
    error : what was raised, else None.
    """

    name: str
    path: Path
    folder: Path
    kind: str
    reason: str
    seconds: float
    record: dict[str, Any] | None = None
    error: Exception | None = None

    __repr__ = short_repr


def outcome(name: str, path: Path, folder: Path, work: Callable[[], Done]) -> ScenarioOutcome:
    """Do the `work` of one scenario and say what came of it. An error is an outcome too.

    work : writes the report into `folder`; returns the result of an audit, or a study's sentences.
    SystemExit, which code that a scenario names may raise, becomes a `MechanismError`, since its
    status could be taken for a verdict. KeyboardInterrupt is not caught.
    """
    begin = time.perf_counter()
    try:
        done = work()
    except SystemExit as stop:
        error = MechanismError(f"code of the scenario called sys.exit({stop.code!r})")
        return _failed(name, path, folder, error, begin)
    except Exception as error:
        return _failed(name, path, folder, error, begin)
    seconds = time.perf_counter() - begin
    if isinstance(done, str):
        return ScenarioOutcome(name, path, folder, STUDY, done, seconds)
    return ScenarioOutcome(name, path, folder, done.verdict, done.reason, seconds, done.to_dict())


def _failed(name: str, path: Path, folder: Path, error: Exception, begin: float) -> ScenarioOutcome:
    seconds = time.perf_counter() - begin
    return ScenarioOutcome(name, path, folder, ERROR, said_by(error), seconds, error=error)


def said_by(error: Exception) -> str:
    """An error in a line or more. Unexpected errors are shown with their type, without data."""
    if isinstance(error, DpauditError):
        return str(error)
    if isinstance(error, OSError):
        text = error.strerror or str(error)
        return f"{text}: {error.filename}" if error.filename else text
    return Raised.of(error).line.rstrip(": ")


@dataclass(frozen=True, eq=False)
class Before:
    """The results of an earlier run by scenario, read before this one writes. folder : as given."""

    folder: Path
    records: dict[str, dict[str, Any]]

    __repr__ = short_repr

    @classmethod
    def read(cls, folder: Path, names: Sequence[str]) -> Before:
        """From FOLDER/NAME/result.json, or FOLDER/result.json where one scenario runs.

        Raises `InvalidInput` for a folder with no result at all, or one that cannot be read.
        """
        places = {name: folder / name for name in names if (folder / name / RESULT).exists()}
        if not places and len(names) == 1 and (folder / RESULT).exists():
            places = {names[0]: folder}
        if not places:
            raise InvalidInput(
                f"against: {folder} must hold results of an earlier run (NAME/{RESULT}), found none"
            )
        return cls(folder, {name: _comparable(place) for name, place in places.items()})

    def moves(self, outcomes: Sequence[ScenarioOutcome]) -> dict[str, list[Moved]]:
        """What has changed, by scenario. Scenarios that are new are left out."""
        return {
            one.name: moved(self.records[one.name], one.record)
            for one in outcomes
            if one.record is not None and one.name in self.records
        }

    def new(self, outcomes: Sequence[ScenarioOutcome]) -> list[str]:
        """Audits that the earlier run did not have."""
        return [
            one.name for one in outcomes if one.record is not None and one.name not in self.records
        ]


def _comparable(folder: Path) -> dict[str, Any]:
    """The result in a folder, once it is seen to be complete. Raises `InvalidInput`."""
    record = load(folder)
    with reading(folder):
        moved(record, record)
    return record


def write_index(
    folder: Path, outcomes: Sequence[ScenarioOutcome], before: Before | None = None
) -> Path:
    """Write index.html, with a link to each report, into `folder`; returns its path."""
    rows = [
        {
            "name": one.name,
            "kind": one.kind,
            "reason": one.reason,
            "seconds": one.seconds,
            "record": one.record,
            "link": None
            if one.kind == ERROR
            else (one.folder / "report.html").relative_to(folder).parts,
        }
        for one in outcomes
    ]
    against = None
    if before is not None:
        moves = {
            name: [str(move) for move in found] for name, found in before.moves(outcomes).items()
        }
        against = {"folder": str(before.folder), "moves": moves, "new": before.new(outcomes)}
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / INDEX, render_index(rows, against))
    return folder / INDEX
