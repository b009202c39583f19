"""The command `dpaudit report`: write reports again from their results."""

from __future__ import annotations

from pathlib import Path

import dpaudit.report
from dpaudit._core.result_file import RESULT, load, reading
from dpaudit.cli import running
from dpaudit.cli.console import console
from dpaudit.errors import InvalidInput
from dpaudit.report.tables import values_table
from dpaudit.run.suite.redraw import redraw_suite
from dpaudit.run.suite.suite import INDEX


def report(folder: Path, show_data: bool = False) -> int:
    """Write the report in `folder` again, or all reports of a suite; returns 0.

    show_data : whether to refuse a result without values of the data, since none can be shown.
    Raises `InvalidInput`, for a folder without a result too.
    """
    if not (folder / RESULT).exists() and any(folder.rglob(RESULT)):
        return _suite(folder, show_data)
    if show_data:
        _check_values(folder)
    record = load(folder)
    with reading(folder):
        dpaudit.report.write_report(folder, record)
        running.verdict(folder)
    return 0


def _suite(folder: Path, show_data: bool) -> int:
    """A line for each report, then the index page."""
    for path in sorted(folder.rglob(RESULT)) if show_data else ():
        _check_values(path.parent)
    for one in redraw_suite(folder):
        running.say_verdict(load(one), one, before=f"{one.relative_to(folder)}: ")
    console().tell(index=str(folder / INDEX))
    console().answer(f"Index: {folder / INDEX}")
    return 0


def _check_values(folder: Path) -> None:
    record = load(folder)
    with reading(folder):
        shown = values_table(record) is not None
    if not shown:
        raise InvalidInput(
            f"{folder / RESULT} holds no values of the data, so none can be shown: "
            "run the audit again with --show-data"
        )
