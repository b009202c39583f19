"""Where outputs leave a mechanism: they are copied, and memory that is used twice is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from threading import Lock
from typing import Any

import numpy as np

from dpaudit.errors import MechanismError

# (what was returned, its rows, the name of the block) → rows that nobody else writes to
Returned = Callable[[Any, np.ndarray, str], np.ndarray]


class Border:
    """The border between dpaudit and the mechanism of both sides, in one process.

    A mechanism may fill one array again and again, and return it each time. One call after the
    other this does no harm, because outputs are copied. Where calls in several threads overlap, one
    overwrites the output of another: that is an error.
    """

    def __init__(self) -> None:
        self.lock, self.clock = Lock(), count()
        self.inside: set[int] = set()  # when the calls that go on began
        # what overlapping calls returned, with the time; kept, so that no other array can have
        # the memory
        self.outputs: list[tuple[int, Any]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process has a border of its own."""
        return Border, ()

    @contextmanager
    def call(self) -> Iterator[Returned]:
        """Around a call of the mechanism; gives the function that takes what it returned."""
        with self.lock:
            began = next(self.clock)
            self.inside.add(began)
        try:
            yield partial(self._returned, began)
        finally:
            with self.lock:
                self.inside.remove(began)
                oldest = min(self.inside, default=None)
                self.outputs = [
                    one for one in self.outputs if oldest is not None and one[0] > oldest
                ]

    def _returned(self, began: int, values: Any, rows: np.ndarray, where: str) -> np.ndarray:
        """Rows in memory of their own. Raises `MechanismError`."""
        with self.lock:
            if any(at > began and _overlap(values, other) for at, other in self.outputs):
                raise MechanismError(
                    "the mechanism must return memory of its own from each call, but several "
                    "threads got the same array, as of a buffer that is filled again, on "
                    f"{where}; return a copy, or draw with n_jobs=1 or in processes"
                )
            copied = rows if isinstance(values, (list, tuple)) else rows.copy()
            self.outputs.append((next(self.clock), values))
        return copied


def _overlap(one: Any, other: Any) -> bool:
    """Whether two outputs are one list, or arrays with an element in common."""
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return one is other and isinstance(one, list)
    return bool(np.shares_memory(one, other))
