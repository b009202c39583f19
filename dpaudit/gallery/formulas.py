"""Each printed formula against the exact curve, at one setting where it fails or one where it holds: the findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dpaudit.findings import FINDINGS, Evidence, Finding
from dpaudit.findings.finding import CERTIFIED, LOOSE, UNDEFINED, WRONG

QUANTITIES = ("δ", "ε", "σ/Δ", "w/B", "k")  # privacy, or a dial that keeps it; other findings are not about formulas


@dataclass(frozen=True)
class Row:
    """One line: `quantity` printed and exact; the factor ≥ 1 by which it fails (in δ) or is loose."""

    formula: str
    source: str
    setting: str
    quantity: str
    printed: float | None
    exact: float
    factor: float | None
    verdict: str


def numbers() -> list[dict[str, Any]]:
    """All rows, those that fail first."""
    checked = [(one, one.check()) for one in FINDINGS.values()]
    rows = [row(one, evidence) for one, evidence in checked if shown(evidence)]
    order = (WRONG, UNDEFINED, LOOSE)
    return [asdict(one) for one in sorted(rows, key=lambda one: order.index(one.verdict))]


def shown(evidence: Evidence) -> bool:
    """Whether there is an exact value of a quantity that the page is about."""
    return evidence.quantity in QUANTITIES and evidence.kind != CERTIFIED


def row(finding: Finding, evidence: Evidence) -> Row:
    setting, source = finding.at(evidence), f"paper {finding.paper}"
    values = evidence.printed, evidence.found, evidence.factor
    return Row(finding.place, source, setting, evidence.quantity, *values, evidence.verdict)
