"""Pages of a bench: Markdown tables, and files under reports/ of the folder in which it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from dpaudit._core.files import replace_file

REPORTS = Path("reports")


def row(cells: Iterable[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    return "\n".join(map(row, [head, ["---"] * len(head), *rows]))


def number(value: float) -> str:
    """Four digits; "∞", and "–" for NaN."""
    return "–" if np.isnan(value) else f"{value:.4g}".replace("inf", "∞")


def write(path: Path, text: str) -> None:
    """Put a page into its file at once, whose folder is made if need be; it ends in one newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, (text.rstrip("\n") + "\n").encode("utf-8"))
