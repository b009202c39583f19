"""The report of an audit of one run: a page and a figure of right guesses, from result.json."""

from dpaudit.report.one_run.page import render_page, tiles
from dpaudit.report.one_run.write import files

__all__ = ["files", "render_page", "tiles"]
