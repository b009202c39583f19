"""A suite as JUnit XML, which CI servers read: one test case a scenario.

"violated" is a failure whose message is the headline, ε first. "inconclusive" is skipped, since
nothing was shown: CI servers do not count it as passed, but do not fail for it either. What stops a
release is the exit status of `dpaudit run`, 3. Each case has the numbers of its audit as
properties, and what the audit could have shown in its output.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from dpaudit._core.shown.printable import printable
from dpaudit.report.facts import properties
from dpaudit.run.suite.suite import ERROR, ScenarioOutcome
from dpaudit.verdict.record import section

TAGS = {"violated": "failure", "inconclusive": "skipped", ERROR: "error"}
FORBIDDEN = re.compile("[\ufffe\uffff]")  # in XML 1.0 (section 2.2), beside what cannot be seen


def junit(outcomes: Sequence[ScenarioOutcome]) -> bytes:
    """<testsuites> with one <testsuite>; times in seconds."""
    total = f"{sum(one.seconds for one in outcomes):.3f}"
    counts = {
        f"{tag}s": sum(TAGS.get(one.kind) == tag for one in outcomes)
        for tag in ("failure", "error")
    }
    skipped = sum(TAGS.get(one.kind) == "skipped" for one in outcomes)
    numbers = {"tests": len(outcomes), **counts, "skipped": skipped}
    shared = {
        "name": "dpaudit",
        **{key: str(value) for key, value in numbers.items()},
        "time": total,
    }
    top = ET.Element("testsuites", shared)
    stamp = datetime.now(UTC).isoformat(timespec="seconds").removesuffix("+00:00")
    suite = ET.SubElement(top, "testsuite", {**shared, "timestamp": stamp})
    suite.extend(_case(one) for one in outcomes)
    ET.indent(top, " ")
    return ET.tostring(top, encoding="utf-8", xml_declaration=True)


def _case(one: ScenarioOutcome) -> ET.Element:
    """The numbers, the headline as message, the whole reason, and where the report is."""
    where = _text(one.path.with_suffix("").as_posix().strip("./").replace("/", "."))
    case = ET.Element(
        "testcase", {"classname": where, "name": _text(one.name), "time": f"{one.seconds:.3f}"}
    )
    if one.record is not None:
        numbers = ET.SubElement(case, "properties")
        for name, value in _properties(one.record).items():
            if value:
                given = {"name": f"dpaudit.{name}", "value": _text(value)}
                ET.SubElement(numbers, "property", given)
    if tag := TAGS.get(one.kind):
        kind = type(one.error).__name__ if one.error is not None else one.kind
        attributes = {"message": _message(one)} | ({} if tag == "skipped" else {"type": kind})
        ET.SubElement(case, tag, attributes).text = _text(one.reason)
    if one.kind != ERROR:
        ET.SubElement(case, "system-out").text = _text(
            f"{one.kind}: {one.reason}\nReport: {one.folder / 'report.html'}"
        )
    return case


def _message(one: ScenarioOutcome) -> str:
    """What a CI server shows first: of a violation the headline, else the reason."""
    if one.kind == "violated" and one.record is not None:
        return _text(one.record["headline"]["text"])
    return _text(f"{one.kind}: {one.reason}" if one.kind == "inconclusive" else one.reason)


def _properties(record: dict[str, Any]) -> dict[str, str]:
    claim = record["claim"]
    return properties(
        record["headline"],
        record.get("detectable"),
        verdict=record["verdict"],
        claim=None if claim is None else claim["text"],
        neighbour=record["headline"]["who"],
        tried=section(record, "neighbour").get("tried"),
        draws=sum(section(record, "samples").values()) or 1,  # of one run
    )


def _text(text: str) -> str:
    """The text with characters escaped that cannot be seen, and forbidden ones replaced."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", printable(text))
