"""A study's folder: report.html with its figures, each figure as PNG, and content.json."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
from pathlib import Path
from typing import Any

from dpaudit._core.files import replace_file
from dpaudit._core.shown.printable import printable
from dpaudit.report.figures import as_png, house_style
from dpaudit.report.pages import environment
from dpaudit.report.studies.content import Cell, Content
from dpaudit.report.studies.figures import figure
from dpaudit.verdict.numbers import number

DIGITS = 3  # of a cell that is a number
SAVED = 6  # significant digits in content.json: later digits depend on the machine


def write(content: Content, folder: str | Path, command: str) -> None:
    """Write all files, each completely or not at all.

    command : the command that makes them again, for the foot of the page. Raises OSError.
    """
    folder = Path(folder)
    with house_style():
        pictures = {
            name: as_png(figure(panels), dpi=110) for name, panels in content.figures.items()
        }
    files: dict[str, bytes | str] = {f"{name}.png": picture for name, picture in pictures.items()}
    files["report.html"] = render(content, pictures, command)
    saved = json.dumps(
        as_json(dataclasses.asdict(content)), ensure_ascii=False, allow_nan=False, indent=1
    )
    files["content.json"] = printable(saved) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    for name, written in files.items():
        replace_file(folder / name, written)


def render(content: Content, pictures: dict[str, bytes], command: str) -> str:
    """The page as HTML, self-contained and without scripts. pictures : PNG files by name."""
    shared = environment()
    shared.filters.update(cell=cell)
    sources = {
        name: "data:image/png;base64," + base64.b64encode(one).decode()
        for name, one in pictures.items()
    }
    return shared.get_template("study.html").render(
        content=content, pictures=sources, command=command
    )


def cell(value: Cell) -> str:
    """A number with three digits, text as it is."""
    return number(value, DIGITS)


def as_json(value: Any, digits: int = SAVED) -> Any:
    """The content in JSON types, floats rounded to `digits` significant digits.

    NaN becomes null, an infinity "inf" or "-inf".
    """
    if isinstance(value, dict):
        return {str(key): as_json(one, digits) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one, digits) for one in value]
    if hasattr(value, "tolist"):
        return as_json(value.tolist(), digits)
    if not isinstance(value, float):
        return value
    if math.isfinite(value):
        return float(f"{value:.{digits}g}")
    return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
