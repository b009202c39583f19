"""Computes every part, draws it, and writes numbers.json, four figures and report.html."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.report.figures import as_png, house_style
from dpaudit.report.studies.write import as_json
from reports.make.gallery import calibrations, compositions, formulas, mixing, spectra
from reports.make.gallery.report import render
from reports.make.gallery.settings import DELTA, Settings
from reports.make.page import write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIGITS = 8  # a calibration is good to ten


def numbers(settings: Settings) -> dict[str, Any]:
    """Everything that is shown, as JSON has it: infinity is "inf", what does not exist null."""
    found = {
        "data": {
            "name": settings.name,
            "rows": len(settings.database),
            "row_bound": settings.row_bound,
        },
        "delta": DELTA,
        "spectra": spectra.numbers(settings),
        "mixing": mixing.numbers(settings),
        "calibrations": calibrations.numbers(settings),
        "compositions": compositions.numbers(settings),
        "formulas": formulas.numbers(),
    }
    plain: dict[str, Any] = as_json(found, DIGITS)
    return plain


def figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """The figures of `numbers`, by name."""
    return {
        "spectra": spectra.figure(content["spectra"]),
        "mixing": mixing.figure(content["mixing"]),
        "calibrations": calibrations.figure(content["calibrations"]),
        "compositions": compositions.figure(content["compositions"]),
    }


def build(settings: Settings, folder: str | Path) -> dict[str, Any]:
    """Compute, draw and write; returns the content of numbers.json.

    The same settings give the same bytes.
    """
    folder = Path(folder)
    content = numbers(settings)
    with house_style():
        pictures = {name: as_png(figure, dpi=100) for name, figure in figures(content).items()}
    for name, picture in pictures.items():
        write(folder / f"{name}.png", picture)
    write(folder / "report.html", render(content, pictures))
    as_text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    write(folder / "numbers.json", as_text + "\n")
    return content
