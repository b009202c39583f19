"""A suite as a table of Markdown, for the page of a CI job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpaudit._core.shown.printable import printable
from dpaudit.run.suite.suite import ScenarioOutcome
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import NONE, number

MARKUP = re.compile(r"[\\`*_\[\]|~#!]")
HEADS = ("Scenario", "Verdict", "Claimed", "Certified at least", "What was found", "Time")


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
    found = map(_plain, (claimed, certified, one.reason, f"{number(one.seconds, 3)} s"))
    return [_plain(one.name), verdict, *found]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _plain(cell: str) -> str:
    """Text in a cell: what would end it, or begin markup, a link or a mention, is escaped."""
    text = MARKUP.sub(r"\\\g<0>", " ".join(printable(cell).split()))
    return text.replace("<", "&lt;").replace("@", "&#64;").replace("://", ":&#47;&#47;")
