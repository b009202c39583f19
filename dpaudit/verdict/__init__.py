"""The verdict of an audit: numbers go in, sentences come out.

This room knows curves, bands and numbers. It knows neither how an audit was made nor how its report
looks.
"""

from dpaudit.verdict.headline import Headline, Reference, read_headline
from dpaudit.verdict.numbers import count, from_log, label, least, moment, number, percent, plain
from dpaudit.verdict.record import lookup, read_curves, selected_rows
from dpaudit.verdict.relations import of_both

__all__ = [
    "Headline",
    "Reference",
    "count",
    "from_log",
    "label",
    "least",
    "lookup",
    "moment",
    "number",
    "of_both",
    "percent",
    "plain",
    "read_curves",
    "read_headline",
    "selected_rows",
]
