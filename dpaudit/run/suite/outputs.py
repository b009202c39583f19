"""The files for a CI server that a suite writes: JUnit XML, SARIF 2.1.0, a table of Markdown.

In JUnit "inconclusive" is skipped: CI servers neither count it as passed nor fail for it, but the
exit status 3 of `dpaudit run` stops a release. SARIF has a result for each scenario that needs
attention, at the line where the mechanism failed or that the hint of a replay names, else at that
of the scenario. Paths begin at the top of the git work tree, or at the current folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpaudit import __version__
from dpaudit._core.files import replace_file
from dpaudit._core.text import encodable, printable
from dpaudit.errors import InvalidInput, MechanismError
from dpaudit.report.facts import HINT, hint, properties
from dpaudit.run.scenario.files import as_toml
from dpaudit.run.suite.suite import ERROR, ScenarioOutcome
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import NONE, number
from dpaudit.verdict.record import section

GITHUB = "GITHUB_STEP_SUMMARY"  # names the file of the page of a GitHub job
GREEN = ("not violated", "study")  # kinds of outcomes that need no attention
TAGS = {"violated": "failure", "inconclusive": "skipped", ERROR: "error"}
FORBIDDEN = re.compile("[\ufffe\uffff]")  # in XML 1.0 (section 2.2), beside invisible characters
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULES = {  # level, what it means, what to do
    "violated": (
        "error",
        "The mechanism leaks more than its privacy claim allows.",
        "The certified lower bound on the privacy loss exceeds the claim. The report names the "
        "two databases and, where the noise depends on the data, the line of the noise.",
    ),
    "inconclusive": (
        "warning",
        "The audit could not show whether the privacy claim holds.",
        "The reason says what is missing. Often it is draws: `dpaudit plan` says how many.",
    ),
    ERROR: ("error", "The audit could not run.", "The message says which input is wrong, and how."),
}
MARKUP = re.compile(r"[\\`*_\[\]|~#!]")
HEADS = ("Scenario", "Verdict", "Claimed", "Certified at least", "What was found", "Time")


@dataclass(frozen=True)
class Outputs:
    """The path of each file for a CI server; None for a file that is not to be written."""

    junit: Path | None = None
    sarif: Path | None = None
    summary: Path | None = None

    def prepare(self) -> None:
        """Create the folders of the files, so that an error shows before hours of work."""
        for name, path in asdict(self).items():
            if path is None:
                continue
            if path.is_dir():
                raise InvalidInput(f"{name} must be a file to write, got {str(path)!r}, a folder")
            if path.exists() and not path.resolve().is_file():  # a rename would put a file there
                got = f"{str(path)!r}, a pipe or a device"
                raise InvalidInput(f"{name} must be a file to write, got {got}")
            path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, outcomes: Sequence[ScenarioOutcome]) -> None:
        """Write the files, all that can be written; the first error is raised at the end. Text is
        appended to the summary page of a GitHub job.
        """
        failed: list[Exception] = []
        formats: dict[Path | None, Callable[[Sequence[ScenarioOutcome]], Any]]
        formats = {self.junit: junit, self.sarif: sarif, self.summary: job_summary}
        for path, content_of in formats.items():
            if path is None:
                continue
            try:
                content = content_of(outcomes)
                if isinstance(content, dict):
                    content = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
                if isinstance(content, str) and str(path) == os.environ.get(GITHUB):
                    with path.open("a", encoding="utf-8") as file:
                        file.write(content)
                else:
                    replace_file(path.resolve(), content)  # a link stays
            except Exception as error:
                failed.append(error)
        if failed:
            raise failed[0]


def junit(outcomes: Sequence[ScenarioOutcome]) -> bytes:
    tags = [TAGS.get(done.kind) for done in outcomes]
    total = sum(done.seconds for done in outcomes)
    shared = {
        "name": "dpaudit",
        "tests": str(len(outcomes)),
        "failures": str(tags.count("failure")),
        "errors": str(tags.count("error")),
        "skipped": str(tags.count("skipped")),
        "time": f"{total:.3f}",
    }
    top = ET.Element("testsuites", shared)
    stamp = datetime.now(UTC).isoformat(timespec="seconds").removesuffix("+00:00")
    suite = ET.SubElement(top, "testsuite", {**shared, "timestamp": stamp})
    suite.extend(_case(done) for done in outcomes)
    ET.indent(top, " ")
    return ET.tostring(top, encoding="utf-8", xml_declaration=True)


def _case(done: ScenarioOutcome) -> ET.Element:
    where = _xml_text(done.path.with_suffix("").as_posix().strip("./").replace("/", "."))
    seconds = f"{done.seconds:.3f}"
    about = {"classname": where, "name": _xml_text(done.name), "time": seconds}
    case = ET.Element("testcase", about)
    if (record := done.record) is not None:
        numbers = ET.SubElement(case, "properties")
        values = properties(
            record["headline"],
            record.get("detectable"),
            verdict=record["verdict"],
            claim=None if record["claim"] is None else record["claim"]["text"],
            neighbour=record["headline"]["who"],
            tried=section(record, "neighbour").get("tried"),
            draws=sum(section(record, "samples").values()) or 1,  # of one run
        )
        for name, value in values.items():
            if value:
                attributes = {"name": f"dpaudit.{name}", "value": _xml_text(value)}
                ET.SubElement(numbers, "property", attributes)
    if tag := TAGS.get(done.kind):
        message = done.reason
        if done.kind == "violated" and record is not None:
            message = record["headline"]["text"]
        elif done.kind == "inconclusive":
            message = f"{done.kind}: {done.reason}"
        kind = done.kind if done.error is None else type(done.error).__name__
        attributes = {"message": _xml_text(message)} | ({} if tag == "skipped" else {"type": kind})
        ET.SubElement(case, tag, attributes).text = _xml_text(_with_hint(done))
    if done.kind != ERROR:
        text = f"{done.kind}: {done.reason}\nReport: {done.folder / 'report.html'}"
        ET.SubElement(case, "system-out").text = _xml_text(text)
    return case


def _xml_text(text: str) -> str:
    """The text with invisible characters escaped, and characters that XML forbids replaced."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", printable(text))


