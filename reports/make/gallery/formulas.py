"""Statements as rows: each printed formula against the exact curve, failing or holding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from reports.make.findings import STATEMENTS, Evidence
from reports.make.findings.evidence import CERTIFIED, LOOSE, UNDEFINED, WRONG
from reports.make.findings.outcome import cases
from reports.make.findings.words import setting

# privacy, or a parameter that keeps it; other statements are not about formulas
QUANTITIES = ("δ", "ε", "σ/Δ", "w/B", "w/C", "k")
ORDER = (WRONG, UNDEFINED, LOOSE)


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
    rows = [one for one, evidence in checked() if shown(evidence)]
    return [asdict(one) for one in sorted(rows, key=lambda one: ORDER.index(one.verdict))]


@lru_cache(maxsize=1)
def checked() -> list[tuple[Row, Evidence]]:
    """Every statement at each setting that it names; some take draws."""
    found = [
        (one.place, one.paper, case.setting, case.evidence)
        for one in STATEMENTS.values()
        for case in cases(one.test)
    ]
    return [(row(*one), one[-1]) for one in found]


def shown(evidence: Evidence) -> bool:
    """Whether there is an exact value of a quantity that the page is about."""
    known = evidence.kind != CERTIFIED and evidence.verdict in ORDER
    return known and evidence.quantity in QUANTITIES


def row(place: str, paper: int, at: Mapping[str, Any], evidence: Evidence) -> Row:
    """Of a statement at one of its settings."""
    where = ", ".join(filter(None, (setting(at, paper), evidence.at)))
    values = evidence.printed, evidence.found, evidence.factor
    return Row(place, f"paper {paper}", where, evidence.quantity, *values, evidence.verdict)
