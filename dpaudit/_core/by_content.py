"""A cache of results computed from arrays, keyed by the arrays' content."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import numpy as np

from dpaudit._core.types import Array

Result = TypeVar("Result")
MOST = 4  # results kept at a time


class ByContent(Generic[Result]):
    """Results of a function of one array: worked out once for each content.

    The key holds a SHA-256 digest of all numbers, so an array that was changed in place since is
    another key, and a copy is the same one. A result is kept while the array that it was worked out
    for lives, and only the last few are, so that nothing large outlives its data.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: dict[Hashable, tuple[Result, weakref.ref[Array]]] = {}

    def get(self, array: Array, work_out: Callable[[], Result]) -> Result:
        """The result for `array` (any shape), by `work_out` the first time.

        It is shared by all who ask, so its arrays should be read-only.
        """
        key = _key(array)
        found = self._kept.get(key)
        if found is not None:
            return found[0]
        result = work_out()
        self._kept[key] = result, weakref.ref(array, lambda _: self._kept.pop(key, None))
        for old in list(self._kept)[: -self._most]:
            self._kept.pop(old, None)
        return result


def _key(array: Array) -> Hashable:
    """Shape and layout too: sums over columns may round differently in another order of memory."""
    content = hashlib.sha256(np.ascontiguousarray(array).data).digest()
    return array.shape, array.strides, content
