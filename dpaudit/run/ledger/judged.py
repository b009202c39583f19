"""The verdict on a run whose evidence was added to a ledger: the whole history decides."""

from __future__ import annotations

from dataclasses import replace

from dpaudit.auditing.result import AuditResult
from dpaudit.run.ledger.standing import Standing
from dpaudit.verdict.headline import Headline

ALONE = (
    "This run alone would be judged violated. Of a sound mechanism a single run is, too, from time "
    "to time, so the history decides: run it again."
)


def judged_by(standing: Standing, result: AuditResult, head: str = "") -> AuditResult:
    """The result with the ledger's verdict, said first. head : `Ledger.head`, for the record.

    A run that finds a violation which the history does not show yet is inconclusive. Otherwise the
    false alarms of single runs would add up.
    """
    verdict, said = result.verdict, [standing.text]
    if standing.violated:
        verdict = "violated"
    elif verdict == "violated":
        verdict = "inconclusive"
        said.append(ALONE)
    return replace(
        result,
        verdict=verdict,
        reason=" ".join([*said, f"This run alone: {result.reason}"]),
        headline=_exceeded(result.headline) if standing.violated else result.headline,
        ledger={**standing.to_dict(), "head": head},
    )


def _exceeded(head: Headline) -> Headline:
    """The claim is rejected: the true value is larger than the claimed one."""
    certified = head.certified if head.claimed is None else max(head.certified, head.claimed)
    return replace(head, exceeded=True, certified=certified)
