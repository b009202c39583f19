"""What all draws are, where they are all the same."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dpaudit.outcomes.tables import LISTS
from dpaudit.outcomes.trees import read

CHARACTERS = 80


def same_throughout(draws: np.ndarray) -> str | None:
    """The one value of all draws of a side, as text of at most 80 characters; None where two differ.

    Compared by their bits: 0.0 and -0.0 differ, NaN and NaN do not.
    """
    plain = draws[LISTS] if draws.dtype.names else draws
    bits = plain if plain.dtype.kind == "S" else plain.view(np.int64)
    return None if np.any(bits != bits[0]) else _short(json.dumps(_value(draws), ensure_ascii=False))


def _value(draws: np.ndarray) -> Any:
    if draws.dtype.kind == "S":
        found = read(draws[0])
        return found[0] if len(found) == 1 else found
    row = draws[LISTS][0] if draws.dtype.names else draws[0]
    found = row[1 : 1 + int(row[0])].tolist() if draws.dtype.names else row.tolist()
    return found[0] if len(found) == 1 and not draws.dtype.names else found


def _short(text: str) -> str:
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 3] + "..."
