"""What a search has found and drawn, kept so that an interrupted search continues where it was.

The search asks for it by stage and change; whoever runs the search decides where it is kept.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpaudit.search.changes import Change
from dpaudit.search.quick_audit import QuickEstimate


@dataclass(frozen=True)
class ChangeOutcome:
    """What came of one change at one stage.

    draws : of M(D') that were made. value : an influence, or the estimate of a quick audit; None
    after a failure. failure : the error's text, or "".
    """

    draws: int
    value: float | QuickEstimate | None = None
    failure: str = ""


class Checkpoint(Protocol):
    """Keeps outcomes, in JSON types, and draws of M(D). Called from one thread of one process."""

    def outcome(self, key: str) -> Any:
        """What was put under `key`, or None."""
        ...

    def put_outcome(self, key: str, value: Any) -> None:
        """Keep a value of JSON types."""
        ...

    def drawn(self, key: str) -> np.ndarray | None:
        """The draws that were put under `key`, or None."""
        ...

    def put_drawn(self, key: str, values: np.ndarray) -> None:
        """Keep draws of M(D)."""
        ...


def key_of(stage: str, change: Change) -> str:
    """The key of a change's outcome. stage : what is done, with how many draws."""
    index = "" if change.index is None else change.index
    return f"{stage} {change.relation} {index} {_digest(change)}".rstrip()


def _digest(change: Change) -> str:
    if change.row is None:
        return ""
    return hashlib.sha256(np.ascontiguousarray(change.row).data).hexdigest()


def recalled(checkpoint: Checkpoint | None, key: str) -> ChangeOutcome | None:
    """The outcome that was kept under `key`, or None."""
    kept = None if checkpoint is None else checkpoint.outcome(key)
    if kept is None:
        return None
    draws, value = kept
    return ChangeOutcome(draws, QuickEstimate(**value) if isinstance(value, dict) else value)


def remember(checkpoint: Checkpoint | None, key: str, outcome: ChangeOutcome) -> None:
    """Keep an outcome, unless it is a failure: its cause may be gone when the search continues."""
    if checkpoint is None or outcome.failure:
        return
    value = outcome.value
    kept = vars(value) if isinstance(value, QuickEstimate) else value
    checkpoint.put_outcome(key, [outcome.draws, kept])
