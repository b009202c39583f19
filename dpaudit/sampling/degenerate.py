"""Recognise sides that do not differ, and draws that are not random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core.note import Note
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.types import Array, Mechanism
from dpaudit.errors import MechanismError
from dpaudit.sampling.block import Blocks, sampler_of

STAGES = (4, 28)  # sizes of the first two looks: hardly any mechanism needs more draws to differ
LOOK, PAIRS, SELDOM = 4096, 100, 10  # of the look for values that one side alone has
CHANCE = 1e-6  # of such values where the privacy loss is what is said
WIDE = 256  # bytes; draws that are wider are hashed there
UNCERTIFIED = "not certified: the draws are too few, later ones differ, or the score misses it."


def same_outputs(
    mechanism: Mechanism,
    databases: Sequence[Array],
    size: int,
    seed: np.random.SeedSequence,
    *,
    call: int | None = None,
) -> bool:
    """Whether all of `size` draws are the same on both databases under the same random numbers.

    The draws have the key COMMON below the seed. Few are made at first, and no more once they
    differ. False if the mechanism fails. call : draws in each call; None for one call a look.
    """
    own = below(seed, Purpose.COMMON)
    P, Q = (Blocks(sampler_of(mechanism, data), own, 0, call=call) for data in databases)
    for number, most in enumerate((*STAGES, size)):
        part = min(most, size)
        try:
            if part > 0 and not outcomes.equal(P(number, part), Q(number, part)):
                return False
        except MechanismError:
            return False
        size -= part
    return True


def notes(
    P: np.ndarray, Q: np.ndarray, allowed: Callable[[float], Any] = lambda epsilon: 0.0
) -> tuple[Note, ...]:
    """Notes on draws that are all the same, or of few values that never are on both sides, and on
    sides of different width.

    P, Q : draws of M(D) and of M(D'), in any form of `dpaudit.outcomes`. allowed : function of ε,
    nats, that gives the δ which is claimed; values that show a privacy loss ε are no note where it
    is at least 1/2.

    If all draws of each side have one value and the two differ, an output reveals its database with
    certainty; unless the audit certifies that, it is a doubt. The note does not show the values:
    without noise they may be values of the data.
    """
    remarks: tuple[Note, ...] = ()
    ours, theirs = outcomes.as_bytes(P), outcomes.as_bytes(Q)
    if np.all(ours == ours[0]) and np.all(theirs == theirs[0]):
        subject = f"Not random: all {len(P) + len(Q):,} draws that were looked at are"
        first, second = map(outcomes.as_bytes, outcomes.aligned(P[:1], Q[:1]))  # as scores see them
        if first[0] == second[0]:
            remarks = (Note(f"{subject} {_constant(P[:1])}"),)
        else:
            text = f"{subject} one value on D and another on D'"
            remarks = (Note(f"{text}, an infinite privacy loss.", f"{text}, {UNCERTIFIED}"),)
    elif (loss := _loss_apart(ours[:LOOK], theirs[:LOOK])) and allowed(loss) < 0.5:
        text = (
            "Not random: many outputs come again, and none on both sides, as where noise takes few "
            f"values, or a seed of its own is one of few: a privacy loss above {loss:.1f}"
        )
        remarks = (Note(f"{text}.", f"{text}, {UNCERTIFIED}"),)
    if outcomes.is_table(P) and outcomes.is_table(Q) and P.shape[1] != Q.shape[1]:
        text = (
            f"An output of M(D) has {P.shape[1]:,} numbers and one of M(D') has {Q.shape[1]:,}: "
            "they are audited as lists, and their length tells the sides apart."
        )
        remarks += (Note(text),)
    return remarks


def _loss_apart(P: np.ndarray, Q: np.ndarray) -> float:
    """The privacy loss, nats, that values show which come again on either side, and never on both;
    0 if a value is on both, or comes more than `SELDOM` times, or fewer than `PAIRS` pairs of draws
    of a side, (n,) bytes, are equal.

    Under ε-DP with laws p and q, Σ p·q is at least e^{−ε} Σ p²: with N equal pairs on a side,
    2Ne^{−ε} pairs across are expected, and none has a probability of about exp(−2Ne^{−ε}), unless
    one law alone has a value, which a δ allows, but not so many different ones.
    """
    if P.dtype != Q.dtype:  # then bytes do not say which values are equal
        return 0.0
    if P.itemsize > WIDE:  # sorting them would take a quarter of an audit's time
        P, Q = (np.array([hash(draw.tobytes()) for draw in side]) for side in (P, Q))
    values, times = zip(*(np.unique(side, return_counts=True) for side in (P, Q)), strict=True)
    pairs = min(int((some * (some - 1)).sum()) // 2 for some in times)
    if pairs < PAIRS or max(some.max() for some in times) > SELDOM:
        return 0.0
    apart = len(np.unique(np.concatenate(values))) == sum(map(len, values))
    return float(np.log(2 * pairs / -np.log(CHANCE))) if apart else 0.0


def _constant(draw: np.ndarray) -> str:
    """What all draws are, given one of them; a value that may be one of the data is not shown."""
    if outcomes.equal(draw, outcomes.rows([None])):  # as an empty list is
        return "None or empty on both sides: is a return forgotten?"
    value = "NaN" if outcomes.equal(draw, outcomes.rows([np.nan])) else "the same value"
    return f"{value} on both sides."
