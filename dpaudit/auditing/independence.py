"""What an audit does with the tests of independence (`sampling.independence`): refuse, or say.

Fixed and sequential audits, of draws made here or elsewhere, are all refused here.
"""

from __future__ import annotations

import numpy as np

from dpaudit import outcomes
from dpaudit.errors import InvalidInput, MechanismError
from dpaudit.sampling.independence import Finding, examine, examine_shared
from dpaudit.scoring import Sides

LEVEL = 1e-6  # probability that an audit of independent draws is refused, at most
SHARED = (
    'If the mechanism shares state within a call on purpose, audit it with unit="call", which '
    "makes one call for each draw."
)
ORDER = (
    "Draws made elsewhere must be independent, those of P of those of Q as well, and must stand in "
    "random order: shuffle them if they were sorted or grouped, and draw again if they repeat or "
    "come from a Markov chain."
)
AVERAGE = "The two sides were drawn in turn, and the bounds are about the average of the run."
AFRESH = "Draw P from M(D) and Q from M(D'), each with random numbers of its own."
WITHIN_CALLS = ("call", "repeats")
IN_COMMON = ("copied", "shared")


def refuse_dependence(
    sides: Sides, calls: np.ndarray | None, share: float, *, score: str = ""
) -> tuple[str, ...]:
    """Sentences on drift, for the report. Raises `MechanismError`, for draws made elsewhere
    `InvalidInput`, where draws depend on each other.

    sides : rows (n, k) in the order in which they were drawn, or scores (n, 1).
    calls : sizes of the mechanism's calls, the same on both sides; None where draws were made
        elsewhere.
    share : of `LEVEL`. score : of which classifier the rows are scores.
    """
    both = None if calls is None else (calls, calls)
    found = examine(sides.P, sides.Q, both, level=share * LEVEL, score=bool(score))
    refused = [one for one in found if one.refused]
    if refused:
        raise _error(min(refused, key=lambda one: one.log_p), calls, score)
    return tuple(f"Drift: {one.message}. {AVERAGE}" for one in found)


def refuse_shared(P: np.ndarray, Q: np.ndarray) -> None:
    """Raise `InvalidInput` where draws made elsewhere stand on both sides; all of them at once."""
    rows = outcomes.aligned(P, Q)
    found = examine_shared(*rows, level=0.5 * LEVEL)
    if found:
        raise _error(min(found, key=lambda one: one.log_p), None, "")


def call_sizes(count: int, call: int | None, first: int = 0) -> np.ndarray | None:
    """The sizes of the calls that made `count` draws from number `first` on, `call` draws each."""
    if call is None:
        return None
    begun = min(count, -first % call)
    full, last = divmod(count - begun, call)
    sizes = np.array([begun, *[call] * full, last])
    return sizes[sizes > 0]


def _error(found: Finding, calls: np.ndarray | None, score: str) -> Exception:
    what = f"the draws, or the scores that {score} gives them," if score else "the draws"
    end = "" if found.message.endswith("?") else "."
    said = f"{what} are not independent: {found.message}{end}"
    if calls is None:
        return InvalidInput(f"{said} {AFRESH if found.kind in IN_COMMON else ORDER}")
    hint = f" {SHARED}" if found.kind in WITHIN_CALLS else ""
    return MechanismError(f"{said}{hint}")
