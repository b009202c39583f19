"""A finding in words: sentences made from its numbers, for the terminal and for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.report.text import number
from reports.make import page
from reports.make.findings.finding import CERTIFIED, HOLDS, TIGHT, WRONG, Evidence, Finding
from reports.make.findings.sweep import Sweep, of_finding

TOO_MUCH = 1e4  # the factor of a looser δ is not shown


@dataclass(frozen=True)
class Line:
    """One finding in words.

    shown : the evidence at each setting. swept : over the grid, "" where it has none. corrected :
    the corrected line, and whether it holds.
    """

    finding: Finding
    evidence: Evidence
    shown: tuple[str, ...]
    swept: str
    corrected: tuple[str, ...]

    @property
    def command(self) -> str:
        """What recomputes it."""
        return page.command("findings", self.finding.key)


def line(finding: Finding) -> Line:
    """Recompute a finding."""
    checks, over = finding.checks(), of_finding(finding)
    evidence = tuple(shown(finding, *one) for one in checks)
    return Line(finding, checks[0][1], evidence, swept(finding, over), corrected(finding))


def shown(finding: Finding, setting: Mapping[str, Any], evidence: Evidence) -> str:
    """At a setting: "q = 0.2, r = 1, ε = 0.1: δ printed 0.00206, exact 0.0321 (15.6 times)"."""
    return f"{finding.at(evidence, setting)}: {values(evidence)}"


def values(evidence: Evidence) -> str:
    """What is printed and what is so, with the factor between them: "δ printed …, exact …"."""
    sort = "at least" if evidence.kind == CERTIFIED else "exact"
    known = evidence.factor is not None and _meaningful(evidence)
    factor = f" ({number(evidence.factor, 3)} times)" if known else ""
    printed = "no value" if evidence.printed is None else written(evidence.printed)
    return f"{evidence.quantity} printed {printed}, {sort} {written(evidence.found)}{factor}"


def written(value: float | None) -> str:
    """Three digits, but a whole number up to 10⁷ in full."""
    whole = value is not None and abs(value) < 1e7 and value == round(value)
    return number(round(value), 3) if whole and value is not None else number(value, 3)


def _meaningful(evidence: Evidence) -> bool:
    """Whether the factor is shown: not of an equality, nor of a δ far below the printed one."""
    if evidence.verdict == TIGHT:
        return False
    return evidence.kind != HOLDS or evidence.quantity != "δ" or (evidence.factor or 0.0) < TOO_MUCH


def swept(finding: Finding, over: Sweep | None) -> str:
    """Over the grid: how often it fails and where most, or between which factors it is loose."""
    if over is None:
        return ""
    if not over.failed:
        return f"Holds at all {over.cases} settings swept ({ranges(finding)}){_looseness(over)}."
    at = (f"{finding.symbol(name)} = {number(over.worst[name], 3)}" for name in finding.grid)
    where = ", ".join(at)
    worst = f"worst at {where}: {values(over.evidence)}"
    return f"Fails at {over.failed} of {over.cases} settings swept ({ranges(finding)}); {worst}."


def _looseness(over: Sweep) -> str:
    low, high = over.evidence.factor, over.loosest
    of_delta_or_tight = over.evidence.quantity == "δ" or over.evidence.verdict == TIGHT
    if of_delta_or_tight or low is None or high is None:
        return ""
    ends = dict.fromkeys(number(end, 3) for end in (low, high))
    return f", {' to '.join(ends)} times what is needed"


def ranges(finding: Finding) -> str:
    """The ends of each value of its grid: q 0.02 to 0.8, ε 0.01 to 5."""
    return ", ".join(f"{finding.symbol(name)} {_range(one)}" for name, one in finding.grid.items())


def _range(values: Sequence[Any]) -> str:
    if isinstance(values[0], str):
        return " or ".join(values)
    return f"{number(min(values), 3)} to {number(max(values), 3)}"


def corrected(finding: Finding) -> tuple[str, ...]:
    """The corrected form, and whether it holds where it has a test; () if none is needed."""
    if not finding.corrected:
        return ()
    evidence, over = finding.check_fixed(), of_finding(finding, corrected=True)
    if evidence is None:
        return (finding.corrected,)
    where = "at the same setting" if over is None else f"at all {over.cases} settings swept"
    fails = evidence.violated or (over is not None and over.failed)
    return finding.corrected, f"{'Does NOT hold' if fails else 'Holds'} {where}."


def title(one: Line) -> str:
    """Paper and place: Paper 1, lemma 10."""
    return f"Paper {one.finding.paper}, {one.finding.place}"


def sentences(found: Sequence[Line]) -> list[str]:
    """How many fail and how, counted from the lines."""
    failing = [one for one in found if one.evidence.violated]
    privacy = sum(one.evidence.verdict == WRONG for one in failing)
    fixed = sum(one.finding.fixed is not None for one in failing)
    return [
        f"{len(found)} printed lines are recomputed here. {len(failing)} do not hold as printed: "
        f"{privacy} promise more privacy than there is, the other {len(failing) - privacy} have no "
        "value where they are stated, or are slips in a formula, a bound or a number.",
        f"For {fixed} of the {len(failing)} the corrected line was put to the same test, at the "
        "same setting and over the same range.",
        f"{len(found) - len(failing)} others hold; the last table says how much they ask for "
        "beyond what is needed.",
    ]
