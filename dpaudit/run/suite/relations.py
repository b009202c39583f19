"""One verdict from two audits, one for each relation of neighbours that a claim may be about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpaudit import report
from dpaudit._core.result_file import save
from dpaudit.auditing.clock import TIME
from dpaudit.auditing.result import AuditResult
from dpaudit.errors import DpauditError
from dpaudit.run.suite.suite import ScenarioOutcome
from dpaudit.verdict.relations import READINGS, of_both


def alone(result: AuditResult) -> AuditResult:
    """The result of one audit under a relation that the user did not name: a violation is
    "inconclusive", since the claim may be about another one. The reason says so already
    (`Search.notes`).
    """
    return replace(result, verdict="inconclusive") if result.verdict == "violated" else result


def together(done: Sequence[ScenarioOutcome]) -> tuple[list[ScenarioOutcome], str]:
    """The outcomes under both relations (`READINGS`, in their order) with their common verdict, and
    a sentence that explains it. Their reports are written again.

    A relation under which the mechanism cannot run is left out. If both fail, or one by an error
    that says nothing about the mechanism under this relation (too short a time, or no
    `DpauditError`), the outcomes are returned unchanged, with the sentence "".
    """
    named = dict(zip(READINGS, done, strict=True))
    records = {name: case.record for name, case in named.items() if case.record is not None}
    failed = {name: case for name, case in named.items() if case.error is not None}
    about_mechanism = all(
        isinstance(case.error, DpauditError) and getattr(case.error, "argument", None) != TIME
        for case in failed.values()
    )
    if not records or not about_mechanism:
        return list(done), ""
    verdict, text = of_both(records, {name: case.reason for name, case in failed.items()})
    judged = []
    for name, record in records.items():
        reason = " ".join([*text.split("\n"), record["reason"]])
        record = {**record, "verdict": verdict, "reason": reason}
        report.write_report(named[name].folder, record)
        save(record, named[name].folder)
        judged.append(replace(named[name], kind=verdict, reason=reason, record=record))
    return judged, text
