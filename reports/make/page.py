"""The one page writer: Markdown and HTML from templates, tables, numbers, files written whole.

The prose of every page is a template in `reports/make/templates`; its numbers and tables are made
by the module that measures. Pages go to `reports/` of the folder in which the command runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import ChoiceLoader, FileSystemLoader

from dpaudit._core.files import replace_file
from dpaudit.report.pages import environment
from dpaudit.verdict.numbers import NONE
from dpaudit.verdict.numbers import number as significant

REPORTS = Path("reports")
TEMPLATES = Path(__file__).parent / "templates"


def command(name: str, *arguments: str) -> str:
    """The command line that makes a page or a figure again: python -m reports.make NAME …"""
    return " ".join(["python -m reports.make", name, *arguments])


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown; a `|` in a cell is escaped."""
    return "\n".join(map(row, [head, ["---"] * len(head), *rows]))


def heads(text: str) -> list[str]:
    """The heads of a table, from its first line as a page shows it: "task | draws | CPU s"."""
    return text.split(" | ")


def row(cells: Iterable[str]) -> str:
    """One line of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def number(value: float | None, digits: int = 4) -> str:
    """Significant digits as reports have them: 0.1269, 2.2×10⁻⁵, ∞; an en dash for None and NaN."""
    missing = value is None or np.isnan(value)
    return NONE if missing else significant(value, digits)


def decimals(values: Iterable[float], digits: int = 4, width: int = 0) -> list[str]:
    """Each value to as many decimals, right-aligned in `width` characters."""
    return [f"{value:{width}.{digits}f}" for value in values]


def render(template: str, **content: Any) -> str:
    """A page from `templates/NAME.md` or `NAME.html`; in HTML every value is escaped.

    A template may use `command` and `table` of this module.
    """
    made = environment().overlay(autoescape=template.endswith(".html"))
    made.loader = ChoiceLoader([FileSystemLoader(TEMPLATES), *filter(None, [made.loader])])
    made.globals.update(command=command, table=table)
    return made.get_template(template).render(**content)


def write(path: Path, content: str | bytes) -> Path:
    """Put a page or a figure into its file in one step; returns the path.

    The folder is made if need be. Markdown ends in one newline.
    """
    if isinstance(content, str):
        text = content.rstrip("\n") + "\n" if path.suffix == ".md" else content
        content = text.encode("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content)
    return path
