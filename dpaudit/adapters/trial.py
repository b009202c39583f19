"""A few draws beside an audit: whether a seed repeats them, and what the mechanism warns of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core.seeds import Purpose, generator
from dpaudit._core.types import Array, Mechanism
from dpaudit.adapters.functions import QUIET

MOST, SHARE = 8, 250  # a call makes one draw for each 250 of the audit, at most 8
KEY = 2  # the trial's place among the seeds of Purpose.COMMON


@dataclass(frozen=True)
class Trial:
    """What two calls on D and one on D' showed, all three with one seed.

    draws : how many the three calls made together. repeatable : whether the same seed gave the same
    outputs on D; None where the mechanism failed. warned : the texts of warnings, without values of
    the data, and how often each came.
    """

    draws: int
    repeatable: bool | None
    warned: tuple[tuple[str, int], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the top of a report, one for each warning."""
        return tuple(
            f"The mechanism warns ({times} times in {self.draws} draws of a trial): {text}"
            for text, times in self.warned
        )

    def to_dict(self) -> dict[str, Any]:
        """The trial in JSON types, for result.json."""
        warnings = [{"text": text, "times": times} for text, times in self.warned]
        return {"draws": self.draws, "repeatable": self.repeatable, "warnings": warnings}


def trial(
    mechanism: Mechanism, databases: Sequence[Array], samples: int, seed: np.random.SeedSequence
) -> Trial:
    """Call a mechanism three times. databases : D and D'. samples : draws a side of the audit.

    An error of the mechanism ends the trial and is not raised.
    """
    size = min(MOST, max(1, samples // SHARE))
    left, right = databases
    outputs: list[np.ndarray] = []
    with QUIET.counted() as warned:
        try:
            for data in (left, left, right):
                rng = generator(seed, Purpose.COMMON, KEY)
                outputs.append(outcomes.rows(mechanism(data, size, rng=rng), size))
        except Exception:  # the audit itself says what fails
            pass
    complete = len(outputs) == 3
    repeatable = outcomes.equal(outputs[0], outputs[1]) if complete else None
    most_frequent = sorted(warned.items(), key=lambda pair: (-pair[1], pair[0]))
    return Trial(len(outputs) * size, repeatable, tuple(most_frequent))
