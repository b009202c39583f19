"""The files of a report: each is written whole, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit._core.files import replace_file
from dpaudit._core.result_file import is_one_run
from dpaudit.report import one_run
from dpaudit.report.figures import as_png, house_style, plot_spectrum, spectrum_figure
from dpaudit.report.html import render_html
from dpaudit.report.one_run.figure import SIZE, Guessed, plot_guesses
from dpaudit.report.style import pyplot_axes
from dpaudit.verdict.record import read_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILES = ("report.html", "spectrum.png")  # of an audit by draws, beside result.json
SQUARE = (5.6, 5.6)  # inches, of the figure of δ(ε)


def plot(result: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw the figure of the report on `ax`, or on a new figure of pyplot; returns the axes.

    The figure is δ(ε) with all curves or, of one run, the share of right guesses.
    """
    if is_one_run(result):
        guesses = Guessed.of(result)
        return plot_guesses(guesses, ax or pyplot_axes(*SIZE))
    return plot_spectrum(read_curves(result), ax or pyplot_axes(*SQUARE))


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
