"""The findings as rows: each printed formula against the exact curve, failing or holding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from reports.make.findings import FINDINGS, Evidence, Finding
from reports.make.findings.finding import CERTIFIED, LOOSE, UNDEFINED, WRONG

# privacy, or a parameter that keeps it; other findings are not about formulas
QUANTITIES = ("δ", "ε", "σ/Δ", "w/B", "w/C", "k")


@dataclass(frozen=True)
class Row:
    """One line: `quantity` as printed and as it is.

    factor : ≥ 1, by how many times it fails (in δ) or is loose.
    """

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
    rows = [row(one, evidence, setting) for one, setting, evidence in _checked() if shown(evidence)]
    order = (WRONG, UNDEFINED, LOOSE)
    return [asdict(one) for one in sorted(rows, key=lambda one: order.index(one.verdict))]


@lru_cache(maxsize=1)
def _checked() -> list[tuple[Finding, Mapping[str, Any], Evidence]]:
    """Every finding at each of its settings; some take draws."""
    return [
        (one, setting, evidence) for one in FINDINGS.values() for setting, evidence in one.checks()
    ]


def shown(evidence: Evidence) -> bool:
    """Whether there is an exact value of a quantity that the page is about."""
    return evidence.quantity in QUANTITIES and evidence.kind != CERTIFIED


def row(finding: Finding, evidence: Evidence, setting: Mapping[str, Any] | None = None) -> Row:
    """Of a finding at one of its settings, the first if none is named."""
    values = evidence.printed, evidence.found, evidence.factor
    place = finding.place, f"paper {finding.paper}", finding.at(evidence, setting)
    return Row(*place, evidence.quantity, *values, evidence.verdict)
