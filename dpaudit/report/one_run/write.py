"""The files of the report of one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.report.figures import as_png, house_style
from dpaudit.report.one_run.figure import Guessed, guesses_figure
from dpaudit.report.one_run.page import render_page


def files(record: Mapping[str, Any]) -> dict[str, bytes | str]:
    """Content of report.html and guesses.png, by name. Raises `InvalidInput`."""
    with house_style():
        picture = as_png(guesses_figure(Guessed.of(record)))
    return {"guesses.png": picture, "report.html": render_page(record)}
