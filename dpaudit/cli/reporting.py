"""The command `dpaudit report`: write reports again from their results."""

from __future__ import annotations

from pathlib import Path

from dpaudit.auditing.record import RESULT, load, reading
from dpaudit.cli import running
from dpaudit.report import write_report


def report(folder: Path, show_data: bool = False) -> int:
    """Write the report in `folder` again; returns 0. Raises `InvalidInput` where it has no result."""
    record = load(folder)
    with reading(folder):
        write_report(folder, record)
        running.verdict(folder)
    return 0
