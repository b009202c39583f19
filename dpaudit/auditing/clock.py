"""Measure what an audit costs: the seconds of each step, and peak memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

try:
    import resource
except ModuleNotFoundError:  # not a Unix system
    resource = None  # type: ignore[assignment]

STEPS = ("sample_s", "fit_s", "certify_s")


class Clock:
    """A stopwatch that starts when it is made and counts the seconds of each step of an audit."""

    def __init__(self) -> None:
        self.start, self.started = time.perf_counter(), datetime.now(UTC)
        self.steps = dict.fromkeys(STEPS, 0.0)
        self.inside = 0.0  # seconds spent in steps nested in the present one

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step; the seconds of a nested step count for the nested step alone."""
        begin, inside = time.perf_counter(), self.inside
        self.inside = 0.0
        yield
        spent = time.perf_counter() - begin
        self.steps[name] += spent - self.inside
        self.inside = inside + spent

    def total(self) -> dict[str, Any]:
        """Seconds of each step, "total_s" since the start, and the time in UTC of "started"."""
        started = self.started.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {**self.steps, "total_s": time.perf_counter() - self.start, "started": started}


def peak_memory_mb() -> float | None:
    """Peak resident size of this process in MB; None if the system does not report it."""
    if resource is None:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**20 if sys.platform == "darwin" else 2**10)
