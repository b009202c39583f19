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
SCENARIOS = Path("scenarios") / "libraries"
ENVIRONMENTS = Path(".environments")
# sorts of findings, the gravest first, with what they mean
KINDS = {
    "privacy": "the claim is false as it is stated",
    "neighbours": "the claim names no neighbouring relation, and is false under one of the two",
    "documentation": "a parameter means something else than the documentation says",
    "floating point": "the noise is right in real numbers, and its floating-point numbers leak",
    "documented limitation": "the documentation says that the guarantee does not hold here",
}


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
    """Why a claim is violated.

    kind : of `KINDS`. line, code : at fault. reason, fix, confirmed : sentences. thread : where it
    has been reported, or "".
    """

    kind: str
    line: str
    code: str
    reason: str
    fix: str
    confirmed: str
    thread: str = ""


@dataclass(frozen=True)
class Package:
    """A package with what it claims. mechanisms, findings : by the name of a scenario."""

    package: str
    version: str
    environment: str
    documentation: str
    neighbours: str
    mechanisms: Mapping[str, Stated]
    findings: Mapping[str, Finding]
    note: str = ""

    @property
    def scenarios(self) -> Path:
        """The file of its scenarios, an [[audit]] each, beside which their code and data are."""
        name = self.package.lower()
        return SCENARIOS / name / f"{name}.toml"

    def audits(self) -> dict[str, File]:
        """Its scenarios by name. Raises `ScenarioError` where the file cannot be read."""
        return {str(file.content["name"]): file for file in audits_in(self.scenarios)}

    @classmethod
    def read(cls, path: Path) -> Package:
        """From a file. Raises `DpauditError` that names it."""
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
            return cls(
                **{
                    **content,
                    "mechanisms": _tables(Stated, content.get("mechanisms", {})),
                    "findings": _tables(Finding, content.get("findings", {})),
                }
            ).checked()
        except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
            raise DpauditError(f"{path}: {error}") from None

    def checked(self) -> Package:
        """Itself. Raises ValueError where scenarios and words do not belong together."""
        audits = set(self.audits())
        for what, names in (("scenario", audits), ("finding", set(self.findings))):
            if odd := sorted(names - set(self.mechanisms)):
                raise ValueError(f"{what} without a table [mechanisms.{odd[0]}]")
        if odd := sorted(set(self.mechanisms) - audits):
            raise ValueError(f"no scenario {self.scenarios}:{odd[0]}")
        if odd := sorted({one.kind for one in self.findings.values()} - set(KINDS)):
            raise ValueError(f"kind = {odd[0]!r} is none of {', '.join(KINDS)}")
        return self


def _tables(of: type, content: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {name: of(**table) for name, table in content.items()}


def packages(names: list[str], folder: Path = FOLDER) -> list[Package]:
    """The packages of these names, or all in the order of their names. Raises `DpauditError`."""
    known = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if unknown := [name for name in names if name not in known]:
        raise DpauditError(f"no package {unknown[0]!r}; there are {', '.join(known)}")
    return [Package.read(known[name]) for name in names or known]
