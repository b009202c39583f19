"""Search for the worst neighbour without theory: rank changes of a database, audit the likeliest.

1. `changes`: every row zeroed, removed or replaced, and rows added.
2. `ranking`: which changes to audit first, by least squares and by a few draws of the mechanism.
3. `quick_audit`, `halving`: audits with few draws of the first changes, then with more draws of the
   worst of these. `runner` does the work in parallel, with common random numbers and a checkpoint.
4. `search`: the audit of the change that remains, from draws that the search has not seen.

`selection` is the record of a search. `NOTE` says what a search cannot show. The room knows
mechanisms only as callables, and no scenario files.
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
