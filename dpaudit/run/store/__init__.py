"""The files of an unfinished run: its draws, the outcomes of its search, a lock, its progress."""

from dpaudit.run.store.draws import DrawStore, SearchStore, digest_of
from dpaudit.run.store.folder import manifest_of, remove_store
from dpaudit.run.store.progress import (
    DONE,
    DRAWS,
    INTERRUPTED,
    RUNNING,
    SEARCH,
    Notice,
    State,
    Watch,
    has_search,
    state_of,
    states,
)

__all__ = [
    "DONE",
    "DRAWS",
    "INTERRUPTED",
    "RUNNING",
    "SEARCH",
    "DrawStore",
    "Notice",
    "SearchStore",
    "State",
    "Watch",
    "digest_of",
    "has_search",
    "manifest_of",
    "remove_store",
    "state_of",
    "states",
]
