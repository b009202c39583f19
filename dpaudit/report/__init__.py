"""The report of an audit: figures and one self-contained HTML page, drawn from the content of
`result.json`.

Everything shown is in that dict or follows from it, so a report can be drawn again at any time, and
the same dict gives the same bytes. matplotlib is loaded by the first figure, not by this import.
"""

from dpaudit.report.figures import plot_spectrum, plot_tradeoff, spectrum_figure
from dpaudit.report.html import render_html
from dpaudit.report.write import write_report

__all__ = ["plot_spectrum", "plot_tradeoff", "render_html", "spectrum_figure", "write_report"]
