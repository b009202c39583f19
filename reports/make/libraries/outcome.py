"""What came of the audit of one call: what the page says, and nothing of the data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reports.make import page
from reports.make.libraries.facts import EMBARGO, FOLDER, Package

ERROR = "error"


@dataclass(frozen=True)
class Outcome:
    """One scenario, audited.

    inputs : hash of all that determines it. verdict : or "error". claim : as text. symbol :
    of the parameter that is certified. claimed, certified : its values, at the claim's own delta.
    neighbour : that shows it. draws : a side, and of the search in all. cpu : seconds.
    excess, at : in δ(at) that would have been found with probability 0.8. confirmed : what the
    second audit of a violation certified; None where it confirmed nothing. reason : of an error.
    """

    inputs: str
    verdict: str
    claim: str = ""
    symbol: str = "ε"
    delta: float | None = None
    claimed: float | None = None
    certified: float | None = None
    neighbour: str = ""
    relation: str = ""
    draws: int = 0
    searched: int = 0
    cpu: float = 0.0
    excess: float | None = None
    at: float | None = None
    confirmed: float | None = None
    reason: str = ""

    @classmethod
    def of(cls, inputs: str, record: Mapping[str, Any], cpu: float) -> Outcome:
        """From the content of result.json."""
        headline, detectable = record["headline"] or {}, record["detectable"] or {}
        return cls(
            inputs,
            record["verdict"],
            record["claim"]["text"],
            headline.get("symbol", "ε"),
            headline.get("delta"),
            headline.get("claimed"),
            headline.get("certified"),
            record["neighbour"]["change"],
            record["neighbour"]["relation"],
            sum(record["samples"].values()),
            (record["search"] or {}).get("draws", 0),
            round(cpu, 1),
            detectable.get("excess"),
            detectable.get("epsilon"),
            reason=record["reason"],
        )

    @property
    def violated(self) -> bool:
        """Whether the first audit said so."""
        return self.verdict == "violated"


def read(package: Package) -> dict[str, Outcome]:
    """What is known of its scenarios, by name; those that are gone are left out."""
    content: dict[str, Any] = {}
    for path in paths(package):
        content |= json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: Outcome(**one) for name, one in content.items() if name in package.mechanisms}


def write(package: Package, outcomes: Mapping[str, Outcome]) -> None:
    """Into the two files of a package, in the order of their names."""
    public, hidden = paths(package)
    for path, names in ((public, outcomes.keys() - package.embargo), (hidden, package.embargo)):
        content = {name: asdict(outcomes[name]) for name in sorted(names & outcomes.keys())}
        if content:
            page.write(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def paths(package: Package) -> tuple[Path, Path]:
    """The files of a package's outcomes: those that are public, and the others."""
    name = f"{package.package.lower()}.json"
    return FOLDER / name, EMBARGO / name


def left(hashes: Mapping[str, str], known: Mapping[str, Outcome]) -> list[str]:
    """The scenarios that were not audited as they are now."""
    return [name for name, now in hashes.items() if name not in known or known[name].inputs != now]
