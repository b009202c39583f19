"""A suite as a table of Markdown, for the page of a CI job."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpaudit._core.files import replace_file
from dpaudit._core.shown.printable import printable
from dpaudit.report.headline import Headline
from dpaudit.report.text import NONE, number
from dpaudit.run.suite.suite import ScenarioOutcome

HEADS = ("Scenario", "Verdict", "Claimed", "Certified at least", "What was found", "Time")


def write_job_summary(path: Path, outcomes: Sequence[ScenarioOutcome]) -> None:
    """Write the file."""
    replace_file(path, job_summary(outcomes))


def job_summary(outcomes: Sequence[ScenarioOutcome]) -> str:
    """A heading and a table, a row a scenario, those that are not green first."""
    rows = sorted(outcomes, key=lambda one: one.kind in ("not violated", "study"))
    lines = [_row(HEADS), _row(["---"] * len(HEADS)), *(_row(_cells(one)) for one in rows)]
    return "\n".join(["## Privacy audits", "", *lines, ""])


def _cells(one: ScenarioOutcome) -> list[str]:
    head = None if one.record is None else Headline.of(one.record["headline"])
    claimed = certified = NONE
    if head is not None:
        at = f" {head.at}" if head.at else ""
        claimed = f"{head.symbol} = {head.claimed_text}{at}"
        certified = f"{head.symbol} = {head.certified_text}"
    verdict = one.kind if one.kind in ("not violated", "study") else f"**{one.kind}**"
    return [one.name, verdict, claimed, certified, one.reason, f"{number(one.seconds, 3)} s"]


def _row(cells: Sequence[str]) -> str:
    """A line of the table: what would end a cell or begin markup is escaped."""
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(cell: str) -> str:
    text = " ".join(printable(cell).split()).replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("<", "&lt;")
