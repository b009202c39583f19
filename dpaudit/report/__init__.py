"""The report of an audit: one HTML page and figures, drawn from the content of `result.json`.

So a report can be drawn again at any time, and the same record gives the same bytes. `result` is
the base of all results, which save and draw themselves. This room knows records, curves and
numbers, but neither audits nor mechanisms. matplotlib is loaded by the first figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit._core.files import replace_file
from dpaudit._core.result_file import ONE_RUN, STEPS, is_one_run
from dpaudit.report import audit, one_run, steps
from dpaudit.report.audit import render_html
from dpaudit.report.comparison import Comparison, compare
from dpaudit.report.figures import plot_spectrum, plot_tradeoff, plot_trials, spectrum_figure
from dpaudit.report.index import render_index
from dpaudit.report.pages import render
from dpaudit.report.style import house_style, legend, pyplot_axes, svg_address
from dpaudit.report.tables import SHORT, spectrum_table
from dpaudit.verdict.record import read_curves, selected_rows
from dpaudit.verdict.sentences import lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGES = {None: audit, ONE_RUN: one_run, STEPS: steps}  # by the kind of a record
FILES = ("report.html", "spectrum.png")  # files of an audit by draws, besides result.json

__all__ = [
    "FILES",
    "Comparison",
    "compare",
    "in_notebook",
    "plot",
    "plot_spectrum",
    "plot_tradeoff",
    "plot_trials",
    "read_curves",
    "render_html",
    "render_index",
    "spectrum_figure",
    "write_report",
]


def plot(result: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw the figure of the report on `ax`, or on a new figure of pyplot; returns the axes.

    The figure is δ(ε) with all curves or, of one run with canaries, the share of right guesses.
    """
    if is_one_run(result):
        page = PAGES[result["kind"]]
        ax = page.panel(ax or pyplot_axes(*page.SIZE), result)
        legend(ax, *ax.get_legend_handles_labels(), loc="best")
        return ax
    return plot_spectrum(read_curves(result), ax or pyplot_axes(5.6, 5.6))


def in_notebook(result: Mapping[str, Any]) -> str:
    """The verdict in a few lines, a small table of δ and the figure, as HTML for a notebook."""
    table = None
    with house_style():
        if is_one_run(result):
            figure = PAGES[result["kind"]].figure(result)
        else:
            curves = read_curves(result)
            table = spectrum_table(curves, selected_rows(curves, SHORT), full=False)
            figure = spectrum_figure(curves)
        address = svg_address(figure)
    return render("notebook.html", lines=lines(result), table=table, figure=address)


def write_report(folder: Path, result: Mapping[str, Any]) -> None:
    """Write report.html and its figure into `folder`, drawn from `result`, a result.json's content.

    The figure is `spectrum.png`; of an audit of one run, `guesses.png` or `steps.png`. Both files
    are drawn before either is written, and each replaces the older one in one step. So whatever
    fails, each file is whole, the old one or the new one. Raises `InvalidInput` if `result` has
    another content.
    """
    folder = Path(folder)
    drawn = PAGES[result.get("kind")].files(result)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in drawn.items():
        replace_file(folder / name, content)
