"""The worst neighbour without theory: rank rows, audit the likely ones cheaply, and the worst of
them in earnest.

1. `changes`: every row zeroed, removed or replaced, rows added inside a public bound (`outliers`).
2. `linear`, `influence`: which of them to try first, by least squares and by a few draws of the
mechanism itself. 3. `quick`, `halving`: cheap audits of the first, dearer ones of the worst of
these; common random numbers (`draws`). 4. `front`: an audit of the one that is left, from draws
that the search has not seen.

What a search cannot show is in `NOTE`.
"""

from dpaudit.search.changes import INCOMING, RELATIONS, SOURCES
from dpaudit.search.quick import DEFAULT as QUICK
from dpaudit.search.ranking import RANKS
from dpaudit.search.search import NOTE, SearchResult, search_neighbours, select
from dpaudit.search.tried import Selection, Tried

__all__ = [
    "INCOMING",
    "NOTE",
    "QUICK",
    "RANKS",
    "RELATIONS",
    "SOURCES",
    "SearchResult",
    "Selection",
    "Tried",
    "search_neighbours",
    "select",
]
