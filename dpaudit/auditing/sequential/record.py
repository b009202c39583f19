"""What is kept of the waves: their sizes and how the wealth went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

FIRST = 8  # draws a side before the first bet
# draws a side until which waves grow by an eighth and by a third; then they double
FEW, MANY = (200, 2_000)
LARGEST = 1 << 20  # draws a side of a wave: memory is bounded


@dataclass(frozen=True)
class Sequential:
    """How the wealth went.

    level : of the test. needed : the e-value that rejects, 1/(1 − level).
    draws, log_e : draws a side so far, and the log e-value, after each wave that was bet on; in the
    wave of a rejection both are those of the rejection.
    rejected_at : draws a side after which the e-value reached `needed`, training and all; None if
        it did not.
    drawn : draws a side in all, the rest of the last wave too. tested : those of them that were bet
        on.
    largest : the largest e-value after any draw.
    """

    level: float
    draws: tuple[int, ...]
    log_e: tuple[float, ...]
    rejected_at: int | None
    drawn: int
    tested: int
    largest: float

    @property
    def needed(self) -> float:
        return 1.0 / (1.0 - self.level)

    @property
    def e_value(self) -> float:
        """At the end, or at the rejection."""
        return float(np.exp(self.log_e[-1]))

    def to_dict(self) -> dict[str, Any]:
        """What result.json holds."""
        names = (
            "level",
            "needed",
            "e_value",
            "largest",
            "rejected_at",
            "drawn",
            "tested",
            "draws",
            "log_e",
        )
        return {name: getattr(self, name) for name in names}


def sizes(samples: int) -> Iterator[int]:
    """Sizes of the waves that make `samples` draws a side; the first only trains."""
    done = 0
    while done < samples:
        size = (
            FIRST if done == 0 else done // 8 if done < FEW else done // 3 if done < MANY else done
        )
        size = min(max(size, 1), LARGEST, samples - done)
        yield size
        done += size