def sarif(outcomes: Sequence[ScenarioOutcome]) -> dict[str, Any]:
    homepage: dict[str, str] = {}
    with suppress(PackageNotFoundError):  # the modules may be copied without their metadata
        urls = metadata("dpaudit").get_all("Project-URL") or []
        homepage = dict(url.split(", ", 1) for url in urls)
    driver = {
        "name": "dpaudit",
        "version": __version__,
        **({"informationUri": homepage["Homepage"]} if "Homepage" in homepage else {}),
        "rules": [
            {
                "id": name,
                "shortDescription": {"text": text},
                "fullDescription": {"text": text},
                "help": {"text": help_text},
                "defaultConfiguration": {"level": level},
            }
            for name, (level, text, help_text) in RULES.items()
        ],
    }
    results = [_result(done) for done in outcomes if done.kind in RULES]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _with_hint(done: ScenarioOutcome) -> str:
    text = hint(done.record) if done.record is not None else ""
    return f"{done.reason} {HINT}: {text}" if text else done.reason


def _result(done: ScenarioOutcome) -> dict[str, Any]:
    at, line = _faulty_line(done) or (done.path, _own_line(done))
    whole, here = at.absolute(), Path.cwd()
    # the top folder of the git work tree around this folder, if there is one
    top = next((up for up in (here, *here.parents) if (up / ".git").exists()), here)
    inside = whole.is_relative_to(top)
    uri = quote(os.fsencode(whole.relative_to(top).as_posix())) if inside else whole.as_uri()
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": line or 1}}
    fingerprint = hashlib.sha256(done.name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {
        "ruleId": done.kind,
        "level": RULES[done.kind][0],
        "message": {"text": encodable(printable(f"{done.name}: {_with_hint(done)}"))},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"scenario": fingerprint},
    }


def _faulty_line(done: ScenarioOutcome) -> tuple[Path, int] | None:
    """The file and line where the mechanism failed, or that a hint names; None if that is unknown.
    A hint has the name of a file alone, which is looked for beside the scenario and the mechanism.
    """
    if isinstance(done.error, MechanismError):
        places = getattr(done.error.raised, "places", ())
        return (Path(places[-1][0]), places[-1][1]) if places else None
    difference = section(section(done.record or {}, "replay"), "difference")
    name, _, line = str(difference.get("place") or "").rpartition(":")
    if not name or not line.isdigit():
        return None
    module = str(section(done.record or {}, "mechanism").get("name") or "").partition(":")[0]
    folder = done.path.parent
    places = (done.path, folder / name, (folder / Path(*module.split("."))).with_suffix(".py"))
    files = (path for path in places if path.name == name and path.is_file())
    return next(((path, int(line)) for path in files), None)


def _own_line(done: ScenarioOutcome) -> int | None:
    with suppress(OSError, ValueError):
        lines = done.path.read_text(encoding="utf-8").splitlines()
        return lines.index(as_toml({"name": done.name}).strip()) + 1
    return None


def job_summary(outcomes: Sequence[ScenarioOutcome]) -> str:
    rows = [HEADS, ["---"] * len(HEADS)]
    for done in sorted(outcomes, key=lambda done: done.kind in GREEN):
        claimed = certified = NONE
        if done.record is not None:
            head = Headline.of(done.record["headline"])
            at = f" {head.at}" if head.at else ""
            claimed = f"{head.symbol} = {head.claimed_text}{at}"
            certified = f"{head.symbol} = {head.certified_text}"
        verdict = done.kind if done.kind in GREEN else f"**{done.kind}**"
        seconds = f"{number(done.seconds, 3)} s"
        texts = map(_markdown_text, (claimed, certified, done.reason, seconds))
        rows.append([_markdown_text(done.name), verdict, *texts])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(["## Privacy audits", "", *lines, ""])


def _markdown_text(cell: str) -> str:
    """The text with everything escaped that would end the cell or begin markup, a link or a
    mention.
    """
    text = MARKUP.sub(r"\\\g<0>", " ".join(printable(cell).split()))
    return text.replace("<", "&lt;").replace("@", "&#64;").replace("://", ":&#47;&#47;")
