"""Tables of a bench as Markdown under reports/."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpaudit._files import replace_file

REPORTS = Path("reports")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(name: str, text: str) -> Path:
    """Print a page and put it into reports/ of the folder in which the bench runs."""
    print(text)
    REPORTS.mkdir(exist_ok=True)
    path = REPORTS / name
    replace_file(path, (text.rstrip("\n") + "\n").encode("utf-8"))
    return path
