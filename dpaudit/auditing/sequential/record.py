"""What is kept of a sequential audit: the sizes of its batches, and its e-process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

FIRST = 8  # draws a side before the first bet
# Up to FEW draws a side batches grow by an eighth, up to MANY by a third; then they double.
FEW, MANY = (200, 2_000)
LARGEST = 1 << 20  # draws a side of a batch, which bounds memory
SAVED = (
    "level", "needed", "e_value", "largest", "rejected_at", "drawn", "tested", "draws", "log_e"
)  # fmt: skip


@dataclass(frozen=True)
class Sequential:
    """The e-process of a sequential audit.

    level, alpha : of the verdict, as in `Settings`. needed : the e-value that rejects, 1/alpha.
    draws, log_e : draws a side so far, and the log e-value, after each batch that was bet on. In
        the batch of a rejection both are those of the rejection.
    rejected_at : draws a side, training included, after which the e-value reached `needed`; None
        if it did not.
    drawn : draws a side in all, with the remainder of the last batch.
    tested : the draws a side that were bet on.
    largest : the largest e-value after any draw.
    """

    level: float
    alpha: float
    draws: tuple[int, ...]
    log_e: tuple[float, ...]
    rejected_at: int | None
    drawn: int
    tested: int
    largest: float

    @property
    def needed(self) -> float:
        """The e-value that rejects."""
        return 1.0 / self.alpha

    @property
    def e_value(self) -> float:
        """The e-value at the end, or at the rejection."""
        return float(np.exp(self.log_e[-1]))

    def to_dict(self) -> dict[str, Any]:
        """What result.json holds."""
        return {name: getattr(self, name) for name in SAVED}


def batch_sizes(samples: int) -> Iterator[int]:
    """Sizes of the batches that make `samples` draws a side; the first one only trains."""
    done = 0
    while done < samples:
        size = min(max(_wanted(done), 1), LARGEST, samples - done)
        yield size
        done += size


def _wanted(done: int) -> int:
    if done == 0:
        return FIRST
    if done < FEW:
        return done // 8
    return done // 3 if done < MANY else done
