"""What audited code warns of, and a few draws that show whether a seed repeats them."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core.raised import redacted
from dpaudit._core.seeds import Purpose, generator
from dpaudit._core.types import Array, Mechanism

LOG = logging.getLogger("dpaudit.adapters")
MOST_WARNINGS = 20  # different texts that are logged or counted
MOST, SHARE = 8, 250  # a call makes one draw for each 250 of the audit, at most 8
KEY = 2  # the trial's place among the seeds of Purpose.COMMON


class Quiet:
    """A context in which warnings are not raised; each text is logged the first time.

    The filters of warnings belong to all threads together: the first thread that enters replaces
    them, and the last one that leaves restores them.
    """

    def __init__(self) -> None:
        self.lock, self.threads_inside = Lock(), 0
        self.logged: set[str] = set()
        self.counts: Counter[str] | None = None
        self.filters: Any = None

    def __enter__(self) -> None:
        """Replace the filters, if no other thread is inside."""
        with self.lock:
            if self.threads_inside == 0:
                self.filters = warnings.catch_warnings()
                self.filters.__enter__()
                warnings.simplefilter("always")
                warnings.showwarning = self._hear
            self.threads_inside += 1

    def __exit__(self, *error: object) -> None:
        """Restore the filters, if no other thread is left inside."""
        with self.lock:
            self.threads_inside -= 1
            if self.threads_inside == 0:
                self.filters.__exit__(*error)

    @contextmanager
    def counted(self) -> Iterator[Counter[str]]:
        """Count the warnings of all threads by their texts meanwhile, and log none."""
        counts: Counter[str] = Counter()
        with self:
            self.counts = counts
            try:
                yield counts
            finally:
                self.counts = None

    def _hear(
        self, message: Warning | str, category: type[Warning], *where: Any, **more: Any
    ) -> None:
        text = f"{category.__name__}: {' '.join(redacted(str(message)).split())}"
        counts = self.counts
        if counts is not None:
            if text in counts or len(counts) < MOST_WARNINGS:
                counts[text] += 1
        elif text not in self.logged and len(self.logged) < MOST_WARNINGS:
            self.logged.add(text)
            LOG.warning("the mechanism warns, said once: %s", text)


QUIET = Quiet()


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
        warned = [{"text": text, "times": times} for text, times in self.warned]
        return {"draws": self.draws, "repeatable": self.repeatable, "warnings": warned}


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
