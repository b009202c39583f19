"""Warnings of the audited code, logged once each or counted, in any number of threads."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from types import TracebackType
from typing import Any

from dpaudit._core.shown.redacted import redacted

LOG = logging.getLogger("dpaudit.adapters")
MOST = 20  # different warnings that are logged


class Quiet:
    """A context in which warnings are not raised; each is logged the first time.

    The filters of warnings belong to all threads together: the first thread that enters replaces
    them, and the last one that leaves restores them.
    """

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        self.said: set[str] = set()
        self.counted: Counter[str] | None = None
        self.before: Any = None

    def __enter__(self) -> None:
        """Replace the filters, if no other thread is inside."""
        with self.lock:
            if self.inside == 0:
                self.before = warnings.catch_warnings()
                self.before.__enter__()
                warnings.simplefilter("always")
                warnings.showwarning = self._say
            self.inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Restore the filters, if no other thread is left inside."""
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.before.__exit__(kind, error, at)

    @contextmanager
    def heard(self) -> Iterator[Counter[str]]:
        """Count warnings, of any thread, by their texts; at most `MOST` texts, and log none."""
        counted: Counter[str] = Counter()
        with self:
            self.counted = counted
            try:
                yield counted
            finally:
                self.counted = None

    def _say(
        self, message: Warning | str, category: type[Warning], *where: Any, **more: Any
    ) -> None:
        text = f"{category.__name__}: {' '.join(redacted(str(message)).split())}"
        counted = self.counted
        if counted is not None:
            if text in counted or len(counted) < MOST:
                counted[text] += 1
            return
        if text in self.said or len(self.said) >= MOST:
            return
        self.said.add(text)
        LOG.warning("the mechanism warns, said once: %s", text)


QUIET = Quiet()
