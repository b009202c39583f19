"""Act on the tests of independence (`sampling.independence`): refuse the draws, or report drift.

Fixed and sequential audits, of draws made here or elsewhere, all use these functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpaudit import outcomes
from dpaudit._core.note import Note
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.types import Array, Mechanism
from dpaudit.auditing.clock import FURTHER
from dpaudit.auditing.settings import Settings
from dpaudit.errors import InvalidInput, MechanismError
from dpaudit.sampling import MechanismDraws, call_size
from dpaudit.sampling.block import Preparable
from dpaudit.sampling.independence import (
    LEVEL,
    WITHIN_CALLS,
    Finding,
    examine,
    examine_shared,
)
from dpaudit.scoring import Sides

CALL = 32  # draws in a call of the `FURTHER` draws a side before an audit says "violated"
SHARED = (
    'If the mechanism shares state within a call on purpose, audit it with unit="call", which '
    "makes one call for each draw. A program takes its seed from {seed}, not from the clock."
)
ORDER = (
    "Draws made elsewhere must be independent, within P, within Q and between the two, and in "
    "random order: shuffle them if they were sorted or grouped, and draw again if they repeat or "
    "come from a Markov chain."
)
AVERAGE = "The two sides were drawn in turn, and the bounds are about the average of the run."
AFRESH = "Draw P from M(D) and Q from M(D'), each with random numbers of its own."
IN_COMMON = ("copied", "shared")
CallSizes = Sequence[int] | np.ndarray | None  # of the calls that make a block; None if unknown


def refuse_dependence(
    sides: Sides, calls: CallSizes, share: float, *, first: int = 0, score: str = ""
) -> tuple[Note, ...]:
    """Notes on drift. Raises `MechanismError` (`InvalidInput` for draws made elsewhere) if draws
    depend on each other.

    sides : rows (n, k) of the draws from number `first` on, in the order in which they were drawn,
        or their scores (n, 1).
    calls : as in `call_sizes`, the same on both sides.
    share : the share of `LEVEL` that these tests may spend.
    score : name of the classifier whose scores the rows are; "" for outputs.
    """
    sizes = call_sizes(len(sides.P), calls, first)
    both = None if sizes is None else (sizes, sizes)
    findings = examine(sides.P, sides.Q, both, level=share * LEVEL, score=bool(score))
    if not findings:
        return ()
    refused = [finding for finding in findings if finding.refused]
    if refused:
        raise _error(refused, sizes, score)
    return tuple(Note(f"Drift: {finding.message}. {AVERAGE}") for finding in findings)


def refuse_shared(P: np.ndarray, Q: np.ndarray) -> None:
    """Raise `InvalidInput` if P and Q, all draws made elsewhere, share draws."""
    findings = examine_shared(*outcomes.numbered(P, Q), level=0.5 * LEVEL)
    if findings:
        raise _error(findings, None, "")


def look_further(
    mechanism: Mechanism,
    databases: Sequence[Array],
    settings: Settings,
    audited: int,
    n_jobs: int | None,
) -> None:
    """Refuse a mechanism, before it is called violated, if further draws depend on each other.

    Few draws hardly show dependence, and calls of one draw do not show what longer ones share.
    audited : draws a side of the audit. A mechanism that makes each draw by itself, which may be
    costly, makes at most as many again. A mechanism with a known law makes none.
    """
    if isinstance(mechanism, Preparable):
        return
    alone = settings.call or call_size(mechanism, audited) is None
    size, key = min(FURTHER, audited) if alone else FURTHER, below(settings.seed, Purpose.CHECK)
    call = settings.call or CALL
    source = MechanismDraws(mechanism, databases, size, key, n_jobs=n_jobs, call=call)
    drawn = source.take(size)
    rows = Sides(*outcomes.aligned(*drawn))
    refuse_dependence(rows, source.calls, 0.25)


def call_sizes(count: int, calls: CallSizes, first: int = 0) -> np.ndarray | None:
    """Sizes of the calls that made the `count` draws from number `first` on; None if unknown.

    calls : sizes of the calls of one block, which repeat block after block.
    """
    if calls is None:
        return None
    rounds = -(-(first + count) // int(np.sum(calls)))
    ends = np.clip(np.cumsum(np.tile(calls, rounds)) - first, 0, count)
    sizes = np.diff(ends, prepend=0)
    return sizes[sizes > 0]


def _error(findings: Sequence[Finding], calls: np.ndarray | None, score: str) -> Exception:
    """The error to raise, which names the finding with the smallest p-value."""
    finding = min(findings, key=lambda finding: finding.log_p)
    what = f"the draws, or the scores that {score} gives them," if score else "the draws"
    end = "" if finding.message.endswith("?") else "."
    message = f"{what} are not independent: {finding.message}{end}"
    if calls is None:
        return InvalidInput(f"{message} {AFRESH if finding.kind in IN_COMMON else ORDER}")
    hint = f" {SHARED}" if finding.kind in WITHIN_CALLS and calls.max() > 1 else ""
    return MechanismError(f"{message}{hint}")
