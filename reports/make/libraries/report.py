"""The audits of released packages as one page, in Markdown and HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit._core.text import percent
from dpaudit.auditing.settings import LEVEL
from dpaudit.errors import DpauditError
from dpaudit.verdict.numbers import NONE, count, number
from reports.make import page
from reports.make.libraries.facts import KINDS, Finding, Package, Stated
from reports.make.libraries.outcome import ERROR, Outcome, read

COUNTS = ("Package", "Version", "Mechanisms", "Audits", "Violated", "Not violated", "Undecided")
HEADS = (
    "Package",
    "Mechanism",
    "Claim",
    "Neighbours",
    "Verdict",
    "Certified at least",
    "Excess in δ that would be found",
    "Draws a side",
    "CPU s",
    "Scenario",
)


@dataclass(frozen=True)
class Audit:
    """A scenario with what is said of it and what came of it."""

    package: Package
    name: str
    outcome: Outcome

    @property
    def stated(self) -> Stated:
        """What the package says."""
        return self.package.mechanisms[self.name]

    @property
    def finding(self) -> Finding | None:
        """Why it is violated, where that was confirmed."""
        return self.package.findings.get(self.name) if self.confirmed else None

    @property
    def confirmed(self) -> bool:
        """Whether a second audit said the same."""
        return self.outcome.violated and self.outcome.confirmed is not None

    @property
    def level(self) -> float:
        """The confidence of the first audit, as the scenario has it."""
        content = self.package.audits()[self.name].content
        return float(content.get("audit", {}).get("level", LEVEL))

    @property
    def verdict(self) -> str:
        """As the table has it."""
        if self.finding is not None:
            return f"violated: {self.finding.kind}"
        return "violated once, not confirmed" if self.outcome.violated else self.outcome.verdict

    @property
    def gravity(self) -> tuple[Any, ...]:
        """Sorts the gravest first: by kind, then by how far ε exceeds its claim."""
        if self.finding is None:
            undecided = self.outcome.verdict == "not violated"
            return len(KINDS) + undecided, 0.0, self.package.package.lower(), self.name
        claimed, certified = float(self.outcome.claimed or 0), float(self.outcome.certified or 0)
        excess = certified / claimed if claimed else certified
        return list(KINDS).index(self.finding.kind), -excess, self.package.package, self.name

    def cells(self) -> list[str]:
        """A row of the table."""
        one = self.outcome
        searched = f" (+{count(one.searched)})" if one.searched else ""
        return [
            self.package.package,
            self.stated.name,
            one.claim or NONE,
            one.neighbour or NONE,
            self.verdict,
            self._certified(),
            NONE if one.excess is None else f"{number(one.excess, 2)} in δ({number(one.at)})",
            count(one.draws) + searched if one.draws else NONE,
            number(one.cpu, 3) if one.cpu else NONE,
            self.name,
        ]

    def _certified(self) -> str:
        one = self.outcome
        if one.certified is None:
            return NONE
        return f"{one.symbol} = {number(one.certified, 3, down=True)}"


def audits(package: Package) -> list[Audit]:
    """The audits of a package that were made.

    Raises `DpauditError` where a confirmed violation has no finding, or a finding no violation.
    """
    made = [Audit(package, name, one) for name, one in read(package).items()]
    confirmed = {one.name for one in made if one.confirmed}
    audited = {one.name for one in made}
    if open_ := sorted(confirmed ^ (set(package.findings) & audited)):
        raise DpauditError(
            f"{package.package}: {open_[0]} must be confirmed as violated and have a finding, or "
            "neither of the two"
        )
    return made


def write(packages: Sequence[Package]) -> list[Path]:
    """Write libraries.md and libraries.html; returns the paths. Raises as `audits`."""
    made = sorted(
        (one for package in packages for one in audits(package)), key=lambda one: one.gravity
    )
    content = {
        "sentences": sentences(made),
        "kinds": KINDS,
        "counts": list(_counts(packages, made)),
        "rows": [one.cells() for one in made],
        "findings": findings(made),
        "packages": packages,
    }
    heads = {"count_heads": COUNTS, "heads": HEADS}
    paths = [page.REPORTS / "libraries.md", page.REPORTS / "libraries.html"]
    for path in paths:
        page.write(path, page.render(path.name, **content, **heads))
    return paths


def mechanisms(made: Iterable[Audit]) -> set[tuple[str, str]]:
    """Different ones, by package and name; what could not be run is not one."""
    return {(a.package.package, a.stated.name) for a in made if a.outcome.verdict != ERROR}


def sentences(made: Sequence[Audit]) -> list[str]:
    """What is at the top."""
    packages = {one.package.package for one in made}
    found = [one for one in made if one.finding]
    kinds = Counter(one.finding.kind for one in found if one.finding)
    leaky = {one.package.package for one in found}
    counted = (len(packages), "package"), (len(mechanisms(made)), "mechanism"), (len(made), "audit")
    every = ", ".join(_many(*one) for one in counted)
    if not found:
        return [f"{every}. No claim was found violated."]
    return [
        f"{every}.",
        f"{_many(len(found), 'audit')} of {_many(len(mechanisms(found)), 'mechanism')} in "
        f"{_many(len(leaky), 'package')} found the claim violated, each one twice.",
        *(f"{kinds[kind]} × {kind}: {text}." for kind, text in KINDS.items() if kinds[kind]),
    ]


def _many(number_: int, noun: str) -> str:
    """ "1 package", "2 packages"."""
    return f"{count(number_)} {noun}{'' if number_ == 1 else 's'}"


def findings(made: Sequence[Audit]) -> list[dict[str, Any]]:
    """A paragraph for each line at fault, with all audits that show it, the gravest first."""
    together: dict[tuple[str, str], list[Audit]] = {}
    for one in made:
        if one.finding:
            together.setdefault((one.package.package, one.finding.line), []).append(one)
    return [_paragraph(group) for group in together.values()]


def _paragraph(group: Sequence[Audit]) -> dict[str, Any]:
    worst = group[0]
    assert worst.finding is not None
    names = list(dict.fromkeys(one.stated.name for one in group))
    return {
        "title": f"{worst.package.package} {worst.package.version}: {', '.join(names)}",
        "finding": worst.finding,
        "stated": worst.stated,
        "shown": [_shown(one) for one in group],
        "command": f"dpaudit run {worst.name}",
    }


def _shown(one: Audit) -> str:
    """What an audit showed, in a sentence."""
    out = one.outcome
    at = "" if out.delta is None else f" at δ = {number(out.delta)}"
    return (
        f"{one.stated.name}, {out.neighbour}: {out.claim} claimed; {out.symbol} ≥ "
        f"{number(out.certified, 3, down=True)}{at} certified at {percent(one.level)} from "
        f"{count(out.draws)} "
        f"draws a side, and ≥ {number(out.confirmed, 3, down=True)} at 99.9999 % with another seed "
        f"({one.name})."
    )


def _counts(packages: Sequence[Package], made: Sequence[Audit]) -> Iterable[list[str]]:
    for package in packages:
        own = [one for one in made if one.package is package]
        if own:
            verdicts = Counter(one.outcome.verdict if not one.finding else "found" for one in own)
            sound = verdicts["not violated"]
            numbers = (len(mechanisms(own)), len(own), verdicts["found"], sound)
            undecided = len(own) - verdicts["found"] - sound
            yield [package.package, package.version, *map(str, (*numbers, undecided))]
