"""What a search has found and need not find again: kept by whoever runs it, asked for by neighbour
and rung.
"""

from __future__ import annotations

import hashlib
from typing import Any, Protocol

import numpy as np

from dpaudit.search.changes import Change
from dpaudit.search.quick import Measure

# draws that were made, and what came of them: a number, a Measure, or the error's text
Outcome = tuple[int, Any]


class Memory(Protocol):
    """Keeps outcomes, in JSON types, and draws of M(D). Asked by one thread of the process that
    audits.
    """

    def outcome(self, key: str) -> Any: ...

    def put_outcome(self, key: str, value: Any) -> None: ...

    def drawn(self, key: str) -> np.ndarray | None: ...

    def put_drawn(self, key: str, values: np.ndarray) -> None: ...


def key_of(stage: str, change: Change) -> str:
    """stage : what is done, with how many draws."""
    row = (
        ""
        if change.row is None
        else hashlib.sha256(np.ascontiguousarray(change.row).data).hexdigest()
    )
    return (
        f"{stage} {change.relation} {'' if change.index is None else change.index} {row}".rstrip()
    )


def recalled(memory: Memory | None, key: str) -> Outcome | None:
    """What was kept under the key."""
    kept = None if memory is None else memory.outcome(key)
    if kept is None:
        return None
    draws, value = kept
    return draws, Measure(**value) if isinstance(value, dict) else value


def remember(memory: Memory | None, key: str, outcome: Outcome) -> None:
    """All but failures: what made the mechanism fail may be gone when the search goes on."""
    draws, value = outcome
    if memory is not None and not isinstance(value, str):
        memory.put_outcome(key, [draws, vars(value) if isinstance(value, Measure) else value])
