"""A finding as a reader sees it: sentences made from the numbers, the same for the terminal and for
the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.report.text import number
from reports.make.findings.finding import CERTIFIED, HOLDS, TIGHT, WRONG, Evidence, Finding
from reports.make.findings.sweep import Sweep, of_finding

COMMAND = "python -m reports.make.findings"
TOO_MUCH = 1e4  # looser δ than that say nothing more


@dataclass(frozen=True)
class Line:
    """One finding in words: evidence at each setting, over the range that was swept, and of the
    corrected form.
    """

    finding: Finding
    evidence: Evidence
    shown: tuple[str, ...]
    swept: str
    corrected: tuple[str, ...]

    @property
    def command(self) -> str:
        return f"{COMMAND} {self.finding.key}"


def line(finding: Finding) -> Line:
    """Recompute a finding."""
    checks, over = finding.checks(), of_finding(finding)
    told = tuple(shown(finding, *one) for one in checks)
    return Line(finding, checks[0][1], told, swept(finding, over), corrected(finding))


def shown(finding: Finding, setting: Mapping[str, Any], evidence: Evidence) -> str:
    """At a setting: "q = 0.2, r = 1, ε = 0.1: δ printed 0.00206, exact 0.0321 (15.6 times)"."""
    return f"{finding.at(evidence, setting)}: {values(evidence)}"


def values(evidence: Evidence) -> str:
    sort = "at least" if evidence.kind == CERTIFIED else "exact"
    factor = (
        "" if evidence.factor is None or not _telling(evidence) else f" ({_times(evidence.factor)})"
    )
    printed = "no value" if evidence.printed is None else written(evidence.printed)
    return f"{evidence.quantity} printed {printed}, {sort} {written(evidence.found)}{factor}"


def written(value: float | None) -> str:
    """Three digits, but a whole number up to 10⁷ in full."""
    whole = value is not None and abs(value) < 1e7 and value == round(value)
    return number(round(value), 3) if whole and value is not None else number(value, 3)


def _telling(evidence: Evidence) -> bool:
    """Neither equality nor a δ that is far below the printed one has a factor worth a number."""
    if evidence.verdict == TIGHT:
        return False
    return evidence.kind != HOLDS or evidence.quantity != "δ" or (evidence.factor or 0.0) < TOO_MUCH


def swept(finding: Finding, over: Sweep | None) -> str:
    """Over the grid: how often it fails and where most, or between which factors it is loose."""
    if over is None:
        return ""
    if not over.failed:
        return f"Holds at all {over.cases} settings swept ({ranges(finding)}){_looseness(over)}."
    where = ", ".join(
        f"{finding.symbol(name)} = {number(over.worst[name], 3)}" for name in finding.grid
    )
    worst = f"worst at {where}: {values(over.evidence)}"
    return f"Fails at {over.failed} of {over.cases} settings swept ({ranges(finding)}); {worst}."


def _looseness(over: Sweep) -> str:
    low, high = over.evidence.factor, over.loosest
    if (
        over.evidence.quantity == "δ"
        or over.evidence.verdict == TIGHT
        or low is None
        or high is None
    ):
        return ""
    ends = dict.fromkeys(number(end, 3) for end in (low, high))
    return f", {' to '.join(ends)} times what is needed"


def _times(factor: float) -> str:
    return f"{number(factor, 3)} times"


def ranges(finding: Finding) -> str:
    """The ends of each value of its grid: q 0.02 to 0.8, ε 0.01 to 5."""
    return ", ".join(f"{finding.symbol(name)} {_range(one)}" for name, one in finding.grid.items())


def _range(values: Sequence[Any]) -> str:
    if isinstance(values[0], str):
        return " or ".join(values)
    return f"{number(min(values), 3)} to {number(max(values), 3)}"


def corrected(finding: Finding) -> tuple[str, ...]:
    """The corrected form, and that its own test holds where it has one; nothing if nothing needs
    correcting.
    """
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
        f"{len(found)} printed lines are recomputed here. {len(failing)} do not hold as printed: {privacy} promise "
        f"more privacy than there is, the other {len(failing) - privacy} have no value where they are stated, or are "
        "slips in a formula, a bound or a number.",
        f"For {fixed} of the {len(failing)} the corrected line was put to the same test, at the same setting and over "
        "the same range.",
        f"{len(found) - len(failing)} others hold; the last table says how much they ask for beyond what is needed.",
    ]
