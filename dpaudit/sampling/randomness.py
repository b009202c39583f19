"""Whether a mechanism is random at all."""

from __future__ import annotations

import numpy as np

from dpaudit import outcomes

INFINITE = ", which is an infinite privacy loss."  # the end of `constant_notes`


def constant_notes(P: np.ndarray, Q: np.ndarray) -> tuple[str, ...]:
    """A sentence for the report where each side's draws are all the same value; else none.

    P, Q : draws of M(D) and of M(D'), in any form of `dpaudit.outcomes`. Where the values of the
    two sides differ, an output gives its database away with certainty. The values are not shown:
    without noise they may be values of the data.
    """
    if outcomes.constant_value(P) is None or outcomes.constant_value(Q) is None:
        return ()
    looked_at = f"all {len(P) + len(Q):,} that were looked at"
    if not outcomes.told_apart(P, Q):
        return (f"Not random: every draw is the same value on both sides, {looked_at}.",)
    return (f"Not random: every draw is one value on D and another on D', {looked_at}{INFINITE}",)
