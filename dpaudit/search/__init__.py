"""Search for the worst neighbour without theory: rank changes of a database, audit the likeliest.

`changes` are ranked by least squares and by a few draws (`ranking`); the first get quick audits,
the worst of them with more draws (`quick_audit`, `halving`, run in parallel by `runner`); the
change that remains is audited from draws that the search has not seen (`search`). `NOTE` says what
a search cannot show. The room knows mechanisms only as callables.
"""

from dpaudit.search.changes import INCOMING, NOT_PUBLIC, OF_DATA, RELATIONS, SOURCES
from dpaudit.search.quick_audit import DEFAULT as QUICK
from dpaudit.search.ranking import RANKS
from dpaudit.search.search import NOTE, SearchResult, search_neighbours, search_plan, select
from dpaudit.search.selection import Selection, Trial

__all__ = [
    "INCOMING",
    "NOTE",
    "NOT_PUBLIC",
    "OF_DATA",
    "QUICK",
    "RANKS",
    "RELATIONS",
    "SOURCES",
    "SearchResult",
    "Selection",
    "Trial",
    "search_neighbours",
    "search_plan",
    "select",
]
