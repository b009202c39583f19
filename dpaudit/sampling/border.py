"""Where outputs leave a mechanism: they are copied, and memory that is used again is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np

from dpaudit.errors import MechanismError

# (what was returned, its rows, the name of the block) → rows that nobody else writes to
Returned = Callable[[Any, np.ndarray, str], np.ndarray]


class Border:
    """The border between dpaudit and the mechanism of both sides, in one process.

    A mechanism may fill one array again and again, and return it each time. One call after
    the other this does no harm, because outputs are copied. In threads one call would overwrite the
    output of another one: that is an error.
    """

    def __init__(self) -> None:
        self.lock, self.inside, self.together = Lock(), 0, False
        self.last: Any = None  # kept, so that no other array can have its memory

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process has a border of its own."""
        return Border, ()

    @contextmanager
    def call(self) -> Iterator[Returned]:
        """Around a call of the mechanism; gives the function that takes what it returned."""
        with self.lock:
            self.inside += 1
            self.together |= self.inside > 1
        try:
            yield self._returned
        finally:
            with self.lock:
                self.inside -= 1

    def _returned(self, values: Any, rows: np.ndarray, where: str) -> np.ndarray:
        """Rows in memory of their own. Raises `MechanismError`."""
        with self.lock:
            again, self.last = self.last is not None and _overlap(values, self.last), values
        if again and self.together:
            raise MechanismError(
                "the mechanism must return memory of its own from each call, but several threads "
                f"got the same array, as of a buffer that is filled again, on {where}; return a "
                "copy, or draw with n_jobs=1 or in processes"
            )
        return rows if isinstance(values, (list, tuple)) else rows.copy()


def _overlap(one: Any, other: Any) -> bool:
    """Whether two outputs are one object, or arrays in the same memory."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return bool(np.may_share_memory(one, other))
    return one is other and isinstance(one, list)
