"""One verdict from two audits, one for each relation of neighbours that a claim may be about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpaudit import report
from dpaudit._core.result_file import save
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

    A relation under which the mechanism cannot run is left out. If both fail, or by an error that
    is no `DpauditError`, the outcomes are returned unchanged, with the sentence "".
    """
    named = dict(zip(READINGS, done, strict=True))
    records = {name: case.record for name, case in named.items() if case.record is not None}
    failed = {name: case for name, case in named.items() if case.error is not None}
    if not records or not all(isinstance(case.error, DpauditError) for case in failed.values()):
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
