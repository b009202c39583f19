"""The report of an audit: one HTML page and figures, drawn from the content of `result.json`.

Everything shown is in that dict or follows from it. So a report can be drawn again at any time, and
the same dict gives the same bytes. This room knows the dict, curves and numbers, but neither
audits nor mechanisms. matplotlib is loaded by the first figure, not by this import.

`data` reads the curves of a result; `figures` draws them; `html` and `index` make pages; `text`
writes every number that people read, here and in other rooms; `comparison` sets two results side by
side; `studies` holds the pages of experiments.
"""

from dpaudit.report.comparison import Comparison, compare
from dpaudit.report.figures import plot_spectrum, plot_tradeoff, spectrum_figure
from dpaudit.report.html import render_html
from dpaudit.report.write import FILES, plot, write_report
from dpaudit.verdict.record import read_curves

__all__ = [
    "FILES",
    "Comparison",
    "compare",
    "plot",
    "plot_spectrum",
    "plot_tradeoff",
    "read_curves",
    "render_html",
    "spectrum_figure",
    "write_report",
]
