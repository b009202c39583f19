"""The files of a report, each whole or not there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpaudit._core.files import replace_file
from dpaudit.report.figures import as_png, house_style, spectrum_figure
from dpaudit.report.html import render_html


def write_report(folder: Path, result: Mapping[str, Any]) -> None:
    """Write `spectrum.png` and `report.html`, drawn from `result` (the content of result.json), to
    `folder`.

    Both are drawn before either is written, and each replaces the older one in a single step:
    whatever goes wrong, each file is the old one or the new one, whole. Raises `InvalidInput` when
    `result` is no result.
    """
    folder = Path(folder)
    page = render_html(result).encode("utf-8", "replace")
    with house_style():
        picture = as_png(spectrum_figure(result))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("spectrum.png", picture), ("report.html", page)):
        replace_file(folder / name, content)
