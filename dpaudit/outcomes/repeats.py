"""Draws that are all the same, or come again in the same order: no randomness, or always the same
seed.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dpaudit.outcomes.tables import LISTS
from dpaudit.outcomes.trees import read

CHARACTERS = 80
TRIED = 1 << 14  # places where the first draw comes again
SOON = 64  # draws that mostly tell two orders apart
RARE = 30.0  # nats; draws that repeat by chance with probability e^-30 or less repeat by design


def same_throughout(draws: np.ndarray) -> str | None:
    """The one value of all draws of a side, as text of at most 80 characters; None where two
    differ.

    Compared by their bits: 0.0 and -0.0 differ, NaN and NaN do not.
    """
    rows = _bytes(draws)
    return (
        None if np.any(rows != rows[0]) else _short(json.dumps(_value(draws), ensure_ascii=False))
    )


def period(draws: np.ndarray) -> int | None:
    """After how many draws the same come again in the same order, to the end; None where they do
    not.

    Independent draws that differ do so with probability below `TRIED` e^-30: each pair agrees with
    probability Σ pᵢ², the pᵢ estimated by how often each value occurs.
    """
    rows = _bytes(draws)
    again = np.flatnonzero(rows == rows[0])[1 : 1 + TRIED]
    for lag in again:
        begins = np.array_equal(rows[lag : lag + SOON], rows[: min(SOON, len(rows) - lag)])
        if begins and np.array_equal(rows[lag:], rows[:-lag]):
            return int(lag) if _chance(rows, len(rows) - lag) >= RARE else None
    return None


def _chance(rows: np.ndarray, pairs: int) -> float:
    """−log of the probability that so many pairs of draws agree by chance."""
    share = np.unique(rows, return_counts=True)[1] / len(rows)
    return float(-pairs * np.log(np.sum(share**2)))


def _bytes(draws: np.ndarray) -> np.ndarray:
    """(n,) rows as they are in memory."""
    plain = draws[LISTS] if draws.dtype.names else draws
    if plain.dtype.kind == "S":
        return plain
    plain = np.ascontiguousarray(plain)
    return plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1])))[:, 0]


def _value(draws: np.ndarray) -> Any:
    if draws.dtype.kind == "S":
        found = read(draws[0])
    elif draws.dtype.names:
        found = draws[LISTS][0, 1 : 1 + int(draws[LISTS][0, 0])].tolist()
    else:
        found = draws[0].tolist()
    return found[0] if len(found) == 1 else found


def _short(text: str) -> str:
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 3] + "..."
