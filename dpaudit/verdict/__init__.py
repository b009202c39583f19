"""The verdict of an audit: numbers go in, sentences come out.

`numbers` writes every number that people read, here and in the rooms above. `headline` states what
is claimed and what is certified. `judgement` compares a certified band or an e-value with the
claim and says what the audit could have shown; `one_run` does both for an audit of one run, and
`relations` for two audits of one claim. `sentences` puts a record's verdict into words for the
page, the terminal and CI. `evidence` has the e-values that several audits may pool. `result` is the
base class of all results, which are their records; `record` reads the curves of a record.

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
