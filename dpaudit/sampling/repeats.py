"""Draws that are all the same, or repeat in the same order: no randomness, or a fixed seed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dpaudit.outcomes import LISTS, aligned, as_bytes
from dpaudit.outcomes.nested import readable

CHARACTERS = 80  # characters of a value in a message, at most
TRIED = 1 << 14  # periods to try, at most: places where the first draw occurs again
SOON = 64  # draws to compare first, since most wrong periods fail within them
RARE = 30.0  # nats: a repetition of probability e^−30 or less is no coincidence


def constant_value(draws: np.ndarray) -> str | None:
    """The common value of all draws of a side, as text of at most 80 characters, or None.

    Draws are compared by their bits: 0.0 and −0.0 differ. All NaN are one value.
    """
    rows = as_bytes(draws)
    if np.any(rows != rows[0]):
        return None
    return _short(json.dumps(_first_value(draws), ensure_ascii=False))


def told_apart(P: np.ndarray, Q: np.ndarray) -> bool:
    """Whether the rows of the first draw of each side differ; scores see only rows."""
    left, right = (as_bytes(side[:1]) for side in aligned(P[:1], Q[:1]))
    return bool(left[0] != right[0])


def period(draws: np.ndarray) -> int | None:
    """After how many draws all draws repeat in the same order to the end; None if they do not.

    The result is also None for a repetition that independent draws would have by chance with
    probability above e^−30. That probability is (Σ pᵢ²)^pairs over the pairs of draws that agree,
    each pᵢ estimated by the share of a value among the draws. So for independent draws with many
    values the result is an integer with probability below `TRIED`·e^−30.
    """
    rows = as_bytes(draws)
    again = np.flatnonzero(rows == rows[0])[1 : 1 + TRIED]
    for lag in again:
        begins = np.array_equal(rows[lag : lag + SOON], rows[: min(SOON, len(rows) - lag)])
        if begins and np.array_equal(rows[lag:], rows[:-lag]):
            return int(lag) if _surprise(rows, len(rows) - lag) >= RARE else None
    return None


def _surprise(rows: np.ndarray, pairs: int) -> float:
    """−log of the probability that this many pairs of independent draws agree, in nats."""
    share = np.unique(rows, return_counts=True)[1] / len(rows)
    return float(-pairs * np.log(np.sum(share**2)))


def _first_value(draws: np.ndarray) -> Any:
    """The first draw as Python values; if it is a list of one entry, that entry."""
    if draws.dtype.kind == "S":
        value = readable(draws[0])
    elif draws.dtype.names:
        value = draws[LISTS][0, 1 : 1 + int(draws[LISTS][0, 0])].tolist()
    else:
        value = draws[0].tolist()
    return value[0] if len(value) == 1 else value


def _short(text: str) -> str:
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 3] + "..."
