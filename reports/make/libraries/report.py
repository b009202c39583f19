"""The audits of released packages as one page, in Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit._core.text import percent
from dpaudit.auditing.settings import LEVEL
from dpaudit.errors import DpauditError
from dpaudit.verdict.numbers import NONE, count, number
from reports.make import page
from reports.make.libraries.facts import EMBARGO, KINDS, VIOLATIONS, Finding, Package, Stated
from reports.make.libraries.outcome import ERROR, Outcome, read

COUNTS = (
    "Package",
    "Version",
    "Mechanisms",
    "Audits",
    "Violated",
    "Other faults",
    "Not violated",
)
WEAK = 800  # draws a side, at most: an audit that shows gross faults alone
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
    def kind(self) -> str:
        """Of the finding, or ""."""
        return self.finding.kind if self.finding else ""

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
            return f"violated: {self.kind}" if self.kind in VIOLATIONS else self.kind
        twice = "not violated, by the second audit"
        return twice if self.outcome.violated else self.outcome.verdict

    @property
    def public(self) -> bool:
        """Whether what it says may be published."""
        return self.name not in self.package.embargo

    @property
    def gravity(self) -> tuple[Any, ...]:
        """Sorts the gravest first: by kind, then by how far ε exceeds its claim."""
        if self.finding is None:
            decided = self.verdict.startswith("not violated")
            return len(KINDS) + decided, 0.0, self.package.package.lower(), self.name
        claimed, certified = float(self.outcome.claimed or 0), float(self.outcome.certified or 0)
        excess = certified / claimed if claimed else certified
        return list(KINDS).index(self.finding.kind), -excess, self.package.package, self.name

    def cells(self) -> list[str]:
        """A row of the table."""
        one = self.outcome
        searched = f" (+{count(one.searched)})" if one.searched else ""
        weak = ", weak" if one.draws <= WEAK else ""
        return [
            self.package.package,
            self.stated.name,
            one.claim or NONE,
            one.neighbour or NONE,
            self.verdict,
            self._certified(),
            NONE if one.excess is None else f"{number(one.excess, 2)} in δ({number(one.at)})",
            count(one.draws) + searched + weak if one.draws else NONE,
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
    """Write libraries.md and .html, and what is not public to `EMBARGO`; returns the paths.

    Raises as `audits`.
    """
    made = sorted(
        (one for package in packages for one in audits(package)), key=lambda one: one.gravity
    )
    hidden = [one for one in made if not one.public]
    public = {
        **_content([one for one in made if one.public]),
        "sentences": sentences(made),
        "counts": list(_counts(packages, made)),
        "count_heads": COUNTS,
        "packages": packages,
    }
    pages = [(page.REPORTS / name, public) for name in ("libraries.md", "libraries.html")]
    if hidden:
        withheld = [package for package in packages if package.embargo]
        pages.append((EMBARGO / "libraries.md", {**_content(hidden), "packages": withheld}))
    for path, content in pages:
        template = path.name if path.parent != EMBARGO else "embargo.md"
        page.write(path, page.render(template, **content, heads=HEADS, kinds=KINDS, weak=WEAK))
    return [path for path, _ in pages]


def _content(made: Sequence[Audit]) -> dict[str, Any]:
    return {"rows": [one.cells() for one in made], "findings": findings(made)}


def mechanisms(made: Iterable[Audit]) -> set[tuple[str, str]]:
    """Different ones, by package and name; what could not be run is not one."""
    return {(a.package.package, a.stated.name) for a in made if a.outcome.verdict != ERROR}


def classes(made: Iterable[Audit]) -> dict[str, set[tuple[str, str]]]:
    """The mechanisms of each kind of finding; one is counted once, under the gravest."""
    counted: dict[tuple[str, str], str] = {}
    for one in sorted(made, key=lambda one: one.gravity):
        if one.kind:
            counted.setdefault((one.package.package, one.stated.name), one.kind)
    return {kind: {key for key, of in counted.items() if of == kind} for kind in KINDS}


def headline(made: Sequence[Audit]) -> str:
    """What the README says as well: "52 mechanisms of 20 packages break ε as stated; …"."""
    of = classes(made)
    broken = of["privacy"]
    packages = {package for package, _ in broken}
    return (
        f"{_many(len(broken), 'mechanism')} of {_many(len(packages), 'package')} break ε as stated;"
        f" {len(of['floating point'])} leak through floating point"
    )


def sentences(made: Sequence[Audit]) -> list[str]:
    """What is at the top."""
    counted = (
        (len({one.package.package for one in made}), "package"),
        (len(mechanisms(made)), "mechanism"),
        (len(made), "audit"),
    )
    every = ", ".join(_many(*one) for one in counted) + "."
    if not any(one.finding for one in made):
        return [f"{every} No claim was found violated."]
    of = classes(made)
    lines = [every, f"{headline(made)}. Each was certified twice, and the code was read."]
    for kind in KINDS:
        if of[kind] and kind not in (*VIOLATIONS, "neighbours"):
            lines.append(f"{_many(len(of[kind]), 'mechanism')}: {kind}. {_upper(KINDS[kind])}.")
    if silent := {one.package.package for one in made if one.kind == "neighbours"}:
        lines.append(
            f"{_many(len(silent), 'package')}: neighbours. Claims name no neighbouring relation, "
            "and hold under one of the two. That violates nothing, and counts once a package."
        )
    public, every_one = _faults(one for one in made if one.public), _faults(made)
    lines.append(
        f"{public} of {every_one} findings are public. The others wait until their makers have "
        "been told (SECURITY.md), and their audits are in no table here."
    )
    return lines


def _faults(made: Iterable[Audit]) -> int:
    return len({(one.package.package, one.finding) for one in made if one.finding})


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _many(number_: int, noun: str) -> str:
    """ "1 package", "2 packages"."""
    return f"{count(number_)} {noun}{'' if number_ == 1 else 's'}"


def findings(made: Sequence[Audit]) -> list[dict[str, Any]]:
    """A paragraph for each finding, with all audits that show it, the gravest first."""
    together: dict[tuple[str, Finding], list[Audit]] = {}
    for one in made:
        if one.finding:
            together.setdefault((one.package.package, one.finding), []).append(one)
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
        "warning": worst.package.warning,
        "name": worst.name,
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
    """A row for each package, of what is public."""
    for package in packages:
        own = [one for one in made if one.package is package and one.public]
        kinds = [one.kind for one in own if one.kind]
        violated = sum(kind in VIOLATIONS for kind in kinds)
        sound = sum(one.verdict.startswith("not violated") for one in own)
        numbers = (len(mechanisms(own)), len(own), violated, len(kinds) - violated, sound)
        yield [package.package, package.version, *map(str, numbers)]
