"""What is said by hand of an audited package: its claims, and why a claim is violated."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.errors import DpauditError
from dpaudit.run.scenario.files import File, audits_in

FOLDER = Path("reports") / "libraries"
EMBARGO = Path("reports") / "embargo"  # what no maker was told of; no release has this folder
SCENARIOS = Path("scenarios") / "libraries"
ENVIRONMENTS = Path(".environments")
# sorts of findings, the gravest first, with what they mean; the first two are violations
KINDS = {
    "privacy": "the claim is false as it is stated",
    "floating point": "the noise is right in real numbers, and its floating-point numbers leak",
    "side output": "the answer is private, and what comes with it is not, without a warning",
    "range": "the setting is beyond what the claim is proved or meant for; nothing refuses it",
    "documentation": "a parameter or a sentence means something else than it says",
    "neighbours": "the claim names no neighbouring relation, and holds under one of the two alone",
}
VIOLATIONS = ("privacy", "floating point")


def interpreter(environment: str) -> Path:
    """The Python of an environment of packages. Raises `DpauditError` where it is missing."""
    made = ENVIRONMENTS / environment
    python = made / "bin" / "python"
    if not python.exists():
        again = f"python {SCENARIOS / 'environments.py'} {environment}"
        raise DpauditError(f"there is no {made}: make it with `{again}`")
    return python.absolute()


@dataclass(frozen=True)
class Stated:
    """One audited call. name : what is audited. states : its claim, quoted. neighbours : of it."""

    name: str
    states: str
    neighbours: str


@dataclass(frozen=True)
class Finding:
    """What an audit found, with the line at fault.

    kind : of `KINDS`. line, code : at fault. reason, fix, confirmed : sentences. also : other
    scenarios that show it. known : addresses where others have reported it. told : where we have,
    at `date`, with the maker's `answer`. fixed : the release that mends it. row : that was put in,
    where a search chose it. event : for the script to the maker, a set of outputs as an expression
    of draws x (n, k), where no set of one number shows it.
    """

    kind: str
    line: str
    code: str
    reason: str
    fix: str
    confirmed: str
    also: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    told: str = ""
    date: str = ""
    answer: str = ""
    fixed: str = ""
    row: tuple[float, ...] = ()
    event: str = ""

    @property
    def status(self) -> str:
        """Who knows of it, and what came of that."""
        said = [f"Reported by others: {', '.join(self.known)}."] if self.known else []
        told = (
            f"We told the maker on {self.date}: {self.told}. Answer: {self.answer or 'none yet'}."
        )
        said.append(told if self.told else "We have told nobody.")
        return " ".join([*said, f"Fixed in: {self.fixed or 'not known'}."])


@dataclass(frozen=True)
class Package:
    """A package with what it claims. mechanisms, findings : by the name of a scenario.

    warning : what it says itself of its use, quoted. embargo : scenarios whose findings are not
    public, and `private`, what else is to be said of them.
    """

    package: str
    version: str
    environment: str
    documentation: str
    neighbours: str
    mechanisms: Mapping[str, Stated]
    findings: Mapping[str, Finding]
    embargo: frozenset[str]
    note: str = ""
    warning: str = ""
    private: str = ""

    @property
    def scenarios(self) -> Path:
        """The file of its scenarios, an [[audit]] each, beside which their code and data are."""
        name = self.package.lower()
        return SCENARIOS / name / f"{name}.toml"

    def audits(self) -> dict[str, File]:
        """Its scenarios by name. Raises `ScenarioError` where a file cannot be read."""
        hidden = self.scenarios.with_stem(f"{self.scenarios.stem}-embargo")
        paths = [self.scenarios, *([hidden] if self.embargo else [])]
        return {str(file.content["name"]): file for path in paths for file in audits_in(path)}

    @classmethod
    def read(cls, path: Path) -> Package:
        """From a file and the one of its name in `EMBARGO`. Raises `DpauditError` that names it."""
        try:
            content, hidden = _content(path), _content(EMBARGO / path.name)
            both = {
                part: {**content.get(part, {}), **hidden.get(part, {})}
                for part in ("mechanisms", "findings")
            }
            findings = _tables(Finding, both["findings"])
            also = {other: one for one in findings.values() for other in one.also}
            return cls(
                **{
                    **content,
                    "mechanisms": _tables(Stated, both["mechanisms"]),
                    "findings": {**findings, **also},
                    "embargo": frozenset(hidden.get("mechanisms", {})),
                    "private": hidden.get("note", ""),
                }
            ).checked()
        except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
            raise DpauditError(f"{path}: {error}") from None

    def checked(self) -> Package:
        """Itself. Raises ValueError where scenarios and words do not belong together, and where a
        finding is public of which nobody has been told."""
        audits = set(self.audits())
        for what, names in (("scenario", audits), ("finding", set(self.findings))):
            if odd := sorted(names - set(self.mechanisms)):
                raise ValueError(f"{what} without a table [mechanisms.{odd[0]}]")
        if odd := sorted(set(self.mechanisms) - audits):
            raise ValueError(f"no scenario {self.scenarios}:{odd[0]}")
        if odd := sorted({one.kind for one in self.findings.values()} - set(KINDS)):
            raise ValueError(f"kind = {odd[0]!r} is none of {', '.join(KINDS)}")
        for name in sorted(set(self.findings) - self.embargo):
            one = self.findings[name]
            if one.kind != "neighbours" and not (one.known or one.told):
                raise ValueError(
                    f"[findings.{name}] is public and nobody was told: say where it is `known` or "
                    f"whom we `told`, or move it to {EMBARGO}"
                )
        return self


def _content(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _tables(of: type, content: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        name: of(
            **{key: tuple(one) if isinstance(one, list) else one for key, one in table.items()}
        )
        for name, table in content.items()
    }


def packages(names: list[str], folder: Path = FOLDER) -> list[Package]:
    """The packages of these names, or all in the order of their names. Raises `DpauditError`."""
    known = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if unknown := [name for name in names if name not in known]:
        raise DpauditError(f"no package {unknown[0]!r}; there are {', '.join(known)}")
    return [Package.read(known[name]) for name in names or known]
