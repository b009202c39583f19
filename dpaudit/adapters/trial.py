"""Collects the warnings of audited code, and tests whether a seed repeats a mechanism's draws."""

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
MOST_WARNINGS = 20  # different texts of warnings that are logged or counted
MOST, SHARE = 8, 250  # a call of a trial makes one draw per 250 draws of the audit, at most 8
KEY = 2  # the trial's place among the seeds of Purpose.COMMON


class Quiet:
    """A context in which warnings are not raised, but logged when a text appears the first time.

    All threads share the filters of warnings: the first thread that enters replaces them, and the
    last that leaves restores them.
    """

    def __init__(self) -> None:
        self.lock, self.threads_inside = Lock(), 0
        self.logged: set[str] = set()
        self.counts: Counter[str] | None = None
        self.filters: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if self.threads_inside == 0:
                self.filters = warnings.catch_warnings()
                self.filters.__enter__()
                warnings.simplefilter("always")
                warnings.showwarning = self._hear
            self.threads_inside += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.threads_inside -= 1
            if self.threads_inside == 0:
                self.filters.__exit__(*error)

    @contextmanager
    def counted(self) -> Iterator[Counter[str]]:
        """Inside this context, count the warnings of all threads by text, and log none."""
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
        """Count or log a warning, without values of the data."""
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
    """The results of two calls of a mechanism on D and one on D′, all three with the same seed.

    draws : the number of draws in the three calls together. repeatable : whether the two calls on D
    gave the same outputs; None if the mechanism failed. warned : pairs of the text of a warning,
    without values of the data, and the number of times that it appeared.
    """

    draws: int
    repeatable: bool | None
    warned: tuple[tuple[str, int], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each warning."""
        return tuple(
            f"The mechanism warns ({times} times in {self.draws} draws of a trial): {text}"
            for text, times in self.warned
        )

    def to_dict(self) -> dict[str, Any]:
        warned = [{"text": text, "times": times} for text, times in self.warned]
        return {"draws": self.draws, "repeatable": self.repeatable, "warnings": warned}


def trial(
    mechanism: Mechanism, databases: Sequence[Array], samples: int, seed: np.random.SeedSequence
) -> Trial:
    """Call a mechanism twice on D and once on D′ with the same seed.

    databases : D and D′. samples : the audit's number of draws per database. An error of the
    mechanism ends the trial and is not raised.
    """
    size = min(MOST, max(1, samples // SHARE))
    left, right = databases
    outputs: list[np.ndarray] = []
    with QUIET.counted() as counts:
        try:
            for data in (left, left, right):
                rng = generator(seed, Purpose.COMMON, KEY)
                outputs.append(outcomes.rows(mechanism(data, size, rng=rng), size))
        except Exception:  # the audit itself reports the failure
            pass
    complete = len(outputs) == 3
    repeatable = outcomes.equal(outputs[0], outputs[1]) if complete else None
    most_frequent = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return Trial(len(outputs) * size, repeatable, tuple(most_frequent))
