"""The files of a report: each is written whole, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpaudit._core.files import replace_file
from dpaudit._core.result_file import is_one_run
from dpaudit.report import one_run
from dpaudit.report.data import read_curves
from dpaudit.report.figures import as_png, house_style, spectrum_figure
from dpaudit.report.html import render_html


def write_report(folder: Path, result: Mapping[str, Any]) -> None:
    """Write report.html and its figure, drawn from the content of result.json.

    The figure is `spectrum.png`; of an audit of one run, `guesses.png`. Both are drawn before
    either is written, and each replaces the older file in one step. So whatever fails, each file is
    whole, the old one or the new one.

    Parameters
    ----------
    folder : Path
        Where the files go.
    result : dict
        The content of result.json.

    Raises
    ------
    InvalidInput
        Where `result` is not the content of a result.json.
    """
    folder = Path(folder)
    drawn = one_run.files(result) if is_one_run(result) else _files(result)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in drawn.items():
        replace_file(folder / name, content)


def _files(result: Mapping[str, Any]) -> dict[str, bytes | str]:
    """Of an audit of two samples, by name."""
    curves = read_curves(result)
    page = render_html(result, curves)
    with house_style():
        picture = as_png(spectrum_figure(curves))
    return {"spectrum.png": picture, "report.html": page}
