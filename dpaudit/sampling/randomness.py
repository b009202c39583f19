"""What the draws of both sides say at first sight: that they are not random, or differ in width."""

from __future__ import annotations

import numpy as np

from dpaudit import outcomes

INFINITE = ", which is an infinite privacy loss."  # the end of `_constant`


def notes(P: np.ndarray, Q: np.ndarray) -> tuple[str, ...]:
    """Sentences for the report on draws that are all the same, and on sides of different width.

    P, Q : draws of M(D) and of M(D'), in any form of `dpaudit.outcomes`.
    """
    return tuple(sentence for sentence in (_constant(P, Q), _widths(P, Q)) if sentence)


def _widths(P: np.ndarray, Q: np.ndarray) -> str:
    """A sentence where both sides are tables, of different width; else ""."""
    if not (outcomes.is_table(P) and outcomes.is_table(Q)) or P.shape[1] == Q.shape[1]:
        return ""
    return (
        f"An output of M(D) has {P.shape[1]:,} numbers and one of M(D') has {Q.shape[1]:,}: they "
        "are audited as lists, and their length tells the sides apart."
    )


def _constant(P: np.ndarray, Q: np.ndarray) -> str:
    """A sentence where each side's draws are all the same value, else "".

    Where the values of the two sides differ, an output gives its database away with certainty. The
    values are not shown: without noise they may be values of the data.
    """
    if outcomes.constant_value(P) is None or outcomes.constant_value(Q) is None:
        return ""
    looked_at = f"all {len(P) + len(Q):,} that were looked at"
    if not outcomes.told_apart(P, Q):
        return f"Not random: every draw is the same value on both sides, {looked_at}."
    return f"Not random: every draw is one value on D and another on D', {looked_at}{INFINITE}"
