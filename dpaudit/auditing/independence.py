"""What an audit does with the tests of independence (`sampling.independence`): refuse, or say.

Fixed and sequential audits, of draws made here or elsewhere, are all refused here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpaudit import outcomes
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.types import Array, Mechanism
from dpaudit.auditing.settings import Settings
from dpaudit.errors import InvalidInput, MechanismError
from dpaudit.sampling import MechanismDraws, Pair, call_size, degenerate
from dpaudit.sampling.block import Preparable
from dpaudit.sampling.independence import Finding, examine, examine_shared
from dpaudit.scoring import Sides

LEVEL = 1e-6  # probability that an audit of independent draws is refused, at most
FURTHER, CALL = 256, 32  # draws a side and draws a call, made before a mechanism is accused
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
WITHIN_CALLS = ("call", "repeats", "serial")
IN_COMMON = ("copied", "shared")
CallSizes = tuple[int, ...] | None  # of the calls that make a block, as in `sampling.Draws`


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
    findings = examine(sides.P, sides.Q, both, level=share * LEVEL, score=bool(score))
    refused = [finding for finding in findings if finding.refused]
    if refused:
        raise _error(refused, calls, score)
    return tuple(f"Drift: {finding.message}. {AVERAGE}" for finding in findings)


def refuse_shared(P: np.ndarray, Q: np.ndarray) -> None:
    """Raise `InvalidInput` where draws made elsewhere stand on both sides; all of them at once."""
    rows = outcomes.aligned(P, Q)
    findings = examine_shared(*rows, level=0.5 * LEVEL)
    if findings:
        raise _error(findings, None, "")


def look_further(
    mechanism: Mechanism,
    databases: Sequence[Array],
    settings: Settings,
    made: int,
    n_jobs: int | None,
) -> None:
    """Refuse a mechanism, before it is called violated, if further draws depend on each other.

    Few draws hardly show dependence, and calls of one draw do not show what longer ones share.
    made : draws a side of the audit. Where each draw is made by itself, which may be costly, there
    are no more further ones than these. There are none of a mechanism with a law.
    """
    if isinstance(mechanism, Preparable):
        return
    alone = settings.call or call_size(mechanism, made) is None
    size, key = min(FURTHER, made) if alone else FURTHER, below(settings.seed, Purpose.CHECK)
    call = settings.call or CALL
    source = MechanismDraws(mechanism, databases, size, key, n_jobs=n_jobs, call=call)
    drawn = source.take(size)
    rows = Sides(*map(outcomes.columns(*drawn), drawn))
    refuse_dependence(rows, call_sizes(size, source.calls), 0.25)


def notes_on(drawn: Pair, rows: Sides, calls: CallSizes) -> tuple[str, ...]:
    """Sentences on draws that are not random, or that drift. Raises as `refuse_dependence`.

    drawn : the first draws of an audit. rows : the same as rows. calls : as in `call_sizes`.
    """
    drift = refuse_dependence(rows, call_sizes(len(rows.P), calls), 0.5)
    return (*drift, *degenerate.notes(*drawn))


def refuse_scores(scores: Sides, name: str, calls: CallSizes, first: int) -> None:
    """Refuse scores of draws from number `first` on, (n, 1) a side, that depend on each other.

    name : of the classifier that gave them. calls : as in `call_sizes`.
    """
    refuse_dependence(scores, call_sizes(len(scores.P), calls, first), 0.125, score=name)


def call_sizes(count: int, calls: CallSizes, first: int = 0) -> np.ndarray | None:
    """The sizes of the calls that made `count` draws from number `first` on, where calls of these
    sizes follow each other again and again.
    """
    if calls is None:
        return None
    rounds = -(-(first + count) // sum(calls))
    ends = np.clip(np.cumsum(np.tile(calls, rounds)) - first, 0, count)
    sizes = np.diff(ends, prepend=0)
    return sizes[sizes > 0]


def _error(findings: Sequence[Finding], calls: np.ndarray | None, score: str) -> Exception:
    """The error of the strongest finding."""
    finding = min(findings, key=lambda finding: finding.log_p)
    what = f"the draws, or the scores that {score} gives them," if score else "the draws"
    end = "" if finding.message.endswith("?") else "."
    message = f"{what} are not independent: {finding.message}{end}"
    if calls is None:
        return InvalidInput(f"{message} {AFRESH if finding.kind in IN_COMMON else ORDER}")
    hint = f" {SHARED}" if finding.kind in WITHIN_CALLS and calls.max() > 1 else ""
    return MechanismError(f"{message}{hint}")
