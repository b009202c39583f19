"""A suite as SARIF 2.1.0, which code scanning reads: a result for each scenario that is not green.

"violated" and an error have the level "error", "inconclusive" has "warning". The location is the
scenario's file, relative to the current folder where it is in there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpaudit import __version__
from dpaudit._core.shown.printable import encodable, printable
from dpaudit.run.scenario.text import as_toml
from dpaudit.run.suite.suite import ERROR, ScenarioOutcome

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULES = {
    "violated": ("error", "The mechanism leaks more than its privacy claim allows."),
    "inconclusive": ("warning", "The audit could not show whether the privacy claim holds."),
    ERROR: ("error", "The audit could not run."),
}


def sarif(outcomes: Sequence[ScenarioOutcome]) -> dict[str, Any]:
    """The content of the file."""
    rules = list(map(_rule, RULES))
    driver = {"name": "dpaudit", "version": __version__, **_homepage(), "rules": rules}
    results = [_result(one) for one in outcomes if one.kind in RULES]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _homepage() -> dict[str, str]:
    """Of the installed package; nothing where the modules were copied without its metadata."""
    try:
        urls = metadata("dpaudit").get_all("Project-URL") or []
    except PackageNotFoundError:
        return {}
    named = dict(url.split(", ", 1) for url in urls)
    return {"informationUri": named["Homepage"]} if "Homepage" in named else {}


def _rule(name: str) -> dict[str, Any]:
    level, text = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": level},
    }


def _result(one: ScenarioOutcome) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": _uri(one.path)}, **_region(one)}
    return {
        "ruleId": one.kind,
        "level": RULES[one.kind][0],
        "message": {"text": encodable(printable(f"{one.name}: {one.reason}"))},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"scenario": _fingerprint(one.name)},
    }


def _region(one: ScenarioOutcome) -> dict[str, Any]:
    """The line with the name of an audit, in a file of several; nothing where there is none."""
    try:
        lines = one.path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    name = as_toml({"name": one.name}).strip()
    return {"region": {"startLine": lines.index(name) + 1}} if name in lines else {}


def _uri(path: Path) -> str:
    """As the scenario was given, or from the current folder; a URI reference."""
    whole, here = path.absolute(), Path.cwd()
    if not whole.is_relative_to(here):
        return whole.as_uri()
    return quote(os.fsencode(whole.relative_to(here).as_posix()))


def _fingerprint(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
