"""What an audit cost: seconds by step, and memory."""

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
    """Seconds by step, from the moment that it is made."""

    def __init__(self) -> None:
        self.start, self.started = time.perf_counter(), datetime.now(UTC)
        self.steps = dict.fromkeys(STEPS, 0.0)
        self.inside = 0.0  # seconds of steps within the present one

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step; the seconds of an inner step are counted for the inner step alone."""
        begin, inside = time.perf_counter(), self.inside
        self.inside = 0.0
        yield
        spent = time.perf_counter() - begin
        self.steps[name] += spent - self.inside
        self.inside = inside + spent

    def total(self) -> dict[str, Any]:
        """Seconds of each step, and of all since the start, which is given as a time in UTC."""
        started = self.started.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {**self.steps, "total_s": time.perf_counter() - self.start, "started": started}


def peak_memory_mb() -> float | None:
    """Peak resident size of this process so far; None where the system does not tell."""
    if resource is None:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**20 if sys.platform == "darwin" else 2**10)
