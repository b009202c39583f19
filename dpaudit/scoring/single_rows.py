"""Whether a score gives a row the same value alone and among other rows."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput
from dpaudit.scoring.base import Fitted, Sides, evaluate

ROWS = 8  # rows that are looked at, half of each side
OTHERS = 256  # rows a side of a batch, at most
# A score in single precision varies by 1e-5 of its size with the batch.
TOLERANCE = 1e-4  # of 1 + |score|


def refuse_batch_scores(fitted: Fitted, sides: Sides) -> None:
    """Refuse a score that depends on other rows of a batch, or on their order.

    Draws certify independently of each other only if each is scored by itself. `ROWS` rows are
    scored alone, at the end of a batch of both sides, and alone again.

    Parameters
    ----------
    fitted : Fitted
        The score.
    sides : Sides
        Draws of both sides.

    Raises
    ------
    InvalidInput
        For such a score.
    """
    some = _mixed(sides.head(ROWS // 2))
    batch = np.concatenate([_mixed(Sides(sides.P[ROWS:], sides.Q[ROWS:]).head(OTHERS)), some])
    alone = _alone(fitted, some)
    among = evaluate(fitted.score, batch)[-len(some) :]
    for other, seen in ((among, "in a batch"), (_alone(fitted, some), "the second time")):
        _compare(fitted.name, alone, other, seen, len(batch))


def _mixed(sides: Sides) -> Array:
    """Rows of the two sides in turn."""
    return np.stack([sides.P, sides.Q], axis=1).reshape(-1, sides.P.shape[1])


def _alone(fitted: Fitted, rows: Array) -> Array:
    return np.concatenate([evaluate(fitted.score, row[None]) for row in rows])


def _compare(name: str, alone: Array, other: Array, seen: str, size: int) -> None:
    same = np.isclose(alone, other, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    if same.all():
        return
    at = int(np.argmin(same))
    where = f"{seen} of {size} rows" if seen == "in a batch" else seen
    raise InvalidInput(
        f"classifier must score each row by itself, got {alone[at]:.6g} for a row alone and "
        f"{other[at]:.6g} {where} from {name}: does it use statistics of the batch, or a counter?",
        argument="classifier",
    )
