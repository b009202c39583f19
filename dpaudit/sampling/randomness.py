"""Whether a mechanism is random at all, and draws from the generator that it is given."""

from __future__ import annotations

import numpy as np

from dpaudit import outcomes
from dpaudit.errors import MechanismError
from dpaudit.sampling import SIDES


def not_random(P: np.ndarray, Q: np.ndarray) -> str | None:
    """A sentence where each side's draws are all the same; None where any differ.

    P, Q : draws of M(D) and of M(D'), in any form of `dpaudit.outcomes`. Two values that differ
    tell the databases apart for certain.
    """
    values = outcomes.same_throughout(P), outcomes.same_throughout(Q)
    if None in values:
        return None
    same = outcomes.same_throughout(outcomes.joined([P[:1], Q[:1]])) is not None
    if same:
        return f"Not random: every draw is {values[0]} on both sides, all {len(P) + len(Q):,} that were looked at."
    return (
        f"Not random: every draw is {values[0]} on D and {values[1]} on D', all {len(P) + len(Q):,} that were looked "
        "at, which is an infinite privacy loss."
    )


def refuse_repeats(draws: np.ndarray, side: int) -> None:
    """Raises `MechanismError` where a mechanism's draws come again in the same order: they are not
    independent.
    """
    found = None if outcomes.same_throughout(draws[:1000]) is not None else outcomes.period(draws)
    if found is not None:
        raise MechanismError(
            f"the mechanism must draw from rng; on {SIDES[side]} the same draws come again after every {found:,}, as "
            "from a seed of its own"
        )
