"""A suite as JUnit XML, which CI servers read: one test case a scenario."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from dpaudit._core.files import replace_file
from dpaudit._core.printable import printable
from dpaudit.errors import InvalidInput
from dpaudit.run.suite.suite import ERROR, ScenarioOutcome

# "inconclusive" is skipped, since nothing was shown
TAGS = {"violated": "failure", "inconclusive": "skipped", ERROR: "error"}
FORBIDDEN = re.compile("[\ufffe\uffff]")  # in XML 1.0 (section 2.2), beside what cannot be seen


def prepare_junit(path: Path) -> None:
    """Make the folder of the file, before hours of work. Raises `InvalidInput`, OSError."""
    if path.is_dir():
        raise InvalidInput(f"junit must be a file to write, got {str(path)!r}, a folder")
    path.parent.mkdir(parents=True, exist_ok=True)


def write_junit(path: Path, outcomes: Sequence[ScenarioOutcome]) -> None:
    """Write the file."""
    replace_file(path, junit(outcomes))


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
    """The reason as message, and where the report is."""
    where = _text(one.path.with_suffix("").as_posix().strip("./").replace("/", "."))
    case = ET.Element(
        "testcase", {"classname": where, "name": _text(one.name), "time": f"{one.seconds:.3f}"}
    )
    if tag := TAGS.get(one.kind):
        kind = type(one.error).__name__ if one.error is not None else one.kind
        attributes = {"message": _text(one.reason)} | ({} if tag == "skipped" else {"type": kind})
        ET.SubElement(case, tag, attributes).text = _text(one.reason)
    if one.kind != ERROR:
        ET.SubElement(case, "system-out").text = _text(
            f"{one.reason}\nReport: {one.folder / 'report.html'}"
        )
    return case


def _text(text: str) -> str:
    """The text with characters escaped that cannot be seen, and forbidden ones replaced."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", printable(text))
