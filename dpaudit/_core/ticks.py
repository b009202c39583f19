"""Count the draws of a slow mechanism while one of its calls runs, for whoever shows progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

EVERY = 0.5  # seconds between two reports

_COUNTER: ContextVar[Callable[[int], None] | None] = ContextVar("dpaudit_ticks", default=None)


def tick(draws: int = 1) -> None:
    """Count draws that were just made in this thread."""
    count = _COUNTER.get()
    if count is not None:
        count(draws)


@contextmanager
def ticking(report: Callable[[int], None]) -> Iterator[None]:
    """A context in which `report` is called with the draws made so far, at most twice a second.

    Draws of other threads and processes are not counted.
    """
    made, last = 0, time.monotonic()

    def count(draws: int) -> None:
        nonlocal made, last
        made += draws
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            report(made)

    token = _COUNTER.set(count)
    try:
        yield
    finally:
        _COUNTER.reset(token)
