"""A suite's reports and its index page, drawn again from what the run has left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dpaudit.report
from dpaudit._core.result_file import RESULT, is_one_run, load, reading
from dpaudit.errors import InvalidInput
from dpaudit.run.suite.suite import STUDY, ScenarioOutcome, write_index
from dpaudit.verdict.record import section

CONTENT = "content.json"  # of a study, whose figures are not drawn again


def redraw_suite(folder: Path) -> list[Path]:
    """Draw all reports below `folder` again, each from its result.json, and then the index page.

    Returns the folders of the reports, in the order in which they were made. The page lists
    studies too; their reports stay as they are. It does not list scenarios that failed, which have
    left no result, nor changes since an earlier run. Nothing is written before every result is
    read. Raises `InvalidInput` where there is no result below `folder`, or one that cannot be read,
    and OSError.
    """
    found = {path.parent: load(path.parent) for path in sorted(folder.rglob(RESULT))}
    if not found:
        raise InvalidInput(f"{folder} must hold reports of a run (NAME/{RESULT}), found none")
    done = sorted((_audit(place, record) for place, record in found.items()), key=_started)
    for one in done:
        assert one.record is not None
        with reading(one.folder):
            dpaudit.report.write_report(one.folder, one.record)
    studies = [_study(path) for path in sorted(folder.rglob(CONTENT))]
    write_index(folder, [*done, *studies])
    return [one.folder for one in done]


def _audit(folder: Path, record: dict[str, Any]) -> ScenarioOutcome:
    """The outcome that the record tells of."""
    with reading(folder):
        seconds = 0.0 if is_one_run(record) else float(record["timings"]["total_s"])
        verdict, reason = str(record["verdict"]), str(record["reason"])
    name = str(record.get("scenario") or folder.name)
    return ScenarioOutcome(name, folder / RESULT, folder, verdict, reason, seconds, record)


def _started(done: ScenarioOutcome) -> tuple[str, str]:
    assert done.record is not None
    return str(section(done.record, "timings").get("started") or ""), done.name


def _study(path: Path) -> ScenarioOutcome:
    """A study, of which it is not known how long it took."""
    content = json.loads(path.read_text(encoding="utf-8"))
    with reading(path.parent):
        lines = [f"{content['title']} ({content['source']})"]
        lines += [f"  - {one}" for one in content["sentences"]]
    return ScenarioOutcome(path.parent.name, path, path.parent, STUDY, "\n".join(lines), 0.0)
